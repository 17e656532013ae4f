/*
 * test_cells.c: labels of cells from reports: the sampler against the exact
 * posterior, the table against the truth, and what a small epsilon leaves.
 */
#include "codes_fixture.h"

#include "fail_alloc.h"

static struct crowd crowd;
static const enum cells_method method[] = {
    CELLS_METHOD_SAMPLE, CELLS_METHOD_TABLE, CELLS_METHOD_FIELD};

/* ---- Assignments --------------------------------------------------------- */

static double
best_of(const double *score, size_t size, size_t row, unsigned used)
{
    double best = -INFINITY;
    if (row == size) {
        return 0;
    }
    for (size_t j = 0; j < size; j++) {
        if ((used >> j & 1) == 0) {
            double rest = best_of(score, size, row + 1, used | 1u << j);
            double sum = score[row * size + j] + rest;
            best = sum > best ? sum : best;
        }
    }
    return best;
}

static void
test_hungarian(void **state)
{
    enum { SIZE = 6 };
    double score[SIZE * SIZE];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 5, 0);
    for (size_t trial = 0; trial < 50; trial++) {
        uint32_t label[SIZE];
        unsigned used = 0;
        double sum = 0;
        for (size_t i = 0; i < SIZE * SIZE; i++) {
            score[i] = draw_below(&seeded.random, 100) - 50.0;
        }
        must(cells_assign(score, NULL, NULL, SIZE, SIZE, label, &err));
        for (size_t i = 0; i < SIZE; i++) {
            used |= 1u << label[i];
            sum += score[i * SIZE + label[i]];
        }
        assert_int_equal(used, (1u << SIZE) - 1);
        assert_true(fabs(sum - best_of(score, SIZE, 0, 0)) < 1e-9);
    }
}

/* Two labels for five cells: half of the people each, as near as it goes. */
static void
test_greedy(void **state)
{
    const double score[] = {9, 0, 8, 0, 7, 0, 1, 0, 0, 1};
    const double pi[] = {0.2, 0.2, 0.2, 0.2, 0.2}, share[] = {0.55, 0.45};
    uint32_t label[5];
    (void)state;
    must(cells_assign(score, pi, share, 5, 2, label, &err));
    assert_int_equal(label[0], 0);
    assert_int_equal(label[1], 0);
    assert_int_equal(label[2], 0); /* half of it is wanted still */
    assert_int_equal(label[3], 1);
    assert_int_equal(label[4], 1);
}

/* ---- The sampler against enumeration --------------------------------------
 */

#define LEVELS 16u

/* p(a, p0 | reports) of all assignments of two labels, by plain sums: tau. */
static void
enumerate(size_t cells, const double *pi, double width, double *ret_tau)
{
    int32_t *q = codes_points(&crowd.shape);
    double most = -INFINITY, sum = 0;
    static double log_post[1u << 5][LEVELS];
    for (size_t a = 0; a < 1u << cells; a++) {
        for (size_t level = 0; level < LEVELS; level++) {
            double p0 = 0.6 + 0.39 * (double)level / (LEVELS - 1), held = 0;
            double *to = &log_post[a][level];
            *to = 0;
            for (size_t c = 0; c < cells; c++) {
                held += (a >> c & 1) == 1 ? pi[c] : 0;
            }
            *to -= 2 * pow((held - 0.5) / (width * 0.5), 2) / 2;
            for (size_t i = 0; i < crowd.reports; i++) {
                double log_p[16], room[16], s = 0;
                codes_log_p(&crowd.shape, crowd.report[i], q, room, log_p);
                for (size_t p = 0; p < 2 * cells; p++) {
                    bool own = (a >> (p / 2) & 1) == p % 2;
                    s += pi[p / 2] * (own ? p0 : 1 - p0) * exp(log_p[p]);
                }
                *to += log(s);
            }
            most = *to > most ? *to : most;
        }
    }
    memset(ret_tau, 0, 2 * cells * sizeof *ret_tau);
    for (size_t a = 0; a < 1u << cells; a++) {
        for (size_t level = 0; level < LEVELS; level++) {
            double p0 = 0.6 + 0.39 * (double)level / (LEVELS - 1);
            double weight = exp(log_post[a][level] - most);
            sum += weight;
            for (size_t p = 0; p < 2 * cells; p++) {
                bool own = (a >> (p / 2) & 1) == p % 2;
                ret_tau[p] += weight * (own ? p0 : 1 - p0);
            }
        }
    }
    for (size_t p = 0; p < 2 * cells; p++) {
        ret_tau[p] /= sum;
    }
    free(q);
}

