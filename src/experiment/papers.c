/*
 * papers.c: what the papers reached, and what sotto must reach: looking up an
 * experiment's numbers.
 */
#include "experiment/papers.h"

#include <math.h>
#include <string.h>

#include "experiment/experiment.h"

const double papers_eps[PAPERS_COLUMNS] = {10, 8, 6, 4, 2, 1, INFINITY};
const double papers_small[PAPERS_SMALL] = {0.5, 0.25};

/* 17.3 / 100 is not the number nearest to 0.173; 173 / 1000 is. */
double
papers_fraction(double percent)
{
    return nearbyint(10 * percent) / 1000;
}

size_t
papers_column(double eps)
{
    size_t i = 0;
    while (i < PAPERS_COLUMNS && papers_eps[i] != eps) {
        i++;
    }
    return i;
}

/* Whether one of the words of a list, which may be NULL, is `name`. */
static bool
has_word(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t word = strcspn(at, " ");
        if (word == size && memcmp(at, name, size) == 0) {
            return true;
        }
        at += word;
        at += strspn(at, " ");
    }
    return false;
}

const struct papers_row *
papers_find(const struct experiment_run *run)
{
    for (const struct papers_row *row = run->experiment->papers;
         row->name != NULL; row++) {
        if (has_word(row->mechanisms, run->mechanism->name) &&
            strcmp(row->level, run->level) == 0 &&
            row->aux_share == run->aux_share) {
            return row;
        }
    }
    return NULL;
}

bool
papers_compared(const struct experiment_run *run, const struct papers_row *row)
{
    const struct experiment_mechanism *at = run->experiment->mechanisms;
    while (at->name != NULL && !has_word(row->mechanisms, at->name)) {
        at++;
    }
    return at->name == NULL || at->channel != NULL;
}

double
papers_reach(const struct experiment_run *run, double eps)
{
    const struct experiment_mechanism *mechanism = run->mechanism;
    size_t column = papers_column(eps);
    double percent = 0;
    if (strcmp(run->level, "latent") != 0 ||
        run->aux_share != run->experiment->aux_share) {
        return NAN;
    }
    if (column < PAPERS_COLUMNS) {
        percent = mechanism->reach[column];
    }
    for (size_t i = 0; i < PAPERS_SMALL; i++) {
        percent = papers_small[i] == eps ? mechanism->small[i] : percent;
    }
    return percent > 0 ? papers_fraction(percent) : NAN;
}
