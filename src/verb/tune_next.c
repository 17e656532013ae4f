/*
 * tune_next.c: sotto tune next: reads what was collected of a stage, and begins
 * the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/watch.h"
#include "host/confidence.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/report_source.h"
#include "verb/tune_verbs.h"

struct next_job {
    const struct cli_args *args;
    const char *folder;
    const char *store; /* NULL: files beside the plan */
    struct sotto_tune *tune;
    struct sotto_table *aux;
    double z;
    uint64_t threads;
};

/* ---- Training -------------------------------------------------------------
 */

/* Fits one candidate and writes its model. */
static int
train_candidate(struct next_job *job, struct sotto_mechanism *mechanism,
                const struct sotto_report_reader *reader,
                const struct sotto_analyst *analyst, size_t candidate)
{
    char path[TUNE_PATH_SIZE];
    struct sotto_tune_candidate own;
    struct sotto_tune_info info;
    struct sotto_fit_info found;
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    struct watch watch;
    sotto_tune_info(job->tune, &info);
    sotto_tune_candidate(job->tune, candidate, &own);
    tune_candidate_path(path, job->folder, candidate, ".model");
    watch_start(&watch);
    const struct sotto_fit_options fit = {.learner = info.learner,
                                          .set = own.set,
                                          .sets = own.sets,
                                          .threads = (unsigned)job->threads,
                                          .watch = watch_port(&watch)};
    enum sotto_status status = sotto_fit(mechanism, reader, analyst, job->aux,
                                         &fit, &model, &found, &err);
    watch_end(&watch);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_write(model, path, &err);
    }
    sotto_model_free(model);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE
                                     : learning_fail(&err, path);
}

/* The reports of a question: of the store, or of its files. */
static int
open_reports(const struct next_job *job,
             const struct sotto_mechanism *mechanism, const char *const *path,
             size_t paths, struct sotto_report_reader **ret_reader)
{
    const char *const *source = job->store != NULL ? &job->store : path;
    struct sotto_error err = {0};
    return report_source_open_all(mechanism, source,
                                  job->store != NULL ? 1 : paths, ret_reader,
                                  &err) == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : cli_fail(&err);
}

