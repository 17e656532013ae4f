/*
 * codes_kernel.h: the inner loops over the likelihoods of codes.
 *
 * Lengths are multiples of CODES_GROUP. Sums run in an order that depends on
 * the length alone, so every processor gives the same.
 */
#ifndef SOTTO_LEARN_CODES_KERNEL_H
#define SOTTO_LEARN_CODES_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define CODES_GROUP 512u /* factors of 16 products, 32 each */
#define CODES_MOVED 4u   /* columns that a proposal changes, at most */
#define CODES_LEAST 1e-9F

/* s = rest u + gap (a + sum_j by[j] column[j]) for each report. */
struct codes_move {
    const float *u, *a;
    float rest, gap;
    const void *column[CODES_MOVED];
    float by[CODES_MOVED];
};

/* How the b of reports are kept. */
enum codes_width {
    CODES_8,  /* whole numbers */
    CODES_32, /* float */
    CODES_WIDTHS
};

/* What is done with a column of b. */
struct codes_kept {
    size_t size; /* bytes of a b */
    /* s[i] += by b[i] */
    void (*add)(const void *b, size_t n, float by, float *s);
    /* sum_i b[i] v[i] */
    double (*dot)(const void *b, const float *v, size_t n);
    /* sum_i ln max(s[i], CODES_LEAST) of a move with 2 and with CODES_MOVED
       columns. */
    double (*move)(const struct codes_move *move, size_t n);
    double (*swap)(const struct codes_move *move, size_t n);
};

struct codes_kernel {
    const char *name;
    struct codes_kept kept[CODES_WIDTHS];
    /* sum_i ln max(s[i], CODES_LEAST) */
    double (*log_sum)(const float *s, size_t n);
    /* The same of a move without columns. */
    double (*stay)(const struct codes_move *move, size_t n);
};

/* The fastest this processor has; and the one every processor has, for tests
   against it. */
const struct codes_kernel *codes_kernel_best(void);
const struct codes_kernel *codes_kernel_plain(void);

#endif
