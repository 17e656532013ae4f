/*
 * train_codebook.c: train codebook: codes of a representation, reported in one
 * piece with the label.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/train_kinds.h"

struct plan {
    const char *path;
    char *analyst; /* the caller's to free */
    struct sotto_codebook_options options;
    struct sotto_codebook_wanted wanted;
    const struct sotto_clm_info *trained; /* NULL: the encoder was there */
};

/* ---- The summary --------------------------------------------------------- */

/* The candidates of a channel: numbers of codes, scores, errors. */
static void
tell_tried(FILE *to, const struct sotto_codebook_choice *choice,
           const char *channel)
{
    double k[SOTTO_CODEBOOK_TRIES_MAX], score[SOTTO_CODEBOOK_TRIES_MAX];
    double error[SOTTO_CODEBOOK_TRIES_MAX];
    char key[64];
    size_t count = 0;
    for (size_t i = 0; i < choice->tries; i++) {
        const struct sotto_codebook_try *at = &choice->tried[i];
        if (strcmp(at->channel, channel) == 0 && at->draws > 0) {
            k[count] = (double)at->k;
            score[count] = at->score;
            error[count++] = at->error;
        }
    }
    if (count > 0) {
        (void)snprintf(key, sizeof key, "%s_k", channel);
        json_numbers(to, key, k, count);
        (void)snprintf(key, sizeof key, "%s_score", channel);
        json_numbers(to, key, score, count);
        (void)snprintf(key, sizeof key, "%s_error", channel);
        json_numbers(to, key, error, count);
    }
}

static void
tell_json(FILE *to, const struct plan *plan,
          const struct sotto_codebook *codebook,
          const struct sotto_codebook_choice *choice,
          const struct sotto_mechanism_info *info)
{
    train_json(to, plan->path, info);
    json_text(to, "analyst", plan->analyst);
    if (plan->trained != NULL) {
        json_size(to, "epochs", (size_t)plan->trained->epochs);
        json_number(to, "loss", plan->trained->loss);
        json_bool(to, "resumed", plan->trained->resumed);
    }
    json_size(to, "cells", sotto_codebook_cells(codebook));
    json_size(to, "k", choice->k);
    json_text(to, "channel", choice->channel);
    if (choice->tries > 0) {
        json_size(to, "people", choice->people);
        tell_tried(to, choice, "subset");
        tell_tried(to, choice, "signs");
        tell_tried(to, choice, "flip");
    }
    json_end(to);
}

static void
tell_choice(FILE *to, const struct sotto_codebook_choice *choice)
{
    for (size_t i = 0; i < choice->tries; i++) {
        const struct sotto_codebook_try *at = &choice->tried[i];
        if (at->k == choice->k && strcmp(at->channel, choice->channel) == 0) {
            (void)fprintf(to,
                          "Chosen by simulating %zu people with made-up "
                          "labels: %.1f%% +- %.1f%% of records\nget theirs "
                          "back.\n",
                          choice->people, 100 * at->score, 100 * at->error);
        }
    }
}

static void
tell(const struct cli_args *args, const struct plan *plan,
     const struct sotto_codebook *codebook,
     const struct sotto_codebook_choice *choice,
     const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(plan->path);
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        tell_json(to, plan, codebook, choice, &info);
        return;
    }
    if (plan->trained != NULL) {
        (void)fprintf(to,
                      "Trained an encoder for %ju epoch%s: contrastive loss "
                      "%.4g.\n",
                      (uintmax_t)plan->trained->epochs,
                      plan->trained->epochs == 1 ? "" : "s",
                      plan->trained->loss);
    }
    (void)fprintf(to, "%zu codes, from %zu cells of %zu records, by %s.\n",
                  choice->k, sotto_codebook_cells(codebook),
                  sotto_codebook_records(codebook), choice->channel);
    tell_choice(to, choice);
    if (plan->analyst != NULL) {
        (void)fprintf(to, "Wrote ");
        cli_put(to, plan->analyst, strlen(plan->analyst));
        (void)fprintf(to,
                      ": codes and representations, for you alone: it tells "
                      "of the\nauxiliary people, and is never for devices.\n");
    }
    train_text(to, plan->path, &info);
}

/* ---- The plan ------------------------------------------------------------ */