/* All candidates of one mechanism. */
static int
train_mechanism(struct next_job *job, size_t m)
{
    char path[TUNE_PATH_SIZE];
    const char *const file = path;
    struct sotto_tune_mechanism own;
    struct sotto_tune_question question;
    struct sotto_tune_info info;
    struct sotto_mechanism_info about;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_report_reader *reader = NULL;
    struct sotto_analyst *analyst = NULL;
    struct sotto_error err = {0};
    sotto_tune_info(job->tune, &info);
    sotto_tune_mechanism(job->tune, m, &own);
    sotto_tune_question(job->tune, m, &question);
    tune_path(path, job->folder, question.name, ".reports");
    if (sotto_mechanism_read(own.path, &mechanism, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_info(mechanism, &about);
    int status = strcmp(about.hash, own.hash) == 0
                     ? CLI_EXIT_DONE
                     : cli_bad("'%.240s' is another mechanism than the plan's",
                               own.path);
    status = CLI_THEN(status, open_reports(job, mechanism, &file, 1, &reader));
    status = CLI_THEN(status, tune_analyst_read(mechanism, own.path, &analyst));
    for (size_t i = 0; status == CLI_EXIT_DONE && i < info.candidates; i++) {
        struct sotto_tune_candidate candidate;
        sotto_tune_candidate(job->tune, i, &candidate);
        if (candidate.mechanism == m) {
            status = train_candidate(job, mechanism, reader, analyst, i);
        }
    }
    if (status == CLI_EXIT_DONE) {
        sotto_tune_learnt(job->tune, m, sotto_report_reader_count(reader));
    }
    sotto_report_reader_free(reader);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    return status;
}

/* ---- Answers --------------------------------------------------------------
 */

/* Tells the plan what the answers to a question say: `at` is where the question
   is, the files are `path`. */
static int
read_answers(struct next_job *job, size_t candidate, const char *at,
             const char *const *path, size_t paths)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_report_reader *reader = NULL;
    struct sotto_right right;
    struct sotto_error err = {0};
    if (sotto_mechanism_read(at, &mechanism, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int status = sotto_tune_check(job->tune, candidate, mechanism, &err) ==
                         SOTTO_STATUS_OK
                     ? CLI_EXIT_DONE
                     : learning_fail(&err, at);
    status =
        CLI_THEN(status, open_reports(job, mechanism, path, paths, &reader));
    if (status == CLI_EXIT_DONE &&
        sotto_right_estimate(mechanism, reader, job->z, &right, &err) !=
            SOTTO_STATUS_OK) {
        status = learning_fail(&err, at);
    }
    if (status == CLI_EXIT_DONE) {
        sotto_tune_answered(job->tune, candidate, &right);
        if (right.simulated > 0) {
            cli_note("the answers to '%.200s' are simulated: for experiments "
                     "only",
                     at);
        }
    }
    sotto_report_reader_free(reader);
    sotto_mechanism_free(mechanism);
    return status;
}

#define ROUNDS_MOST 8u /* halving 64 takes 6 */

/* A candidate's answers of all rounds so far. */
static int
read_candidate(struct next_job *job, size_t candidate, size_t rounds)
{
    static char file[ROUNDS_MOST][TUNE_PATH_SIZE];
    const char *path[ROUNDS_MOST];
    char at[TUNE_PATH_SIZE], name[32];
    for (size_t i = 0; i < rounds; i++) {
        (void)snprintf(name, sizeof name, "round%zu-%02zu", i + 1,
                       candidate + 1);
        tune_path(file[i], job->folder, name, ".reports");
        path[i] = file[i];
    }
    tune_candidate_path(at, job->folder, candidate, ".sotto");
    return read_answers(job, candidate, at, path, rounds);
}

static int
read_final(struct next_job *job, size_t winner)
{
    char at[TUNE_PATH_SIZE], file[TUNE_PATH_SIZE];
    const char *const path = file;
    tune_path(at, job->folder, "final", ".sotto");
    tune_path(file, job->folder, "final", ".reports");
    return read_answers(job, winner, at, &path, 1);
}

static int
read_stage(struct next_job *job, const struct sotto_tune_info *info)
{
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; status == CLI_EXIT_DONE && i < info->questions; i++) {
        struct sotto_tune_question question;
        sotto_tune_question(job->tune, i, &question);
        status = info->stage == SOTTO_TUNE_TRAIN ? train_mechanism(job, i)
                 : info->stage == SOTTO_TUNE_ROUND
                     ? read_candidate(job, question.candidate, info->round)
                     : read_final(job, info->winner);
    }
    return status;
}

/* ---- The next questions ---------------------------------------------------
 */

static int
write_question(struct next_job *job, const struct sotto_tune_info *info,
               size_t candidate)
{
    char from[TUNE_PATH_SIZE], to[TUNE_PATH_SIZE];
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    enum sotto_status status;
    tune_candidate_path(from, job->folder, candidate, ".model");
    tune_candidate_path(to, job->folder, candidate, ".sotto");
    if (info->stage == SOTTO_TUNE_FINAL) {
        tune_path(to, job->folder, "final", ".sotto");
    }
    status = sotto_model_read(from, &model, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_tune_ask(job->tune, candidate, model, to, NULL, &err);
    }
    sotto_model_free(model);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE
                                     : learning_fail(&err, from);
}

/* Of the first round all candidates', of a later one none that is not there,
   and last the winner's. */
static int
write_questions(struct next_job *job)
{
    struct sotto_tune_info info;
    int status = CLI_EXIT_DONE;
    sotto_tune_info(job->tune, &info);
    bool made = info.stage == SOTTO_TUNE_DONE ||
                (info.stage == SOTTO_TUNE_ROUND && info.round > 1);
    for (size_t i = 0; !made && status == CLI_EXIT_DONE && i < info.questions;
         i++) {
        struct sotto_tune_question question;
        sotto_tune_question(job->tune, i, &question);
        status = write_question(job, &info, question.candidate);
    }
    return status;
}

/* ---- The action -----------------------------------------------------------
 */

static int
go_on(struct next_job *job)
{
    char path[TUNE_PATH_SIZE];
    struct sotto_tune_info info;
    struct sotto_error err = {0};
    tune_path(path, job->folder, "tune", ".json");
    sotto_tune_info(job->tune, &info);
    int status = read_stage(job, &info);
    status = CLI_THEN(status, cli_exit(sotto_tune_next(job->tune, &err), &err));
    status = CLI_THEN(status, write_questions(job));
    status = CLI_THEN(status,
                      cli_exit(sotto_tune_write(job->tune, path, &err), &err));
    if (status == CLI_EXIT_DONE) {
        tune_tell(job->args, job->tune);
    }
    return status;
}

int
tune_next(const struct cli_args *args)
{
    struct next_job job = {.args = args};
    const char *aux = cli_value(args, "aux");
    char path[TUNE_PATH_SIZE];
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (args->words < 2 || args->words > 3 ||
        (args->words == 3 && !sotto_store_named(args->word[2]))) {
        return cli_bad("next needs the folder, and takes sqlite:STORE: else "
                       "reports are in the folder, one file a question");
    }
    if (!cli_whole(args, "threads", 1, 64, &job.threads)) {
        return CLI_EXIT_BAD;
    }
    job.folder = args->word[1];
    job.store = args->words == 3 ? args->word[2] : NULL;
    job.z = confidence_z(TUNE_CONFIDENCE);
    tune_path(path, job.folder, "tune", ".json");
    if (sotto_tune_read(path, &job.tune, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (aux != NULL) {
        status = records_read(args, aux, NULL, &job.aux);
    }
    status = CLI_THEN(status, go_on(&job));
    sotto_table_free(job.aux);
    sotto_tune_free(job.tune);
    return status;
}
