/*
 * cmd_fit.c: sotto fit: a classifier from reports, or from clean records.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/setting_options.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/report_source.h"

#define GAP_MOST 1.0       /* nats; more is said */
#define NOTHING_WITHIN 0.5 /* of a frequency: from 0 to 1 */
#define KNOWN_LEAST 0.5    /* terms of a line; fewer are said to be none */

#define PATH_SIZE 4200u

struct fit_job {
    struct sotto_mechanism *mechanism;
    struct sotto_report_reader *reader; /* where order or ids matter; */
    struct sotto_report_stream *stream; /* else */
    struct sotto_report_seen seen;
    struct sotto_analyst *analyst;
    struct sotto_table *aux;
    struct sotto_table *labels; /* in the clear; NULL: reports have them */
    const char *column;         /* theirs */
    struct sotto_table *records, *keys; /* label only; NULL: none */
    struct sotto_mechanism *from;       /* whose encoder it begins with */
    char beside[PATH_SIZE];             /* M with .analyst for .sotto */
    struct sotto_fit_options options;
    struct sotto_setting *set;
    struct sotto_model *model;
    struct sotto_fit_info info;
    size_t simulated;
};

/* ---- Options ------------------------------------------------------------ */

static const char *
learner_at(size_t i, const char **ret_about)
{
    struct sotto_fit_learner learner;
    if (!sotto_fit_learner_at(i, &learner)) {
        return NULL;
    }
    *ret_about = learner.about;
    return learner.name;
}

static void
add_learner(struct setting_options *options, const char *name)
{
    struct sotto_setting_info setting;
    for (size_t i = 0; sotto_fit_setting_at(name, i, &setting); i++) {
        setting_options_put(options, &setting);
    }
}

static const struct cli_option *
options_of(const char *word)
{
    static struct setting_options of_all, of_one;
    const char *learner, *about;
    if (word == NULL) {
        bool made = of_all.count > 0;
        for (size_t i = 0; !made && (learner = learner_at(i, &about)) != NULL;
             i++) {
            add_learner(&of_all, learner);
        }
        return of_all.option;
    }
    memset(&of_one, 0, sizeof of_one);
    add_learner(&of_one, word);
    return of_one.option;
}

static const struct cli_word learners = {
    .at = learner_at, .of = options_of, .what = "The learner"};

/* Whether some learner has a setting of that name. */
static bool
is_setting_named(const char *name)
{
    const struct cli_option *of = options_of(NULL);
    while (of->name != NULL && strcmp(of->name, name) != 0) {
        of++;
    }
    return of->name != NULL;
}

