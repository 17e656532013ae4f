/*
 * demo_learn.c: classifiers from the demo's reports, and how many of the test
 * digits they read right.
 */
#include "demo/demo.h"
#include "verb/learning.h"

int
demo_fail(const struct sotto_error *err)
{
    if (err->status == SOTTO_STATUS_STOPPED) {
        cli_error("stopped; the same command begins anew in the same folder");
        return CLI_EXIT_FAILED;
    }
    return cli_fail(err);
}

/* The one that ignores the noise has the library's own settings; so has the one
   of codes, but that digits are known to be equally frequent. */
static struct sotto_fit_options
fit_options(const struct demo *demo, const struct demo_budget *budget,
            enum demo_learner learner)
{
    const struct demo_effort *effort = demo->effort;
    if (learner != DEMO_LEARNER_NUMBERS) {
        bool codes = learner == DEMO_LEARNER_CODES;
        return (struct sotto_fit_options){.objective =
                                              codes ? SOTTO_OBJECTIVE_MARGINAL
                                                    : SOTTO_OBJECTIVE_PLAIN,
                                          .balanced = codes,
                                          .decay = -1,
                                          .marginal = -1,
                                          .entropy = codes ? -1 : 0,
                                          .seed = demo->seed};
    }
    return (struct sotto_fit_options){.objective = SOTTO_OBJECTIVE_MARGINAL,
                                      .epochs = effort->fit_epochs,
                                      .rate = DEMO_RATE,
                                      .decay = budget->setting->decay,
                                      .validation = -1,
                                      .prior_most = effort->prior,
                                      .batches = DEMO_BATCHES,
                                      .restarts = effort->restarts,
                                      .marginal = DEMO_SHARE_WEIGHT,
                                      .balanced = true,
                                      .entropy = budget->setting->entropy,
                                      .seed = demo->seed};
}

/* Writes a model and measures it on clean test records. */
static int
measure_model(const struct demo_story *story, struct sotto_model *model,
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
    if (status != SOTTO_STATUS_OK) {
        return learning_fail(&err, path);
    }
    *ret_accuracy = evaluation.accuracy;
    return CLI_EXIT_DONE;
}

int
demo_learn(struct demo_story *story, struct demo_budget *budget,
           enum demo_learner learner, struct sotto_mechanism *mechanism,
           const struct sotto_analyst *analyst,
           const struct sotto_report_reader *reader,
           struct sotto_model **ret_model)
{
    char name[DEMO_NAME_SIZE];
    struct sotto_fit_options options =
        fit_options(&story->demo, budget, learner);
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    options.watch = watch_port(&story->watch);
    if (sotto_fit(mechanism, reader, analyst, NULL, &options, &model, NULL,
                  &err) != SOTTO_STATUS_OK) {
        return demo_fail(&err);
    }
    int status = measure_model(
        story, model,
        demo_name(demo_learner_name[learner], budget, "model", name),
        &budget->accuracy[learner]);
    if (status == CLI_EXIT_DONE && ret_model != NULL) {
        *ret_model = model;
    } else {
        sotto_model_free(model);
    }
    return status;
}

int
demo_learn_clean(struct demo_story *story, struct sotto_mechanism *mechanism)
{
    struct sotto_fit_options options = {.objective = SOTTO_OBJECTIVE_PLAIN,
                                        .decay = -1,
                                        .marginal = -1,
                                        .seed = story->demo.seed,
                                        .watch = watch_port(&story->watch)};
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    if (sotto_fit_clean(mechanism, story->people, &options, &model, NULL,
                        &err) != SOTTO_STATUS_OK) {
        return demo_fail(&err);
    }
    int status = measure_model(story, model, "clean.model", &story->demo.clean);
    sotto_model_free(model);
    return status;
}
