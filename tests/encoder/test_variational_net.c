/*
 * test_variational_net.c: the whole objective's gradient, by finite
 * differences, on small nets over mixed columns.
 */
#include "encoder/variational.h"
#include "learnt_fixture.h"
#include "slopes.h"

enum { ROWS = 24 };

struct small {
    struct sotto_table *table;
    struct encoder_job job;
    struct learnt learnt;
    struct tensor_backend *backend;
    struct variational_net net;
    uint32_t row[ROWS];
};

static void
small_make(struct small *small, const struct variational_settings *options)
{
    static const struct sotto_train_options common = {.eps = "2",
                                                      .label = "kind"};
    small->table = people(ROWS);
    small->job = (struct encoder_job){
        .encoder = &encoder_vlm, .table = small->table, .options = &common};
    must(learnt_begin(&small->learnt, &small->job, &options->common, &err));
    must(tensor_new("plain", NULL, &small->backend, &err));
    must(variational_net_init(&small->net, &small->learnt, options,
                              small->backend, &err));
    for (uint32_t i = 0; i < ROWS; i++) {
        small->row[i] = (ROWS - 1 - i) % ROWS;
    }
}

static void
small_clear(struct small *small)
{
    variational_net_clear(&small->net);
    tensor_backend_free(small->backend);
    learnt_clear(&small->learnt);
    sotto_table_free(small->table);
}

static double
objective(struct small *small, bool training)
{
    struct variational_sums sums = {0};
    variational_net_run(&small->net, small->learnt.x, small->row, ROWS, 3,
                        training, &sums);
    assert_true(sums.rows == ROWS);
    return variational_objective(&small->net, &sums);
}

/* Every parameter is moved either way, by two step sizes: a large one may have
   kinks on both sides, a small one suffers from rounding. Where both happen, a
   derivative seems wrong: those must be few. */
static void
check_gradient(const struct variational_settings *options)
{
    struct small small;
    const struct nn_arena *arena;
    float *gradient;
    double at;
    size_t wrong = 0, checked = 0;
    small_make(&small, options);
    arena = &small.net.arena;
    (void)objective(&small, true);
    gradient = malloc(arena->size * sizeof *gradient);
    assert_non_null(gradient);
    memcpy(gradient, arena->gradient, arena->size * sizeof *gradient);
    at = objective(&small, false);
    for (size_t r = 0; r < arena->count; r++) {
        const struct nn_row *row = &arena->row[r];
        size_t size = row->rows * (row->columns > 0 ? row->columns : 1);
        for (size_t i = row->offset; !row->fixed && i < row->offset + size;
             i++) {
            double best = INFINITY;
            for (size_t k = 0; k < 2; k++) {
                double h = k == 0 ? 4e-3 : 1e-3;
                float keep = arena->value[i];
                double up, down;
                arena->value[i] = (float)((double)keep + h);
                up = objective(&small, false);
                arena->value[i] = (float)((double)keep - h);
                down = objective(&small, false);
                arena->value[i] = keep;
                best =
                    fmin(best, slope_off(down, at, up, h, (double)gradient[i]));
            }
            checked++;
            wrong += best > 1e-2 * (1 + fabs((double)gradient[i]));
        }
    }
    if (checked < 20 || wrong * 50 > checked) {
        fail_msg("%zu of %zu derivatives are wrong", wrong, checked);
    }
    free(gradient);
    small_clear(&small);
}

static void
test_gradient(void **state)
{
    struct variational_settings options = {
        .common = {.label_channel = "flip", .d = 3, .steps = 4096},
        .hidden = {{6, 4}, 2},
        .l = 0.7,
        .eps_pre = 7,
        .batch = 8,
        .seed = 11};
    (void)state;
    check_gradient(&options);
    options.autogen = 2;
    check_gradient(&options);
    options.l = 50; /* nobody is clipped */
    check_gradient(&options);
}

/* In a ball, also for those that are clipped; in a cube, where what leads back
   in is let through, for those that are not. */
static void
test_gradient_channels(void **state)
{
    struct variational_settings options = {.common = {.label_channel = "flip",
                                                      .channel = "gaussian",
                                                      .delta = "0.00001",
                                                      .d = 3},
                                           .hidden = {{6, 4}, 2},
                                           .l = 0.3,
                                           .eps_pre = 7,
                                           .batch = 8,
                                           .seed = 11};
    (void)state;
    check_gradient(&options);
    options.l = 5;
    options.eps_pre = 0; /* the deviation is learnt */
    check_gradient(&options);
    options.common.channel = "duchi";
    options.common.delta = NULL;
    check_gradient(&options);
    options.eps_pre = 32;
    check_gradient(&options);
}

static void
test_gradient_linear(void **state)
{
    struct variational_settings options = {
        .common = {.label_channel = "flip", .d = 2, .steps = 4096},
        .linear = true,
        .l = 1,
        .eps_pre = 5,
        .batch = 8,
        .seed = 2};
    (void)state;
    check_gradient(&options);
}

/* b is moved by its own gradient, and it is the exponential of the row. */
static void
test_learnt_b(void **state)
{
    struct variational_settings options = {
        .common = {.label_channel = "flip", .d = 2, .steps = 4096},
        .linear = true,
        .l = 1,
        .batch = 8,
        .seed = 2};
    struct small small;
    (void)state;
    check_gradient(&options);
    small_make(&small, &options);
    assert_true(fabs(variational_net_b(&small.net) - 0.1) < 1e-6);
    assert_false(small.net.arena.row[small.net.log_b].fixed);
    (void)objective(&small, true);
    assert_true(*nn_arena_gradient(&small.net.arena, small.net.log_b) != 0);
    *nn_arena_value(&small.net.arena, small.net.log_b) = (float)log(0.4);
    assert_true(fabs(variational_net_b(&small.net) - 0.4) < 1e-6);
    small_clear(&small);
    options.eps_pre = 8;
    small_make(&small, &options);
    assert_true(variational_net_b(&small.net) == 0.25); /* 2l / eps_pre */
    small_clear(&small);
}

/* What m counts, and that scoring says what training says. */
static void
test_sums(void **state)
{
    struct variational_settings options = {
        .common = {.label_channel = "flip", .d = 2, .steps = 4096},
        .linear = true,
        .l = 1,
        .eps_pre = 5,
        .autogen = 3,
        .batch = 8};
    struct small small;
    struct variational_sums a = {0}, b = {0};
    (void)state;
    small_make(&small, &options);
    variational_net_run(&small.net, small.learnt.x, small.row, ROWS, 0, true,
                        &a);
    variational_net_run(&small.net, small.learnt.x, small.row, ROWS / 2, 0,
                        false, &b);
    variational_net_run(&small.net, small.learnt.x, small.row + ROWS / 2,
                        ROWS / 2, 0, false, &b);
    assert_true(fabs(a.likelihood - b.likelihood) < 1e-4 * a.likelihood);
    assert_true(fabs(a.kl - b.kl) < 1e-4 * a.kl);
    assert_true(a.clipped == b.clipped && a.rows == b.rows);
    assert_true(fabs(variational_objective(&small.net, &a) -
                     (4 * a.likelihood + a.kl) / ROWS) < 1e-9);
    assert_true(fabs(variational_elbo(&a) - (a.likelihood + a.kl) / ROWS) <
                1e-9);
    small_clear(&small);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_gradient_channels),
        cmocka_unit_test(test_gradient_linear),
        cmocka_unit_test(test_learnt_b),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
