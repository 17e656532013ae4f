/*
 * cmd_demo.c: sotto demo: the whole story on embedded data.
 *
 *     data -> mechanism -> signature -> reports -> estimates -> report.html
 *
 * Every step goes through the public headers and leaves its file in the
 * folder, so that each can be done again by hand with the other verbs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/records.h"

#define AUXILIARY_SHARE 0.3
#define PATH_SIZE 4096u
#define LABEL "diagnosis"
#define DEMO_EPS 4

const char *const demo_features[] = {"radius_mean", "texture_mean",
                                     "smoothness_mean", NULL};

/* ---- Paths and steps ---------------------------------------------------- */

static const char *
place(const struct demo_story *story, const char *name, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "%s/%s", story->demo.folder, name);
    return path;
}

/* Announces a step: on the terminal a line, else an object. */
static void
announce(const struct demo_story *story, const char *step, const char *text)
{
    if (cli_given(story->args, "json")) {
        json_begin(stdout);
        json_text(stdout, "step", step);
        json_text(stdout, "text", text);
        json_number(stdout, "eps", story->demo.eps_total);
        json_end(stdout);
    } else {
        (void)printf("  %-10s  ", step);
        cli_put(stdout, text, strlen(text));
        (void)printf("\n");
    }
    (void)fflush(stdout);
}

/* Each answer gets an even share of epsilon, which must be one too. */
static int
check_eps(struct demo_story *story)
{
    double eps = DEMO_EPS;
    unsigned answers = 1; /* the diagnosis */
    if (!cli_eps(story->args, "eps", &eps)) {
        return CLI_EXIT_BAD;
    }
    for (size_t i = 0; demo_features[i] != NULL; i++) {
        answers++;
    }
    if (eps < answers * CLI_EPS_MIN) {
        return cli_bad("--eps %s: the demo splits epsilon between %u answers, "
                       "so it must be at least %f",
                       story->demo.eps, answers, answers * CLI_EPS_MIN);
    }
    story->demo.eps_total = eps;
    return CLI_EXIT_DONE;
}

static int
make_folder(struct demo_story *story)
{
    if (strlen(story->demo.folder) > PATH_SIZE - 64) {
        return cli_bad("the folder's name is too long");
    }
    return demo_folder_make(story->demo.folder);
}

/* ---- 1: data ------------------------------------------------------------ */

/* The header and lines [from, to) of the embedded data. */
static int
write_lines(const struct demo_story *story, const char *name, size_t from,
            size_t to)
{
    char path[PATH_SIZE];
    struct output_file file;
    if (!output_file_open(&file, place(story, name, path))) {
        return CLI_EXIT_FAILED;
    }
    (void)fputs(demo_data[0], file.stream);
    for (size_t i = from; i < to; i++) {
        (void)fputs(demo_data[i], file.stream);
    }
    return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

static int
step_data(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    size_t records = demo_data_lines - 1;
    char text[256];
    demo->auxiliary = (size_t)(AUXILIARY_SHARE * (double)records);
    demo->people = records - demo->auxiliary;
    int status = write_lines(story, "auxiliary.csv", 1, 1 + demo->auxiliary);
    if (status == CLI_EXIT_DONE) {
        status = write_lines(story, "people.csv", 1 + demo->auxiliary,
                             demo_data_lines);
    }
    if (status == CLI_EXIT_DONE) {
        (void)snprintf(text, sizeof text,
                       "%zu records: %zu are public (auxiliary.csv), %zu stand "
                       "for people (people.csv)",
                       records, demo->auxiliary, demo->people);
        announce(story, "data", text);
    }
    return status;
}

/* ---- 2: mechanism ------------------------------------------------------- */

/* Every column but the features and the label is dropped: the budget is split
   evenly between columns, so each one more makes all the others worse. */
static size_t
list_drops(const struct sotto_table *table, const char **ret_drop)
{
    size_t drops = 0;
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        const char *name = sotto_table_name(table, i);
        bool kept = strcmp(name, LABEL) == 0;
        for (size_t j = 0; demo_features[j] != NULL && !kept; j++) {
            kept = strcmp(name, demo_features[j]) == 0;
        }
        if (!kept) {
            ret_drop[drops++] = name;
        }
    }
    return drops;
}

