/*
 * demo_mechanism.c: the demo's encoders, its mechanisms and their signatures.
 *
 * Two encoders are learnt, once each: a contrastive one, whose representation
 * is cut into cells, and a variational one to compare with. A mechanism for
 * codes is cut for its epsilon from the same cells; the numbers' has the same
 * encoder with other noise.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demo/demo.h"

/* ---- Encoders ------------------------------------------------------------ */

/* Cells, which serve every epsilon. */
static enum sotto_status
cut(struct demo_story *story, const struct sotto_mechanism *encoder,
    struct sotto_error *err)
{
    struct demo *demo = &story->demo;
    struct sotto_codebook_options options = {.label = DEMO_LABEL,
                                             .name = DEMO_MECHANISM,
                                             .campaign = "demo",
                                             .seed = demo->seed,
                                             .watch =
                                                 watch_port(&story->watch)};
    enum sotto_status status = sotto_codebook_new(
        story->auxiliary, encoder, &options, &story->codebook, err);
    if (status == SOTTO_STATUS_OK) {
        demo->cells = sotto_codebook_cells(story->codebook);
    }
    return status;
}

int
demo_train_codes(struct demo_story *story)
{
    char path[DEMO_PATH_SIZE], analyst[DEMO_PATH_SIZE];
    struct demo *demo = &story->demo;
    struct sotto_mechanism *encoder = NULL;
    struct sotto_error err = {0};
    char epochs[24], seed[24];
    const struct sotto_setting set[] = {{"d", DEMO_CODE_D},
                                        {"temperature", DEMO_TEMPERATURE},
                                        {"epochs", epochs},
                                        {"batch", DEMO_CODE_BATCH},
                                        {"seed", seed}};
    struct sotto_train_options options = {.eps = DEMO_TRAIN_EPS,
                                          .label = DEMO_LABEL,
                                          .name = DEMO_MECHANISM,
                                          .campaign = "demo",
                                          .set = set,
                                          .sets = sizeof set / sizeof *set,
                                          .watch = watch_port(&story->watch)};
    (void)snprintf(epochs, sizeof epochs, "%ju",
                   (uintmax_t)demo->effort->epochs);
    (void)snprintf(seed, sizeof seed, "%ju", (uintmax_t)demo->seed);
    (void)demo_place(demo, "encoder.sotto", path);
    (void)demo_place(demo, "encoder.analyst", analyst);
    enum sotto_status status = sotto_train(story->auxiliary, "clm", &options,
                                           path, analyst, NULL, &encoder, &err);
    if (status == SOTTO_STATUS_OK) {
        status = cut(story, encoder, &err);
    }
    sotto_mechanism_free(encoder);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : demo_fail(&err);
}

int
demo_train_numbers(struct demo_story *story)
{
    char path[DEMO_PATH_SIZE], analyst[DEMO_PATH_SIZE];
    char epochs[24], seed[24];
    struct demo *demo = &story->demo;
    struct sotto_error err = {0};
    const struct sotto_setting set[] = {
        {"lambda", DEMO_TRAIN_LAMBDA}, {"d", DEMO_D},
        {"hidden", DEMO_HIDDEN},       {"l", DEMO_RADIUS},
        {"eps-pre", DEMO_EPS_PRE},     {"epochs", epochs},
        {"batch", DEMO_BATCH},         {"seed", seed}};
    struct sotto_train_options options = {.eps = DEMO_TRAIN_EPS,
                                          .label = DEMO_LABEL,
                                          .name = DEMO_MECHANISM,
                                          .campaign = "demo",
                                          .set = set,
                                          .sets = sizeof set / sizeof *set,
                                          .watch = watch_port(&story->watch)};
    (void)snprintf(epochs, sizeof epochs, "%ju",
                   (uintmax_t)demo->effort->numbers_epochs);
    (void)snprintf(seed, sizeof seed, "%ju", (uintmax_t)demo->seed);
    (void)demo_place(demo, "numbers.sotto", path);
    (void)demo_place(demo, "numbers.analyst", analyst);
    return sotto_train(story->auxiliary, "vlm", &options, path, analyst, NULL,
                       &story->numbers, &err) == SOTTO_STATUS_OK &&
                   sotto_analyst_read(analyst, &story->analyst, &err) ==
                       SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : demo_fail(&err);
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

/* The number of codes is chosen on the auxiliary images, with made-up labels
   and simulated people. */
static enum sotto_status
make_codes(struct demo_story *story, struct demo_budget *budget,
           const char *path, struct sotto_mechanism **ret_mechanism,
           struct sotto_error *err)
{
    char analyst[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook_wanted wanted = {.eps = budget->text,
                                           .people =
                                               story->demo.effort->simulated,
                                           .channel = DEMO_CHANNEL,
                                           .seed = story->demo.seed,
                                           .watch = watch_port(&story->watch)};
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
