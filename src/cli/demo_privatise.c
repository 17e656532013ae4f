/*
 * demo_privatise.c: the demo's mechanisms, their signatures, and the people's
 * reports.
 *
 * The encoder is learnt once; every epsilon has it with other noise. Reports
 * are simulated from the seed, so that the demo tells the same story twice;
 * they say so, and are never to be sent (invariant 3).
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/demo.h"

/* ---- The encoder --------------------------------------------------------- */

int
demo_train(struct demo_story *story)
{
    static const uint32_t hidden[] = {DEMO_HIDDEN_FIRST, DEMO_HIDDEN_SECOND};
    char path[DEMO_PATH_SIZE], analyst[DEMO_PATH_SIZE];
    struct demo *demo = &story->demo;
    struct sotto_error err = {0};
    struct sotto_vlm_options options = {.eps = DEMO_TRAIN_EPS,
                                        .lambda = DEMO_TRAIN_LAMBDA,
                                        .label = DEMO_LABEL,
                                        .name = DEMO_MECHANISM,
                                        .campaign = "demo",
                                        .d = DEMO_D,
                                        .hidden = hidden,
                                        .hiddens =
                                            sizeof hidden / sizeof *hidden,
                                        .l = DEMO_RADIUS,
                                        .eps_pre = DEMO_EPS_PRE,
                                        .epochs = demo->effort->epochs,
                                        .batch = DEMO_BATCH,
                                        .seed = demo->seed,
                                        .watch = watch_port(&story->watch)};
    (void)demo_place(demo, "demo.sotto", path);
    (void)demo_place(demo, "demo.analyst", analyst);
    if (sotto_train_vlm(story->auxiliary, &options, path, analyst, NULL,
                        &story->mechanism, &err) != SOTTO_STATUS_OK ||
        sotto_analyst_read(analyst, &story->analyst, &err) != SOTTO_STATUS_OK) {
        return demo_fail(&err);
    }
    struct stat file;
    demo->mechanism_size = stat(path, &file) == 0 ? (size_t)file.st_size : 0;
    return CLI_EXIT_DONE;
}

int
demo_train_direct(struct demo_story *story)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_error err = {0};
    struct sotto_direct_options options = {.eps = DEMO_TRAIN_EPS,
                                           .label = DEMO_LABEL,
                                           .name = DEMO_MECHANISM,
                                           .campaign = "demo",
                                           .numbers = "duchi"};
    (void)demo_place(&story->demo, "direct.sotto", path);
    return sotto_train_direct(story->auxiliary, &options, path, &story->direct,
                              &err) == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : cli_fail(&err);
}

/* ---- Signatures ---------------------------------------------------------- */

static bool
is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* Signs a mechanism and reads it back, checked: what devices do. */
static enum sotto_status
sign(struct demo *demo, const struct sotto_mechanism *mechanism,
     const char *path, struct sotto_mechanism **ret_checked,
     struct sotto_error *err)
{
    char key[DEMO_PATH_SIZE], pub[DEMO_PATH_SIZE];
    char *comment = NULL;
    (void)demo_place(demo, "collector.key", key);
    (void)demo_place(demo, "collector.pub", pub);
    enum sotto_status status =
        sotto_mechanism_sign(mechanism, path, key, NULL, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_read_verified(path, pub, &comment, ret_checked,
                                               err);
    }
    if (status == SOTTO_STATUS_OK) {
        (void)snprintf(demo->comment, sizeof demo->comment, "%s", comment);
    }
    free(comment);
    return status;
}

/* Half a pair, of a demo that was killed between the two files, has signed
   nothing: it makes room for a whole one. */
static bool
has_pair(const char *key, const char *pub)
{
    bool has_key = is_there(key), has_pub = is_there(pub);
    if (has_key != has_pub) {
        (void)unlink(has_key ? key : pub);
    }
    return has_key && has_pub;
}

/*
 * A pair left by an earlier run is used again: it is never removed. From here
 * on the mechanism is the one read from the file and checked.
 */
int
demo_sign(struct demo_story *story)
{
    char prefix[DEMO_PATH_SIZE], key[DEMO_PATH_SIZE], pub[DEMO_PATH_SIZE];
    char path[DEMO_PATH_SIZE];
    struct demo *demo = &story->demo;
    struct sotto_mechanism *checked = NULL;
    struct sotto_error err = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    (void)demo_place(demo, "collector", prefix);
    (void)demo_place(demo, "collector.key", key);
    (void)demo_place(demo, "collector.pub", pub);
    if (!has_pair(key, pub)) {
        status = sotto_key_generate(prefix, NULL, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sign(demo, story->mechanism,
                      demo_place(demo, "demo.sotto", path), &checked, &err);
    }
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_free(story->mechanism);
    story->mechanism = checked;
    return CLI_EXIT_DONE;
}

/* ---- Reports ------------------------------------------------------------- */

static enum sotto_status
add_reports(const struct demo_story *story, struct sotto_mechanism *mechanism,
            struct records *records, struct sotto_report_writer *writer,
            struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    enum sotto_status status = SOTTO_STATUS_OK;
    sotto_mechanism_info(mechanism, &info);
    uint8_t *report = malloc(info.report_size);
    if (report == NULL) {
        err->status = SOTTO_STATUS_MEMORY;
        return SOTTO_STATUS_MEMORY;
    }
    for (size_t i = 0; i < story->demo.people && status == SOTTO_STATUS_OK;
         i++) {
        const struct sotto_value *values = records_at(records, i);
        status = sotto_simulate(mechanism, story->demo.seed, i, values,
                                records->count, report, info.report_size);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_report_writer_add(writer, report, err);
        } else {
            err->status = status;
        }
    }
    free(report);
    return status;
}

/* A report of each person into the file at `path`. */
static int
write_reports(struct demo_story *story, struct sotto_mechanism *mechanism,
              const char *path)
{
    struct records records = {0};
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    int status = records_match(mechanism, story->people, NULL, NULL, &records);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    enum sotto_status made =
        sotto_report_writer_new(mechanism, path, &writer, &err);
    if (made == SOTTO_STATUS_OK) {
        made = add_reports(story, mechanism, &records, writer, &err);
    }
    if (made == SOTTO_STATUS_OK) {
        made = sotto_report_writer_commit(writer, &err);
        writer = NULL;
    }
    sotto_report_writer_free(writer);
    records_clear(&records);
    return made == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

int
demo_collect(struct demo_story *story, const char *kind,
             const struct sotto_mechanism *from,
             const struct demo_budget *budget,
             struct sotto_mechanism **ret_mechanism,
             struct sotto_report_reader **ret_reader)
{
    char path[DEMO_PATH_SIZE], reports[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct demo *demo = &story->demo;
    struct sotto_mechanism *made = NULL;
    struct sotto_error err = {0};
    (void)demo_place(demo, demo_name(kind, budget, "sotto", name), path);
    (void)demo_place(demo, demo_name(kind, budget, "reports", name), reports);
    enum sotto_status status = sotto_mechanism_rebudget(
        from, budget->text, budget->setting->lambda, NULL, path, &made, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sign(demo, made, path, ret_mechanism, &err);
    }
    sotto_mechanism_free(made);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int done = write_reports(story, *ret_mechanism, reports);
    if (done == CLI_EXIT_DONE &&
        sotto_report_reader_new(*ret_mechanism, reports, ret_reader, &err) !=
            SOTTO_STATUS_OK) {
        done = cli_fail(&err);
    }
    return done;
}
