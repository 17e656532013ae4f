/*
 * test_objective.c: Eq. 11 and 12 against their definitions, and their
 * gradients with respect to a network's parameters against finite differences.
 */
#include "learn_fixture.h"

#include "host/pool.h"
#include "learn/lattice/marginal.h"
#include "learn/objective.h"
#include "learn/trainer.h"
#include "posterior_weights.h"
#include "slopes.h"

#define POINTS 90u
#define REPORTS 60u
#define BATCHES 2u
#define STARTS 4u

struct stage {
    struct sotto_mechanism *mechanism;
    struct prior_shape shape;
    struct prior prior;
    int32_t *point;
    uint8_t *reports;
    const uint8_t *report[REPORTS]; /* in the plan's order */
    struct labels labels;
    struct plan plan;
    struct posterior *posterior;
    struct marginal marginal;
    struct host_pool *pool;
    struct tensor_backend *backend;
    float *x;
};

static void
stage_init(struct stage *stage, unsigned threads)
{
    struct sotto_table *aux = mixed_rows(POINTS, 7);
    struct sotto_table *records = mixed_rows(REPORTS, 8);
    const uint8_t *report[REPORTS];
    struct posterior_options options = {.tau = 0};
    struct labels_part part;
    memset(stage, 0, sizeof *stage);
    stage->mechanism = open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 32);
    stage->point = points_of(stage->mechanism, aux);
    stage->reports = simulate(stage->mechanism, records, 9);
    for (size_t i = 0; i < REPORTS; i++) {
        report[i] = stage->reports + i * stage->mechanism->shape.report_size;
    }
    must(prior_shape_init(&stage->shape, stage->mechanism, true, &err));
    must(prior_init(&stage->prior, &stage->shape, stage->point, POINTS, &err));
    part = label_part(&stage->shape);
    must(labels_init(&stage->labels, &part, report, REPORTS, false, 0, &err));
    must(plan_init(&stage->plan, &stage->labels, BATCHES, 0.2, 5, 3, &err));
    for (size_t i = 0; i < REPORTS; i++) {
        stage->report[i] = report[stage->plan.order[i]];
    }
    must(host_pool_new(threads, &stage->pool, &err));
    must(tensor_new("cpu", stage->pool, &stage->backend, &err));
    must(posterior_new(&stage->prior, stage->report, REPORTS, stage->plan.chunk,
                       stage->plan.chunks, stage->pool, &options,
                       &stage->posterior, &err));
    must(marginal_init(&stage->marginal, stage->posterior, &stage->labels,
                       &stage->plan, stage->pool, &err));
    stage->x = calloc((POINTS + REPORTS) * stage->shape.inputs, sizeof(float));
    sotto_table_free(aux);
    sotto_table_free(records);
}

static void
stage_clear(struct stage *stage)
{
    free(stage->x);
    marginal_clear(&stage->marginal);
    posterior_free(stage->posterior);
    tensor_backend_free(stage->backend);
    host_pool_free(stage->pool);
    plan_clear(&stage->plan);
    labels_clear(&stage->labels);
    prior_clear(&stage->prior);
    prior_shape_clear(&stage->shape);
    free(stage->reports);
    free(stage->point);
    sotto_mechanism_free(stage->mechanism);
}

/* Probabilities that differ from point to point. */
static void
fill_p(float *p, size_t n, size_t classes)
{
    for (size_t m = 0; m < n; m++) {
        double sum = 0;
        for (size_t y = 0; y < classes; y++) {
            p[m * classes + y] = 1 + (float)((m * 7 + y * 13) % 11);
            sum += (double)p[m * classes + y];
        }
        for (size_t y = 0; y < classes; y++) {
            p[m * classes + y] /= (float)sum;
        }
    }
}

/* log sum_m w_m sum_y p(label report | y) p_my, by the definition. */
static double
plain_log_s(const struct stage *stage, size_t row, const float *p)
{
    const struct likelihood_instance *label = stage->shape.label;
    uint32_t symbols = label->instance->size;
    const uint8_t *wire = stage->report[row] + stage->shape.label_offset;
    double w[POINTS], s = 0;
    posterior_weights(stage->posterior, row, w);
    for (size_t m = 0; m < POINTS; m++) {
        for (int32_t y = 0; y < (int32_t)symbols; y++) {
            s += w[m] * exp(label->likelihood->log_p(label, wire, &y)) *
                 (double)p[m * symbols + (size_t)y];
        }
    }
    return log(s);
}

static void
test_marginal_value(void **state)
{
    struct stage stage;
    float p[POINTS * 3];
    (void)state;
    stage_init(&stage, 2);
    assert_int_equal(stage.labels.groups, 3);
    fill_p(p, POINTS, 3);
    for (size_t b = 0; b <= BATCHES; b++) {
        double right = 0, got;
        for (size_t i = stage.plan.batch[b]; i < stage.plan.batch[b + 1]; i++) {
            right += plain_log_s(&stage, i, p);
        }
        got = marginal_pass(&stage.marginal, stage.plan.batch_chunk[b],
                            stage.plan.batch_chunk[b + 1], p, 1, NULL);
        assert_true(right < 0 && fabs(got - right) < 1e-4);
    }
    stage_clear(&stage);
}

