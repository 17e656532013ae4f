/*
 * demo_mechanism.c: the demo's encoders, its mechanisms and their signatures.
 *
 * Two encoders are learnt, once each: a contrastive one, whose representation
 * is cut into cells, and a variational one to compare with. A mechanism for
 * codes has as many codes as serve its epsilon; the numbers' has the same
 * encoder with other noise.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo/demo.h"
#include "host/error.h"

#define SETTINGS_MAX 6u /* of an encoder, beside epochs and seed */

/* ---- Encoders ------------------------------------------------------------ */

/* Representations and cells. */
static enum sotto_status
cut(struct demo_story *story, const struct sotto_mechanism *encoder,
    struct sotto_error *err)
{
    struct demo *demo = &story->demo;
    struct sotto_codebook_options options = {.label = DEMO_LABEL,
                                             .name = DEMO_MECHANISM,
                                             .campaign = "demo",
                                             .seed = demo->seed,
                                             .unit = true,
                                             .watch =
                                                 watch_port(&story->watch)};
    enum sotto_status status = sotto_codebook_new(
        story->auxiliary, encoder, &options, &story->codebook, err);
    if (status == SOTTO_STATUS_OK) {
        demo->cells = sotto_codebook_cells(story->codebook);
    }
    return status;
}

/* Trains an encoder of a kind from the auxiliary images, with settings and the
   demo's seed, to NAME.sotto and NAME.analyst. */
static enum sotto_status
train(struct demo_story *story, const char *kind, const char *name,
      uint32_t epochs, const struct sotto_setting *more, size_t count,
      struct sotto_mechanism **ret_encoder, struct sotto_error *err)
{
    char file[DEMO_NAME_SIZE], path[DEMO_PATH_SIZE], analyst[DEMO_PATH_SIZE];
    char text[2][24];
    struct sotto_setting set[SETTINGS_MAX + 2];
    struct sotto_train_options options = {.eps = DEMO_TRAIN_EPS,
                                          .label = DEMO_LABEL,
                                          .name = DEMO_MECHANISM,
                                          .campaign = "demo",
                                          .set = set,
                                          .sets = count + 2,
                                          .watch = watch_port(&story->watch)};
    (void)snprintf(text[0], sizeof text[0], "%" PRIu32, epochs);
    (void)snprintf(text[1], sizeof text[1], "%" PRIu64, story->demo.seed);
    memcpy(set, more, count * sizeof *set);
    set[count] = (struct sotto_setting){"epochs", text[0]};
    set[count + 1] = (struct sotto_setting){"seed", text[1]};
    (void)snprintf(file, sizeof file, "%s.sotto", name);
    (void)demo_place(&story->demo, file, path);
    (void)snprintf(file, sizeof file, "%s.analyst", name);
    (void)demo_place(&story->demo, file, analyst);
    return sotto_train(story->auxiliary, kind, &options, path, analyst, NULL,
                       ret_encoder, err);
}

int
demo_train_codes(struct demo_story *story)
{
    static const struct sotto_setting set[] = {
        {"d", DEMO_CODE_D},
        {"temperature", DEMO_TEMPERATURE},
        {"batch", DEMO_CODE_BATCH}};
    struct sotto_mechanism *encoder = NULL;
    struct sotto_error err = {0};
    enum sotto_status status =
        train(story, "clm", "encoder", story->demo.effort->epochs, set,
              sizeof set / sizeof *set, &encoder, &err);
    status = HOST_THEN(status, cut(story, encoder, &err));
    sotto_mechanism_free(encoder);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : demo_fail(&err);
}

int
demo_train_numbers(struct demo_story *story)
{
    static const struct sotto_setting set[SETTINGS_MAX] = {
        {"lambda", DEMO_TRAIN_LAMBDA}, {"d", DEMO_D},
        {"hidden", DEMO_HIDDEN},       {"l", DEMO_RADIUS},
        {"eps-pre", DEMO_EPS_PRE},     {"batch", DEMO_BATCH}};
    char analyst[DEMO_PATH_SIZE];
    struct sotto_error err = {0};
    (void)demo_place(&story->demo, "numbers.analyst", analyst);
    return train(story, "vlm", "numbers", story->demo.effort->numbers_epochs,
                 set, SETTINGS_MAX, &story->numbers, &err) == SOTTO_STATUS_OK &&
                   sotto_analyst_read(analyst, &story->analyst, &err) ==
                       SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : demo_fail(&err);
}

