/*
 * demo_learn.c: classifiers from the demo's reports, and how many of the test
 * digits they read right.
 */
#include <inttypes.h>

#include "demo/demo.h"
#include "host/error.h"
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

/* ---- Settings ------------------------------------------------------------ */

#define SETTINGS_MAX 11u

/* How a classifier is learnt, and the texts of it. */
struct fit_settings {
    struct sotto_setting set[SETTINGS_MAX];
    char text[SETTINGS_MAX][24];
    size_t sets;
};

static void
put_flag(struct fit_settings *settings, const char *name)
{
    settings->set[settings->sets++] = (struct sotto_setting){name, NULL};
}

CLI_PRINTF(3)
static void
put_setting(struct fit_settings *settings, const char *name, const char *format,
            ...)
{
    char *text = settings->text[settings->sets];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof settings->text[0], format, list);
    va_end(list);
    settings->set[settings->sets++] = (struct sotto_setting){name, text};
}

/* Has the library's own settings for the one that ignores the noise, and for
   the one of codes, but that digits are known to be equally frequent and that
   there are fewer particles. */
static void
put_settings(const struct demo *demo, const struct demo_budget *budget,
             enum demo_learner learner, struct fit_settings *settings)
{
    const struct demo_effort *effort = demo->effort;
    if (learner == DEMO_LEARNER_CODES) {
        put_flag(settings, "balanced");
        put_setting(settings, "particles", "%" PRIu32, effort->particles);
        return;
    }
    if (learner == DEMO_LEARNER_PLAIN) {
        put_setting(settings, "objective", "plain");
        return;
    }
    put_setting(settings, "epochs", "%" PRIu32, effort->fit_epochs);
    put_setting(settings, "rate", "%g", DEMO_RATE);
    put_setting(settings, "decay", "%g", budget->setting->decay);
    put_setting(settings, "batches", "%u", DEMO_BATCHES);
    put_setting(settings, "restarts", "%" PRIu32, effort->restarts);
    put_setting(settings, "share-weight", "%g", DEMO_SHARE_WEIGHT);
    put_flag(settings, "balanced");
    put_setting(settings, "entropy", "%g", budget->setting->entropy);
    put_setting(settings, "validation", "0");
    put_setting(settings, "prior-most", "%zu", effort->prior);
}

/* The options of a fit, which have the settings and the story's seed. */
static struct sotto_fit_options
make_options(struct demo_story *story, struct fit_settings *settings)
{
    put_setting(settings, "seed", "%" PRIu64, story->demo.seed);
    return (struct sotto_fit_options){.set = settings->set,
                                      .sets = settings->sets,
                                      .watch = watch_port(&story->watch)};
}

/* ---- Learning ------------------------------------------------------------ */

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
    status = HOST_THEN(status, sotto_model_evaluate(model, story->test, false,
                                                    0, &evaluation, &err));
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
    struct fit_settings settings = {.sets = 0};
    struct sotto_fit_options options;
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    put_settings(&story->demo, budget, learner, &settings);
    options = make_options(story, &settings);
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
    struct fit_settings settings = {.sets = 0};
    struct sotto_fit_options options = make_options(story, &settings);
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
