/*
 * train_learnt.c: train vlm, train pca, and another budget for either.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/train_kinds.h"

#define HIDDEN_MAX 15u
#define EPS_PRE_SHARE 3.3 /* of epsilon, as the papers chose it for images */
#define EPS_PRE_LEAST 7.0

/* ---- Paths --------------------------------------------------------------- */

/* PATH with another ending in place of .sotto, or behind all of it. */
static char *
beside(const char *path, const char *cut, const char *ending)
{
    size_t size = strlen(path), tail = strlen(cut);
    if (tail > 0 && size > tail && strcmp(path + size - tail, cut) == 0) {
        size -= tail;
    }
    size_t room = size + strlen(ending) + 1;
    char *text = malloc(room);
    if (text != NULL) {
        (void)snprintf(text, room, "%.*s%s", (int)size, path, ending);
    }
    return text;
}

/* Whether it is a file, or may become one: beside a pipe there is no room. */
static bool
is_file(const char *path)
{
    struct stat file;
    return stat(path, &file) != 0 || S_ISREG(file.st_mode);
}

int
train_analyst(const struct cli_args *args, const char *path, char **ret_analyst)
{
    const char *given = cli_value(args, "analyst");
    if (given == NULL && !is_file(path)) {
        return cli_bad("-o is no file to put another beside: say with "
                       "--analyst where decoder and prior go");
    }
    *ret_analyst =
        given != NULL ? strdup(given) : beside(path, ".sotto", ".analyst");
    if (*ret_analyst == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    if (strcmp(*ret_analyst, path) == 0) {
        return cli_bad("--analyst and -o are both '%.240s': one is for you, "
                       "the other for devices",
                       path);
    }
    const char *const others[] = {cli_value(args, "data"),
                                  cli_value(args, "labels"),
                                  cli_value(args, "encoder"), path};
    return output_file_check(*ret_analyst, others,
                             sizeof others / sizeof *others);
}

static int
plan_paths(const struct cli_args *args, struct train_plan *plan)
{
    plan->path = cli_value(args, "output");
    int status = train_analyst(args, plan->path, &plan->analyst);
    if (status == CLI_EXIT_DONE && is_file(plan->path)) {
        plan->checkpoint = beside(plan->path, "", ".checkpoint");
        if (plan->checkpoint == NULL) {
            cli_error("out of memory");
            status = CLI_EXIT_FAILED;
        }
    }
    return status;
}

int
train_plan_make(const struct cli_args *args, const struct sotto_table *table,
                struct train_plan *plan)
{
    if (!cli_number(args, "lambda", 0.000001, 0.999999, &plan->lambda) ||
        !learning_whole(args, "d", 1, 4096, &plan->d) ||
        !learning_whole(args, "steps", 1, 1048576, &plan->steps) ||
        !learning_whole(args, "threads", 1, 64, &plan->threads)) {
        return CLI_EXIT_BAD;
    }
    int status = plan_paths(args, plan);
    if (status == CLI_EXIT_DONE) {
        status = train_label(args, table, &plan->label);
    }
    if (status == CLI_EXIT_DONE) {
        status =
            train_drops(args, table, plan->label, &plan->drop, &plan->drops);
    }
    if (status == CLI_EXIT_DONE && plan->lambda > 0 && plan->label == NULL) {
        status = cli_bad("--lambda shares epsilon between record and label: "
                         "name a label, or leave it out");
    }
    return status;
}

void
train_plan_clear(struct train_plan *plan)
{
    free(plan->analyst);
    free(plan->checkpoint);
    free(plan->drop);
}

/* ---- The summary --------------------------------------------------------- */

static void
tell_facts(FILE *to, const struct sotto_train_info *info)
{
    json_size(to, "epochs", (size_t)info->epochs);
    json_number(to, "loss", info->loss);
    json_number(to, "validation", info->validation);
    json_number(to, "kl", info->kl);
    json_number(to, "b", info->b);
    json_number(to, "clipped", info->clipped);
    json_bool(to, "resumed", info->resumed);
}

/* `trained` is NULL where there were no epochs; `analyst` where it is another's
   file. */
static void
tell(const struct cli_args *args, const char *path, const char *analyst,
     const struct sotto_mechanism *mechanism,
     const struct sotto_train_info *trained)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(path);
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        train_json(to, path, &info);
        json_number(to, "eps_features", info.eps_features);
        json_number(to, "eps_label", info.eps_label);
        json_text(to, "analyst", analyst);
        if (trained != NULL) {
            tell_facts(to, trained);
        }
        json_end(to);
        return;
    }
    if (trained != NULL) {
        (void)fprintf(to,
                      "Trained for %ju epoch%s: negative ELBO %.4g a record "
                      "(%.4g on validation rows),\nKL %.3g, noise b %.3g, "
                      "%.0f%% of the records on the ball's surface.\n",
                      (uintmax_t)trained->epochs,
                      trained->epochs == 1 ? "" : "s", trained->loss,
                      trained->validation, trained->kl, trained->b,
                      100 * trained->clipped);
    }
    if (analyst != NULL) {
        (void)fprintf(to, "Wrote ");
        cli_put(to, analyst, strlen(analyst));
        (void)fprintf(to, ": decoder and prior, for you alone: it tells of "
                          "the auxiliary\npeople, and is never for devices.\n");
    }
    train_text(to, path, &info);
}

