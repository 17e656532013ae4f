/*
 * learnt_fixture.h: small tables with something to learn in them.
 */
#ifndef SOTTO_TESTS_LEARNT_FIXTURE_H
#define SOTTO_TESTS_LEARNT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/file.h"
#include "random/seeded.h"
#include "scratch.h"
#include "sotto/sotto.h"
#include "train_fixture.h"

static struct sotto_error err;

static inline int
setup(void **state)
{
    (void)state;
    return scratch_make();
}

static inline int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

#define must(call)                                                             \
    do {                                                                       \
        memset(&err, 0, sizeof err);                                           \
        if ((call) != SOTTO_STATUS_OK) {                                       \
            fail_msg("%s: %s", #call, err.message);                            \
        }                                                                      \
    } while (0)

#define must_fail(expected, text, call)                                        \
    do {                                                                       \
        memset(&err, 0xa5, sizeof err);                                        \
        assert_int_equal((call), (expected));                                  \
        assert_int_equal(err.status, (expected));                              \
        if (strstr(err.message, (text)) == NULL) {                             \
            fail_msg("'%s' is not in '%s'", (text), err.message);              \
        }                                                                      \
    } while (0)

/* Uniform in [0, 1). */
static inline double
uniform(struct seeded *seeded)
{
    return random_u32(&seeded->random) / 0x1p32;
}

/*
 * Two kinds of people: a and b lie about (-2, 1) or (2, 5), colour is red or
 * blue to match in nine of ten, `kind` says which. One field in twenty misses.
 */
static inline struct sotto_table *
people(size_t rows)
{
    size_t room = 64 * (rows + 1), used;
    char *text = malloc(room);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(text);
    seeded_init(&seeded, 99, 0);
    used = (size_t)snprintf(text, room, "a,colour,b,kind\n");
    for (size_t i = 0; i < rows; i++) {
        int kind = uniform(&seeded) < 0.5;
        int red = (uniform(&seeded) < 0.9) == kind;
        double a = (kind ? 2 : -2) + uniform(&seeded) - 0.5;
        double b = (kind ? 5 : 1) + uniform(&seeded) - 0.5;
        if (uniform(&seeded) < 0.05) {
            used +=
                (size_t)snprintf(text + used, room - used, ",%s,%.3f,%s\n",
                                 red ? "red" : "blue", b, kind ? "yes" : "no");
        } else {
            used += (size_t)snprintf(
                text + used, room - used, "%.3f,%s,%.3f,%s\n", a,
                red ? "red" : "blue", b, kind ? "yes" : "no");
        }
    }
    must(sotto_table_parse(text, used, "people", NULL, &table, &err));
    free(text);
    return table;
}

/* Images of 4 by 4: a bright left or right half, and noise. */
static inline struct sotto_table *
images(size_t rows)
{
    size_t size = 16 + 16 * rows;
    uint8_t *file = calloc(1, size);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(file);
    seeded_init(&seeded, 7, 0);
    memcpy(file, "\0\0\x08\x03", 4);
    file[6] = (uint8_t)(rows >> 8);
    file[7] = (uint8_t)rows;
    file[11] = file[15] = 4;
    for (size_t i = 0; i < rows; i++) {
        bool left = uniform(&seeded) < 0.5;
        for (size_t j = 0; j < 16; j++) {
            bool bright = (j % 4 < 2) == left;
            file[16 + 16 * i + j] =
                (uint8_t)((bright ? 200 : 10) + 40 * uniform(&seeded));
        }
    }
    must(sotto_table_parse(file, size, "images", NULL, &table, &err));
    free(file);
    return table;
}

static inline bool
same_files(const char *a, const char *b)
{
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    bool same;
    must(host_file_read(a, (size_t)1 << 30, &x, &n, &err));
    must(host_file_read(b, (size_t)1 << 30, &y, &m, &err));
    same = n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

#endif
