/*
 * task_learnt.c: the learnt task-aware mechanism: settings, and what is made of
 * the trained weights.
 *
 * The device's domain has radius 1, and so has a net's: nothing is to be
 * scaled. Not private towards the auxiliary data (ERRATA 1), and both files say
 * so.
 */
#include <stdlib.h>

#include "encoder/task_learnt.h"
#include "host/error.h"

#define AT(field) offsetof(struct task_settings, field)

static const struct setting settings[] = {
    SETTING("target", MANY, AT(targets), 0, 0, NULL, "COL[=W]",
            "the task: foretell this column; it counts W times\n"
            "(1). It is not sent, unless it is the label too"),
    SETTING("weights", MANY, AT(weighteds), 0, 0, NULL, "COL=W,...",
            "the task: tell these columns; a column's error, in\n"
            "its own deviations, counts W times"),
    SETTING("model", TEXT, AT(model), 0, 0, NULL, "MODEL",
            "the task: what this model says of a record"),
    SETTING("truth", FLAG, AT(truth), 0, 0, NULL, NULL,
            "learn what targets are, not what the task's own\n"
            "network says of them"),
    SETTING("d", WHOLE, AT(common.d), 1, CHANNEL_D_MAX, NULL, NULL,
            "numbers in the representation (1, 2, 4, ... as\n"
            "long as the loss on rows held out falls)"),
    LEARNT_COMMON_SETTINGS(task_settings),
    SETTING("hidden", LIST, AT(hidden), 1, 65536, NULL, NULL,
            "units of the encoder's hidden layers; the decoder\n"
            "has them backwards (none)"),
    SETTING("task-hidden", LIST, AT(task_hidden), 1, 65536, NULL, NULL,
            "units of the hidden layers of the task's network\n"
            "(one layer, 1.5 times the inputs)"),
    SETTING("eps-pre", NUMBER, AT(eps_pre), 0.001, 1000000, NULL, NULL,
            "training noise is that of a report at this\n"
            "epsilon (the record's share of eps)"),
    SETTING("epochs", WHOLE, AT(epochs), 1, 1000000, NULL, NULL,
            "passes over the data (about 4,000 steps)"),
    SETTING("task-epochs", WHOLE, AT(task_epochs), 1, 1000000, NULL, NULL,
            "most passes for the task's network (about 4,000\n"
            "steps)"),
    SETTING("batch", WHOLE, AT(batch), 1, 65536, "64", NULL,
            "records in a step"),
    SETTING("rate", NUMBER, AT(rate), 0.000000001, 10, "0.005", NULL,
            "Adam's rate"),
    SETTING("patience", WHOLE, AT(patience), 1, 1000000, NULL, NULL,
            "stop after N epochs without a better score on\n"
            "the validation rows (never)"),
    SETTING("validation", NUMBER, AT(validation), 0, 0.9, "0.1", NULL,
            "the share of rows that only score"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    SETTING_END};

/* ---- Settings ------------------------------------------------------------ */

static enum sotto_status
check_task(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct task_settings *set = own;
    struct task_aim aim = {0};
    enum sotto_status status = learnt_settings_check(&set->common, err);
    if (status == SOTTO_STATUS_OK && set->eps_pre > 0) {
        status = learnt_channel_check_pre(&set->common, set->eps_pre, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (set->targets + set->weighteds == 0 && set->model == NULL) {
        return settings_fail(err, "target",
                             "is missing: say what reports are for, by target, "
                             "weights or model");
    }
    if (set->model != NULL && set->targets > 0) {
        return settings_fail(err, "model",
                             "and target exclude each other: give one");
    }
    if (set->truth && set->targets == 0) {
        return settings_fail(err, "truth",
                             "is for targets, whose truth the data holds: name "
                             "one, or leave it out");
    }
    if (set->targets == 0 &&
        (set->task_hidden.count > 0 || set->task_epochs > 0)) {
        return settings_fail(
            err, set->task_hidden.count > 0 ? "task-hidden" : "task-epochs",
            "is for a network that foretells targets: name one, or leave it "
            "out");
    }
    status = task_aim_read(&aim, job->options, err);
    task_aim_clear(&aim);
    return status;
}

/* ---- The files ----------------------------------------------------------- */

static json_t *
pack_facts(const struct task_making *making)
{
    const struct task_trained *trained = &making->trained;
    const struct task_settings *set = making->set;
    return json_pack(
        "{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "task",
        making->aim.words, "rows", (json_int_t)making->learnt.n, "epochs",
        (json_int_t)trained->epochs, "loss", trained->loss, "validation",
        trained->held, "without", making->constant, "clear", making->clear,
        "clipped", trained->clipped, "eps_pre", set->eps_pre, "batch",
        (json_int_t)set->batch, "seed", (json_int_t)set->seed);
}

static enum sotto_status
write_files(const struct task_making *making, struct sotto_error *err)
{
    const struct task_net *net = &making->net[making->best];
    struct learnt_layers encoder = {.count = 0}, decoder = {.count = 0};
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, making->learnt.width};
    json_t *facts = pack_facts(making);
    enum sotto_status status =
        facts != NULL ? learnt_layers_init(&encoder, &net->encoder, NULL,
                                           1 / TASK_RADIUS, err)
                      : host_fail_memory(err);
    status = HOST_THEN(
        status, learnt_layers_init(&decoder, &net->decoder, NULL, 1, err));
    if (status == SOTTO_STATUS_OK) {
        struct learnt_result result = {.encoder = encoder.layer,
                                       .encoder_layers = encoder.count,
                                       .decoder = decoder.layer,
                                       .decoder_layers = decoder.count,
                                       .block = &block,
                                       .blocks = 1,
                                       .facts = facts,
                                       .task = making->aim.words};
        status = learnt_finish(&making->learnt, &result, err);
    }
    json_decref(facts);
    free(encoder.memory);
    free(decoder.memory);
    return status;
}

/* Says what training came to, and if that is nothing. */
static void
say_loss(const struct task_making *making)
{
    const struct task_trained *trained = &making->trained;
    struct sotto_train_facts *facts = making->job->facts;
    fact_say(facts,
             "Trained for %s.\nThrough a report of %u number%s its "
             "loss is %.4g a record",
             making->aim.words, (unsigned)making->learnt.set.d,
             making->learnt.set.d == 1 ? "" : "s", trained->loss);
    if (making->set->validation > 0) {
        fact_say(facts, " (%.4g on validation rows)", trained->held);
    }
    fact_say(facts,
             ":\nit is %.4g for the record in the clear and %.4g without any "
             "report. %.0f%% of the\nrecords were clipped.\n",
             making->clear, making->constant, 100 * trained->clipped);
    if (making->answers != NULL && making->aim.targets > 0) {
        fact_say(facts,
                 "That is against what the task's network says, whose own "
                 "loss against the\ntargets is %.4g.\n",
                 making->function_trained.held);
    }
    if (!(trained->held < making->constant)) {
        fact_say(facts,
                 "So a report tells nothing of the task: give more records, "
                 "more epochs, another\nrate or a larger epsilon.\n");
    }
}

static void
tell_facts(const struct task_making *making)
{
    const struct task_trained *trained = &making->trained;
    struct sotto_train_facts *facts = making->job->facts;
    fact_text(facts, "task", making->aim.words);
    fact_whole(facts, "d", making->learnt.set.d);
    fact_whole(facts, "epochs", trained->epochs);
    fact_number(facts, "loss", trained->loss);
    fact_number(facts, "validation", trained->held);
    fact_number(facts, "without", making->constant);
    fact_number(facts, "clear", making->clear);
    fact_number(facts, "clipped", trained->clipped);
    if (making->aim.targets > 0) {
        fact_number(facts, "task_loss", making->function_trained.held);
    }
    fact_numbers(facts, "tried", making->tried, making->tries);
    fact_numbers(facts, "losses", making->losses, making->tries);
    fact_flag(facts, "resumed",
              making->resumed || making->function_trained.resumed);
    say_loss(making);
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
fit_task(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct task_making *making = calloc(1, sizeof *making);
    enum sotto_status status;
    if (making == NULL) {
        return host_fail_memory(err);
    }
    making->job = job;
    making->set = own;
    status = task_making_run(making, err);
    status = HOST_THEN(status, write_files(making, err));
    if (status == SOTTO_STATUS_OK) {
        making->set->common.d = making->learnt.set.d;
        tell_facts(making);
        task_making_forget(making);
    }
    task_making_clear(making);
    free(making);
    return status;
}

const struct encoder encoder_task = {
    .kind = {.name = "task",
             .about =
                 "an encoder that keeps what a task needs, learnt with a "
                 "decoder\n"
                 "under the noise to come: the task is to foretell columns\n"
                 "(--target), to tell columns (--weights), or what a model "
                 "of\n"
                 "yours says (--model). Also writes M.analyst. If stopped "
                 "(Ctrl-C,\n"
                 "a crash), the same command goes on where it was.",
             .analyst = "decoder and prior",
             .trains = true,
             .example = "target=diagnosis d=2 epochs=50"},
    .settings = settings,
    .own_size = sizeof(struct task_settings),
    .check = check_task,
    .fit = fit_task,
};