static int
plan_make(const struct cli_args *args, const struct sotto_table *table,
          struct plan *plan)
{
    uint64_t k = 0, classes = 0, people = 0, cells = 0, threads = 0;
    if (!learning_whole(args, "k", 2, 65536, &k) ||
        !learning_whole(args, "classes", 2, 65535, &classes) ||
        !learning_whole(args, "people", 1, 1000000000, &people) ||
        !learning_whole(args, "cells", 2, 65536, &cells) ||
        !learning_whole(args, "threads", 1, 64, &threads) ||
        !cli_whole(args, "seed", &plan->options.seed)) {
        return CLI_EXIT_BAD;
    }
    plan->options.name = cli_value(args, "name");
    plan->options.campaign = cli_value(args, "campaign");
    plan->options.cells = (size_t)cells;
    plan->options.threads = (unsigned)threads;
    plan->wanted =
        (struct sotto_codebook_wanted){.eps = cli_value(args, "eps"),
                                       .people = (size_t)people,
                                       .classes = (size_t)classes,
                                       .k = (size_t)k,
                                       .channel = cli_value(args, "channel"),
                                       .seed = plan->options.seed};
    plan->path = cli_value(args, "output");
    int status = train_analyst(args, plan->path, &plan->analyst);
    if (status == CLI_EXIT_DONE) {
        status = train_label(args, table, &plan->options.label);
    }
    if (status == CLI_EXIT_DONE && plan->options.label == NULL &&
        (cli_given(args, "classes") || cli_given(args, "people"))) {
        status = cli_bad("--classes and --people are for choosing the number "
                         "of codes, which needs a label: name it, or leave "
                         "them out");
    }
    return status;
}

/* What is known to be wrong before an encoder is trained for it. */
static int
check_channel(const struct plan *plan)
{
    const char *channel = plan->wanted.channel;
    if (channel == NULL || strcmp(channel, "subset") == 0 ||
        strcmp(channel, "flip") == 0) {
        return CLI_EXIT_DONE;
    }
    if (strcmp(channel, "signs") != 0) {
        return cli_bad("--channel: \"%.40s\" is no channel for codes: take "
                       "subset, flip or signs",
                       channel);
    }
    return plan->options.label != NULL
               ? CLI_EXIT_DONE
               : cli_bad("--channel signs is about a code and a label "
                         "together: name a label, or take subset or flip");
}

/* ---- The kind ------------------------------------------------------------ */

/* Cells, choice, files: all that the watch watches. */
static enum sotto_status
work(struct plan *plan, const struct sotto_table *table,
     const struct sotto_mechanism *encoder,
     struct sotto_codebook **ret_codebook,
     struct sotto_codebook_choice *ret_choice,
     struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct watch watch;
    enum sotto_status status;
    watch_start(&watch);
    plan->options.watch = plan->wanted.watch = watch_port(&watch);
    status =
        sotto_codebook_new(table, encoder, &plan->options, ret_codebook, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_codebook_choose(*ret_codebook, &plan->wanted, ret_choice,
                                       err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            sotto_codebook_write(*ret_codebook, ret_choice, plan->wanted.eps,
                                 plan->path, plan->analyst, ret_mechanism, err);
    }
    watch_end(&watch);
    return status;
}

/* The one that is given, or one that is trained first. */
static int
find_encoder(const struct cli_args *args, const struct sotto_table *table,
             struct train_encoder *encoder)
{
    const char *given = cli_value(args, "encoder");
    struct sotto_error err = {0};
    if (given == NULL) {
        return train_encoder_make(args, table, encoder);
    }
    return sotto_mechanism_read(given, &encoder->mechanism, &err) ==
                   SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : cli_fail(&err);
}

int
train_codebook(const struct cli_args *args, const struct sotto_table *table)
{
    struct plan plan = {0};
    struct train_encoder encoder = {0};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_codebook_choice choice = {0};
    struct sotto_error err = {0};
    int status = plan_make(args, table, &plan);
    if (status == CLI_EXIT_DONE) {
        status = check_channel(&plan);
    }
    if (status == CLI_EXIT_DONE) {
        status = find_encoder(args, table, &encoder);
    }
    if (status == CLI_EXIT_DONE &&
        work(&plan, table, encoder.mechanism, &codebook, &choice, &mechanism,
             &err) != SOTTO_STATUS_OK) {
        status = encoder.checkpoint != NULL ? train_fail(&err) : cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        train_encoder_done(&encoder);
        plan.trained =
            cli_value(args, "encoder") == NULL ? &encoder.info : NULL;
        tell(args, &plan, codebook, &choice, mechanism);
    }
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
    train_encoder_clear(&encoder);
    free(plan.analyst);
    return status;
}
