/*
 * demo_learn.c: classifiers from the demo's reports, and how many of the test
 * digits they read right.
 */
#include "cli/demo.h"
#include "cli/learning.h"

int
demo_fail(const struct sotto_error *err)
{
    if (err->status == SOTTO_STATUS_STOPPED) {
        cli_error("stopped; the same command begins anew in the same folder");
        return CLI_EXIT_FAILED;
    }
    return cli_fail(err);
}

/* The learner that ignores the noise has the library's own settings. That of
   noisy pixels does better without the entropy's weight, so it has none. */
struct sotto_fit_options
demo_fit_options(const struct demo *demo, const struct demo_budget *budget,
                 enum demo_learner learner)
{
    const struct demo_effort *effort = demo->effort;
    bool direct = learner == DEMO_LEARNER_DIRECT;
    if (learner == DEMO_LEARNER_PLAIN) {
        return (struct sotto_fit_options){.objective = SOTTO_OBJECTIVE_PLAIN,
                                          .decay = -1,
                                          .marginal = -1,
                                          .seed = demo->seed};
    }
    return (struct sotto_fit_options){
        .objective = SOTTO_OBJECTIVE_MARGINAL,
        .epochs = effort->fit_epochs,
        .rate = DEMO_RATE,
        .decay = budget->setting->decay,
        .validation = -1,
        .prior_most = direct ? effort->prior_direct : effort->prior,
        .batches = DEMO_BATCHES,
        .restarts = effort->restarts,
        .marginal = DEMO_SHARE_WEIGHT,
        .balanced = true,
        .entropy = direct ? 0 : budget->setting->entropy,
        .seed = demo->seed};
}

/* Writes a model, measures it on clean test records and frees it. */
static int
measure(const struct demo_story *story, struct sotto_model *model,
        const char *name, double *ret_accuracy)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_evaluation evaluation;
    struct sotto_error err = {0};
    (void)demo_place(&story->demo, name, path);
    enum sotto_status status = sotto_model_write(model, path, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_evaluate(model, story->test, false, 0, &evaluation,
                                      &err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_accuracy = evaluation.accuracy;
    }
    sotto_model_free(model);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE
                                     : learning_fail(&err, path);
}

int
demo_learn(struct demo_story *story, struct demo_budget *budget,
           enum demo_learner learner, struct sotto_mechanism *mechanism,
           const struct sotto_report_reader *reader)
{
    char name[DEMO_NAME_SIZE];
    bool direct = learner == DEMO_LEARNER_DIRECT;
    struct sotto_fit_options options =
        demo_fit_options(&story->demo, budget, learner);
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    options.watch = watch_port(&story->watch);
    if (sotto_fit(mechanism, reader, direct ? NULL : story->analyst,
                  direct ? story->auxiliary : NULL, &options, &model, NULL,
                  &err) != SOTTO_STATUS_OK) {
        return demo_fail(&err);
    }
    return measure(story, model,
                   demo_name(demo_learner_name[learner], budget, "model", name),
                   &budget->accuracy[learner]);
}

int
demo_learn_clean(struct demo_story *story)
{
    struct sotto_fit_options options = {.objective = SOTTO_OBJECTIVE_PLAIN,
                                        .decay = -1,
                                        .marginal = -1,
                                        .seed = story->demo.seed,
                                        .watch = watch_port(&story->watch)};
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    if (sotto_fit_clean(story->mechanism, story->people, &options, &model, NULL,
                        &err) != SOTTO_STATUS_OK) {
        return demo_fail(&err);
    }
    return measure(story, model, "clean.model", &story->demo.clean);
}
