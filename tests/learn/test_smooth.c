/*
 * test_smooth.c: the posterior over labels of leaves: against draws from the
 * prior with exact weights, what neighbours are worth, threads, the watch,
 * memory.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

static struct line line;

/* ---- Against the exact posterior ------------------------------------------
 */

/* ln p of the reports at a table, by plain sums; L in `l`. */
static double
exact_log_p(const double *l, size_t reports, size_t pairs, const double *j)
{
    double sum = 0;
    for (size_t i = 0; i < reports; i++) {
        double s = 0;
        for (size_t p = 0; p < pairs; p++) {
            s += j[p] * l[i * pairs + p];
        }
        sum += log(s);
    }
    return sum;
}

/* ln of the prior on shares: given, or not. */
static double
log_shares(const double *held, const double *share, size_t classes)
{
    double sum = 0;
    for (size_t y = 0; y < classes; y++) {
        double off = share != NULL
                         ? (held[y] - share[y]) / (SMOOTH_WIDTH * share[y])
                         : 0;
        sum += share != NULL ? -off * off / 2 : SMOOTH_COUNT * log(held[y]);
    }
    return sum;
}

/* tau of one draw from the prior. */
static void
draw_prior(struct seeded *seeded, double *ret_tau)
{
    static const double scale[SMOOTH_SCALES] = {1, 2, 2, 2, 4};
    const struct smooth_features *features = &line.features;
    size_t classes = line.problem.classes;
    double s[SMOOTH_SCALES], e[512];
    for (size_t m = 0; m < SMOOTH_SCALES; m++) {
        s[m] = scale[m] * exp(0.5 * draw_normal_of(seeded));
        for (size_t i = features->first[m] * classes;
             i < features->first[m + 1] * classes; i++) {
            e[i] = s[m] * draw_normal_of(seeded);
        }
    }
    for (size_t l = 0; l < features->leaves; l++) {
        double *tau = ret_tau + l * classes, sum = 0;
        for (size_t y = 0; y < classes; y++) {
            tau[y] = 0;
            for (size_t i = 0; i < features->count; i++) {
                tau[y] += (double)features->a[l * features->count + i] *
                          e[i * classes + y];
            }
            tau[y] = exp(tau[y]);
            sum += tau[y];
        }
        for (size_t y = 0; y < classes; y++) {
            tau[y] /= sum;
        }
    }
}

/* The posterior mean of tau from weighed draws of the prior; the effective
   number of them. */
static double
weigh_prior(size_t draws, const double *share, double *ret_tau)
{
    size_t leaves = line.problem.leaves, classes = line.problem.classes;
    size_t pairs = line.codes.pairs, cells = line.codes.cells;
    size_t reports = line.crowd.reports;
    int32_t *q = codes_points(&line.crowd.shape);
    double *l = calloc(reports * pairs + 64, sizeof *l);
    double *log_w = calloc(draws, sizeof *log_w);
    double most = -INFINITY, sum = 0, squares = 0, tau[256];
    struct seeded seeded;
    for (size_t i = 0; i < reports; i++) {
        double room[64];
        codes_log_p(&line.crowd.shape, line.crowd.report[i], q, room,
                    l + i * pairs);
        for (size_t p = 0; p < pairs; p++) {
            l[i * pairs + p] = exp(l[i * pairs + p]);
        }
    }
    memset(ret_tau, 0, leaves * classes * sizeof *ret_tau);
    for (size_t pass = 0; pass < 2; pass++) { /* the same draws twice */
        seeded_init(&seeded, 77, 7);
        for (size_t t = 0; t < draws; t++) {
            double j[64] = {0}, held[16] = {0};
            draw_prior(&seeded, tau);
            for (size_t i = 0; i < leaves * cells && pass == 0; i++) {
                for (size_t y = 0; y < classes; y++) {
                    double at = line.joint[i] * tau[i / cells * classes + y];
                    j[i % cells * classes + y] += at;
                    held[y] += at;
                }
            }
            if (pass == 0) {
                log_w[t] = exact_log_p(l, reports, pairs, j) +
                           log_shares(held, share, classes);
                most = fmax(most, log_w[t]);
                continue;
            }
            sum += exp(log_w[t] - most);
            squares += exp(2 * (log_w[t] - most));
            for (size_t i = 0; i < leaves * classes; i++) {
                ret_tau[i] += exp(log_w[t] - most) * tau[i];
            }
        }
    }
    for (size_t i = 0; i < leaves * classes; i++) {
        ret_tau[i] /= sum;
    }
    free(q);
    free(l);
    free(log_w);
    return sum * sum / squares;
}

