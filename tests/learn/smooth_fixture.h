/*
 * smooth_fixture.h: leaves on a line, a few codes of some of them each, and
 * reports of people whose labels are smooth along it.
 */
#ifndef SOTTO_TESTS_SMOOTH_FIXTURE_H
#define SOTTO_TESTS_SMOOTH_FIXTURE_H

#include "codes_fixture.h"

#include "learn/codes/smooth.h"
#include "tensor/tensor.h"

#define LEAVES_MOST 64u

struct line {
    struct crowd crowd;
    struct codes codes;
    struct smooth_features features;
    struct smooth_book book;
    struct smooth_problem problem;
    float centre[LEAVES_MOST];
    double joint[LEAVES_MOST * 16];
    double truth[LEAVES_MOST * 16]; /* of a leaf */
    struct host_pool *pool;
    struct tensor_backend *backend;
};

/* Leaf l at l, of even shares; the codes are runs of leaves, and a leaf between
   two codes is half in each. Labels are runs too, `purity` pure. */
static inline void
line_init(struct line *line, size_t leaves, size_t cells, size_t classes,
          double purity, const char *channel, double eps, size_t reports,
          const char *backend, unsigned threads, uint64_t seed)
{
    memset(line, 0, sizeof *line);
    for (size_t l = 0; l < leaves; l++) {
        size_t c = l * cells / leaves, y = l * classes / leaves;
        size_t after = (l + 1) * cells / leaves;
        line->centre[l] = (float)l;
        line->joint[l * cells + c] = 1 / (double)leaves;
        if (after > c && after < cells) {
            line->joint[l * cells + c] /= 2;
            line->joint[l * cells + after] = 0.5 / (double)leaves;
        }
        for (size_t i = 0; i < classes; i++) {
            line->truth[l * classes + i] =
                i == y ? purity : (1 - purity) / (double)(classes - 1);
        }
    }
    for (size_t c = 0; c < cells; c++) {
        double *tau = line->crowd.tau + c * classes;
        for (size_t l = 0; l < leaves; l++) {
            double w = line->joint[l * cells + c];
            line->crowd.pi[c] += w;
            for (size_t y = 0; y < classes; y++) {
                tau[y] += w * line->truth[l * classes + y];
            }
        }
        for (size_t y = 0; y < classes; y++) {
            tau[y] /= line->crowd.pi[c];
        }
    }
    crowd_report(&line->crowd, channel, eps, 0, cells, classes, reports, seed);
    must(host_pool_new(threads, &line->pool, &err));
    must(tensor_new(backend, line->pool, &line->backend, &err));
    must(codes_init(&line->codes, &line->crowd.shape, line->crowd.report,
                    reports, line->pool, &err));
    must(smooth_features_init(&line->features, line->centre, leaves, 1, NULL,
                              &err));
    must(smooth_features_add_codes(&line->features, line->joint, cells, &err));
    line->book = (struct smooth_book){&line->codes, line->joint};
    line->problem = (struct smooth_problem){.book = &line->book,
                                            .books = 1,
                                            .leaves = leaves,
                                            .classes = classes,
                                            .features = &line->features,
                                            .pool = line->pool,
                                            .backend = line->backend};
}

static inline void
line_clear(struct line *line)
{
    codes_clear(&line->codes);
    smooth_features_clear(&line->features);
    tensor_backend_free(line->backend);
    host_pool_free(line->pool);
    crowd_clear(&line->crowd);
}

static inline bool
stop_at_once(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

/* A standard normal number (Box and Muller, one of the two). */
static inline double
draw_normal_of(struct seeded *seeded)
{
    double a = (random_u32(&seeded->random) + 0.5) / 4294967296.0;
    double b = (random_u32(&seeded->random) + 0.5) / 4294967296.0;
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

#endif