/* That p is turned first where groups are many changes no bit. */
static void
test_turned(void **state)
{
    struct stage stage;
    static float p[POINTS * 3], left[POINTS * 3], right[POINTS * 3];
    double value;
    (void)state;
    stage_init(&stage, 2);
    fill_p(p, POINTS, 3);
    fill_p(left, POINTS, 3); /* something to add to */
    fill_p(right, POINTS, 3);
    assert_null(stage.marginal.turned);
    value = marginal_pass(&stage.marginal, 0, stage.plan.chunks, p, 0.1, left);
    stage.labels.groups = 7; /* as if there were that many */
    marginal_clear(&stage.marginal);
    must(marginal_init(&stage.marginal, stage.posterior, &stage.labels,
                       &stage.plan, stage.pool, &err));
    assert_non_null(stage.marginal.turned);
    assert_true(value == marginal_pass(&stage.marginal, 0, stage.plan.chunks, p,
                                       0.1, right));
    assert_memory_equal(left, right, sizeof left);
    assert_true(left[0] != p[0]);
    assert_true(value == marginal_pass(&stage.marginal, 0, stage.plan.chunks, p,
                                       0.1, NULL));
    stage_clear(&stage);
}

/* The value and the gradient do not depend on the number of threads. */
static void
test_threads(void **state)
{
    struct stage one, three;
    static float p[POINTS * 3], left[POINTS * 3], right[POINTS * 3];
    (void)state;
    stage_init(&one, 1);
    stage_init(&three, 3);
    fill_p(p, POINTS, 3);
    assert_true(
        marginal_pass(&one.marginal, 0, one.plan.chunks, p, 0.5, left) ==
        marginal_pass(&three.marginal, 0, three.plan.chunks, p, 0.5, right));
    assert_memory_equal(left, right, sizeof left);
    assert_true(left[1] != 0);
    stage_clear(&one);
    stage_clear(&three);
}

/* ---- Gradients ---------------------------------------------------------- */

/* What is added to -log s, and how the reports are weighed. */
struct terms {
    double kappa, eta;
    bool balanced, weighted;
};

static struct trainer
trainer_of(struct stage *stage, bool marginal, const struct terms *terms)
{
    static float weight[REPORTS];
    static struct learn_options options;
    size_t inputs = stage->shape.inputs;
    struct trainer trainer = {.backend = stage->backend,
                              .labels = &stage->labels,
                              .plan = &stage->plan,
                              .options = &options,
                              .x = stage->x,
                              .in = inputs};
    double room[8], z[8];
    options =
        (struct learn_options){.marginal = terms->kappa, .entropy = terms->eta};
    for (size_t i = 0; i < REPORTS; i++) {
        weight[i] = 0.2F + (float)(i % 5);
    }
    trainer.weight = terms->weighted ? weight : NULL;
    for (size_t y = 0; terms->balanced && y < stage->labels.classes; y++) {
        stage->labels.share[y] = 1 / (double)stage->labels.classes;
    }
    trainer.pass = marginal ? marginal_batch : NULL;
    trainer.context = &stage->marginal;
    trainer.rows = marginal ? POINTS : REPORTS;
    for (size_t i = 0; i < trainer.rows; i++) {
        float *x = stage->x + i * inputs;
        if (marginal) {
            prior_input(&stage->shape, stage->point + i * stage->shape.width,
                        x);
            continue;
        }
        prior_estimate(&stage->shape, stage->report[i], room, z);
        for (size_t j = 0; j < inputs; j++) {
            x[j] = (float)z[j];
        }
    }
    must(trainer_init(&trainer, &err));
    return trainer;
}

/* Mean -log s of a batch, with the terms for the classes' share and for
   confidence. */
static double
loss_of(const struct trainer *trainer, struct nn_graph *stack)
{
    const struct labels *labels = trainer->labels;
    size_t rows = trainer->plan->batch[1];
    size_t of_p = trainer->pass != NULL ? POINTS : rows;
    double loss = -trainer_batch(trainer, stack, 0, false) / (double)rows;
    loss +=
        share_pass(labels, trainer->options->marginal, trainer->p, of_p, NULL);
    return loss + entropy_pass(labels->classes, trainer->options->entropy,
                               trainer->p, of_p, NULL);
}

/* Checks every parameter; returns how many of them matter. */
static size_t
check_slopes(const struct trainer *trainer, struct nn_graph *stack)
{
    struct nn_arena *arena = stack->arena;
    float *gradient = malloc(arena->size * sizeof *gradient);
    const float step = 1e-3F;
    double at = loss_of(trainer, stack);
    size_t moved = 0;
    (void)trainer_batch(trainer, stack, 0, true);
    memcpy(gradient, arena->gradient, arena->size * sizeof *gradient);
    for (size_t i = 0; i < arena->size; i++) {
        float held = arena->value[i];
        double up, down, difference;
        arena->value[i] = held + step;
        up = loss_of(trainer, stack);
        arena->value[i] = held - step;
        down = loss_of(trainer, stack);
        arena->value[i] = held;
        difference = (up - down) / (2 * (double)step);
        assert_true(slope_off(down, at, up, (double)step, (double)gradient[i]) <
                    2e-2 * fabs(difference) + 4e-4);
        moved += fabs(difference) > 2e-3;
    }
    free(gradient);
    return moved;
}

