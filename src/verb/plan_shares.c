/*
 * plan_shares.c: sotto plan: the error of shares and means, by formula.
 *
 * Without a mechanism, the one that train direct would make is made in memory,
 * at every epsilon that is asked about or tried.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "host/confidence.h"
#include "verb/plan.h"
#include "verb/plan_plot.h"

#define NAME_WIDTH 24
#define EPS_LEAST 0.001
#define EPS_STEPS 24
#define CHECK_PEOPLE ((size_t)500)
#define CHECK_DRAWS ((size_t)200)
#define SETS_MOST 64u
#define CHANNEL "subset"

/* A mechanism at an epsilon, and what to expect of it. */
struct outlook {
    struct sotto_mechanism *made; /* NULL: it is the job's */
    struct sotto_mechanism *mechanism;
    struct sotto_precision *precision;
};

static void
outlook_clear(struct outlook *outlook)
{
    sotto_precision_free(outlook->precision);
    sotto_mechanism_free(outlook->made);
}

/* Whether the label, if there is one, is a category. */
static bool
is_label_symbols(const struct plan_job *job)
{
    size_t column = job->label != NULL && job->table != NULL
                        ? sotto_table_find(job->table, job->label)
                        : SIZE_MAX;
    return column != SIZE_MAX &&
           sotto_table_kind(job->table, column) == SOTTO_COLUMN_CATEGORY;
}

/* Categories go through subset, which is flip where flip is the best. */
static int
outlook_init(const struct plan_job *job, const char *eps,
             struct outlook *outlook)
{
    static const char *const ranges[] = {"range", "number"};
    struct sotto_setting set[SETS_MOST] = {{"categories", CHANNEL},
                                           {"label-channel", CHANNEL}};
    struct sotto_train_options options = {.eps = eps,
                                          .label = job->label,
                                          .drop = job->drop,
                                          .drops = job->drops,
                                          .schema = job->schema,
                                          .set = set,
                                          .sets =
                                              is_label_symbols(job) ? 2 : 1};
    struct sotto_error err = {0};
    const char *text;
    *outlook = (struct outlook){.mechanism = job->mechanism};
    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; options.sets < SETS_MOST &&
                           (text = cli_nth(job->args, ranges[r], i)) != NULL;
             i++) {
            set[options.sets++] = (struct sotto_setting){"range", text};
        }
    }
    if (job->mechanism == NULL) {
        if (sotto_train(job->table, "direct", &options, NULL, NULL, NULL,
                        &outlook->made, &err) != SOTTO_STATUS_OK) {
            return cli_fail(&err);
        }
        outlook->mechanism = outlook->made;
    }
    return cli_exit(sotto_precision_new(outlook->mechanism,
                                        job->real ? job->table : NULL,
                                        &outlook->precision, &err),
                    &err);
}

/* ---- One epsilon and number of people ------------------------------------ */

/* z of each interval if all of them are to hold at once (Bonferroni). */
static double
joint_z(const struct plan_job *job, const struct outlook *outlook)
{
    double all = (double)sotto_precision_estimates(outlook->precision);
    return confidence_z(1 - (1 - job->confidence) / fmax(all, 1));
}

struct line {
    struct sotto_precision_row row;
    double joint, silent;
};

static void
expect_line(const struct plan_job *job, const struct outlook *outlook, size_t i,
            double people, struct line *line)
{
    struct sotto_precision_case when = {people, joint_z(job, outlook),
                                        job->liars};
    sotto_precision_row(outlook->precision, i, &when, &line->row);
    line->joint = line->row.half;
    when.z = confidence_z(job->confidence);
    when.people = floor(people * (1 - job->silent));
    sotto_precision_row(outlook->precision, i, &when, &line->row);
    line->silent = line->row.half;
    when.people = people;
    sotto_precision_row(outlook->precision, i, &when, &line->row);
}

/* Whether what is asked is a share, in points, and not a mean. */
static bool
is_share(const struct sotto_precision_row *row)
{
    return row->categories > 0 || row->missing;
}

static void
put_line_json(const struct plan_job *job, double eps, double people,
              const struct line *line)
{
    const struct sotto_precision_row *row = &line->row;
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "kind",
              row->categories > 0 ? "shares"
              : row->missing      ? "missing"
                                  : "mean");
    json_size(stdout, "categories", row->categories);
    json_number(stdout, "eps", eps);
    json_number(stdout, "people", people);
    json_number(stdout, "confidence", job->confidence);
    json_number(stdout, "low", row->low);
    json_number(stdout, "high", row->high);
    json_bool(stdout, "known", row->known);
    json_number(stdout, "assumed", row->value);
    json_number(stdout, "absent", row->absent);
    json_number(stdout, "deviation", row->deviation);
    json_number(stdout, "half", row->half);
    json_number(stdout, "half_together", line->joint);
    json_number(stdout, "silent", job->silent);
    json_number(stdout, "half_silent", line->silent);
    json_number(stdout, "liars", job->liars);
    json_number(stdout, "lied", row->lied);
    json_number(stdout, "forged", row->forged);
    json_end(stdout);
}