static void
test_exact(void **state)
{
    static const double label_eps[] = {0, 0.6};
    (void)state;
    for (size_t i = 0; i < 2; i++) { /* of one byte, and of two */
        struct cells_options options = {.method = CELLS_METHOD_SAMPLE,
                                        .share = crowd.even,
                                        .width = 0.6,
                                        .sweeps = 6000,
                                        .seed = 8};
        struct cells_info info;
        struct codes codes;
        double tau[10], right[10], off = 0;
        crowd_table(&crowd, 5, 2, 0.9, 0.05, true, 11);
        crowd_report(&crowd, "subset", 0.6, label_eps[i], 5, 2, 200, 12);
        must(codes_init(&codes, &crowd.shape, crowd.report, 200, NULL, &err));
        must(cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err));
        enumerate(5, crowd.pi, 0.6, right);
        for (size_t p = 0; p < 10; p++) {
            assert_true(fabs(tau[p] - right[p]) < 0.012);
            off = fmax(off, fabs(right[p] - 0.5));
        }
        assert_true(off > 0.05); /* there was something to find */
        assert_int_equal(info.chains, CELLS_CHAINS);
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
}

/* ---- A small epsilon ----------------------------------------------------- */

struct score {
    double argmax, cells;
};

/* Ten cells of ten labels, 97% pure, 15,000 people, by subset. */
static struct score
simulate(double eps, size_t trials)
{
    struct score score = {0};
    for (size_t t = 0; t < trials; t++) {
        struct cells_options options = {.method = CELLS_METHOD_SAMPLE,
                                        .share = crowd.even,
                                        .chains = 2,
                                        .sweeps = 60,
                                        .seed = t};
        struct cells_info info;
        struct codes codes;
        double table[100];
        crowd_table(&crowd, 10, 10, 0.97, 0.02, false, t + 1);
        crowd_report(&crowd, "subset", eps, 0, 10, 10, 15000, t + 100);
        count_pairs(&crowd, table);
        score.argmax += accuracy(&crowd, table) / (double)trials;
        must(codes_init(&codes, &crowd.shape, crowd.report, 15000, NULL, &err));
        must(cells_fit(&codes, crowd.pi, &options, table, NULL, &info, &err));
        score.cells += accuracy(&crowd, table) / (double)trials;
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
    return score;
}

/* A mean of 6 has an error of about 0.03 at 0.5 and 0.06 at 0.35, but the two
   ways have the same reports. */
static void
test_small_epsilon(void **state)
{
    struct score half = simulate(0.5, 6), third = simulate(0.35, 6);
    (void)state;
    print_message("eps 0.5: %.3f (counts %.3f); 0.35: %.3f (counts %.3f)\n",
                  half.cells, half.argmax, third.cells, third.argmax);
    assert_true(half.cells > 0.9);
    assert_true(half.cells > half.argmax + 0.04);
    assert_true(third.cells > 0.6);
    assert_true(third.cells > third.argmax + 0.04);
}

/* Forty cells of ten labels: the field decides as well as the sampler does, and
   what it says is what comes true, to a few per cent. */
static void
test_field(void **state)
{
    struct cells_options options = {.method = CELLS_METHOD_FIELD,
                                    .share = crowd.even};
    struct cells_info info;
    struct codes codes;
    static double field[400], sampled[400], count[400];
    double said = 0;
    (void)state;
    crowd_table(&crowd, 40, 10, 0.9, 0.05, true, 51);
    crowd_report(&crowd, "subset", 2, 0, 40, 10, 15000, 52);
    must(codes_init(&codes, &crowd.shape, crowd.report, 15000, NULL, &err));
    must(cells_fit(&codes, crowd.pi, &options, field, NULL, &info, &err));
    options.method = CELLS_METHOD_SAMPLE;
    options.chains = 2;
    options.sweeps = 30;
    must(cells_fit(&codes, crowd.pi, &options, sampled, NULL, &info, &err));
    count_pairs(&crowd, count);
    for (size_t c = 0; c < 40; c++) {
        said += crowd.pi[c] * field[10 * c + largest(field + 10 * c, 10)];
    }
    print_message("field %.3f (it says %.3f), sampled %.3f, counts %.3f\n",
                  accuracy(&crowd, field), said, accuracy(&crowd, sampled),
                  accuracy(&crowd, count));
    assert_true(accuracy(&crowd, field) > accuracy(&crowd, sampled) - 0.05);
    assert_true(accuracy(&crowd, field) > accuracy(&crowd, count) - 0.01);
    assert_true(fabs(said - accuracy(&crowd, field)) < 0.1);
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* ---- A large one --------------------------------------------------------- */

static void
test_table(void **state)
{
    enum { CELLS = 12, CLASSES = 4, PAIRS = CELLS * CLASSES };
    struct cells_options options = {.seed = 1};
    struct cells_info info;
    struct codes codes;
    double tau[PAIRS], share[CLASSES];
    (void)state;
    crowd_table(&crowd, CELLS, CLASSES, 0.75, 0.2, true, 21);
    crowd_report(&crowd, "subset", 6, 0, CELLS, CLASSES, 20000, 22);
    must(codes_init(&codes, &crowd.shape, crowd.report, 20000, NULL, &err));
    for (size_t known = 0; known < 2; known++) {
        double sum[CLASSES] = {0};
        for (size_t p = 0; p < PAIRS; p++) {
            sum[p % CLASSES] += crowd.pi[p / CLASSES] * crowd.tau[p];
        }
        options.share = known == 1 ? sum : NULL;
        must(cells_fit(&codes, crowd.pi, &options, tau, share, &info, &err));
        assert_int_equal(info.method, CELLS_METHOD_TABLE);
        assert_true(info.error < CELLS_ERROR_TABLE);
        for (size_t p = 0; p < PAIRS; p++) {
            assert_true(fabs(tau[p] - crowd.tau[p]) < 0.06);
        }
        for (size_t y = 0; y < CLASSES; y++) {
            assert_true(fabs(share[y] - sum[y]) < 0.01);
        }
    }
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* People whose cells have other shares than the auxiliary records'. */
static void
test_shares(void **state)
{
    enum { CELLS = 6, CLASSES = 3 };
    const double even[CELLS] = {1 / 6.0, 1 / 6.0, 1 / 6.0,
                                1 / 6.0, 1 / 6.0, 1 / 6.0};
    const double shifted[CELLS] = {0.3, 0.05, 0.25, 0.1, 0.1, 0.2};
    double pi[CELLS];
    struct codes codes;
    (void)state;
    crowd_table(&crowd, CELLS, CLASSES, 0.8, 0.1, false, 31);
    memcpy(crowd.pi, shifted, sizeof shifted);
    crowd_report(&crowd, "subset", 3, 0, CELLS, CLASSES, 15000, 32);
    must(codes_init(&codes, &crowd.shape, crowd.report, 15000, NULL, &err));
    must(cells_shares(&codes, crowd.tau, even, NULL, pi, &err));
    for (size_t c = 0; c < CELLS; c++) {
        assert_true(fabs(pi[c] - shifted[c]) < 0.02);
    }
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* ---- The rest ------------------------------------------------------------ */

static void
test_threads(void **state)
{
    enum { PAIRS = 60 };
    double tau[2][3][PAIRS];
    (void)state;
    crowd_table(&crowd, 12, 5, 0.9, 0.05, true, 41);
    crowd_report(&crowd, "subset", 1, 0, 12, 5, 3000, 42);
    for (unsigned i = 0; i < 2; i++) {
        struct host_pool *pool = NULL;
        struct codes codes;
        must(host_pool_new(i + 1, &pool, &err));
        must(codes_init(&codes, &crowd.shape, crowd.report, 3000, pool, &err));
        for (size_t j = 0; j < 3; j++) {
            struct cells_options options = {
                .method = method[j], .sweeps = 30, .seed = 3};
            struct cells_info info;
            must(cells_fit(&codes, crowd.pi, &options, tau[i][j], NULL, &info,
                           &err));
        }
        codes_clear(&codes);
        host_pool_free(pool);
    }
    assert_memory_equal(tau[0], tau[1], sizeof tau[0]);
    crowd_clear(&crowd);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)what;
    (void)total;
    (void)done;
    return false;
}

static void
test_watch_and_choice(void **state)
{
    const struct sotto_watch watch = {.tick = stop};
    struct cells_options options = {.share = crowd.even, .watch = &watch};
    struct cells_info info;
    struct codes codes;
    double tau[60];
    (void)state;
    crowd_table(&crowd, 12, 5, 0.9, 0.05, true, 41);
    crowd_report(&crowd, "subset", 0.5, 0, 12, 5, 1000, 42);
    must(codes_init(&codes, &crowd.shape, crowd.report, 1000, NULL, &err));
    for (enum cells_method i = CELLS_METHOD_CHOSEN; i <= CELLS_METHOD_FIELD;
         i++) {
        options.method = i;
        assert_int_equal(
            cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err),
            SOTTO_STATUS_STOPPED);
    }
    assert_int_equal(
        cells_shares(&codes, crowd.tau, crowd.pi, &watch, tau, &err),
        SOTTO_STATUS_STOPPED);
    options =
        (struct cells_options){.share = crowd.even, .sweeps = 10, .chains = 2};
    must(cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err));
    assert_int_equal(info.method, CELLS_METHOD_SAMPLE);
    options.sweeps = 1000000; /* more than are worth it */
    must(cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err));
    assert_int_equal(info.method, CELLS_METHOD_FIELD);
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* Many codes and sharp reports: most pairs are named by none of them, and still
   the table is taken, not the field; where reports are few, the field. */
static void
test_many(void **state)
{
    static double tau[1500];
    struct cells_options options = {.share = crowd.even};
    struct cells_info info;
    struct codes codes;
    (void)state;
    crowd_table(&crowd, 300, 5, 0.9, 0.05, true, 61);
    crowd_report(&crowd, "subset", 8, 0, 300, 5, 3000, 62);
    must(codes_init(&codes, &crowd.shape, crowd.report, 3000, NULL, &err));
    must(cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err));
    print_message("300 codes: error %.3f\n", info.error);
    assert_true(info.error > CELLS_ERROR_TABLE);
    assert_true(info.error < CELLS_ERROR_FIELD);
    assert_int_equal(info.method, CELLS_METHOD_TABLE);
    codes_clear(&codes);
    options.sweeps = 1000000; /* more than are worth it */
    must(codes_init(&codes, &crowd.shape, crowd.report, 400, NULL, &err));
    must(cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err));
    assert_true(info.error > CELLS_ERROR_FIELD);
    assert_int_equal(info.method, CELLS_METHOD_FIELD);
    codes_clear(&codes);
    crowd_clear(&crowd);
}

static void
test_memory(void **state)
{
    struct codes codes;
    (void)state;
    crowd_table(&crowd, 4, 4, 0.9, 0.05, true, 41);
    crowd_report(&crowd, "subset", 1, 0, 4, 4, 200, 42);
    must(codes_init(&codes, &crowd.shape, crowd.report, 200, NULL, &err));
    for (size_t i = 0; i < 3; i++) {
        struct cells_options options = {.method = method[i], .sweeps = 4};
        struct cells_info info = {.chains = 77};
        double tau[16] = {7};
        enum sotto_status status;
        long n = 0;
        do {
            fail_alloc_at(++n);
            status =
                cells_fit(&codes, crowd.pi, &options, tau, NULL, &info, &err);
            assert_true(status == SOTTO_STATUS_OK ||
                        status == SOTTO_STATUS_MEMORY);
            assert_true(status == SOTTO_STATUS_OK ||
                        (tau[0] == 7 && info.chains == 77));
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > (i == 0 ? 10 : 3));
    }
    codes_clear(&codes);
    crowd_clear(&crowd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hungarian),
        cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_small_epsilon),
        cmocka_unit_test(test_field),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_watch_and_choice),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
