/*
 * tune_tell.c: how a plan of tuning stands, in words and as JSON.
 */
#include <math.h>
#include <string.h>

#include "cli/json_print.h"
#include "verb/right_print.h"
#include "verb/tune_verbs.h"

/* ---- As JSON --------------------------------------------------------------
 */

static const char *
stage_name(enum sotto_tune_stage stage)
{
    static const char *const name[] = {"train", "round", "final", "done"};
    return name[stage];
}

static void
tell_right_json(FILE *to, const struct sotto_right *right)
{
    json_size(to, "people", right->reports);
    if (right->reports > 0) {
        json_size(to, "simulated", right->simulated);
        json_number(to, "accuracy", right->share);
        json_number(to, "error", right->error);
        json_number(to, "low", right->low);
        json_number(to, "high", right->high);
    }
}

static void
tell_json(const struct sotto_tune *tune, const struct sotto_tune_info *info)
{
    for (size_t i = 0; i < info->mechanisms; i++) {
        struct sotto_tune_mechanism mechanism;
        sotto_tune_mechanism(tune, i, &mechanism);
        json_begin(stdout);
        json_text(stdout, "mechanism", mechanism.path);
        json_decimal(stdout, "eps", mechanism.eps);
        json_size(stdout, "reports", mechanism.reports);
        json_end(stdout);
    }
    for (size_t i = 0; i < info->candidates; i++) {
        struct sotto_tune_candidate candidate;
        struct sotto_tune_mechanism mechanism;
        sotto_tune_candidate(tune, i, &candidate);
        sotto_tune_mechanism(tune, candidate.mechanism, &mechanism);
        json_begin(stdout);
        json_size(stdout, "candidate", i + 1);
        json_text(stdout, "of", mechanism.path);
        for (size_t j = 0; j < candidate.sets; j++) {
            json_text(stdout, candidate.set[j].name, candidate.set[j].value);
        }
        json_bool(stdout, "left", candidate.left);
        tell_right_json(stdout, &candidate.right);
        json_end(stdout);
    }
    json_begin(stdout);
    json_text(stdout, "stage", stage_name(info->stage));
    json_size(stdout, "round", info->round);
    json_size(stdout, "rounds", info->rounds);
    json_decimal(stdout, "eps", info->eps);
    json_text(stdout, "campaign", info->campaign);
    if (info->stage >= SOTTO_TUNE_FINAL) {
        json_size(stdout, "winner", info->winner + 1);
        tell_right_json(stdout, &info->right);
    }
    json_end(stdout);
}

/* ---- In words -------------------------------------------------------------
 */

void
tune_tell_candidate(FILE *to, const struct sotto_tune *tune, size_t i)
{
    struct sotto_tune_candidate candidate;
    struct sotto_tune_mechanism mechanism;
    sotto_tune_candidate(tune, i, &candidate);
    sotto_tune_mechanism(tune, candidate.mechanism, &mechanism);
    for (size_t j = 0; j < candidate.sets; j++) {
        (void)fprintf(to, "%s %s, ", candidate.set[j].name,
                      cli_shown(candidate.set[j].value));
    }
    (void)fprintf(to, "%s", cli_shown(mechanism.path));
}

static void
tell_candidates(const struct sotto_tune *tune,
                const struct sotto_tune_info *info)
{
    (void)printf("%9s  %8s  %8s  %8s  %8s\n", "candidate", "answers", "right",
                 "low", "high");
    for (size_t i = 0; i < info->candidates; i++) {
        struct sotto_tune_candidate candidate;
        sotto_tune_candidate(tune, i, &candidate);
        (void)printf("%8zu%c  %8zu", i + 1, candidate.left ? '*' : ' ',
                     candidate.right.reports);
        if (candidate.right.reports > 0) {
            (void)printf("  %7.1f%%  %7.1f%%  %7.1f%%  ",
                         100 * candidate.right.share, 100 * candidate.right.low,
                         100 * candidate.right.high);
        } else {
            (void)printf("  %8s  %8s  %8s  ", "-", "-", "-");
        }
        tune_tell_candidate(stdout, tune, i);
        (void)printf("\n");
    }
    (void)printf("(* is left%s)\n", info->rounds > 0
                                        ? "; a winner's own answers are too "
                                          "good on average"
                                        : "");
}

static void
tell_spent(const struct sotto_tune *tune, const struct sotto_tune_info *info)
{
    size_t choosing = 0;
    for (size_t i = 0; i < info->mechanisms; i++) {
        struct sotto_tune_mechanism mechanism;
        sotto_tune_mechanism(tune, i, &mechanism);
        (void)printf("spent     epsilon %s by each of %zu people, who reported "
                     "by %s\n",
                     mechanism.eps, mechanism.reports,
                     cli_shown(mechanism.path));
    }
    for (size_t i = 0; i < info->candidates; i++) {
        struct sotto_tune_candidate candidate;
        sotto_tune_candidate(tune, i, &candidate);
        choosing += candidate.right.reports;
    }
    (void)printf("spent     epsilon %s by each of %zu people, who chose\n",
                 info->eps, choosing);
}

/* What is asked now, and where its answers are looked for. */
static void
tell_questions(const struct cli_args *args, const struct sotto_tune *tune,
               const struct sotto_tune_info *info)
{
    const char *folder = args->word[1];
    if (info->stage == SOTTO_TUNE_TRAIN) {
        (void)printf("\nPeople report now:\n");
    } else if (info->stage == SOTTO_TUNE_ROUND) {
        (void)printf("\nRound %zu of %zu:\n", info->round, info->rounds);
    } else {
        (void)printf("\nThe winner, before people who did not choose:\n");
    }
    for (size_t i = 0; i < info->questions; i++) {
        struct sotto_tune_question question;
        struct sotto_tune_mechanism mechanism;
        char path[TUNE_PATH_SIZE];
        sotto_tune_question(tune, i, &question);
        if (info->stage == SOTTO_TUNE_TRAIN) {
            sotto_tune_mechanism(tune, question.mechanism, &mechanism);
            (void)snprintf(path, sizeof path, "%s", mechanism.path);
        } else if (info->stage == SOTTO_TUNE_ROUND) {
            tune_candidate_path(path, folder, question.candidate, ".sotto");
        } else {
            tune_path(path, folder, question.name, ".sotto");
        }
        (void)printf("  %s: reports to %s/%s.reports\n", cli_shown(path),
                     cli_shown(folder), question.name);
    }
    (void)printf("Who is asked what: sotto tune people %s F --person COL\n"
                 "When they have answered: sotto tune next %s\n",
                 cli_shown(folder), cli_shown(folder));
}

void
tune_tell(const struct cli_args *args, const struct sotto_tune *tune)
{
    struct sotto_tune_info info;
    sotto_tune_info(tune, &info);
    if (cli_given(args, "json")) {
        tell_json(tune, &info);
        return;
    }
    tell_candidates(tune, &info);
    if (info.stage != SOTTO_TUNE_TRAIN) {
        tell_spent(tune, &info);
    }
    if (info.stage != SOTTO_TUNE_DONE) {
        tell_questions(args, tune, &info);
        return;
    }
    (void)printf("\nThe winner is %02zu.model: ", info.winner + 1);
    tune_tell_candidate(stdout, tune, info.winner);
    (void)printf("\n");
    right_print(stdout, &info.right,
                &(struct right_print){.eps = info.eps,
                                      .campaign = info.campaign,
                                      .confidence = TUNE_CONFIDENCE,
                                      .clean = (double)NAN});
}