static void
put_line_text(const struct line *line)
{
    const struct sotto_precision_row *row = &line->row;
    double unit = is_share(row) ? 100 : 1;
    char what[40];
    if (row->categories > 0) {
        (void)snprintf(what, sizeof what, "%zu shares, %%", row->categories);
    } else if (row->missing) {
        (void)snprintf(what, sizeof what, "share missing, %%");
    } else {
        (void)snprintf(what, sizeof what, "mean of %.4g to %.4g", row->low,
                       row->high);
    }
    if (!isfinite(row->deviation)) {
        printf("%-*.*s  %-22s  cannot be told: this channel says only how code "
               "and label go together\n",
               NAME_WIDTH, NAME_WIDTH, cli_shown(row->name), what);
        return;
    }
    printf("%-*.*s  %-22s %9.3g %9.3g %9.3g %9.3g %9.3g\n", NAME_WIDTH,
           NAME_WIDTH, cli_shown(row->name), what, unit * row->half,
           unit * line->joint, unit * line->silent, unit * row->lied,
           unit * row->forged);
}

static void
put_case(const struct plan_job *job, const struct outlook *outlook, double eps,
         double people)
{
    bool json = cli_given(job->args, "json");
    if (!json) {
        printf("Epsilon %g, %s people: +- at %g%%, shares in points\n", eps,
               plan_count(people), 100 * job->confidence);
        printf("%-*s  %-22s %9s %9s %8.0f%% %8.0f%% %8.0f%%\n", NAME_WIDTH, "",
               "", "each", "all", 100 * job->silent, 100 * job->liars,
               100 * job->liars);
        printf("%-*s  %-22s %9s %9s %9s %9s %9s\n", NAME_WIDTH, "column",
               "question", "alone", "together", "silent", "lie", "forge");
    }
    for (size_t i = 0; i < sotto_precision_rows(outlook->precision); i++) {
        struct line line;
        expect_line(job, outlook, i, people, &line);
        if (json) {
            put_line_json(job, eps, people, &line);
        } else {
            put_line_text(&line);
        }
    }
    if (!json) {
        printf("\n");
    }
}

/* ---- The other direction ------------------------------------------------- */

/* Half the width that is asked of a question; 0: nothing is. */
static double
half_wanted(const struct plan_job *job, const struct sotto_precision_row *row)
{
    return is_share(row) ? job->share : job->mean * (row->high - row->low);
}

/* The answers that the neediest question needs, and which question that is. */
static double
people_needed(const struct plan_job *job, const struct outlook *outlook,
              struct sotto_precision_row *ret_row)
{
    const struct sotto_precision_case when = {2, 1, 0};
    double most = 0, z = confidence_z(job->confidence);
    *ret_row = (struct sotto_precision_row){.name = ""};
    for (size_t i = 0; i < sotto_precision_rows(outlook->precision); i++) {
        struct sotto_precision_row row;
        sotto_precision_row(outlook->precision, i, &when, &row);
        double half = half_wanted(job, &row);
        double people =
            half > 0 ? sotto_precision_people(outlook->precision, i, z, half)
                     : 0;
        if (people > most) {
            most = people;
            *ret_row = row;
        }
    }
    return most;
}

/* The least epsilon at which `people` are enough, to one part in a thousand or
   so; INFINITY: 32 is not enough. */
static int
find_eps(const struct plan_job *job, double people, double *ret_eps)
{
    double low = EPS_LEAST, high = CLI_EPS_MAX;
    int status = CLI_EXIT_DONE;
    for (int i = 0; status == CLI_EXIT_DONE && i < EPS_STEPS; i++) {
        double eps = i == 0 ? high : sqrt(low * high);
        char text[PLAN_EPS_SIZE];
        struct sotto_precision_row row;
        struct outlook outlook;
        (void)snprintf(text, sizeof text, "%.6f", eps);
        status = outlook_init(job, text, &outlook);
        if (status == CLI_EXIT_DONE) {
            bool enough = people_needed(job, &outlook, &row) <= people;
            if (i == 0 && !enough) {
                *ret_eps = INFINITY;
                outlook_clear(&outlook);
                return status;
            }
            low = enough ? low : eps;
            high = enough ? eps : high;
        }
        outlook_clear(&outlook);
    }
    *ret_eps = high;
    return status;
}