static int
read_options(const struct cli_args *args, struct fit_job *job)
{
    uint64_t threads = 0;
    job->set =
        setting_options_given(args, options_of(NULL), &job->options.sets);
    if (job->set == NULL) {
        return CLI_EXIT_FAILED;
    }
    if (!cli_whole(args, "threads", 1, 64, &threads)) {
        return CLI_EXIT_BAD;
    }
    job->options.learner = cli_value(args, "learner");
    job->options.set = job->set;
    job->options.threads = (unsigned)threads;
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
    if (job->records == NULL && job->labels == NULL) {
        return report_source_stream(job->mechanism, args->word + 1,
                                    args->words - 1, &job->stream,
                                    &err) == SOTTO_STATUS_OK
                   ? CLI_EXIT_DONE
                   : cli_fail(&err);
    }
    if (report_source_open_all(job->mechanism, args->word + 1, args->words - 1,
                               &job->reader, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    size_t count = sotto_report_reader_count(job->reader);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *report = sotto_report_reader_at(job->reader, i);
        job->simulated += sotto_report_simulated(report) ? 1 : 0;
    }
    if (job->simulated > 0 && job->simulated < count) {
        return cli_bad("'%.240s'%s mix%s %zu simulated with %zu real reports: "
                       "separate them",
                       path, args->words > 2 ? " and the others" : "",
                       args->words > 2 ? "" : "es", job->simulated,
                       count - job->simulated);
    }
    return CLI_EXIT_DONE;
}

/* --known-labels: of reports that can be told apart. */
static int
read_labels(const struct cli_args *args, struct fit_job *job)
{
    const char *path = cli_value(args, "known-labels");
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    if (sotto_store_named(args->word[1])) {
        return cli_bad("--known-labels is for a file of reports: a collector "
                       "shuffles them and takes their ids away, so that "
                       "nobody can tell whose label it is");
    }
    return records_read_labels(args, path, &job->labels, &job->column);
}

/* --records, --keys and --from: of a mechanism for the label only. */
static int
read_records(const struct cli_args *args, struct fit_job *job)
{
    const char *records = cli_value(args, "records");
    const char *keys = cli_value(args, "keys"), *from = cli_value(args, "from");
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    sotto_mechanism_info(job->mechanism, &info);
    if (info.label_only != (records != NULL)) {
        return info.label_only
                   ? cli_bad("'%.240s' is for the label only: give the records "
                             "that the reports are about, --records F",
                             args->word[0])
                   : cli_bad("--records goes with a mechanism for the label "
                             "only (train direct --label-only), and '%.240s' "
                             "protects the records",
                             args->word[0]);
    }
    if (records == NULL) {
        return keys == NULL && from == NULL
                   ? CLI_EXIT_DONE
                   : cli_bad("--%s belongs to --records",
                             keys != NULL ? "keys" : "from");
    }
    if (cli_given(args, "aux") || cli_given(args, "known-labels") ||
        sotto_store_named(args->word[1])) {
        return cli_bad("--records takes a file of reports, in the order of the "
                       "records or with --keys, and neither --aux nor "
                       "--known-labels");
    }
    status = records_read(args, records, NULL, &job->records);
    if (keys != NULL) {
        status = CLI_THEN(status, records_read(args, keys, NULL, &job->keys));
    }
    if (status == CLI_EXIT_DONE && from != NULL &&
        sotto_mechanism_read(from, &job->from, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    return status;
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
                       "in the reports, or in --known-labels");
    }
    if (sotto_mechanism_read(args->word[0], &job->mechanism, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (sotto_fit_check(job->mechanism, &job->options, &err) !=
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
    status = CLI_THEN(status, read_labels(args, job));
    status = CLI_THEN(status, read_records(args, job));
    return status == CLI_EXIT_DONE ? read_reports(args, job) : status;
}

/* Whether reports are about one of several books, for which as many records are
   taken as serve, not as memory allows. */
static bool
has_books(const struct fit_job *job)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(job->mechanism, &info);
    return info.books > 1;
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

/* Says what went wrong, and in which file. */
static int
fail_fit(const struct cli_args *args, const struct sotto_error *err)
{
    const char *path = args->word[1];
    if (is_setting_named(err->subject)) {
        return cli_fail(err);
    }
    if (strcmp(err->subject, "mechanism") == 0) {
        path = args->word[0];
    } else if (strcmp(err->subject, "table") == 0) { /* reports are none */
        path = cli_value(args, "aux");
    } else if (strcmp(err->subject, "labels") == 0) {
        path = cli_value(args, "known-labels");
    } else if (strcmp(err->subject, "records") == 0 ||
               strcmp(err->subject, "keys") == 0) {
        path = cli_value(args, err->subject);
    }
    return learning_fail(err, path);
}

/* What a stream has seen, and that a store has released something at all. */
static enum sotto_status
check_stream(const struct cli_args *args, struct fit_job *job,
             enum sotto_status status, struct sotto_error *err)
{
    if (job->stream == NULL) {
        return status;
    }
    sotto_report_stream_seen(job->stream, &job->seen);
    job->simulated = (size_t)job->seen.simulated;
    return status == SOTTO_STATUS_INPUT && job->seen.reports == 0 &&
                   sotto_store_named(args->word[1])
               ? report_source_check(args->word[1], &job->seen, err)
               : status;
}

static int
fit_reports(const struct cli_args *args, struct fit_job *job)
{
    const char *path = cli_value(args, "output");
    struct sotto_error err = {0};
    struct watch watch;
    watch_start(&watch);
    job->options.watch = watch_port(&watch);
    enum sotto_status status =
        job->records != NULL
            ? sotto_fit_records(job->mechanism, job->reader, job->records,
                                job->keys, job->from, &job->options,
                                &job->model, &job->info, &err)
        : job->labels != NULL
            ? sotto_fit_labelled(job->mechanism, job->reader, job->labels,
                                 job->column, job->analyst, job->aux,
                                 &job->options, &job->model, &job->info, &err)
            : sotto_fit_stream(job->mechanism, job->stream, job->analyst,
                               job->aux, &job->options, &job->model, &job->info,
                               &err);
    watch_end(&watch);
    status = check_stream(args, job, status, &err);
    if (status != SOTTO_STATUS_OK) {
        return fail_fit(args, &err);
    }
    if (sotto_model_write(job->model, path, &err) != SOTTO_STATUS_OK) {
        return learning_fail(&err, path);
    }
    return CLI_EXIT_DONE;
}

/* What a setting was given as, or its default. */
static const char *
setting_of(const struct fit_job *job, const char *name, const char *initial)
{
    for (size_t i = 0; i < job->options.sets; i++) {
        if (strcmp(job->set[i].name, name) == 0) {
            return job->set[i].value;
        }
    }
    return initial;
}

/* What `within` means for a reader. */
static const char *
support_word(const struct sotto_fit_info *info)
{
    return info->within >= NOTHING_WITHIN    ? "nothing"
           : info->within > SOTTO_FIT_WITHIN ? "little"
                                             : "some";
}

static void
tell_json_fit(const struct fit_job *job, const char *path, FILE *to)
{
    const struct sotto_fit_info *info = &job->info;
    struct sotto_number number;
    json_begin(to);
    json_text(to, "model_file", path);
    json_text(to, "objective",
              job->records != NULL ? "label"
                                   : setting_of(job, "objective", "marginal"));
    json_text(to, "level",
              job->records != NULL ? "feature"
                                   : setting_of(job, "level", "latent"));
    json_size(to, "reports", info->reports);
    json_size(to, "simulated", job->simulated);
    json_size(to, "damaged", (size_t)job->seen.damaged);
    json_size(to, "unreadable_batches", job->seen.unread_batches);
    json_bool(to, "known_labels", job->labels != NULL);
    json_size(to, "points", info->points);
    json_number(to, "kept", info->kept);
    json_number(to, "truncated", info->truncated);
    json_number(to, "memory", info->memory);
    json_number(to, "log_p", info->log_p);
    json_number(to, "validation", info->validation);
    json_number(to, "gap", info->gap);
    if (info->right > 0) {
        json_number(to, "right", info->right);
        json_number(to, "right_low", info->right_low);
        json_number(to, "right_high", info->right_high);
    }
    if (info->labels > 0) {
        json_number(to, "labels_worth", info->labels);
        json_number(to, "share_within", info->within);
        json_number(to, "reports_needed", info->reports_needed);
        json_text(to, "support", support_word(info));
    }
    json_size(to, "epochs", (size_t)info->epochs);
    json_size(to, "last", (size_t)info->last);
    json_size(to, "classes", sotto_model_classes(job->model));
    if (sotto_model_number(job->model, &number) && number.lines) {
        json_number(to, "explained", info->explained);
        json_number(to, "known", info->known);
    }
    json_end(to);
}

/* Says how much the reports can support: at most what so many labels in the
   clear would. */
static void
tell_support(const struct fit_job *job, FILE *to)
{
    const struct sotto_fit_info *info = &job->info;
    const char *reports = info->reports == 1 ? "report" : "reports";
    if (info->labels <= 0 || job->labels != NULL) {
        return;
    }
    (void)fprintf(to,
                  "The reports tell of the label at most what %.*f label%s in "
                  "the clear would.\n",
                  info->labels < 10 ? 1 : 0, info->labels,
                  info->labels == 1 ? "" : "s");
    if (info->within >= NOTHING_WITHIN) {
        cli_note("%zu %s: nothing can be learnt; they do not even tell a class "
                 "that nobody has from one that everybody has; do not use the "
                 "model; about %.0f reports would be a beginning",
                 info->reports, reports, info->reports_needed);
    } else if (info->within > SOTTO_FIT_WITHIN && info->right <= 0) {
        cli_note("%zu %s: little can be learnt; how frequent a class is they "
                 "tell to within %.2f; about %.0f reports would be a beginning",
                 info->reports, reports, info->within, info->reports_needed);
    }
}

/* Says how much of a number the record explains, if the label is one. */
static void
tell_number(const struct fit_job *job, FILE *to)
{
    struct sotto_number number;
    if (!sotto_model_number(job->model, &number) || !number.lines) {
        return;
    }
    if (job->info.known < KNOWN_LEAST) {
        (void)fprintf(to,
                      "The reports do not show that the record tells anything "
                      "of the label: the model is\nall but a constant.\n");
    } else {
        (void)fprintf(to,
                      "The record explains about %.0f%% of how the label "
                      "varies, as the reports have it.\n",
                      100 * job->info.explained);
    }
}

static void
tell_fit(const struct cli_args *args, const struct fit_job *job)
{
    const char *path = cli_value(args, "output");
    const struct sotto_fit_info *info = &job->info;
    struct sotto_number number;
    FILE *to = cli_summary(path);
    if (cli_given(args, "json")) {
        tell_json_fit(job, path, to);
        return;
    }
    report_source_note(&job->seen);
    (void)fprintf(to, "Wrote %s: learnt from %zu report%s in %zu epoch%s",
                  cli_shown(path), info->reports, info->reports == 1 ? "" : "s",
                  (size_t)info->epochs, info->epochs == 1 ? "" : "s");
    if (info->points > 0) {
        (void)fprintf(to, ", over a prior of %zu points", info->points);
    }
    if (info->last > 0) {
        (void)fprintf(to, ";\nthe last fit took %zu epochs on these",
                      (size_t)info->last);
    }
    (void)fprintf(to, ".\n");
    if (info->right > 0) {
        (void)fprintf(
            to,
            "%s should %s %.0f%% of people; as "
            "the reports have it, most likely\nbetween %.0f%% and "
            "%.0f%% (docs/codebook.md).\n",
            info->last > 0 ? "Before the last fit the model" : "The model",
            sotto_model_number(job->model, &number) ? "name the right range for"
                                                    : "be right about",
            100 * info->right, 100 * info->right_low, 100 * info->right_high);
    }
    tell_number(job, to);
    tell_support(job, to);
    if (info->gap > GAP_MOST) {
        cli_note("the likelihood of these reports differs from its second "
                 "order by %.1f nats: the labels of codes are rough; more "
                 "reports, or fewer codes (--k), make it better",
                 info->gap);
    }
    if (job->labels != NULL) {
        cli_note("%zu of %zu reports have a label in the clear: nothing "
                 "protects it, and the model tells of it",
                 info->reports, sotto_report_reader_count(job->reader));
    }
    if (job->records != NULL) {
        cli_note("the record is not protected: the model tells of the %zu "
                 "records, and of their labels what the reports tell",
                 info->reports);
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
        cli_value(args, "aux"),          cli_value(args, "labels"),
        cli_value(args, "known-labels"), cli_value(args, "records"),
        cli_value(args, "keys"),         cli_value(args, "from"),
        find_analyst(args, &job)};
    int status = read_options(args, &job);
    status =
        CLI_THEN(status, output_file_check(cli_value(args, "output"), inputs,
                                           sizeof inputs / sizeof *inputs));
    status = CLI_THEN(status, output_file_check(cli_value(args, "output"),
                                                args->word, args->words));
    status = CLI_THEN(status, read_inputs(args, &job));
    status = CLI_THEN(status, fit_reports(args, &job));
    if (status == CLI_EXIT_DONE) {
        tell_fit(args, &job);
    }
    if (status == CLI_EXIT_DONE && job.info.points > 0 && !has_books(&job)) {
        learning_note_thinned(
            prior_points(&job),
            (size_t)strtoull(setting_of(&job, "prior-most", "0"), NULL, 10),
            job.info.points, job.info.reports);
    }
    free(job.set);
    sotto_model_free(job.model);
    sotto_table_free(job.aux);
    sotto_table_free(job.labels);
    sotto_table_free(job.records);
    sotto_table_free(job.keys);
    sotto_mechanism_free(job.from);
    sotto_analyst_free(job.analyst);
    sotto_report_reader_free(job.reader);
    sotto_report_stream_free(job.stream);
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
     "analyst file's; a codebook's last fit needs them"},
    {0, false, false, "labels", "F", "a file with the labels of --aux"},
    {0, false, false, "known-labels", "F",
     "M has no label, and these are known in the clear: a\n"
     "column of labels in the order of R, or one beside\n"
     "the column id of the reports' ids"},
    {0, false, false, "records", "F",
     "M is for the label only: the records, in the clear,\n"
     "that the reports are about, in their order"},
    {0, false, false, "keys", "F",
     "with --records: whose each report is, as privatise\n"
     "--keys wrote it; then the order does not matter"},
    {0, false, false, "from", "E.sotto",
     "with --records: begin with the encoder of this\n"
     "mechanism, trained without labels"},
    {0, false, false, "header", "yes|no",
     "whether the first rows of these files name columns"},
    RECORDS_READING,
    {0, false, false, "learner", "L",
     "codes, record, number or lattice (the one that\n"
     "takes M): each has settings of its own, see sotto\n"
     "fit L --help"},
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    {'o', true, false, "output", "MODEL", "the model to write"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_fit = {
    .name = "fit",
    .summary = "learn a classifier, or a number, from reports",
    .usage = "M R... [--analyst A | --aux F] [SETTINGS] -o MODEL",
    .about =
        "Learns to tell the label from the rest of a record, from privatised "
        "records and\nlabels alone. With the objective marginal "
        "(docs/learning.md) every report is\nweighed over all points of a "
        "prior, by how likely the noise would have made it\nfrom there; the "
        "prior is in the analyst file of a trained mechanism, or comes\nfrom "
        "--aux. For a codebook, the reports show which label each code has, "
        "and the\nauxiliary records show what the records of each code look "
        "like. What is done to\nreports costs no more privacy. Where "
        "records alone are private and their labels\nare known, "
        "--known-labels gives them. Where you hold the\nrecords and only the "
        "label is private, --records fits a network on the record\n"
        "itself.\n",
    .example =
        "sotto fit wdbc.sotto wdbc.reports --aux data/wdbc.csv "
        "-o wdbc.model\n"
        "sotto train direct --data data/wdbc.csv --eps 8 --keep radius_mean "
        "\\\n    -o radius.sotto\n"
        "sotto privatise radius.sotto data/wdbc.csv -o radius.reports\n"
        "cut -d, -f 1 data/wdbc.csv >known.csv\n"
        "sotto fit radius.sotto radius.reports --aux data/wdbc.csv \\\n"
        "    --known-labels known.csv -o radius.model\n"
        "sotto train direct --data data/wdbc.csv --label diagnosis "
        "--label-only "
        "\\\n    --eps 1 -o only.sotto\n"
        "sotto privatise only.sotto data/wdbc.csv -o only.reports\n"
        "sotto fit only.sotto only.reports --records data/wdbc.csv "
        "-o only.model\n"
        "sotto train direct --data data/wdbc.csv --label area_mean --eps 8 \\\n"
        "    --keep radius_mean --lambda 0.5 -o area.sotto\n"
        "sotto privatise area.sotto data/wdbc.csv -o area.reports\n"
        "sotto fit area.sotto area.reports --aux data/wdbc.csv "
        "-o area.model\n",
    .wanted = wanted,
    .more = true,
    .options = options,
    .words = &learners,
    .computes = true,
    .run = run_fit,
};
