/*
 * cmd_experiment.c: sotto experiment: the papers' tables, ours beside them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/watch.h"
#include "host/error.h"
#include "host/settings.h"

#define EPS_MOST 64u
#define COMMAND_SIZE 1024u
#define RESULTS "results"
#define PAGE "page" /* in place of an experiment's name */
#define PAGE_PATH "docs/results.md"

/* What the callbacks need. */
struct output {
    struct watch watch;
    bool json, plan, started;
    char panel[32]; /* that is being printed */
};

/* ---- Rows --------------------------------------------------------------- */

static void
row_json(const struct output *output, const struct sotto_experiment_row *row)
{
    FILE *to = stdout;
    json_begin(to);
    json_text(to, "experiment", row->experiment);
    json_text(to, "mechanism", row->mechanism);
    json_text(to, "level", row->level);
    json_number(to, "aux_share", row->aux_share);
    json_number(to, "eps", row->eps);
    json_number(to, "x", row->x);
    json_text(to, "kind", output->plan ? "plan" : row->mean ? "mean" : "fit");
    if (row->mean) {
        json_size(to, "runs", row->runs);
    } else {
        json_size(to, "trial", row->trial);
        json_size(to, "draw", row->draw);
    }
    if (!output->plan) {
        json_number(to, "accuracy", row->accuracy);
        json_number(to, "loss", row->loss);
        json_number(to, "deviation", row->deviation);
        json_number(to, "deviation_draws", row->deviation_draws);
        json_number(to, "seconds", row->seconds);
        json_bool(to, "cached", row->cached);
        json_text(to, "data", row->data);
    }
    json_number(to, "paper", row->paper);
    json_number(to, "paper_deviation", row->paper_deviation);
    json_text(to, "paper_table", row->paper_table);
    json_number(to, "reach", row->reach);
    json_size(to, "seed", row->seed);
    json_text(to, "setting", row->setting);
    if (!output->plan) {
        json_text(to, "note", row->note);
    }
    json_text(to, "version", row->version);
    json_text(to, "command", row->command);
    json_text(to, "commit", row->commit);
    json_end(to);
}

/* "86.1 +- 1.0" in percent; "-" for nothing. */
static void
format_percent(double value, double deviation, char text[24])
{
    (void)snprintf(text, 24, "-");
    if (isfinite(value) && isfinite(deviation)) {
        (void)snprintf(text, 24, "%.1f +- %.1f", 100 * value, 100 * deviation);
    } else if (isfinite(value)) {
        (void)snprintf(text, 24, "%.1f", 100 * value);
    }
}

static void
row_text(const struct sotto_experiment_row *row)
{
    char eps[32] = "none", ours[24], draws[24], paper[24], reach[24];
    const char *verdict = "";
    if (isfinite(row->eps)) {
        json_shortest(row->eps, eps);
    }
    format_percent(row->accuracy, row->deviation, ours);
    format_percent(row->deviation_draws, NAN, draws);
    format_percent(row->paper, row->paper_deviation, paper);
    format_percent(row->reach, NAN, reach);
    if (isfinite(row->reach) && isfinite(row->accuracy)) {
        verdict = row->accuracy >= row->reach ? "reached" : "missed";
    }
    (void)printf("%7s  %-13s %6s %5zu  %-13s %6s  %s%s%s\n", eps, ours, draws,
                 row->runs, paper, reach, verdict,
                 row->note != NULL && verdict[0] != '\0' ? "  " : "",
                 row->note != NULL ? row->note : "");
}

/* Of an experiment that measures a loss. */
static void
loss_text(const struct output *output, const struct sotto_experiment_row *row)
{
    char x[32], loss[40] = "-";
    json_shortest(row->x, x);
    if (!output->started || strcmp(output->panel, row->level) != 0) {
        (void)printf("%s%s, %s\n\n%7s  %-30s %-17s %5s\n",
                     output->started ? "\n" : "", row->experiment, row->level,
                     "x", "method", "loss", "fits");
    }
    if (isfinite(row->loss) && isfinite(row->deviation)) {
        (void)snprintf(loss, sizeof loss, "%.4f +- %.4f", row->loss,
                       row->deviation);
    } else if (isfinite(row->loss)) {
        (void)snprintf(loss, sizeof loss, "%.4f", row->loss);
    }
    (void)printf("%7s  %-30s %-17s %5zu  %s\n", x, row->mechanism, loss,
                 row->runs, row->note != NULL ? row->note : "");
}