/* "shares of 40 categories of region within 1 point" */
static void
say_question(const struct plan_job *job, const struct sotto_precision_row *row,
             char *text, size_t size)
{
    char what[60];
    if (!is_share(row)) {
        (void)snprintf(text, size,
                       "the mean of %.60s within %.3g%% of its range",
                       cli_shown(row->name), 100 * job->mean);
        return;
    }
    (void)snprintf(what, sizeof what,
                   row->missing ? "the share without a value"
                                : "the shares of %zu categories",
                   row->categories);
    (void)snprintf(text, size, "%s of %.60s within %.3g point%s", what,
                   cli_shown(row->name), 100 * job->share,
                   job->share == 0.01 ? "" : "s");
}

static void
put_needed_json(const char *what, double eps, double people, const char *name)
{
    json_begin(stdout);
    json_text(stdout, "answer", what);
    json_text(stdout, "name", name);
    json_number(stdout, "eps", eps);
    json_number(stdout, "people", people);
    json_end(stdout);
}

/* What is needed at one epsilon; and whether the people at hand are enough. */
static void
put_needed(const struct plan_job *job, const struct outlook *outlook,
           double eps)
{
    struct sotto_precision_row row;
    double needed = people_needed(job, outlook, &row);
    double most =
        job->people_count > 0 ? job->people[job->people_count - 1] : 0;
    char question[200];
    say_question(job, &row, question, sizeof question);
    if (cli_given(job->args, "json")) {
        put_needed_json("people", eps, needed, row.name);
    } else if (!isfinite(needed)) {
        printf("At epsilon %g no number of people is enough to tell %s.\n", eps,
               question);
    } else if (most > 0 && most < needed) {
        printf("%s people at epsilon %g cannot tell %s: %s can.\n",
               plan_count(most), eps, question, plan_count(needed));
    } else {
        printf("At epsilon %g, %s people are enough to tell %s%s.\n", eps,
               plan_count(needed), question,
               sotto_precision_rows(outlook->precision) > 1
                   ? ", and the other questions"
                   : "");
    }
    if (!cli_given(job->args, "json") && isfinite(needed) && job->silent > 0) {
        printf("If %.0f%% do not answer, ask %s.\n", 100 * job->silent,
               plan_count(ceil(needed / (1 - job->silent))));
    }
}

static int
put_eps_needed(const struct plan_job *job, double people)
{
    double eps = 0;
    int status = find_eps(job, people, &eps);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (cli_given(job->args, "json")) {
        put_needed_json("eps", eps, people, NULL);
    } else if (isfinite(eps)) {
        printf("%s people need an epsilon of %.3g for that.\n",
               plan_count(people), eps);
    } else {
        printf("%s people are too few for that at any epsilon up to %d: ask "
               "more people, or fewer questions.\n",
               plan_count(people), CLI_EPS_MAX);
    }
    return status;
}

/* ---- The formula beside simulations -------------------------------------- */