/* ---- train vlm ----------------------------------------------------------- */

/* Training noise: given, learnt, or what suits epsilon. */
static int
read_noise(const struct cli_args *args, double *ret_eps_pre)
{
    double eps = 0, eps_pre = 0;
    if (cli_given(args, "eps-pre") && cli_given(args, "learn-b")) {
        return cli_bad("--eps-pre and --learn-b exclude each other: give one");
    }
    if (!cli_eps(args, "eps", &eps) ||
        !cli_number(args, "eps-pre", 0.001, 1000000, &eps_pre)) {
        return CLI_EXIT_BAD;
    }
    if (!cli_given(args, "eps-pre") && !cli_given(args, "learn-b")) {
        eps_pre = fmax(EPS_PRE_SHARE * eps, EPS_PRE_LEAST);
    }
    *ret_eps_pre = eps_pre;
    return CLI_EXIT_DONE;
}

static int
read_options(const struct cli_args *args, struct sotto_vlm_options *options,
             uint32_t hidden[HIDDEN_MAX])
{
    uint64_t epochs = 0, batch = 0, patience = 0;
    if (cli_given(args, "hidden") && cli_given(args, "linear")) {
        return cli_bad("--linear has no hidden layers: leave --hidden out");
    }
    if (!learning_hidden(args, HIDDEN_MAX, hidden, &options->hiddens)) {
        return CLI_EXIT_BAD;
    }
    options->hidden = options->hiddens > 0 ? hidden : NULL;
    options->linear = cli_given(args, "linear");
    if (!cli_number(args, "l", 0.001, 1000000, &options->l) ||
        !cli_number(args, "autogen", -0.999, 1000000, &options->autogen) ||
        !cli_number(args, "rate", 0.000000001, 10, &options->rate) ||
        !learning_whole(args, "epochs", 1, 1000000, &epochs) ||
        !learning_whole(args, "batch", 1, 65536, &batch) ||
        !learning_whole(args, "patience", 1, 1000000, &patience) ||
        !cli_whole(args, "seed", &options->seed)) {
        return CLI_EXIT_BAD;
    }
    options->epochs = (uint32_t)epochs;
    options->batch = (uint32_t)batch;
    options->patience = (uint32_t)patience;
    return read_noise(args, &options->eps_pre);
}

int
train_fail(const struct sotto_error *err)
{
    if (err->status == SOTTO_STATUS_STOPPED) {
        cli_error("stopped; run the same command again to go on");
        return CLI_EXIT_FAILED;
    }
    return cli_fail(err);
}

