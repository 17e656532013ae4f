/*
 * test_right.c: whether devices answer "is this model right about you?" as the
 * model itself would, what that costs, and what the answers say.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/confidence.h"
#include "learn/codes/codes_model.h"
#include "learn/right.h"
#include "learn_codebook.h"
#include "privacy/enumerate.h"

#define ROWS 2000u
#define NETS 3u

/* Numbers far outside the ball that a lattice takes: |a| + |b| up to 2. */
static struct sotto_table *
wide_rows(uint64_t seed)
{
    char *text = malloc(64 + 64 * ROWS), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,b,label\n");
    for (size_t i = 0; i < ROWS; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        at += sprintf(at, "%.4f,%.4f,%s\n", a, b,
                      draw_below(&seeded.random, 2) == 1 ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

/* Random weights, with biases that matter. */
static struct sotto_model *
wide_model(const struct sotto_mechanism *mechanism, const uint32_t *hidden)
{
    struct sotto_model *model =
        lattice_model(mechanism, SOTTO_OBJECTIVE_PLAIN, false, hidden, NETS);
    struct seeded seeded;
    seeded_init(&seeded, 7, 0);
    for (size_t i = 0; i < NETS; i++) {
        const struct nn_graph *stack =
            &lattice_of(model)->networks.net[i].stack;
        for (size_t j = 0; j < stack->layers; j++) {
            const struct nn_place *place = &stack->layer[j];
            float *weight = nn_arena_value(stack->arena, place->weight);
            float *bias = nn_arena_value(stack->arena, place->bias);
            for (size_t k = 0; k < place->in * place->out; k++) {
                weight[k] = (float)draw_below(&seeded.random, 2001) / 500 - 2;
            }
            for (size_t k = 0; k < place->out; k++) {
                bias[k] = (float)draw_below(&seeded.random, 2001) / 2000 - 0.5F;
            }
        }
    }
    return model;
}

/* How many answers, before noise, differ from what the model itself says. */
static size_t
count_wrong(struct sotto_model *model, struct sotto_mechanism *right,
            const struct sotto_table *people)
{
    size_t n = sotto_table_rows(people), wrong = 0;
    size_t *truth = malloc(n * sizeof *truth);
    double *p = malloc(n * model->classes * sizeof *p);
    int32_t *answer = points_of(right, people);
    must(sotto_model_predict(model, people, p, &err));
    must(model_truth(model, people, truth, &err));
    for (size_t i = 0; i < n; i++) {
        bool own =
            model_likeliest(p + i * model->classes, model->classes) == truth[i];
        wrong += answer[i] != own;
    }
    free(truth);
    free(p);
    free(answer);
    return wrong;
}

/* A device runs nu(z) and the network behind it, without dividing. Rounding to
   1/65536 is all that is left out. */
static void
check_lattice(const uint32_t *hidden)
{
    struct sotto_mechanism *mechanism = open_encoded();
    struct sotto_table *people = wide_rows(1);
    for (size_t i = 0; i < NETS; i++) {
        struct sotto_model *model = wide_model(mechanism, hidden);
        struct sotto_mechanism *right = NULL;
        size_t kept = NETS;
        must(sotto_model_mechanism_right(model, i, NULL, "1", NULL, &right,
                                         &err));
        must(sotto_model_keep_right(model, right, &kept, &err));
        assert_int_equal(kept, i);
        assert_int_equal(sotto_model_networks(model), 1);
        assert_true(count_wrong(model, right, people) <= 1);
        sotto_mechanism_free(right);
        sotto_model_free(model);
    }
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

static void
test_lattice(void **state)
{
    const uint32_t hidden[] = {5};
    (void)state;
    check_lattice(hidden);
    check_lattice(NULL);
}

/* The network takes x itself. */
static void
test_feature(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded(), *right = NULL;
    struct sotto_table *people = wide_rows(2);
    const uint32_t hidden[] = {5};
    struct sotto_model *model = wide_model(mechanism, hidden);
    (void)state;
    assert_int_equal(mechanism->shape.x, 2); /* as many entries as z */
    lattice_of(model)->networks.plan.level = SOTTO_LEVEL_FEATURE;
    must(sotto_model_mechanism_right(model, 2, NULL, "1", NULL, &right, &err));
    must(sotto_model_keep_right(model, right, NULL, &err));
    assert_int_equal(count_wrong(model, right, people), 0);
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

/* The encoder's layers, and a network behind them. */
static struct sotto_model *
codes_model(struct sotto_mechanism *mechanism, const struct sotto_table *people)
{
    const struct learn_options options = {
        .epochs = 2, .decay = -1, .marginal = -1, .entropy = -1, .threads = 1};
    struct sotto_model *model = NULL;
    must(learn_fit(mechanism,
                   &(struct learn_job){.table = people, .options = &options},
                   &model, NULL, &err));
    return model;
}

static void
test_codes(void **state)
{
    struct sotto_mechanism *mechanism = open_codebook(4 * DECIMAL_UNIT, true);
    struct sotto_mechanism *right = NULL;
    struct sotto_table *people = wide_rows(3);
    struct sotto_model *model = codes_model(mechanism, people);
    (void)state;
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    assert_int_equal(count_wrong(model, right, people), 0);
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

/* ---- The promise ----------------------------------------------------------
 */

/* Every record and label gives 0 or 1, and every answer is at most e^eps times
   likelier for one than for the other: the sampler's own branches, exactly. */
static void
test_promise(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded(), *right = NULL;
    struct sotto_model *model = wide_model(mechanism, NULL);
    const struct channel_instance *instance;
    struct enumerate_result result;
    struct sotto_mechanism_info info;
    struct sotto_column_info column;
    double sum[2] = {0};
    (void)state;
    must(sotto_model_mechanism_right(model, 0, "tumour", "0.7",
                                     in_folder("q.sotto"), &right, &err));
    sotto_mechanism_info(right, &info);
    assert_string_equal(info.eps_text, "0.7");
    assert_string_equal(info.campaign, "c");
    assert_int_equal(info.parts, 1);
    sotto_mechanism_column(right, 2, &column);
    assert_string_equal(column.name, "tumour");
    assert_int_equal(sotto_mechanism_part_column(right, 0, 0), SIZE_MAX);
    instance = right->shape.part[0].instance;
    assert_int_equal(instance->size, 2);
    must(enumerate_channel(
        &(struct enumerate_request){.channel = instance->channel,
                                    .likelihood =
                                        right->likelihood[0].likelihood,
                                    .size = instance->size,
                                    .eps = instance->eps,
                                    .branches_most = 1000},
        &result, &err));
    assert_int_equal(result.scope, ENUMERATE_WHOLE);
    assert_true(result.within && result.eps <= 0.7 && result.eps > 0.6999);
    for (int32_t q = 0; q < 2; q++) {
        for (int64_t answer = 0; answer < 2; answer++) {
            uint8_t wire[16];
            const struct likelihood_instance *at = &right->likelihood[0];
            assert_true(at->likelihood->pack(at, &answer, wire));
            sum[q] += exp(at->likelihood->log_p(at, wire, &q));
        }
        assert_true(fabs(sum[q] - 1) < 1e-12);
    }
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
}

/* ---- What answers say ------------------------------------------------------
 */

/* The share is (s/n - p) / (1 - 2p), its error the noise's and the sample's;
   and the true share lies where it says. */
static void
test_estimate(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded(), *right = NULL;
    struct sotto_model *model = wide_model(mechanism, NULL);
    struct sotto_table *people = wide_rows(4);
    struct sotto_report_reader *reader, *other;
    struct sotto_right found[2];
    double p = 1 / (1 + exp(1)), yes = 0, truth = 0, error;
    int32_t *point;
    (void)state;
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    reader = read_back(right, people, 5);
    point = points_of(right, people);
    for (size_t i = 0; i < ROWS; i++) {
        int64_t answer;
        sotto_report_values(right, sotto_report_reader_at(reader, i), 0, 0,
                            &answer);
        yes += (double)answer / ROWS;
        truth += (double)point[i] / ROWS;
    }
    must(sotto_right_estimate(right, reader, 1.96, &found[0], &err));
    assert_int_equal(found[0].reports, ROWS);
    assert_int_equal(found[0].simulated, ROWS);
    assert_true(fabs(found[0].share - (yes - p) / (1 - 2 * p)) < 1e-6);
    error = sqrt((found[0].share * (1 - found[0].share) +
                  p * (1 - p) / (1 - 2 * p) / (1 - 2 * p)) /
                 ROWS);
    assert_true(fabs(found[0].error - error) < 1e-6);
    assert_true(found[0].low < truth && truth < found[0].high);
    assert_true(fabs(found[0].high - found[0].share - 1.96 * error) < 0.003);
    found[1] = found[0];
    assert_int_equal(sotto_right_best(found, 2), 0);
    found[1].share += 0.01;
    assert_int_equal(sotto_right_best(found, 2), 1);
    other = read_back(mechanism, people, 6);
    err.status = SOTTO_STATUS_OK;
    assert_int_equal(
        sotto_right_estimate(mechanism, other, 1.96, &found[0], &err),
        SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_model_keep_right(model, mechanism, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(sotto_model_networks(model), NETS);
    sotto_report_reader_free(other);
    sotto_report_reader_free(reader);
    free(point);
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

/* ---- The interval ----------------------------------------------------------
 */

/* The probability that the interval of n answers covers a share `a`: summed
   over all numbers of yes. */
static double
coverage(const struct right_flip *flip, size_t n, double a)
{
    double p = flip->wrong + (flip->right - flip->wrong) * a, sum = 0;
    for (size_t yes = 0; yes <= n; yes++) {
        struct sotto_right found = {.reports = n};
        double rest = (double)(n - yes), y = (double)yes;
        double ways = lgamma((double)n + 1) - lgamma(y + 1) - lgamma(rest + 1);
        right_read(flip, yes, confidence_z(0.95), &found);
        assert_true(found.low >= 0 && found.low <= found.high &&
                    found.high <= 1);
        if (found.low <= a && a <= found.high) {
            sum += exp(ways + y * log(p) + rest * log1p(-p));
        }
    }
    return sum;
}

/* Exactly, at every epsilon and at both ends. */
static void
test_coverage(void **state)
{
    static const double eps[] = {0.05, 0.5, 1, 4, 12};
    static const size_t answers[] = {1, 2, 7, 40, 300};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        const struct right_flip flip = {1 / (1 + exp(-eps[i])),
                                        1 / (1 + exp(eps[i]))};
        for (size_t j = 0; j < 5; j++) {
            for (int at = 0; at <= 50; at++) {
                assert_true(coverage(&flip, answers[j], at / 50.0) >=
                            0.95 - 1e-9);
            }
        }
    }
}

/* Through the mechanism: a thousand groups of 300 people, drawn from the rows,
   of which the interval covers the rows' own share in at least 930. With 0.95
   in each, fewer than 930 have a probability of 0.003; the interval covers with
   more. */
static void
test_repetitions(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded(), *right = NULL;
    struct sotto_model *model = wide_model(mechanism, NULL);
    struct sotto_table *people = wide_rows(8);
    size_t covered = 0;
    double clean = -1, mean = 0;
    int32_t *point;
    (void)state;
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct sotto_right found;
        must(sotto_right_simulate(right, people, 300, seed, confidence_z(0.95),
                                  &found, &clean, &err));
        assert_int_equal(found.reports, 300);
        assert_int_equal(found.simulated, 300);
        covered += found.low <= clean && clean <= found.high ? 1 : 0;
        mean += found.share / 1000;
    }
    print_message("%zu of 1000 intervals cover\n", covered);
    assert_true(covered >= 930);
    /* unbiased: a mean of 1000 within 5 of its deviations */
    assert_true(fabs(mean - clean) < 5 * sqrt(1.2 / 300 / 1000));
    point = points_of(right, people);
    mean = 0;
    for (size_t i = 0; i < ROWS; i++) {
        mean += (double)point[i] / ROWS;
    }
    assert_true(fabs(mean - clean) < 1e-12);
    free(point);
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

/* ---- Refusals -------------------------------------------------------------
 */

static void
test_refusals(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded();
    struct sotto_mechanism *mixed = open_mixed(DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct sotto_model *model = wide_model(mechanism, NULL);
    struct sotto_model *several = wide_model(mixed, NULL);
    struct sotto_mechanism *right = NULL;
    struct sotto_table *unlabelled = table_of("a,b\n0,0\n");
    struct sotto_right found;
    const char *path = in_folder("none.sotto");
    (void)state;
    assert_int_equal(
        sotto_model_mechanism_right(model, NETS, NULL, "1", path, NULL, &err),
        SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "3 networks"));
    assert_int_equal(
        sotto_model_mechanism_right(model, 0, NULL, "0", path, NULL, &err),
        SOTTO_STATUS_BUDGET);
    assert_int_equal(
        sotto_model_mechanism_right(several, 0, NULL, "1", path, NULL, &err),
        SOTTO_STATUS_USAGE); /* a symbol, too, goes into the network */
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    assert_int_equal(
        sotto_right_simulate(right, unlabelled, 0, 1, 1.96, &found, NULL, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "\"label\""));
    assert_int_equal(sotto_right_simulate(mechanism, unlabelled, 0, 1, 1.96,
                                          &found, NULL, &err),
                     SOTTO_STATUS_INPUT);
    model->column = SIZE_MAX;
    assert_int_equal(
        sotto_model_mechanism_right(model, 0, NULL, "1", path, NULL, &err),
        SOTTO_STATUS_USAGE);
    assert_null(fopen(path, "r"));
    sotto_table_free(unlabelled);
    sotto_mechanism_free(right);
    sotto_model_free(several);
    sotto_model_free(model);
    sotto_mechanism_free(mixed);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = open_encoded(), *right = NULL;
    struct sotto_model *model = wide_model(mechanism, NULL);
    struct sotto_table *people = wide_rows(5);
    struct sotto_report_reader *reader;
    struct sotto_right found;
    (void)state;
    must(sotto_model_mechanism_right(model, 1, NULL, "1", NULL, &right, &err));
    reader = read_back(right, people, 5);
    for (long n = 1; n < 120; n++) {
        struct sotto_mechanism *made = NULL;
        enum sotto_status status[4];
        fail_alloc_at(n);
        status[0] =
            sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &made, &err);
        fail_alloc_at(n);
        status[1] = sotto_right_estimate(right, reader, 1.96, &found, &err);
        fail_alloc_at(n);
        status[2] = sotto_model_networks(model) == 1
                        ? SOTTO_STATUS_OK
                        : sotto_model_keep_right(model, right, NULL, &err);
        fail_alloc_at(n);
        status[3] =
            sotto_right_simulate(right, people, 5, 1, 1.96, &found, NULL, &err);
        fail_alloc_at(0);
        sotto_mechanism_free(made);
        for (size_t i = 0; i < 4; i++) {
            assert_true(status[i] == SOTTO_STATUS_OK ||
                        status[i] == SOTTO_STATUS_MEMORY);
        }
        assert_int_equal(sotto_model_networks(model),
                         status[2] == SOTTO_STATUS_OK ? 1 : NETS);
    }
    assert_int_equal(sotto_model_networks(model), 1);
    sotto_report_reader_free(reader);
    sotto_mechanism_free(right);
    sotto_model_free(model);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattice),     cmocka_unit_test(test_feature),
        cmocka_unit_test(test_codes),       cmocka_unit_test(test_promise),
        cmocka_unit_test(test_estimate),    cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_repetitions), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
