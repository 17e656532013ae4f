/*
 * train_contrastive.c: train clm, and encoders for train codebook.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/train_kinds.h"

#define LAYERS_MAX 15u

/* ---- Options ------------------------------------------------------------- */

static int
read_options(const struct cli_args *args, struct sotto_clm_options *options,
             uint32_t hidden[LAYERS_MAX], uint32_t widths[LAYERS_MAX])
{
    uint64_t epochs = 0, batch = 0;
    if (!learning_list(args, "hidden", LAYERS_MAX, hidden, &options->hiddens) ||
        !learning_list(args, "widths", LAYERS_MAX, widths,
                       &options->width_count) ||
        !cli_number(args, "l", 0.001, 1000000, &options->l) ||
        !cli_number(args, "eps-pre", 0.001, 1000000, &options->eps_pre) ||
        !cli_number(args, "inside", 0.000001, 1, &options->inside) ||
        !cli_number(args, "temperature", 0.01, 100, &options->temperature) ||
        !cli_number(args, "rate", 0.000000001, 10, &options->rate) ||
        !learning_whole(args, "epochs", 1, 1000000, &epochs) ||
        !learning_whole(args, "batch", 2, 8192, &batch) ||
        !cli_whole(args, "seed", &options->seed)) {
        return CLI_EXIT_BAD;
    }
    if (cli_given(args, "l") && !cli_given(args, "eps-pre")) {
        return cli_bad("--l is the ball that --eps-pre puts noise in: give "
                       "both or neither");
    }
    if (cli_given(args, "inside") && cli_given(args, "eps-pre")) {
        return cli_bad("with --eps-pre the encoder learns what to leave "
                       "inside the ball: leave --inside out");
    }
    options->hidden = options->hiddens > 0 ? hidden : NULL;
    options->widths = options->width_count > 0 ? widths : NULL;
    options->epochs = (uint32_t)epochs;
    options->batch = (uint32_t)batch;
    return CLI_EXIT_DONE;
}

/* ---- The summary --------------------------------------------------------- */

static void
tell(const struct cli_args *args, const struct train_plan *plan,
     const struct sotto_mechanism *mechanism,
     const struct sotto_clm_info *trained)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(plan->path);
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        train_json(to, plan->path, &info);
        json_number(to, "eps_features", info.eps_features);
        json_number(to, "eps_label", info.eps_label);
        json_text(to, "analyst", plan->analyst);
        json_size(to, "epochs", (size_t)trained->epochs);
        json_number(to, "loss", trained->loss);
        json_number(to, "clipped", trained->clipped);
        json_bool(to, "resumed", trained->resumed);
        json_end(to);
        return;
    }
    (void)fprintf(to,
                  "Trained for %ju epoch%s: contrastive loss %.4g, %.0f%% of "
                  "the records on the\nball's surface.\nWrote ",
                  (uintmax_t)trained->epochs, trained->epochs == 1 ? "" : "s",
                  trained->loss, 100 * trained->clipped);
    cli_put(to, plan->analyst, strlen(plan->analyst));
    (void)fprintf(to, ": the prior, for you alone: it tells of the auxiliary\n"
                      "people, and is never for devices.\n");
    train_text(to, plan->path, &info);
}

/* ---- The kind ------------------------------------------------------------ */

/* What is asked for. */
struct wanted {
    struct train_plan plan;
    struct sotto_clm_options options;
    uint32_t hidden[LAYERS_MAX], widths[LAYERS_MAX];
};

static int
read_wanted(const struct cli_args *args, const struct sotto_table *table,
            struct wanted *wanted)
{
    struct sotto_clm_options *options = &wanted->options;
    const struct train_plan *plan = &wanted->plan;
    *options = (struct sotto_clm_options){
        .eps = cli_value(args, "eps"),
        .name = cli_value(args, "name"),
        .campaign = cli_value(args, "campaign"),
        .label_channel = cli_value(args, "label-channel"),
        .network = cli_value(args, "network"),
        .residual = cli_given(args, "residual"),
        .augment = cli_value(args, "augment")};
    int status = read_options(args, options, wanted->hidden, wanted->widths);
    if (status == CLI_EXIT_DONE) {
        status = train_plan_make(args, table, &wanted->plan);
    }
    options->lambda = plan->lambda;
    options->label = plan->label;
    options->drop = plan->drop;
    options->drops = plan->drops;
    options->d = (size_t)plan->d;
    options->steps = (uint32_t)plan->steps;
    options->threads = (unsigned)plan->threads;
    options->checkpoint = plan->checkpoint;
    return status;
}

/* `path` and `analyst` NULL: no files. */
static int
train(const struct sotto_table *table, struct sotto_clm_options *options,
      const char *path, const char *analyst, struct sotto_clm_info *ret_info,
      struct sotto_mechanism **ret_mechanism)
{
    struct sotto_error err = {0};
    struct watch watch;
    int status = CLI_EXIT_DONE;
    watch_start(&watch);
    options->watch = watch_port(&watch);
    if (sotto_train_clm(table, options, path, analyst, ret_info, ret_mechanism,
                        &err) != SOTTO_STATUS_OK) {
        status = train_fail(&err);
    }
    watch_end(&watch);
    return status;
}

int
train_clm(const struct cli_args *args, const struct sotto_table *table)
{
    struct wanted wanted = {0};
    struct sotto_clm_info info = {0};
    struct sotto_mechanism *mechanism = NULL;
    int status = read_wanted(args, table, &wanted);
    if (status == CLI_EXIT_DONE) {
        status = train(table, &wanted.options, wanted.plan.path,
                       wanted.plan.analyst, &info, &mechanism);
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, &wanted.plan, mechanism, &info);
    }
    sotto_mechanism_free(mechanism);
    train_plan_clear(&wanted.plan);
    return status;
}

/* ---- For a codebook ------------------------------------------------------ */

/* Its budget is never used, so the same encoder serves any --eps. */
int
train_encoder_make(const struct cli_args *args, const struct sotto_table *table,
                   struct train_encoder *encoder)
{
    struct wanted wanted = {0};
    int status = read_wanted(args, table, &wanted);
    wanted.options.eps = "1";
    wanted.options.name = wanted.options.campaign = NULL;
    if (status == CLI_EXIT_DONE) {
        status = train(table, &wanted.options, NULL, NULL, &encoder->info,
                       &encoder->mechanism);
    }
    encoder->checkpoint = wanted.plan.checkpoint;
    wanted.plan.checkpoint = NULL;
    train_plan_clear(&wanted.plan);
    return status;
}

void
train_encoder_done(struct train_encoder *encoder)
{
    if (encoder->checkpoint != NULL) {
        (void)remove(encoder->checkpoint); /* may not exist */
    }
}

void
train_encoder_clear(struct train_encoder *encoder)
{
    sotto_mechanism_free(encoder->mechanism);
    free(encoder->checkpoint);
}