int
train_vlm(const struct cli_args *args, const struct sotto_table *table)
{
    struct train_plan plan = {0};
    struct sotto_vlm_options options = {.eps = cli_value(args, "eps"),
                                        .name = cli_value(args, "name"),
                                        .campaign =
                                            cli_value(args, "campaign")};
    uint32_t hidden[HIDDEN_MAX];
    struct sotto_train_info info = {0};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    int status = read_options(args, &options, hidden);
    if (status == CLI_EXIT_DONE) {
        status = train_plan_make(args, table, &plan);
    }
    if (status == CLI_EXIT_DONE) {
        struct watch watch;
        options.lambda = plan.lambda;
        options.label = plan.label;
        options.label_channel = cli_value(args, "label-channel");
        options.drop = plan.drop;
        options.drops = plan.drops;
        options.d = (size_t)plan.d;
        options.steps = (uint32_t)plan.steps;
        options.threads = (unsigned)plan.threads;
        options.checkpoint = plan.checkpoint;
        watch_start(&watch);
        options.watch = watch_port(&watch);
        if (sotto_train_vlm(table, &options, plan.path, plan.analyst, &info,
                            &mechanism, &err) != SOTTO_STATUS_OK) {
            status = train_fail(&err);
        }
        watch_end(&watch);
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, plan.path, plan.analyst, mechanism, &info);
    }
    sotto_mechanism_free(mechanism);
    train_plan_clear(&plan);
    return status;
}

/* ---- train pca ----------------------------------------------------------- */

int
train_pca(const struct cli_args *args, const struct sotto_table *table)
{
    struct train_plan plan = {0};
    struct sotto_pca_options options = {.eps = cli_value(args, "eps"),
                                        .name = cli_value(args, "name"),
                                        .campaign = cli_value(args, "campaign"),
                                        .whiten = cli_given(args, "whiten")};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    if (!cli_number(args, "inside", 0.000001, 1, &options.inside)) {
        return CLI_EXIT_BAD;
    }
    int status = train_plan_make(args, table, &plan);
    if (status == CLI_EXIT_DONE) {
        options.lambda = plan.lambda;
        options.label = plan.label;
        options.label_channel = cli_value(args, "label-channel");
        options.drop = plan.drop;
        options.drops = plan.drops;
        options.d = (size_t)plan.d;
        options.steps = (uint32_t)plan.steps;
        options.threads = (unsigned)plan.threads;
        if (sotto_train_pca(table, &options, plan.path, plan.analyst,
                            &mechanism, &err) != SOTTO_STATUS_OK) {
            status = cli_fail(&err);
        }
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, plan.path, plan.analyst, mechanism, NULL);
    }
    sotto_mechanism_free(mechanism);
    train_plan_clear(&plan);
    return status;
}

/* ---- --from -------------------------------------------------------------- */

/*
 * Whether the mechanism can be of the kind that was said. A file does not name
 * its kind, but direct has no encoder, and that of pca has one layer, as a
 * linear one of vlm.
 */
static int
check_kind(const char *kind, const char *path,
           const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (info.layers == 0 && strcmp(kind, "direct") != 0) {
        return cli_bad("--from '%.240s' has no encoder: its KIND is direct, "
                       "not %s",
                       path, kind);
    }
    if (info.layers > 0 && strcmp(kind, "direct") == 0) {
        return cli_bad("--from '%.240s' has an encoder: its KIND is vlm, "
                       "clm or pca, not direct",
                       path);
    }
    if (info.layers > 1 && strcmp(kind, "pca") == 0) {
        return cli_bad("--from '%.240s' has an encoder of %zu layers: its "
                       "KIND is vlm or clm, not pca",
                       path, info.layers);
    }
    return CLI_EXIT_DONE;
}

int
train_from(const struct cli_args *args)
{
    const char *from = cli_value(args, "from");
    const char *path = cli_value(args, "output");
    struct sotto_mechanism *old = NULL, *mechanism = NULL;
    struct sotto_error err = {0};
    double lambda = 0;
    int status;
    if (!cli_number(args, "lambda", 0.000001, 0.999999, &lambda)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_mechanism_read(from, &old, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = check_kind(args->word[0], from, old);
    if (status == CLI_EXIT_DONE &&
        sotto_mechanism_rebudget(old, cli_value(args, "eps"), lambda,
                                 cli_value(args, "label-channel"), path,
                                 &mechanism, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, path, NULL, mechanism, NULL);
    }
    sotto_mechanism_free(old);
    sotto_mechanism_free(mechanism);
    return status;
}
