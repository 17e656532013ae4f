/*
 * nearest.c: which of several names was meant.
 */
#include "host/nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NEAREST_MAX 64u /* letters of a name that is compared */

static size_t
find_least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/*
 * How many letters must be added, removed, changed or swapped with their
 * neighbour: row i of the table from the two rows before it.
 */
static size_t
measure_distance(const char *a, const char *b)
{
    size_t table[3][NEAREST_MAX + 1];
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > NEAREST_MAX || columns > NEAREST_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= columns; j++) {
        table[0][j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = table[i % 3], *last = table[(i + 2) % 3];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            row[j] = find_least(last[j] + 1, row[j - 1] + 1,
                                last[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1]) {
                size_t swapped = table[(i + 1) % 3][j - 2] + 1;
                row[j] = swapped < row[j] ? swapped : row[j];
            }
        }
    }
    return table[rows % 3][columns];
}

const char *
host_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t best = 1 + (strlen(word) + 1) / 3; /* one beyond what is near */
    for (size_t i = 0; i < count; i++) {
        size_t far = strcasecmp(word, candidates[i]) == 0
                         ? 0
                         : measure_distance(word, candidates[i]);
        if (far < best) {
            best = far;
            nearest = candidates[i];
        }
    }
    return nearest;
}
