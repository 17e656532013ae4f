/*
 * results_plan.c: what sotto plan --json foretold of accuracy, by people.
 *
 * A line is an object. Those that count have a kind, people and an accuracy,
 * are of the asked epsilon, and nobody in them is silent or lies. Where there
 * are several kinds, the one that counts is the one that plan recommends.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/results.h"

#define FILE_MOST ((size_t)16 << 20)
#define KIND_SIZE 64u
#define POINTS_MOST ((size_t)200)

struct reading {
    double eps;
    char kind[KIND_SIZE]; /* "": not known yet */
    struct sotto_results_accuracy *point;
    size_t count, room;
};

static double
number_of(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *
text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text != NULL ? text : "";
}

static bool
is_point(const struct reading *reading, const json_t *line)
{
    double people = number_of(line, "people");
    double accuracy = number_of(line, "accuracy");
    return people >= 1 && people <= 1e15 && accuracy >= 0 && accuracy <= 1 &&
           fabs(number_of(line, "eps") - reading->eps) < 1e-9 &&
           number_of(line, "silent") == 0 && number_of(line, "lying") == 0 &&
           strcmp(text_of(line, "kind"), reading->kind) == 0;
}

static void
set_kind(struct reading *reading, const char *kind)
{
    (void)snprintf(reading->kind, sizeof reading->kind, "%s", kind);
}

/* Notes the kind: the first, or the recommended one. It cannot fail, but is
   called as add_point is. */
static enum sotto_status
find_kind(struct reading *reading, const json_t *line, struct sotto_error *err)
{
    const char *kind = text_of(line, "kind");
    (void)err;
    if (strcmp(text_of(line, "answer"), "kind") == 0 ||
        reading->kind[0] == '\0') {
        set_kind(reading, kind);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
add_point(struct reading *reading, const json_t *line, struct sotto_error *err)
{
    struct sotto_results_accuracy *grown;
    if (!is_point(reading, line)) {
        return SOTTO_STATUS_OK;
    }
    if (reading->count == POINTS_MOST) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a plan has more than %zu points of one epsilon: "
                         "leave some out",
                         POINTS_MOST);
    }
    grown = host_grow(reading->point, sizeof *grown, reading->count,
                      &reading->room);
    if (grown == NULL) {
        return host_fail_memory(err);
    }
    double low = number_of(line, "low"), high = number_of(line, "high");
    bool told = low >= 0 && low <= high && high <= 1;
    reading->point = grown;
    grown[reading->count++] = (struct sotto_results_accuracy){
        number_of(line, "people"), number_of(line, "accuracy"),
        told ? low : (double)NAN, told ? high : (double)NAN};
    return SOTTO_STATUS_OK;
}

/* Calls for each line. */
static enum sotto_status
read_lines(struct reading *reading, const char *path, const char *text,
           size_t size,
           enum sotto_status (*take)(struct reading *, const json_t *,
                                     struct sotto_error *),
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t number = 0;
    for (size_t at = 0; status == SOTTO_STATUS_OK && at < size; at++) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t line = end != NULL ? (size_t)(end - text) - at : size - at;
        json_error_t wrong;
        number++;
        if (line > 0) {
            json_t *object = json_loadb(text + at, line, 0, &wrong);
            status = json_is_object(object)
                         ? take(reading, object, err)
                         : host_fail(err, SOTTO_STATUS_INPUT, number,
                                     "'%s', line %zu is no object of JSON, as "
                                     "sotto plan --json prints them",
                                     host_shown(path), number);
            json_decref(object);
        }
        at += line;
    }
    return status;
}

static int
compare_people(const void *a, const void *b)
{
    double first = ((const struct sotto_results_accuracy *)a)->people;
    double second = ((const struct sotto_results_accuracy *)b)->people;
    return (first > second) - (first < second);
}

enum sotto_status
results_plan_parse(const char *text, size_t size, const char *name, double eps,
                   struct sotto_results_accuracy **ret_accuracy,
                   size_t *ret_count, struct sotto_error *err)
{
    struct reading reading = {.eps = eps};
    enum sotto_status status =
        read_lines(&reading, name, text, size, find_kind, err);
    status = HOST_THEN(status,
                       read_lines(&reading, name, text, size, add_point, err));
    if (status != SOTTO_STATUS_OK) {
        free(reading.point);
        return status;
    }
    if (reading.count > 0) {
        qsort(reading.point, reading.count, sizeof *reading.point,
              compare_people);
    }
    *ret_accuracy = reading.point;
    *ret_count = reading.count;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_results_plan(const char *path, double eps,
                   struct sotto_results_accuracy **ret_accuracy,
                   size_t *ret_count, struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, FILE_MOST, &data, &size, err);
    status = HOST_THEN(status,
                       results_plan_parse((const char *)data, size, path, eps,
                                          ret_accuracy, ret_count, err));
    free(data);
    return status;
}
