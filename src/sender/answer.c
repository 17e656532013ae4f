/*
 * answer.c: what a collector says of the reports it was sent.
 *
 * Believed only if it is complete and contradicts itself nowhere: on its word
 * reports are forgotten.
 */
#include "sender/answer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

#define CODE_LETTERS "abcdefghijklmnopqrstuvwxyz-"
#define DUPLICATE "-" /* in place of a code; no code is this */
#define SHOWN_MOST ((size_t)100)

size_t
answer_most(size_t count)
{
    return 4096 + 512 * count;
}

static enum sotto_status
fail_answer(const char *why, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the collector's answer makes no sense: %s; what was "
                     "sent stays queued",
                     why);
}

static bool
read_count(const json_t *root, const char *key, size_t *ret_count)
{
    const json_t *value = json_object_get(root, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return false;
    }
    *ret_count = (size_t)json_integer_value(value);
    return true;
}

/* Gives a report its code, if it has none yet. */
static bool
mark_report(struct answer *answer, const json_t *number, const char *code)
{
    json_int_t at = json_integer_value(number);
    if (!json_is_integer(number) || at < 0 || (size_t)at >= answer->count ||
        answer->code[at][0] != '\0') {
        return false;
    }
    (void)snprintf(answer->code[at], ANSWER_CODE_SIZE, "%s", code);
    return true;
}

static bool
read_duplicates(struct answer *answer, const json_t *list)
{
    bool right =
        json_is_array(list) && json_array_size(list) == answer->duplicate;
    for (size_t i = 0; right && i < json_array_size(list); i++) {
        right = mark_report(answer, json_array_get(list, i), DUPLICATE);
    }
    return right;
}

/* "code: why", made safe to show. */
static void
keep_why(struct answer *answer, const char *code, const char *why)
{
    struct host_text text;
    host_text_init(&text, 4096);
    host_printable_add(&text, why, SHOWN_MOST);
    size_t room = ANSWER_WHY_SIZE - strlen(code) - 3;
    size_t size = text.failed ? 0 : text.size;
    while (size > room || (size > 0 && size < text.size &&
                           ((unsigned char)text.data[size] & 0xc0) == 0x80)) {
        size--;
    }
    (void)snprintf(answer->why, sizeof answer->why, "%s: %.*s", code, (int)size,
                   size > 0 ? text.data : "");
    host_text_clear(&text);
}

static bool
read_refusal(struct answer *answer, const json_t *refusal)
{
    const char *code = json_string_value(json_object_get(refusal, "code"));
    const char *why = json_string_value(json_object_get(refusal, "why"));
    if (json_object_size(refusal) != 3 || code == NULL || why == NULL) {
        return false;
    }
    size_t size = strlen(code);
    if (size == 0 || size >= ANSWER_CODE_SIZE || code[0] == '-' ||
        strspn(code, CODE_LETTERS) != size) {
        return false;
    }
    if (answer->why[0] == '\0') {
        keep_why(answer, code, why);
    }
    return mark_report(answer, json_object_get(refusal, "report"), code);
}

static bool
read_refusals(struct answer *answer, const json_t *list)
{
    bool right =
        json_is_array(list) && json_array_size(list) == answer->refused;
    for (size_t i = 0; right && i < json_array_size(list); i++) {
        right = read_refusal(answer, json_array_get(list, i));
    }
    return right;
}

static enum sotto_status
read_root(struct answer *answer, const json_t *root, struct sotto_error *err)
{
    if (json_object_size(root) != 5 ||
        !read_count(root, "accepted", &answer->accepted) ||
        !read_count(root, "duplicate", &answer->duplicate) ||
        !read_count(root, "refused", &answer->refused)) {
        return fail_answer("its fields are others", err);
    }
    if (answer->accepted > answer->count ||
        answer->duplicate > answer->count - answer->accepted ||
        answer->refused !=
            answer->count - answer->accepted - answer->duplicate) {
        return fail_answer("it speaks of another number of reports", err);
    }
    if (!read_duplicates(answer, json_object_get(root, "duplicates"))) {
        return fail_answer("its list of duplicates is wrong", err);
    }
    if (!read_refusals(answer, json_object_get(root, "refusals"))) {
        return fail_answer("its list of refusals is wrong", err);
    }
    for (size_t i = 0; i < answer->count; i++) {
        if (strcmp(answer->code[i], DUPLICATE) == 0) {
            answer->code[i][0] = '\0'; /* it is there: that is what counts */
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
answer_parse(const char *text, size_t size, size_t count,
             struct answer *ret_answer, struct sotto_error *err)
{
    struct answer answer = {.count = count};
    json_error_t error;
    answer.code = calloc(count > 0 ? count : 1, sizeof *answer.code);
    if (answer.code == NULL) {
        return host_fail_memory(err);
    }
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    enum sotto_status status = root != NULL ? read_root(&answer, root, err)
                                            : fail_answer("it is no JSON", err);
    json_decref(root);
    if (status == SOTTO_STATUS_OK) {
        *ret_answer = answer;
    } else {
        answer_clear(&answer);
    }
    return status;
}

void
answer_clear(struct answer *answer)
{
    free(answer->code);
    memset(answer, 0, sizeof *answer);
}
