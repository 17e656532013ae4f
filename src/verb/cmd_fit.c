/*
 * cmd_fit.c: sotto fit: a classifier from reports, or from clean records.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/report_source.h"

#define HIDDEN_MAX 8u
#define PATH_SIZE 4200u

struct fit_job {
    struct sotto_mechanism *mechanism;
    struct sotto_report_reader *reader;
    struct sotto_analyst *analyst;
    struct sotto_table *aux;
    char beside[PATH_SIZE]; /* M with .analyst for .sotto */
    struct sotto_fit_options options;
    uint32_t hidden[HIDDEN_MAX];
    struct sotto_model *model;
    struct sotto_fit_info info;
    size_t simulated;
};

static const char *const objectives[] = {"marginal", "label", "plain"};
static const char *const levels[] = {"latent", "feature"};

/* ---- Options ------------------------------------------------------------ */

/* Which word of a list an option is; false, with the message printed, if it is
   none. */
static bool
read_word(const struct cli_args *args, const char *name,
          const char *const *list, size_t count, unsigned *ret_value)
{
    const char *word = cli_value(args, name);
    for (size_t i = 0; word != NULL && i < count; i++) {
        if (strcmp(word, list[i]) == 0) {
            *ret_value = (unsigned)i;
            return true;
        }
    }
    if (word != NULL) {
        const char *nearest = cli_nearest(word, list, count);
        (void)cli_bad("--%s %.40s: there is no such %s%s%s%s", name, word, name,
                      nearest != NULL ? "; did you mean '" : "",
                      nearest != NULL ? nearest : "",
                      nearest != NULL ? "'?" : "");
    }
    return word == NULL;
}

static int
read_options(const struct cli_args *args, struct fit_job *job)
{
    struct sotto_fit_options *options = &job->options;
    unsigned objective = 0, level = 0;
    uint64_t epochs = 0, restarts = 0, batches = 0, threads = 0, most = 0;
    options->decay = -1;
    options->marginal = -1;
    options->entropy = -1;
    if (!read_word(args, "objective", objectives, 3, &objective) ||
        !read_word(args, "level", levels, 2, &level) ||
        !learning_hidden(args, HIDDEN_MAX, job->hidden, &options->hiddens) ||
        !cli_number(args, "rate", 1e-9, 10, &options->rate) ||
        !cli_number(args, "decay", 0, 1000, &options->decay) ||
        !cli_number(args, "share-weight", 0, 1000, &options->marginal) ||
        !cli_number(args, "entropy", 0, 1000, &options->entropy) ||
        !cli_number(args, "validation", 0, 0.8, &options->validation) ||
        !learning_whole(args, "epochs", 1, 100000, &epochs) ||
        !learning_whole(args, "batches", 1, 100000, &batches) ||
        !learning_whole(args, "restarts", 1, 32, &restarts) ||
        !learning_whole(args, "prior-most", 1, 1000000000, &most) ||
        !learning_whole(args, "threads", 1, 64, &threads) ||
        !cli_whole(args, "seed", &options->seed)) {
        return CLI_EXIT_BAD;
    }
    if (cli_given(args, "linear") && cli_given(args, "hidden")) {
        return cli_bad("--linear has no hidden layer: leave --hidden out");
    }
    if (cli_given(args, "entropy") && objective != SOTTO_OBJECTIVE_MARGINAL) {
        return cli_bad("--entropy belongs to --objective marginal");
    }
    options->objective = (enum sotto_objective)objective;
    options->level = (enum sotto_level)level;
    options->linear = cli_given(args, "linear");
    options->hidden = options->hiddens > 0 ? job->hidden : NULL;
    if (cli_given(args, "validation") && !(options->validation > 0)) {
        options->validation = -1; /* none, and not what 0 stands for */
    }
    options->other = cli_given(args, "other");
    options->balanced = cli_given(args, "balanced");
    options->shifted = cli_given(args, "shifted");
    options->epochs = (uint32_t)epochs;
    options->batches = (uint32_t)batches;
    options->restarts = (uint32_t)restarts;
    options->prior_most = (size_t)most;
    options->threads = (unsigned)threads;
    return CLI_EXIT_DONE;
}

/* ---- Inputs ------------------------------------------------------------- */

/* --analyst, or M with .analyst in place of .sotto, if that is there; NULL:
   neither. */
static const char *
find_analyst(const struct cli_args *args, struct fit_job *job)
{
    const char *path = args->word[0], *given = cli_value(args, "analyst");
    size_t size = strlen(path);
    if (given != NULL || size < 6 || size + 3 > sizeof job->beside ||
        strcmp(path + size - 6, ".sotto") != 0) {
        return given;
    }
    (void)snprintf(job->beside, sizeof job->beside, "%.*s.analyst",
                   (int)(size - 6), path);
    return access(job->beside, R_OK) == 0 ? job->beside : NULL;
}