/* From several starts: in one of them most of the units may be dead. */
static void
check_gradient(bool marginal, struct terms terms)
{
    static const uint32_t hidden[] = {6};
    struct stage stage;
    struct trainer trainer;
    struct sotto_model *model;
    struct nn_graph *stack;
    size_t moved = 0;
    stage_init(&stage, 1);
    trainer = trainer_of(&stage, marginal, &terms);
    model = lattice_model(stage.mechanism, SOTTO_OBJECTIVE_MARGINAL, true,
                          hidden, 1);
    stack = &lattice_of(model)->networks.net[0].stack;
    must(nn_graph_reserve(stack, trainer.room, &err));
    for (uint64_t start = 0; start < STARTS; start++) {
        nn_graph_init(stack, 11, start);
        moved += check_slopes(&trainer, stack);
    }
    assert_true(moved > 20 * STARTS);
    trainer_clear(&trainer);
    sotto_model_free(model);
    stage_clear(&stage);
}

static void
test_gradient_marginal(void **state)
{
    (void)state;
    check_gradient(true, (struct terms){0});
}

static void
test_gradient_conditional(void **state)
{
    (void)state;
    check_gradient(false, (struct terms){0});
}

static void
test_gradient_share(void **state)
{
    (void)state;
    check_gradient(true, (struct terms){.kappa = 0.7});
    check_gradient(false, (struct terms){.kappa = 0.7});
    check_gradient(true, (struct terms){.kappa = 0.7, .balanced = true});
}

static void
test_gradient_entropy(void **state)
{
    (void)state;
    check_gradient(true, (struct terms){.eta = 0.6});
    check_gradient(true,
                   (struct terms){.kappa = 0.7, .eta = 0.6, .balanced = true});
}

/* A bootstrap's, and all of it together. */
static void
test_gradient_weighted(void **state)
{
    (void)state;
    check_gradient(true, (struct terms){.weighted = true});
    check_gradient(true, (struct terms){0.7, 0.6, true, true});
}

/* A weight of 2 is a report twice, 0 none. */
static void
test_weighted_value(void **state)
{
    struct stage stage;
    float p[POINTS * 3], weight[REPORTS] = {0};
    double right, got;
    (void)state;
    stage_init(&stage, 2);
    fill_p(p, POINTS, 3);
    weight[3] = 2;
    weight[stage.plan.batch[BATCHES] - 1] = 1;
    stage.marginal.weight = weight;
    right = 2 * plain_log_s(&stage, 3, p) +
            plain_log_s(&stage, stage.plan.batch[BATCHES] - 1, p);
    got = marginal_pass(&stage.marginal, 0, stage.plan.batch_chunk[BATCHES], p,
                        1, NULL);
    assert_true(fabs(got - right) < 1e-4);
    stage_clear(&stage);
}

/* KL is 0 where the mean is the share. */
static void
test_share(void **state)
{
    double share[] = {0.25, 0.75};
    struct labels labels = {.classes = 2, .share = share};
    const float even[] = {0.5F, 0.5F, 0, 1};
    const float off[] = {1, 0, 0, 1};
    (void)state;
    assert_true(fabs(share_pass(&labels, 2, even, 2, NULL)) < 1e-12);
    assert_true(fabs(share_pass(&labels, 2, off, 2, NULL) -
                     2 * (0.25 * log(0.5) + 0.75 * log(1.5))) < 1e-9);
}

/* Nothing where one class is certain, ln K where all are alike; and what is
   added to dp differs between two classes as d(-p ln p) does. */
static void
test_entropy(void **state)
{
    const float p[] = {1,        0,    0,     1.0F / 3, 1.0F / 3,
                       1.0F / 3, 0.5F, 0.25F, 0.25F};
    float dp[9];
    (void)state;
    assert_true(fabs(entropy_pass(3, 2, p, 1, NULL)) < 1e-12);
    assert_true(fabs(entropy_pass(3, 2, p + 3, 1, NULL) - 2 * log(3)) < 1e-6);
    assert_true(fabs(entropy_pass(3, 2, p, 3, NULL) -
                     2 * (log(3) + 1.5 * log(2)) / 3) < 1e-6);
    for (size_t i = 0; i < 9; i++) {
        dp[i] = 5; /* it is added to */
    }
    (void)entropy_pass(3, 2, p, 3, dp);
    assert_true(dp[0] == 5 && dp[3] == dp[4] && dp[7] == dp[8]);
    assert_true(fabs((double)(dp[7] - dp[6]) - 2 * log(2) / 3) < 1e-5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marginal_value),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_gradient_marginal),
        cmocka_unit_test(test_gradient_conditional),
        cmocka_unit_test(test_gradient_share),
        cmocka_unit_test(test_gradient_entropy),
        cmocka_unit_test(test_gradient_weighted),
        cmocka_unit_test(test_weighted_value),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