/* Six leaves, three codes, two or three classes; 300 reports. The error of the
   weighed draws is at most 0.5 / sqrt(effective), of the particles' mean about
   0.5 / sqrt(512). */
static void
test_exact(void **state)
{
    static const double even[] = {0.5, 0.5};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        size_t classes = i < 2 ? 2 : 3;
        const struct smooth_options options = {.particles = 512, .seed = 5};
        struct smooth_info info;
        double tau[18], right[18], effective, off = 0, most = 0;
        line_init(&line, 6, 3, classes, 0.9, i % 2 == 0 ? "subset" : "signs",
                  i < 2 ? 1 : 0.8, 300, "plain", 1, 31 + i);
        line.problem.share = i == 1 ? even : NULL;
        must(smooth_fit(&line.problem, &options, tau, NULL, &info, &err));
        effective = weigh_prior(60000, line.problem.share, right);
        for (size_t p = 0; p < 6 * classes; p++) {
            off = fmax(off, fabs(tau[p] - right[p]));
            most = fmax(most, fabs(right[p] - 1 / (double)classes));
        }
        print_message("%zu: off by %.3f; effective %.0f, gap %.2f, stages "
                      "%zu, accepted %.2f, largest %.2f\n",
                      i, off, effective, info.gap, info.stages, info.acceptance,
                      most);
        assert_true(effective > 300);
        assert_true(most > 0.1); /* there was something to find */
        assert_true(off < 0.035);
        assert_true(info.gap < 1);
        line_clear(&line);
    }
}

/* ---- What it is for -------------------------------------------------------
 */

/* Forty leaves, ten codes, four labels: leaves get theirs from reports about
   codes, those at a code's border from its neighbours too. */
static void
test_labels(void **state)
{
    const struct smooth_options options = {.seed = 3, .particles = 128};
    struct smooth_info info;
    double tau[160], exchanged[16], right = 0;
    (void)state;
    line_init(&line, 40, 10, 4, 0.95, "subset", 1, 8000, "cpu", 1, 9);
    must(smooth_fit(&line.problem, &options, tau, exchanged, &info, &err));
    for (size_t l = 0; l < 40; l++) {
        size_t y = largest(tau + 4 * l, 4);
        right += line.truth[4 * l + y] / 40;
    }
    print_message("leaves labelled rightly: %.3f of 0.95; gap %.2f\n", right,
                  info.gap);
    assert_true(right > 0.9);
    for (size_t y = 0; y < 4; y++) { /* nobody doubts */
        assert_true(exchanged[5 * y] > 0.99);
    }
    line_clear(&line);
}

/* At a small epsilon many ways to name the same groups are likely. Particles
   must move between them, or which one wins is a matter of the seed: the mean
   tau of two seeds would then differ by nearly 1. */
static void
test_exchange(void **state)
{
    static const double even[] = {0.1, 0.1, 0.1, 0.1, 0.1,
                                  0.1, 0.1, 0.1, 0.1, 0.1};
    struct smooth_options options = {.particles = 256};
    struct smooth_info info;
    double tau[2][200], most = 0;
    (void)state;
    line_init(&line, 20, 10, 10, 0.97, "signs", 0.3, 8000, "cpu", 1, 9);
    line.problem.share = even;
    for (size_t i = 0; i < 2; i++) {
        options.seed = 1 + i;
        must(smooth_fit(&line.problem, &options, tau[i], NULL, &info, &err));
    }
    for (size_t p = 0; p < 200; p++) {
        most = fmax(most, fabs(tau[0][p] - tau[1][p]));
    }
    print_message("two seeds differ by %.3f\n", most);
    assert_true(most < 0.3);
    line_clear(&line);
}

