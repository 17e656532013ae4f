/*
 * train_model.c: sotto train code and class: what a device sends to have its
 * record classified by a model; and right: whether that would be right.
 */
#include <math.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/train_kinds.h"

static void
tell_model(const struct cli_args *args, const struct sotto_mechanism *mechanism,
           double expected)
{
    const char *path = cli_value(args, "output");
    const char *recut = cli_value(args, "recut");
    FILE *to = cli_summary(path);
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    sotto_mechanism_info(mechanism, &info);
    sotto_mechanism_part(mechanism, 0, &part);
    if (cli_given(args, "json")) {
        train_json(to, path, &info);
        json_text(to, "channel", part.channel);
        json_size(to, "k", part.size);
        json_number(to, "expected", expected);
        json_text(to, "model_file", recut);
        json_end(to);
        return;
    }
    if (isnan(expected)) {
        (void)fprintf(to, "Whether the model is right, yes or no, by flip. "
                          "See what answers say with\nsotto validate; of "
                          "several models, with sotto choose.\n");
        train_text(to, path, &info);
        return;
    }
    (void)fprintf(to,
                  "One of %zu %s, by %s. If the model is right about itself, "
                  "%.1f%% of records\nget their class from one report.\n",
                  part.size,
                  strcmp(args->word[0], "class") == 0 ? "classes" : "codes",
                  part.channel, 100 * expected);
    if (recut != NULL) {
        (void)fprintf(to,
                      "Wrote %s: the model that classifies these reports.\n",
                      cli_shown(recut));
    }
    train_text(to, path, &info);
}

/* ---- Another cut --------------------------------------------------------- */

/* Cuts cells from the records of --data, without a label, in the campaign of
   the model's mechanism: who reported there spends more of the same. They end
   with it, unless told. The codebook keeps the watch. */
static int
cut_cells(const struct cli_args *args, const struct sotto_model *model,
          const struct sotto_table *table, struct watch *watch,
          struct sotto_codebook **ret_codebook)
{
    struct sotto_mechanism *mechanism = sotto_model_mechanism(model);
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    enum sotto_status status;
    uint64_t threads = 0, cells = 0, seed = 0;
    if (!cli_whole(args, "threads", 1, 64, &threads) ||
        !cli_whole(args, "cells", 2, 65536, &cells) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &seed)) {
        return CLI_EXIT_BAD;
    }
    sotto_mechanism_info(mechanism, &info);
    status = sotto_codebook_new(
        table, mechanism,
        &(struct sotto_codebook_options){.name = "code",
                                         .campaign = info.campaign,
                                         .expires = train_end(args, mechanism),
                                         .cells = (size_t)cells,
                                         .seed = seed,
                                         .threads = (unsigned)threads,
                                         .watch = watch_port(watch)},
        ret_codebook, &err);
    return status == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : learning_fail(&err, cli_value(args, "data"));
}

/* Makes --output and --recut. */
static int
recut_model(const struct cli_args *args, struct sotto_model **model,
            struct sotto_mechanism **ret_mechanism)
{
    const char *data = cli_value(args, "data"), *to = cli_value(args, "recut");
    struct sotto_table *table = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_model *cut = NULL;
    struct sotto_error err = {0};
    struct watch watch;
    uint64_t k = 0;
    int status = cli_whole(args, "k", 2, 65536, &k)
                     ? records_read(args, data, NULL, &table)
                     : CLI_EXIT_BAD;
    size_t count = (size_t)k;
    watch_start(&watch);
    status =
        CLI_THEN(status, cut_cells(args, *model, table, &watch, &codebook));
    if (status == CLI_EXIT_DONE &&
        sotto_model_cut(*model, codebook, count > 0 ? &count : NULL, 1,
                        cli_value(args, "eps"), cli_value(args, "output"),
                        ret_mechanism, &cut, &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, data);
    }
    watch_end(&watch);
    if (status == CLI_EXIT_DONE &&
        sotto_model_write(cut, to, &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, to);
    }
    if (cut != NULL) {
        sotto_model_free(*model);
        *model = cut;
    }
    sotto_codebook_free(codebook);
    sotto_table_free(table);
    return status;
}

