/*
 * tune_grid.c: the candidates of a plan: mechanisms times the values of a grid,
 * each checked before anybody reports for it.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/tune.h"
#include "mechanism/mechanism.h"

/* How many values a text has, "10,20,40", and the i-th as a new text; NULL: no
   memory. */
static size_t
count_values(const char *text)
{
    size_t count = 1;
    for (; *text != '\0'; text++) {
        count += *text == ',' ? 1 : 0;
    }
    return count;
}

static char *
copy_value(const char *text, size_t i)
{
    for (; i > 0; i--) {
        text = strchr(text, ',') + 1;
    }
    return strndup(text, strcspn(text, ","));
}

/* Adds every combination of the grids' values with mechanism `m`. */
static enum sotto_status
add_candidates(struct sotto_tune *tune,
               const struct sotto_tune_options *options, size_t m, size_t count,
               struct sotto_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct tune_candidate *candidate = &tune->candidate[tune->candidates++];
        size_t rest = i;
        candidate->mechanism = m;
        for (size_t g = 0; g < options->grids; g++) {
            size_t values = count_values(options->grid[g].value);
            candidate->set[g].name = strdup(options->grid[g].name);
            candidate->set[g].value =
                copy_value(options->grid[g].value, rest % values);
            candidate->sets++;
            rest /= values;
            if (candidate->set[g].name == NULL ||
                candidate->set[g].value == NULL) {
                return host_fail_memory(err);
            }
        }
    }
    return SOTTO_STATUS_OK;
}

/* Whether the first i + 1 grids give a name, or grid i a value, twice. */
static bool
is_twice(const struct sotto_tune_options *options,
         const struct tune_candidate *candidate, const char *value, size_t i)
{
    size_t found = 0;
    for (size_t j = 0; j < i; j++) {
        if (strcmp(candidate->set[j].name, candidate->set[i].name) == 0) {
            return true;
        }
    }
    for (const char *at = options->grid[i].value; at != NULL;) {
        size_t size = strcspn(at, ",");
        found +=
            size == strlen(value) && strncmp(at, value, size) == 0 ? 1u : 0u;
        at = at[size] == ',' ? at + size + 1 : NULL;
    }
    return found > 1;
}

/* Refuses what would fail only once people have reported. */
static enum sotto_status
check_candidate(const struct sotto_tune_options *options,
                const struct tune_candidate *candidate, struct sotto_error *err)
{
    size_t m = candidate->mechanism;
    if (options->mechanism[m]->shape.label == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, m,
                         "'%.200s' has no label with classes: there is nothing "
                         "that a model could be right about",
                         options->path[m]);
    }
    for (size_t i = 0; i < candidate->sets; i++) {
        const struct sotto_setting *own = &candidate->set[i];
        if (strcmp(own->name, "restarts") == 0 &&
            strcmp(own->value, "1") != 0) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "restarts %s: a candidate is one network, which a "
                             "device can run: leave restarts out of the grid",
                             own->value);
        }
        if (is_twice(options, candidate, own->value, i)) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "%s is in the grid twice, or has the value %s "
                             "twice: each candidate costs people",
                             own->name, own->value);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Checks every candidate before anybody is asked. */
static enum sotto_status
check_candidates(const struct sotto_tune *tune,
                 const struct sotto_tune_options *options,
                 struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < tune->candidates && status == SOTTO_STATUS_OK; i++) {
        const struct tune_candidate *candidate = &tune->candidate[i];
        const struct sotto_fit_options fit = {.learner = tune->learner,
                                              .set = candidate->set,
                                              .sets = candidate->sets};
        status = sotto_fit_check(options->mechanism[candidate->mechanism], &fit,
                                 err);
        status = HOST_THEN(status, check_candidate(options, candidate, err));
    }
    return status;
}

enum sotto_status
tune_fill_candidates(struct sotto_tune *tune,
                     const struct sotto_tune_options *options,
                     struct sotto_error *err)
{
    size_t each = 1;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t g = 0; g < options->grids; g++) {
        size_t values = count_values(options->grid[g].value);
        each = values > SOTTO_TUNE_CANDIDATES_MAX ||
                       each * values > SOTTO_TUNE_CANDIDATES_MAX
                   ? SOTTO_TUNE_CANDIDATES_MAX + 1
                   : each * values;
    }
    if (each * options->mechanisms > SOTTO_TUNE_CANDIDATES_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "more than %u candidates: each needs people of its "
                         "own to answer",
                         SOTTO_TUNE_CANDIDATES_MAX);
    }
    for (size_t m = 0; m < options->mechanisms; m++) {
        status = HOST_THEN(status, add_candidates(tune, options, m, each, err));
    }
    tune->left = tune->candidates;
    for (size_t i = 0; i < tune->candidates; i++) {
        tune->order[i] = i;
    }
    return HOST_THEN(status, check_candidates(tune, options, err));
}