static void
put_heading(const struct sotto_experiment_row *row)
{
    (void)printf("%s, %s, %s level, auxiliary share %g%s%s\n", row->experiment,
                 row->mechanism, row->level, row->aux_share,
                 row->paper_table != NULL ? "; the papers: " : "",
                 row->paper_table != NULL ? row->paper_table : "");
    (void)printf("Accuracy in percent, +- the deviation over trials; within: "
                 "over draws.\n\n");
    (void)printf("%7s  %-13s %6s %5s  %-13s %6s\n", "epsilon", "sotto",
                 "within", "fits", "papers", "reach");
}

static void
take_row(void *context, const struct sotto_experiment_row *row)
{
    struct output *output = context;
    progress_end(&output->watch.bar);
    if (output->json) {
        row_json(output, row);
    } else if (row->mean && isfinite(row->x)) {
        loss_text(output, row);
        (void)snprintf(output->panel, sizeof output->panel, "%s", row->level);
        output->started = true;
    } else if (row->mean) {
        if (!output->started) {
            put_heading(row);
            output->started = true;
        }
        row_text(row);
        if (output->plan) {
            (void)printf("%7s  %s\n", "", row->setting);
        }
    }
    (void)fflush(stdout);
}

/* ---- Options ------------------------------------------------------------ */

/* "10,4,none". */
static bool
read_eps(const char *text, double *ret_eps, size_t *ret_count)
{
    size_t count = 0;
    while (text != NULL) {
        char word[24];
        size_t size = strcspn(text, ",");
        double eps = INFINITY;
        if (count == EPS_MOST) {
            (void)cli_bad("--eps: at most %u epsilons", EPS_MOST);
            return false;
        }
        (void)snprintf(word, sizeof word, "%.*s", (int)(size < 23 ? size : 23),
                       text);
        if (strcmp(word, "none") != 0 &&
            (size >= sizeof word || !setting_read_number(word, &eps) ||
             eps < CLI_EPS_MIN)) {
            (void)cli_bad("--eps: '%s' is neither an epsilon from 0.000001 on "
                          "nor none; write for example --eps 10,4,none",
                          word);
            return false;
        }
        ret_eps[count++] = eps;
        text = text[size] == ',' ? text + size + 1 : NULL;
    }
    *ret_count = count;
    return true;
}

static bool
read_count(const struct cli_args *args, const char *name, uint32_t *ret_count)
{
    uint64_t count = *ret_count;
    if (!cli_whole(args, name, 1, 100000, &count)) {
        return false;
    }
    *ret_count = (uint32_t)count;
    return true;
}

static bool
read_level(const struct cli_args *args, enum sotto_level *ret_level)
{
    const char *text = cli_value(args, "level");
    if (text == NULL || strcmp(text, "latent") == 0) {
        return true;
    }
    if (strcmp(text, "feature") != 0) {
        (void)cli_bad("--level %.80s: latent or feature", text);
        return false;
    }
    *ret_level = SOTTO_LEVEL_FEATURE;
    return true;
}

/* The name of the data's file, without its folder; NULL: it is a folder, which
   decides nothing, or not given. */