static int
check_recut(const struct cli_args *args)
{
    static const char *const these[] = {"data",  "header", "k",
                                        "cells", "seed",   "threads"};
    const char *path = cli_value(args, "recut");
    const char *const inputs[] = {cli_value(args, "model"),
                                  cli_value(args, "data"),
                                  cli_value(args, "output")};
    for (size_t i = 0; path == NULL && i < sizeof these / sizeof *these; i++) {
        if (cli_given(args, these[i])) {
            return cli_bad("--%s belongs to --recut: else the codes are those "
                           "that the model learnt from",
                           these[i]);
        }
    }
    if (path != NULL && !cli_given(args, "data")) {
        return cli_bad("--recut needs --data: a model does not keep the "
                       "auxiliary records that codes are cut from");
    }
    if (path != NULL && cli_given(args, "channel")) {
        return cli_bad("--recut sends codes by flip: leave --channel out");
    }
    if (path != NULL && strcmp(path, cli_value(args, "output")) == 0) {
        return cli_bad("--recut and -o are both '%.240s': one is a model, the "
                       "other a mechanism",
                       path);
    }
    return output_file_check(path, inputs, sizeof inputs / sizeof *inputs);
}

/* ---- The kinds ----------------------------------------------------------- */

static int
finish_make(const struct cli_args *args, enum sotto_status status,
            const struct sotto_error *err)
{
    return status == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : learning_fail(err, cli_value(args, "model"));
}

int
train_code(const struct cli_args *args, const struct sotto_model *model,
           struct sotto_mechanism **ret_mechanism)
{
    struct sotto_error err = {0};
    enum sotto_status status = sotto_model_mechanism_code(
        model, cli_value(args, "eps"), cli_value(args, "channel"),
        cli_value(args, "output"), ret_mechanism, &err);
    return finish_make(args, status, &err);
}

int
train_class(const struct cli_args *args, const struct sotto_model *model,
            struct sotto_mechanism **ret_mechanism)
{
    struct sotto_error err = {0};
    enum sotto_status status = sotto_model_mechanism_class(
        model, cli_value(args, "eps"), cli_value(args, "output"), ret_mechanism,
        &err);
    return finish_make(args, status, &err);
}

int
train_right(const struct cli_args *args, const struct sotto_model *model,
            struct sotto_mechanism **ret_mechanism)
{
    size_t networks = sotto_model_networks(model);
    uint64_t network = 1;
    struct sotto_error err = {0};
    enum sotto_status status;
    if (!cli_whole(args, "network", 1, networks, &network)) {
        return CLI_EXIT_BAD;
    }
    if (networks > 1 && !cli_given(args, "network")) {
        return cli_bad("the model has %zu networks: say with --network which "
                       "one is asked about",
                       networks);
    }
    status = sotto_model_mechanism_right(
        model, (size_t)network - 1, cli_value(args, "label"),
        cli_value(args, "eps"), cli_value(args, "output"), ret_mechanism, &err);
    return finish_make(args, status, &err);
}

int
train_model(const struct cli_args *args)
{
    const char *from = cli_value(args, "model");
    const struct train_model_kind *kind = train_model_find(args->word[0]);
    struct sotto_model *model = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    double expected = NAN; /* right: nothing is */
    int status = check_recut(args);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (sotto_model_read(from, &model, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = train_check_end(args, from, sotto_model_mechanism(model));
    status = CLI_THEN(status, cli_given(args, "recut")
                                  ? recut_model(args, &model, &mechanism)
                                  : kind->make(args, model, &mechanism));
    if (status == CLI_EXIT_DONE && kind->expects &&
        sotto_model_expect(model, mechanism, &expected, &err) !=
            SOTTO_STATUS_OK) {
        status = learning_fail(&err, from);
    }
    status = CLI_THEN(status, train_expire(args, &mechanism));
    if (status == CLI_EXIT_DONE) {
        tell_model(args, mechanism, expected);
    }
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
    return status;
}