static int
put_check(const struct plan_job *job, const struct outlook *outlook, double eps)
{
    struct sotto_error err = {0};
    double ratio = 0;
    if (!job->real) {
        return CLI_EXIT_DONE;
    }
    if (sotto_precision_simulate(outlook->precision, outlook->mechanism,
                                 job->table, CHECK_PEOPLE, CHECK_DRAWS, 1,
                                 &ratio, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(job->args, "json")) {
        json_begin(stdout);
        json_text(stdout, "answer", "check");
        json_number(stdout, "eps", eps);
        json_number(stdout, "ratio", ratio);
        json_size(stdout, "draws", CHECK_DRAWS);
        json_size(stdout, "people", CHECK_PEOPLE);
        json_end(stdout);
    } else if (ratio > 0) {
        printf("Formula and simulation: over %zu simulated collections of %s "
               "people at epsilon %g\nthe errors were %.1f%% %s than the "
               "formula says; chance alone makes about %.0f%%.\n",
               CHECK_DRAWS, plan_count((double)CHECK_PEOPLE), eps,
               100 * fabs(ratio - 1), ratio > 1 ? "larger" : "smaller",
               100 / sqrt(2.0 * (double)CHECK_DRAWS));
    }
    return CLI_EXIT_DONE;
}

/* ---- All of it ----------------------------------------------------------- */

/* Of whom the mean of a number is that may be missing. */
static void
put_missing(const struct outlook *outlook)
{
    const struct sotto_precision_case when = {2, 1, 0};
    for (size_t i = 0; i + 1 < sotto_precision_rows(outlook->precision); i++) {
        struct sotto_precision_row row, next;
        sotto_precision_row(outlook->precision, i, &when, &row);
        sotto_precision_row(outlook->precision, i + 1, &when, &next);
        if (!next.missing) {
            continue;
        }
        printf("The mean of %.60s is of those who have a value: ",
               cli_shown(row.name));
        if (row.known) {
            printf("%.1f%% of these records have none.\n", 100 * row.absent);
        } else {
            printf("here everybody is taken to\nhave one, and each who has "
                   "none makes it wider. Records (--data F) tell how many.\n");
        }
    }
}

/* The kind, with the options that outlook_init has for it. */
static void
put_kind(const struct plan_job *job, const struct outlook *outlook)
{
    const struct sotto_precision_case when = {2, 1, 0};
    size_t questions = 0, categories = 0;
    for (size_t i = 0; i < sotto_precision_rows(outlook->precision); i++) {
        struct sotto_precision_row row;
        sotto_precision_row(outlook->precision, i, &when, &row);
        bool label = job->label != NULL && strcmp(row.name, job->label) == 0;
        questions += row.missing ? 0 : 1; /* it shares its number's report */
        categories += row.categories > 0 && !label ? 1 : 0;
    }
    printf("KIND: direct%s%s, which answers questions about columns by "
           "themselves.\n%s",
           categories > 0 ? " --categories " CHANNEL : "",
           is_label_symbols(job) ? " --label-channel " CHANNEL : "",
           questions > 1 ? "Each takes its part of epsilon: ask fewer columns "
                           "(--keep), and each is told more\nsharply.\n"
                         : "");
}

static void
put_words(const struct plan_job *job, const struct outlook *outlook)
{
    if (cli_given(job->args, "json")) {
        return;
    }
    put_missing(outlook);
    if (job->mechanism == NULL) {
        put_kind(job, outlook);
    }
    printf("Silent people widen intervals; if who is silent depends on the "
           "answer, no number of\npeople mends it. Lies move an estimate by at "
           "most what is shown, and no interval shows it.\n");
}

static int
plan_eps(const struct plan_job *job, size_t eps, bool last,
         struct plan_widths *widths)
{
    struct outlook outlook;
    struct sotto_mechanism_info info;
    int status = outlook_init(job, job->eps[eps], &outlook);
    if (status == CLI_EXIT_DONE) {
        sotto_mechanism_info(outlook.mechanism, &info);
        if (sotto_precision_rows(outlook.precision) == 0) {
            status = cli_bad("its reports answer no question about a column: "
                             "they are for a model; plan accuracy with --data "
                             "and --label");
        }
    }
    for (size_t i = 0; status == CLI_EXIT_DONE && i < job->people_count; i++) {
        put_case(job, &outlook, info.eps, job->people[i]);
    }
    if (status == CLI_EXIT_DONE && widths != NULL) {
        status = plan_widths_take(widths, job, eps, outlook.precision);
    }
    if (status == CLI_EXIT_DONE && (job->share > 0 || job->mean > 0)) {
        put_needed(job, &outlook, info.eps);
    }
    if (status == CLI_EXIT_DONE && last) {
        status = put_check(job, &outlook, info.eps);
        put_words(job, &outlook);
    }
    outlook_clear(&outlook);
    return status;
}

/* Where the plot goes; NULL: there is none, or it is of accuracies, which are
   asked for, too. */
static const char *
plot_path(const struct plan_job *job)
{
    return job->accuracy > 0 ? NULL : cli_value(job->args, "output");
}

int
plan_shares(const struct plan_job *job)
{
    const char *path = plot_path(job);
    struct plan_widths widths = {0};
    int status = CLI_EXIT_DONE;
    size_t count = job->mechanism != NULL ? 1 : job->eps_count;
    if (job->people_count == 0 && job->share == 0 && job->mean == 0) {
        return cli_bad("how many people, or how sharp? Give --people 5000, "
                       "--share 0.01 (each share within 1 point), or both");
    }
    if (path != NULL && (job->mechanism != NULL || job->people_count == 0)) {
        return cli_bad("-o: a plot of errors is against epsilon, for so many "
                       "people: give --people N, and no mechanism, which has "
                       "one epsilon");
    }
    for (size_t i = 0; status == CLI_EXIT_DONE && i < count; i++) {
        status =
            plan_eps(job, i, i + 1 == count, path != NULL ? &widths : NULL);
    }
    for (size_t i = 0;
         status == CLI_EXIT_DONE && job->mechanism == NULL &&
         (job->share > 0 || job->mean > 0) && i < job->people_count;
         i++) {
        status = put_eps_needed(job, job->people[i]);
    }
    if (status == CLI_EXIT_DONE && path != NULL) {
        status = plan_widths_draw(&widths, job, path);
    }
    plan_widths_clear(&widths);
    return status;
}
