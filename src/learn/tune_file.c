/*
 * tune_file.c: a plan of tuning in a file, as one JSON object.
 *
 * It holds the key by which people have their places: mode 0600.
 */
#include <jansson.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "learn/halving.h"
#include "learn/tune.h"

#define FILE_MOST ((size_t)1 << 20)
#define VERSION 1
#define HEX_SIZE (2 * TUNE_KEY_SIZE + 1)

/* ---- Writing --------------------------------------------------------------
 */

static json_t *
right_json(const struct sotto_right *right)
{
    return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "reports",
                     (json_int_t)right->reports, "simulated",
                     (json_int_t)right->simulated, "yes",
                     (json_int_t)right->yes, "share", right->share, "error",
                     right->error, "low", right->low, "high", right->high);
}

static json_t *
candidate_json(const struct tune_candidate *candidate)
{
    json_t *set = json_array();
    for (size_t i = 0; i < candidate->sets; i++) {
        (void)json_array_append_new(set,
                                    json_pack("[s, s]", candidate->set[i].name,
                                              candidate->set[i].value));
    }
    return json_pack("{s:I, s:o, s:o, s:I}", "mechanism",
                     (json_int_t)candidate->mechanism, "set", set, "right",
                     right_json(&candidate->right), "before",
                     (json_int_t)candidate->before);
}

static json_t *
tune_json(const struct sotto_tune *tune)
{
    json_t *mechanisms = json_array(), *candidates = json_array(),
           *order = json_array();
    char key[HEX_SIZE];
    for (size_t i = 0; i < tune->mechanisms; i++) {
        const struct tune_mechanism *own = &tune->mechanism[i];
        (void)json_array_append_new(
            mechanisms, json_pack("{s:s, s:s, s:s, s:I}", "path", own->path,
                                  "hash", own->hash, "eps", own->eps, "reports",
                                  (json_int_t)own->reports));
    }
    for (size_t i = 0; i < tune->candidates; i++) {
        (void)json_array_append_new(candidates,
                                    candidate_json(&tune->candidate[i]));
        (void)json_array_append_new(order,
                                    json_integer((json_int_t)tune->order[i]));
    }
    (void)sodium_bin2hex(key, sizeof key, tune->key, sizeof tune->key);
    return json_pack("{s:i, s:s, s:s, s:s, s:s*, s:f, s:f, s:i, s:I, s:I, s:o, "
                     "s:o, s:o, s:o}",
                     "tune", VERSION, "key", key, "eps", tune->eps, "campaign",
                     tune->campaign, "learner", tune->learner, "train",
                     tune->train, "final", tune->final, "stage",
                     (int)tune->stage, "round", (json_int_t)tune->round, "left",
                     (json_int_t)tune->left, "mechanisms", mechanisms,
                     "candidates", candidates, "order", order, "right",
                     right_json(&tune->right));
}

enum sotto_status
sotto_tune_write(const struct sotto_tune *tune, const char *path,
                 struct sotto_error *err)
{
    json_t *json = tune_json(tune);
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2)) : NULL;
    enum sotto_status status =
        text != NULL
            ? host_file_write(path, 0600, false, text, strlen(text), err)
            : host_fail_memory(err);
    free(text);
    json_decref(json);
    return status;
}

/* ---- Reading --------------------------------------------------------------
 */

/* A whole number of at most `most`; false: none is there. */
static bool
read_size(const json_t *json, const char *key, size_t most, size_t *ret_value)
{
    const json_t *value = json_object_get(json, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > most) {
        return false;
    }
    *ret_value = (size_t)number;
    return true;
}

static bool
read_number(const json_t *json, const char *key, double *ret_value)
{
    const json_t *value = json_object_get(json, key);
    *ret_value = json_number_value(value);
    return json_is_number(value) && isfinite(*ret_value);
}

/* A text of fewer than `size` bytes. */
static bool
read_text(const json_t *json, const char *key, char *ret_text, size_t size)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text != NULL && snprintf(ret_text, size, "%s", text) < (int)size;
}

static bool
read_copy(const json_t *json, char **ret_text)
{
    const char *text = json_string_value(json);
    *ret_text = text != NULL ? strdup(text) : NULL;
    return *ret_text != NULL;
}

/* An epsilon, as decimal text. */
static bool
read_eps(const json_t *json, char *ret_text)
{
    uint64_t units;
    return read_text(json, "eps", ret_text, TUNE_EPS_SIZE) &&
           decimal_read_eps(ret_text, strlen(ret_text), &units, NULL) ==
               SOTTO_STATUS_OK;
}

/* A setting's name: it is printed as it is. */
static bool
read_name(const json_t *json, char **ret_text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    return read_copy(json, ret_text) && (*ret_text)[0] != '\0' &&
           strspn(*ret_text, allowed) == strlen(*ret_text);
}

static bool
read_right(const json_t *json, struct sotto_right *right)
{
    return read_size(json, "reports", SIZE_MAX, &right->reports) &&
           read_size(json, "simulated", right->reports, &right->simulated) &&
           read_size(json, "yes", right->reports, &right->yes) &&
           read_number(json, "share", &right->share) &&
           read_number(json, "error", &right->error) &&
           read_number(json, "low", &right->low) &&
           read_number(json, "high", &right->high) && right->error >= 0 &&
           0 <= right->low && right->low <= right->high && right->high <= 1;
}