/* ---- Signatures ---------------------------------------------------------- */

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
    status = HOST_THEN(status, sotto_mechanism_read_verified(
                                   path, pub, &comment, ret_checked, err));
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
    bool has_key = access(key, F_OK) == 0, has_pub = access(pub, F_OK) == 0;
    if (has_key != has_pub) {
        (void)unlink(has_key ? key : pub);
    }
    return has_key && has_pub;
}

/* A pair left by an earlier run is used again: it is never removed. */
int
demo_keys(struct demo_story *story)
{
    char prefix[DEMO_PATH_SIZE], key[DEMO_PATH_SIZE], pub[DEMO_PATH_SIZE];
    const struct demo *demo = &story->demo;
    struct sotto_error err = {0};
    (void)demo_place(demo, "collector", prefix);
    (void)demo_place(demo, "collector.key", key);
    (void)demo_place(demo, "collector.pub", pub);
    if (!has_pair(key, pub) &&
        sotto_key_generate(prefix, NULL, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    return CLI_EXIT_DONE;
}

/* ---- Mechanisms ---------------------------------------------------------- */

/* The number of codes is what reports of so many people can tell apart. */
static enum sotto_status
make_codes(struct demo_story *story, struct demo_budget *budget,
           const char *path, struct sotto_mechanism **ret_mechanism,
           struct sotto_error *err)
{
    char analyst[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook_wanted wanted = {.eps = budget->text,
                                           .people = story->demo.people,
                                           .channel = DEMO_CHANNEL};
    (void)demo_place(
        &story->demo,
        demo_name(demo_kind_name[DEMO_KIND_CODES], budget, "analyst", name),
        analyst);
    enum sotto_status status =
        sotto_codebook_choose(story->codebook, &wanted, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        budget->k = choice.k;
        status = sotto_codebook_write(story->codebook, &choice, budget->text,
                                      path, analyst, ret_mechanism, err);
    }
    return status;
}

static void
note_report(struct demo_budget *budget, enum demo_kind kind,
            const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    sotto_mechanism_info(mechanism, &info);
    if (kind == DEMO_KIND_NUMBERS) {
        budget->numbers_size = info.report_size;
        return;
    }
    sotto_mechanism_part(mechanism, 0, &part);
    budget->report_size = info.report_size;
    budget->pairs = part.size;
    budget->named = part.values;
}

const char *
demo_mechanism_place(const struct demo *demo, enum demo_kind kind,
                     const struct demo_budget *budget,
                     char path[DEMO_PATH_SIZE])
{
    char name[DEMO_NAME_SIZE], place[DEMO_NAME_SIZE + 32];
    if (kind != DEMO_KIND_CODES || budget != demo_headline(demo)) {
        return demo_place(
            demo, demo_name(demo_kind_name[kind], budget, "sotto", name), path);
    }
    (void)snprintf(place, sizeof place, DEMO_CAMPAIGNS "/%s.sotto",
                   demo_campaign(budget, name));
    return demo_place(demo, place, path);
}

int
demo_mechanism(struct demo_story *story, enum demo_kind kind,
               struct demo_budget *budget,
               struct sotto_mechanism **ret_mechanism)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_mechanism *made = NULL;
    struct sotto_error err = {0};
    enum sotto_status status;
    (void)demo_mechanism_place(&story->demo, kind, budget, path);
    if (kind == DEMO_KIND_CODES) {
        status = make_codes(story, budget, path, &made, &err);
    } else {
        status = sotto_mechanism_rebudget(story->numbers, budget->text,
                                          budget->setting->lambda, NULL, path,
                                          &made, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        note_report(budget, kind, made);
        status = sign(&story->demo, made, path, ret_mechanism, &err);
    }
    sotto_mechanism_free(made);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : demo_fail(&err);
}