/* Two books about the same leaves say more than one. */
static void
test_books(void **state)
{
    static struct line other;
    const struct smooth_options options = {.seed = 3, .particles = 128};
    struct smooth_book book[2];
    struct smooth_info info;
    double tau[80], share[240], one = 0, two = 0;
    (void)state;
    line_init(&line, 20, 5, 4, 0.95, "subset", 1, 1500, "cpu", 1, 9);
    line_init(&other, 20, 7, 4, 0.95, "subset", 1, 6000, "cpu", 1, 10);
    must(smooth_fit(&line.problem, &options, tau, NULL, &info, &err));
    for (size_t i = 0; i < 80; i++) {
        one += fabs(tau[i] - line.truth[i]) / 80;
    }
    book[0] = line.book;
    book[1] = other.book;
    for (size_t l = 0; l < 20; l++) {
        memcpy(share + 12 * l, line.joint + 5 * l, 5 * sizeof *share);
        memcpy(share + 12 * l + 5, other.joint + 7 * l, 7 * sizeof *share);
    }
    smooth_features_clear(&line.features);
    must(smooth_features_init(&line.features, line.centre, 20, 1, NULL, &err));
    must(smooth_features_add_codes(&line.features, share, 12, &err));
    line.problem.book = book;
    line.problem.books = 2;
    must(smooth_fit(&line.problem, &options, tau, NULL, &info, &err));
    for (size_t i = 0; i < 80; i++) {
        two += fabs(tau[i] - line.truth[i]) / 80;
    }
    print_message("mean error: one book %.3f, two %.3f\n", one, two);
    assert_true(two < 0.7 * one);
    line_clear(&line);
    line_clear(&other);
}

/* ---- The rest -------------------------------------------------------------
 */

static void
test_threads(void **state)
{
    static double tau[2][40 * 4];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct smooth_options options = {.seed = 3, .particles = 96};
        struct smooth_info info;
        line_init(&line, 40, 10, 4, 0.95, "subset", 1, 3000, "cpu", i + 1, 9);
        must(smooth_fit(&line.problem, &options, tau[i], NULL, &info, &err));
        line_clear(&line);
    }
    assert_memory_equal(tau[0], tau[1], sizeof tau[0]);
}

static bool
stop_late(void *context, const char *what, uint64_t done, uint64_t total)
{
    size_t *ticks = context;
    (void)what;
    assert_true(done <= total);
    return ++*ticks < 5;
}

static void
test_watch(void **state)
{
    size_t ticks = 0;
    const struct sotto_watch watch = {.tick = stop_late, .context = &ticks};
    const struct smooth_options options = {.particles = 16, .watch = &watch};
    struct smooth_info info;
    double tau[18];
    (void)state;
    line_init(&line, 6, 3, 3, 0.9, "subset", 1, 200, "plain", 1, 31);
    assert_int_equal(
        smooth_fit(&line.problem, &options, tau, NULL, &info, &err),
        SOTTO_STATUS_STOPPED);
    assert_int_equal(ticks, 5);
    line_clear(&line);
}

static void
test_memory(void **state)
{
    const struct smooth_options options = {.particles = 8};
    enum sotto_status status;
    long n = 0;
    (void)state;
    line_init(&line, 6, 3, 3, 0.9, "subset", 1, 200, "plain", 1, 31);
    do {
        struct smooth_info info = {.particles = 77};
        double tau[18] = {7}, exchanged[9] = {7};
        fail_alloc_at(++n);
        status =
            smooth_fit(&line.problem, &options, tau, exchanged, &info, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(status == SOTTO_STATUS_OK ||
                    (tau[0] == 7 && info.particles == 77));
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 25);
    line_clear(&line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_labels),
        cmocka_unit_test(test_exchange), cmocka_unit_test(test_books),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_watch),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