static bool
read_mechanisms(const json_t *list, struct sotto_tune *tune)
{
    bool good = json_array_size(list) >= 1 &&
                json_array_size(list) <= SOTTO_TUNE_MECHANISMS_MAX;
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct tune_mechanism *own = &tune->mechanism[tune->mechanisms++];
        good = read_copy(json_object_get(item, "path"), &own->path) &&
               read_text(item, "hash", own->hash, sizeof own->hash) &&
               read_eps(item, own->eps) &&
               read_size(item, "reports", SIZE_MAX, &own->reports);
    }
    return good;
}

static bool
read_candidate(const json_t *item, size_t mechanisms,
               struct tune_candidate *own)
{
    const json_t *set = json_object_get(item, "set");
    bool good = read_size(item, "mechanism", mechanisms - 1, &own->mechanism) &&
                json_is_array(set) &&
                json_array_size(set) <= SOTTO_TUNE_GRIDS_MAX &&
                read_right(json_object_get(item, "right"), &own->right) &&
                read_size(item, "before", own->right.reports, &own->before);
    for (size_t i = 0; good && i < json_array_size(set); i++) {
        const json_t *pair = json_array_get(set, i);
        char *name = NULL, *value = NULL;
        good = read_name(json_array_get(pair, 0), &name) &&
               read_copy(json_array_get(pair, 1), &value);
        own->set[own->sets++] = (struct sotto_setting){name, value};
    }
    return good;
}

static bool
read_candidates(const json_t *list, struct sotto_tune *tune)
{
    bool good = json_array_size(list) >= 1 &&
                json_array_size(list) <= SOTTO_TUNE_CANDIDATES_MAX;
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        good = read_candidate(json_array_get(list, i), tune->mechanisms,
                              &tune->candidate[tune->candidates++]);
    }
    return good;
}

/* All candidates, each once. */
static bool
read_order(const json_t *list, struct sotto_tune *tune)
{
    bool seen[SOTTO_TUNE_CANDIDATES_MAX] = {false};
    bool good = json_array_size(list) == tune->candidates;
    for (size_t i = 0; good && i < tune->candidates; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t which = json_integer_value(item);
        good = json_is_integer(item) && which >= 0 &&
               (size_t)which < tune->candidates && !seen[which];
        if (good) {
            seen[which] = true;
            tune->order[i] = (size_t)which;
        }
    }
    return good;
}

/* Whether stage, round and the number left belong together. */
static bool
is_consistent(const struct sotto_tune *tune)
{
    size_t rounds = halving_rounds(tune->candidates), left = tune->candidates;
    for (size_t i = 1; i < tune->round; i++) {
        left = halving_left(left);
    }
    bool round = tune->stage == SOTTO_TUNE_ROUND;
    return (tune->stage == SOTTO_TUNE_TRAIN
                ? tune->round == 0
                : tune->round <= rounds &&
                      (round ? tune->round >= 1 : tune->round == rounds)) &&
           tune->left == (round || tune->stage == SOTTO_TUNE_TRAIN ? left : 1);
}

static bool
read_tune(const json_t *json, struct sotto_tune *tune)
{
    const char *key = json_string_value(json_object_get(json, "key"));
    const json_t *learner = json_object_get(json, "learner");
    size_t version = 0, stage = 0, size = 0;
    bool good =
        read_size(json, "tune", VERSION, &version) && version == VERSION &&
        key != NULL &&
        sodium_hex2bin(tune->key, sizeof tune->key, key, strlen(key), NULL,
                       &size, NULL) == 0 &&
        size == sizeof tune->key && read_eps(json, tune->eps) &&
        read_copy(json_object_get(json, "campaign"), &tune->campaign) &&
        (learner == NULL || read_copy(learner, &tune->learner)) &&
        read_number(json, "train", &tune->train) &&
        read_number(json, "final", &tune->final) && tune->train > 0 &&
        tune->final > 0 && tune->train + tune->final < 1 &&
        read_size(json, "stage", SOTTO_TUNE_DONE, &stage) &&
        read_size(json, "round", SOTTO_TUNE_CANDIDATES_MAX, &tune->round) &&
        read_size(json, "left", SOTTO_TUNE_CANDIDATES_MAX, &tune->left) &&
        read_mechanisms(json_object_get(json, "mechanisms"), tune) &&
        read_candidates(json_object_get(json, "candidates"), tune) &&
        read_order(json_object_get(json, "order"), tune) &&
        read_right(json_object_get(json, "right"), &tune->right);
    tune->stage = (enum sotto_tune_stage)stage;
    return good && is_consistent(tune);
}

enum sotto_status
sotto_tune_read(const char *path, struct sotto_tune **ret_tune,
                struct sotto_error *err)
{
    struct sotto_tune *tune = calloc(1, sizeof *tune);
    uint8_t *data = NULL;
    size_t size = 0;
    json_t *json = NULL;
    enum sotto_status status;
    if (tune == NULL) {
        return host_fail_memory(err);
    }
    status = host_file_read(path, FILE_MOST, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        json = json_loadb((const char *)data, size, 0, NULL);
        if (json == NULL || !read_tune(json, tune)) {
            status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                               "'%s' is no plan that sotto tune plan wrote",
                               host_shown(path));
        }
    }
    json_decref(json);
    free(data);
    if (status != SOTTO_STATUS_OK) {
        sotto_tune_free(tune);
        return status;
    }
    *ret_tune = tune;
    return SOTTO_STATUS_OK;
}