static const char *
find_data_name(const struct cli_args *args)
{
    const char *path = cli_value(args, "data"), *slash;
    struct stat info;
    if (path == NULL || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        return NULL;
    }
    slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* What decides the rows, as a command: not where things are kept or how many
   threads there are. */
static void
write_command(const struct cli_args *args, char command[COMMAND_SIZE])
{
    static const char *const decides[] = {"mechanism", "eps",   "trials",
                                          "draws",     "level", "aux-share",
                                          "epochs",    "seed"};
    int size = snprintf(command, COMMAND_SIZE, "sotto experiment %.80s",
                        args->word[0]);
    for (size_t i = 0; i < sizeof decides / sizeof *decides; i++) {
        const char *value = cli_value(args, decides[i]);
        if (value != NULL && size > 0 && size < (int)COMMAND_SIZE) {
            size += snprintf(command + size, COMMAND_SIZE - (size_t)size,
                             " --%s %.400s", decides[i], value);
        }
    }
    const char *data = find_data_name(args);
    if (data != NULL && size > 0 && size < (int)COMMAND_SIZE) {
        (void)snprintf(command + size, COMMAND_SIZE - (size_t)size,
                       " --data %.200s", data);
    }
}

static int
read_options(const struct cli_args *args, double *eps,
             struct sotto_experiment_options *ret_options)
{
    struct sotto_experiment_options options = {
        .name = args->word[0],
        .mechanism = cli_value(args, "mechanism"),
        .eps = eps,
        .data = cli_value(args, "data"),
        .folder = cli_value(args, "folder"),
        .results = cli_value(args, "output"),
        .commit = cli_value(args, "commit"),
    };
    uint64_t seed = 0, threads = 0;
    if (!read_eps(cli_value(args, "eps"), eps, &options.eps_count) ||
        !read_count(args, "trials", &options.trials) ||
        !read_count(args, "draws", &options.draws) ||
        !read_count(args, "epochs", &options.epochs) ||
        !read_level(args, &options.level) ||
        !cli_number(args, "aux-share", 0.0001, 1, &options.aux_share) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &seed) ||
        !cli_whole(args, "threads", 0, 64, &threads)) {
        return CLI_EXIT_BAD;
    }
    options.seed = seed;
    options.threads = (unsigned)threads;
    options.results = options.results != NULL ? options.results : RESULTS;
    *ret_options = options;
    return CLI_EXIT_DONE;
}

/* ---- Words --------------------------------------------------------------- */

/* The experiments, and what is made of their results. */
static const char *
word_at(size_t i, const char **ret_about)
{
    const char *about, *name = sotto_experiment_at(i, &about);
    if (name == NULL &&
        (i == 0 || sotto_experiment_at(i - 1, &about) != NULL)) {
        *ret_about = "no experiment: one page of all tables that are in the\n"
                     "folder of results, the papers' numbers beside them";
        return PAGE;
    }
    *ret_about = about;
    return name;
}

static bool
word_takes(const char *word, const char *option)
{
    bool page = strcmp(word, PAGE) == 0;
    return strcmp(option, "output") == 0 ||
           (strcmp(option, "results") == 0) == page;
}

/* Refuses an option that does not go with the word. */
static bool
check_options(const struct cli_args *args)
{
    const struct cli_option *at;
    for (size_t i = 0; (at = cli_option_at(args->verb, i)) != NULL; i++) {
        bool shared =
            strcmp(at->name, "help") == 0 || strcmp(at->name, "json") == 0;
        if (!shared && cli_given(args, at->name) &&
            !word_takes(args->word[0], at->name)) {
            (void)cli_bad("--%s does not go with %.80s; see sotto experiment "
                          "%.80s --help",
                          at->name, args->word[0], args->word[0]);
            return false;
        }
    }
    return true;
}

/* ---- The verb ----------------------------------------------------------- */

static int
run_experiment(struct sotto_experiment_options *options, struct output *output)
{
    struct sotto_error err = {0};
    char *path = NULL;
    watch_start(&output->watch);
    options->watch = watch_port(&output->watch);
    enum sotto_status status =
        sotto_experiment_run(options, take_row, output, &err);
    watch_end(&output->watch);
    status = HOST_THEN(status, sotto_experiment_path(options, &path, &err));
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (!output->json) {
        (void)printf("\nWrote %s.csv, .md and .svg\n", cli_shown(path));
    }
    free(path);
    return CLI_EXIT_DONE;
}