static int
train(struct demo_story *story, const struct sotto_table *table,
      const char *path)
{
    struct sotto_error err = {0};
    struct sotto_direct_options options = {.eps = story->demo.eps,
                                           .label = LABEL,
                                           .name = DEMO_MECHANISM,
                                           .campaign = "demo"};
    const char **drop = calloc(sotto_table_columns(table), sizeof *drop);
    if (drop == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    options.drops = list_drops(table, drop);
    options.drop = drop;
    enum sotto_status status =
        sotto_train_direct(table, &options, path, &story->mechanism, &err);
    free(drop);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

static void
note_facts(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    sotto_mechanism_info(story->mechanism, &info);
    sotto_mechanism_part(story->mechanism, 0, &part);
    demo->eps_total = info.eps;
    demo->eps_each = part.eps;
    demo->eps_label = info.eps_label;
    demo->answers = info.columns;
    demo->report_size = info.report_size;
    memcpy(demo->hash, info.hash, sizeof demo->hash);
}

static int
step_mechanism(struct demo_story *story)
{
    char data[PATH_SIZE], path[PATH_SIZE], text[256];
    struct sotto_table *table = NULL;
    struct sotto_error err = {0};
    (void)place(story, "auxiliary.csv", data);
    (void)place(story, "demo.sotto", path);
    if (sotto_table_read(data, NULL, &table, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int status = train(story, table, path);
    sotto_table_free(table);
    if (status == CLI_EXIT_DONE) {
        note_facts(story);
        (void)snprintf(text, sizeof text,
                       "demo.sotto asks for %zu answers with epsilon %.3g "
                       "each, %s in all",
                       story->demo.answers, story->demo.eps_each,
                       story->demo.eps);
        announce(story, "mechanism", text);
    }
    return status;
}

/* ---- 3: signature ------------------------------------------------------- */

static bool
is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/*
 * A pair left by an earlier run is used again: keys are never removed. From
 * here on the mechanism is the one read from the file and checked.
 */
static int
step_signature(struct demo_story *story)
{
    char prefix[PATH_SIZE], key[PATH_SIZE], pub[PATH_SIZE], path[PATH_SIZE];
    char *comment = NULL;
    struct sotto_mechanism *checked = NULL;
    struct sotto_error err = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    (void)place(story, "collector", prefix);
    (void)place(story, "collector.key", key);
    (void)place(story, "collector.pub", pub);
    (void)place(story, "demo.sotto", path);
    if (!is_there(key) || !is_there(pub)) {
        status = sotto_key_generate(prefix, NULL, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_sign(story->mechanism, path, key, NULL, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            sotto_mechanism_read_verified(path, pub, &comment, &checked, &err);
    }
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    (void)snprintf(story->demo.comment, sizeof story->demo.comment, "%s",
                   comment);
    free(comment);
    sotto_mechanism_free(story->mechanism);
    story->mechanism = checked;
    announce(story, "signature",
             "signed with collector.key; checked with collector.pub before "
             "any report is made; a device also pins the file's hash");
    return CLI_EXIT_DONE;
}

/* ---- 4: reports --------------------------------------------------------- */

static enum sotto_status
make_report(struct demo_story *story, size_t person, uint8_t *report)
{
    const struct demo *demo = &story->demo;
    const struct sotto_value *values = records_at(&story->records, person);
    if (demo->simulated) {
        return sotto_simulate(story->mechanism, demo->seed, person, values,
                              story->records.count, report, demo->report_size);
    }
    return sotto_client_privatise(sotto_mechanism_client(story->mechanism),
                                  values, story->records.count, report,
                                  demo->report_size);
}

static int
write_reports(struct demo_story *story, const char *path, uint8_t *report)
{
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    enum sotto_status status =
        sotto_report_writer_new(story->mechanism, path, &writer, &err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < story->demo.people;
         i++) {
        status = make_report(story, i, report);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_report_writer_add(writer, report, &err);
        } else {
            err.status = status;
        }
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_report_writer_commit(writer, &err);
        writer = NULL;
    }
    sotto_report_writer_free(writer);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

/* Without a path: that columns were left out is no news here. */
static int
match_people(struct demo_story *story)
{
    char path[PATH_SIZE];
    struct sotto_error err = {0};
    (void)place(story, "people.csv", path);
    if (sotto_table_read(path, NULL, &story->people, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    return records_match(story->mechanism, story->people, NULL, NULL,
                         &story->records);
}

static int
step_reports(struct demo_story *story)
{
    char path[PATH_SIZE], text[256];
    uint8_t *report = malloc(story->demo.report_size);
    if (report == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    int status = match_people(story);
    if (status == CLI_EXIT_DONE) {
        status =
            write_reports(story, place(story, "people.reports", path), report);
    }
    free(report);
    if (status == CLI_EXIT_DONE) {
        (void)snprintf(text, sizeof text,
                       "%zu reports of %zu bytes, person by person (%s)",
                       story->demo.people, story->demo.report_size,
                       story->demo.simulated
                           ? "SIMULATED from the seed: not private"
                           : "noise from the operating system's entropy");
        announce(story, "reports", text);
    }
    return status;
}

/* ---- 5: estimates ------------------------------------------------------- */

static int
step_estimates(struct demo_story *story)
{
    char path[PATH_SIZE], text[256];
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    (void)place(story, "people.reports", path);
    if (sotto_report_reader_new(story->mechanism, path, &reader, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int status = demo_estimate(story, reader);
    sotto_report_reader_free(reader);
    if (status == CLI_EXIT_DONE) {
        (void)snprintf(text, sizeof text,
                       "from the reports alone; %zu of %zu 95%% intervals hold "
                       "the truth",
                       story->demo.covered, story->demo.rows);
        announce(story, "estimates", text);
    }
    return status;
}

static void
put_row_json(const struct demo *demo, const struct demo_row *row)
{
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "category",
              row->category[0] != '\0' ? row->category : NULL);
    json_number(stdout, "truth", row->truth);
    json_number(stdout, "value", row->value);
    json_number(stdout, "low", row->low);
    json_number(stdout, "high", row->high);
    json_bool(stdout, "covered", demo_row_covered(row));
    json_number(stdout, "eps", demo->eps_total);
    json_end(stdout);
}

static void
put_rows(const struct demo_story *story)
{
    const struct demo *demo = &story->demo;
    bool json = cli_given(story->args, "json");
    if (!json) {
        (void)printf("\n  %-24s %10s %10s   %-23s\n", "", "truth", "estimate",
                     "95% interval");
    }
    for (size_t i = 0; i < demo->rows; i++) {
        const struct demo_row *row = &demo->row[i];
        char name[140];
        if (json) {
            put_row_json(demo, row);
            continue;
        }
        (void)snprintf(name, sizeof name, "%s%s%s", row->name,
                       row->category[0] != '\0' ? " = " : "", row->category);
        (void)printf("  %-24s %10.4g %10.4g   %10.4g .. %-10.4g%s\n", name,
                     row->truth, row->value, row->low, row->high,
                     demo_row_covered(row) ? "" : " (misses)");
    }
}

/* ---- 6: the page -------------------------------------------------------- */

/* Size and SHA-256 of a file, as `sha256sum` says it. */
static bool
hash_file(const char *path, struct demo_file *file)
{
    crypto_hash_sha256_state state;
    unsigned char buffer[4096], hash[crypto_hash_sha256_BYTES];
    size_t got;
    FILE *from = fopen(path, "rb");
    if (from == NULL) {
        return false;
    }
    (void)crypto_hash_sha256_init(&state);
    while ((got = fread(buffer, 1, sizeof buffer, from)) > 0) {
        (void)crypto_hash_sha256_update(&state, buffer, got);
        file->size += got;
    }
    bool good = ferror(from) == 0;
    (void)fclose(from);
    (void)crypto_hash_sha256_final(&state, hash);
    (void)sodium_bin2hex(file->hash, sizeof file->hash, hash, sizeof hash);
    return good;
}

static int
list_files(struct demo_story *story)
{
    static const struct {
        const char *name, *what;
    } names[] = {
        {"auxiliary.csv", "public records the mechanism is fitted on"},
        {"people.csv", "the people; in life these stay on their devices"},
        {"demo.sotto", "the mechanism, for every device"},
        {"demo.sotto.minisig", "its signature"},
        {"collector.pub", "the public key"},
        {"people.reports", "what the collector gets"},
    };
    struct demo *demo = &story->demo;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_SIZE];
        struct demo_file *file = &demo->file[demo->files++];
        (void)snprintf(file->name, sizeof file->name, "%s", names[i].name);
        file->what = names[i].what;
        if (!hash_file(place(story, names[i].name, path), file)) {
            cli_error("cannot read '%.240s' back: %s", path, strerror(errno));
            return CLI_EXIT_FAILED;
        }
    }
    return CLI_EXIT_DONE;
}

static int
step_page(struct demo_story *story)
{
    char path[PATH_SIZE];
    int status = list_files(story);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (!demo_html_write(&story->demo, place(story, "report.html", path))) {
        return CLI_EXIT_FAILED;
    }
    if (cli_given(story->args, "json")) {
        json_begin(stdout);
        json_text(stdout, "page", path);
        json_end(stdout);
    } else {
        (void)printf("\nThe whole story, with pictures: ");
        cli_put(stdout, path, strlen(path));
        (void)printf("\n");
    }
    return CLI_EXIT_DONE;
}

/* ---- The verb ----------------------------------------------------------- */

static int
tell_story(struct demo_story *story)
{
    int (*const steps[])(struct demo_story *) = {
        check_eps,      make_folder,  step_data,     step_mechanism,
        step_signature, step_reports, step_estimates};
    int status = CLI_EXIT_DONE;
    for (size_t i = 0;
         i < sizeof steps / sizeof *steps && status == CLI_EXIT_DONE; i++) {
        status = steps[i](story);
    }
    if (status == CLI_EXIT_DONE) {
        put_rows(story);
        status = step_page(story);
    }
    return status;
}

static int
run(const struct cli_args *args)
{
    struct demo_story *story = calloc(1, sizeof *story);
    if (story == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    story->args = args;
    story->demo.folder =
        cli_given(args, "output") ? cli_value(args, "output") : "sotto-demo";
    story->demo.eps = cli_given(args, "eps") ? cli_value(args, "eps") : "4";
    story->demo.simulated = cli_given(args, "seed");
    int status = CLI_EXIT_BAD;
    if (cli_whole(args, "seed", &story->demo.seed)) {
        status = tell_story(story);
    }
    records_clear(&story->records);
    sotto_table_free(story->people);
    sotto_mechanism_free(story->mechanism);
    free(story->demo.report_json);
    free(story);
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {'o', false, false, "output", "DIR",
     "the folder for all files (sotto-demo)"},
    {0, false, false, "eps", "E", "privacy budget of a report, in all (4)"},
    {0, false, false, "seed", "S",
     "simulate: the same seed gives the same reports;\n"
     "NOT private"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_demo = {
    .name = "demo",
    .summary = "the whole story on embedded data, with a page to look at",
    .usage = "[-o DIR] [--eps E] [--seed S]",
    .about =
        "Splits 569 public medical records into auxiliary data and people, "
        "makes and\nsigns a mechanism, privatises person by person, estimates "
        "from the reports\nalone, and puts the truth beside it, on the "
        "terminal and in DIR/report.html.\n",
    .example = "sotto demo -o my-demo\n",
    .wanted = wanted,
    .options = options,
    .run = run,
};