static int
read_reports(const struct cli_args *args, struct fit_job *job)
{
    struct sotto_error err = {0};
    const char *path = args->word[1];
    if (report_source_open(job->mechanism, path, &job->reader, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    size_t count = sotto_report_reader_count(job->reader);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *report = sotto_report_reader_at(job->reader, i);
        job->simulated += sotto_report_simulated(report) ? 1 : 0;
    }
    if (job->simulated > 0 && job->simulated < count) {
        return cli_bad("'%.240s' mixes %zu simulated with %zu real reports: "
                       "separate them",
                       path, job->simulated, count - job->simulated);
    }
    return CLI_EXIT_DONE;
}

static int
read_inputs(const struct cli_args *args, struct fit_job *job)
{
    struct sotto_error err = {0};
    const char *aux = cli_value(args, "aux");
    const char *analyst = find_analyst(args, job);
    int status = CLI_EXIT_DONE;
    if (cli_given(args, "labels") && aux == NULL) {
        return cli_bad("--labels belongs to --aux: the labels of reports are "
                       "in the reports");
    }
    if (sotto_mechanism_read(args->word[0], &job->mechanism, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (analyst != NULL &&
        sotto_analyst_read(analyst, &job->analyst, &err) != SOTTO_STATUS_OK) {
        return learning_fail(&err, analyst);
    }
    if (analyst != NULL && sotto_analyst_check(job->analyst, job->mechanism,
                                               &err) != SOTTO_STATUS_OK) {
        return learning_fail(&err, analyst);
    }
    if (aux != NULL) {
        status = records_read(args, aux, cli_value(args, "labels"), &job->aux);
    }
    return status == CLI_EXIT_DONE ? read_reports(args, job) : status;
}

/* Points of the prior that there are to be used. */
static size_t
prior_points(const struct fit_job *job)
{
    if (job->aux != NULL) {
        return sotto_table_rows(job->aux);
    }
    return job->analyst != NULL ? sotto_analyst_points(job->analyst) : 0;
}

/* ---- The verb ----------------------------------------------------------- */

static int
fit(const struct cli_args *args, struct fit_job *job)
{
    const char *path = cli_value(args, "output");
    struct sotto_error err = {0};
    struct watch watch;
    watch_start(&watch);
    job->options.watch = watch_port(&watch);
    enum sotto_status status =
        sotto_fit(job->mechanism, job->reader, job->analyst, job->aux,
                  &job->options, &job->model, &job->info, &err);
    watch_end(&watch);
    if (status != SOTTO_STATUS_OK) {
        /* the one table is --aux: reports are none */
        bool aux = strcmp(err.subject, "table") == 0;
        return learning_fail(&err,
                             aux ? cli_value(args, "aux") : args->word[1]);
    }
    if (sotto_model_write(job->model, path, &err) != SOTTO_STATUS_OK) {
        return learning_fail(&err, path);
    }
    return CLI_EXIT_DONE;
}

static void
tell_json_fit(const struct fit_job *job, const char *path, FILE *to)
{
    const struct sotto_fit_info *info = &job->info;
    json_begin(to);
    json_text(to, "model_file", path);
    json_text(to, "objective", objectives[job->options.objective]);
    json_text(to, "level", levels[job->options.level]);
    json_size(to, "reports", info->reports);
    json_size(to, "simulated", job->simulated);
    json_size(to, "points", info->points);
    json_number(to, "kept", info->kept);
    json_number(to, "truncated", info->truncated);
    json_number(to, "memory", info->memory);
    json_number(to, "log_p", info->log_p);
    json_number(to, "validation", info->validation);
    json_size(to, "epochs", (size_t)info->epochs);
    json_size(to, "classes", sotto_model_classes(job->model));
    json_end(to);
}

/* Whether a report is about record and label together. */
static bool
covers_both(const struct fit_job *job)
{
    struct sotto_part_info part;
    sotto_mechanism_part(job->mechanism, 0, &part);
    return strcmp(part.covers, "both") == 0;
}

static void
tell_fit(const struct cli_args *args, const struct fit_job *job)
{
    const char *path = cli_value(args, "output");
    const struct sotto_fit_info *info = &job->info;
    FILE *to = cli_summary(path);
    if (cli_given(args, "json")) {
        tell_json_fit(job, path, to);
        return;
    }
    (void)fprintf(to, "Wrote ");
    cli_put(to, path, strlen(path));
    (void)fprintf(to, ": learnt from %zu reports in %zu epochs", info->reports,
                  (size_t)info->epochs);
    if (info->points > 0) {
        (void)fprintf(to, ", over a prior of %zu points", info->points);
    }
    (void)fprintf(to, ".\nlog-likelihood of a report%s: %.5f",
                  covers_both(job) ? "" : "'s label", info->log_p);
    if (job->options.validation < 0 || info->validation >= 0) {
        (void)fprintf(to, "; none was held out\n");
    } else {
        (void)fprintf(to, ", held out %.5f\n", info->validation);
    }
    if (job->simulated > 0) {
        cli_note("the reports are simulated: for experiments only");
    }
}

static int
run_fit(const struct cli_args *args)
{
    struct fit_job job = {0};
    const char *const inputs[] = {
        args->word[0], args->word[1], cli_value(args, "aux"),
        cli_value(args, "labels"), find_analyst(args, &job)};
    int status = read_options(args, &job);
    if (status == CLI_EXIT_DONE) {
        status = output_file_check(cli_value(args, "output"), inputs,
                                   sizeof inputs / sizeof *inputs);
    }
    if (status == CLI_EXIT_DONE) {
        status = read_inputs(args, &job);
    }
    if (status == CLI_EXIT_DONE) {
        status = fit(args, &job);
    }
    if (status == CLI_EXIT_DONE) {
        tell_fit(args, &job);
    }
    if (status == CLI_EXIT_DONE && job.info.points > 0) {
        learning_note_thinned(prior_points(&job), job.options.prior_most,
                              job.info.points, job.info.reports);
    }
    sotto_model_free(job.model);
    sotto_table_free(job.aux);
    sotto_analyst_free(job.analyst);
    sotto_report_reader_free(job.reader);
    sotto_mechanism_free(job.mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "R (reports)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "analyst", "A",
     "decoder and prior; else M with .analyst for .sotto,\n"
     "if it is there"},
    {0, false, false, "aux", "F",
     "auxiliary records: the prior, in place of the\n"
     "analyst file's"},
    {0, false, false, "labels", "F", "a file with the labels of --aux"},
    {0, false, false, "header", "yes|no",
     "whether the first row of --aux names the columns"},
    {0, false, false, "objective", "O",
     "marginal: over the noise of record and label;\n"
     "label: over the label's alone; plain: as if there\n"
     "were none (marginal)"},
    {0, false, false, "level", "L",
     "latent: classify representations; feature: records\n"
     "(latent)"},
    {0, false, false, "hidden", "N,...", "units of the hidden layers (50)"},
    {0, false, false, "linear", NULL, "no hidden layer"},
    {0, false, false, "other", NULL,
     "labels may be missing or new: a class of its own,\n"
     "as it is anyway beside a single category"},
    {0, false, false, "epochs", "N", "at most; else chosen from the budget"},
    {0, false, false, "rate", "X", "Adam's; else likewise"},
    {0, false, false, "decay", "X", "weight decay; else likewise"},
    {0, false, false, "batches", "N", "steps an epoch; else likewise"},
    {0, false, false, "restarts", "N",
     "networks whose answers are averaged, up to 32 (1)"},
    {0, false, false, "share-weight", "X",
     "ties the classes' shares to those of the label\n"
     "reports (0)"},
    {0, false, false, "balanced", NULL,
     "classes are known to be equally frequent: that is\n"
     "their share (--share-weight 0.1, if not given)"},
    {0, false, false, "shifted", NULL,
     "codebook: the people's codes have other shares than\n"
     "the auxiliary records': estimate them as well"},
    {0, false, false, "entropy", "W",
     "marginal: how much certainty counts, so that\n"
     "boundaries run where few records are (0)"},
    {0, false, false, "validation", "V",
     "share of the reports that only score, 0: none (0.1)"},
    {0, false, false, "prior-most", "N",
     "use at most N points of the prior (all, or what\n"
     "fits in 2 GB)"},
    {0, false, false, "seed", "S", "the same seed, the same model (0)"},
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    {'o', true, false, "output", "MODEL", "the model to write"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_fit = {
    .name = "fit",
    .summary = "learn a classifier from reports",
    .usage = "M R [--analyst A | --aux F] [--objective O] -o MODEL",
    .about =
        "Learns to tell the label from the rest of a record, from privatised "
        "records and\nlabels alone. With the objective marginal (Eq. 11) "
        "every report is weighed over\nall points of a prior, by how likely "
        "the noise would have made it from there;\nthe prior is in the analyst "
        "file of a trained mechanism, or comes from --aux.\nReports of a "
        "codebook say which labels its codes have; of the auxiliary "
        "records\nwhat they are like. What is done to reports costs no more "
        "privacy.\n",
    .example = "sotto fit wdbc.sotto wdbc.reports --aux data/wdbc.csv "
               "-o wdbc.model\n",
    .wanted = wanted,
    .options = options,
    .run = run_fit,
};