/* The page of what is in a folder of results. */
static int
run_page(const struct cli_args *args)
{
    const char *results = cli_value(args, "results");
    const char *path = cli_value(args, "output");
    struct sotto_error err = {0};
    results = results != NULL ? results : RESULTS;
    path = path != NULL ? path : PAGE_PATH;
    if (sotto_experiment_page(results, path, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(args, "json")) {
        json_begin(cli_summary(path));
        json_text(cli_summary(path), "page", path);
        json_text(cli_summary(path), "results", results);
        json_end(cli_summary(path));
        return CLI_EXIT_DONE;
    }
    (void)fprintf(cli_summary(path), "Wrote %s from %s\n", cli_shown(path),
                  cli_shown(results));
    return CLI_EXIT_DONE;
}

static int
run_verb(const struct cli_args *args)
{
    double eps[EPS_MOST];
    char command[COMMAND_SIZE];
    struct sotto_experiment_options options;
    struct output output = {.json = cli_given(args, "json"),
                            .plan = cli_given(args, "plan")};
    struct sotto_error err = {0};
    int status;
    if (!check_options(args)) {
        return CLI_EXIT_BAD;
    }
    if (strcmp(args->word[0], PAGE) == 0) {
        return run_page(args);
    }
    status = read_options(args, eps, &options);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    write_command(args, command);
    options.command = command;
    if (!output.plan) {
        return run_experiment(&options, &output);
    }
    return cli_exit(sotto_experiment_plan(&options, take_row, &output, &err),
                    &err);
}

static const char *const wanted[] = {"NAME", NULL};

static const struct cli_option options[] = {
    {0, false, false, "mechanism", "K",
     "which one of those above; the experiment's first, if\n"
     "not given, and all of one that measures a loss"},
    {0, false, false, "eps", "LIST",
     "epsilons for record and label together, with commas;\n"
     "none: no noise (10,8,6,4,2,1,none; and for codebook\n"
     "0.5,0.25)"},
    {0, false, false, "trials", "N",
     "splits and encoders (3); seeds of a loss (5)"},
    {0, false, false, "draws", "N", "draws of the noise for each (3)"},
    {0, false, false, "level", "LEVEL",
     "what the classifier sees: latent, representations, or\n"
     "feature, what the decoder makes of them (latent)"},
    {0, false, false, "aux-share", "S",
     "share of the training images that train the mechanism\n"
     "(0.75; the people stay the same)"},
    {0, false, false, "epochs", "N",
     "of the encoder, in place of the settings'"},
    {0, false, false, "seed", "S", "of splits, training and noise (0)"},
    {0, false, false, "data", "F",
     "folder of the four IDX files, the cache's if not\n"
     "given, see sotto data; the CSV file of a task-\nexperiment"},
    {0, false, false, "folder", "DIR",
     "where encoders and rows are kept\n(~/.cache/sotto/experiments)"},
    {'o', false, false, "output", "DIR",
     "where table, plot and CSV are written (results); of\n"
     "page, the file itself (docs/results.md)"},
    {0, false, false, "results", "DIR",
     "page: the folder that it is made from (results)"},
    {0, false, false, "commit", "ID",
     "what the program was built from, kept with the rows"},
    {0, false, false, "threads", "N", "all cores if not given"},
    {0, false, false, "plan", NULL,
     "only print what would be run, and the papers' numbers"},
    CLI_OPTION_END,
};

static const struct cli_word experiments = {.at = word_at, .takes = word_takes};

const struct cli_verb cmd_experiment = {
    .name = "experiment",
    .summary = "run the papers' experiments, their numbers beside ours",
    .usage = "NAME [--mechanism K] [--eps LIST] [--trials N] [--draws N]\n"
             "      [--level LEVEL] [--aux-share S] [--data F] [--seed S]\n"
             "      [-o DIR] [--plan] [--json]\n"
             "  sotto experiment page [--results DIR] [-o F]",
    .about =
        "Every fit is kept as it finishes, and so is every encoder: "
        "interrupted by Ctrl-C\nor worse, the same command goes on where it "
        "stopped. A fit that was done with\nthe same settings is not run "
        "again. docs/experiments.md says more.\n",
    .example = "sotto experiment mnist-collection --plan\n",
    .wanted = wanted,
    .options = options,
    .words = &experiments,
    .computes = true,
    .run = run_verb,
};
