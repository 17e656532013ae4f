/*
 * test_contrastive_net.c: the whole loss's gradient by finite differences, the
 * shapes of encoders, and what a device gets.
 */
#include "contrastive_fixture.h"
#include "slopes.h"

enum { N = 8 };

static const uint32_t rows[N] = {5, 2, 7, 0, 1, 6, 3, 4};

static void
fill_views(struct begun *begun)
{
    struct contrastive_views views;
    must(contrastive_views_init(&views, &begun->learnt, &begun->set, &err));
    for (uint32_t view = 0; view < 2; view++) {
        contrastive_views_make(&views, NULL, rows, N, 0, view,
                               begun->net.x + view * N * begun->net.width);
    }
}

/* As in test_variational_net.c, every `step`-th parameter; pools have kinks of
   their own. */
static void
check_gradient(struct sotto_table *table, const struct clm_options *options,
               size_t step)
{
    struct begun begun = {0};
    const struct nn_arena *arena;
    float *gradient;
    double at;
    size_t wrong = 0, checked = 0;
    begun_make(&begun, table, options);
    fill_views(&begun);
    arena = &begun.net.arena;
    at = contrastive_net_run(&begun.net, rows, 2);
    gradient = malloc(arena->moved * sizeof *gradient);
    assert_non_null(gradient);
    memcpy(gradient, arena->gradient, arena->moved * sizeof *gradient);
    for (size_t i = 0; i < arena->moved; i += step) {
        double best = INFINITY;
        for (size_t k = 0; k < 3; k++) {
            double h = k == 0 ? 4e-3 : k == 1 ? 1e-3 : 3e-4;
            float keep = arena->value[i];
            double up, down;
            arena->value[i] = (float)((double)keep + h);
            up = contrastive_net_run(&begun.net, rows, 2);
            arena->value[i] = (float)((double)keep - h);
            down = contrastive_net_run(&begun.net, rows, 2);
            arena->value[i] = keep;
            best = fmin(best, slope_off(down, at, up, h, (double)gradient[i]));
        }
        checked++;
        wrong += best > 1e-3 * (1 + fabs((double)gradient[i]));
    }
    if (checked < 20 || wrong * 20 > checked) {
        fail_msg("%zu of %zu derivatives are wrong", wrong, checked);
    }
    free(gradient);
    begun_clear(&begun);
}

static void
test_gradient_dense(void **state)
{
    static const uint32_t hidden[] = {7};
    struct clm_options options = {.label = "kind",
                                  .d = 4,
                                  .hidden = hidden,
                                  .hiddens = 1,
                                  .batch = N,
                                  .seed = 3};
    struct sotto_table *table = people(20);
    (void)state;
    check_gradient(table, &options, 19);
    options.temperature = 0.3;
    check_gradient(table, &options, 19);
    options.eps_pre = 20; /* noise, and some are clipped */
    options.l = 3;
    check_gradient(table, &options, 19);
    sotto_table_free(table);
}

static void
test_gradient_images(void **state)
{
    static const uint32_t widths[] = {3, 4};
    struct clm_options options = {
        .d = 4, .widths = widths, .width_count = 2, .batch = N, .seed = 3};
    struct sotto_table *table = pictures(12, 12, 12, 1);
    (void)state;
    check_gradient(table, &options, 131);
    options.residual = true;
    check_gradient(table, &options, 149);
    sotto_table_free(table);
}

/* Sides are halved to about 4, and what comes out is d. */
static void
test_shapes(void **state)
{
    const struct {
        size_t height, width, channels;
        bool residual;
        size_t layers, last; /* and what goes into the last */
    } cases[] = {
        {28, 28, 1, false, 6, 1024}, /* the reference */
        {32, 32, 3, false, 6, 1024},
        {32, 32, 3, true, 10, 1024},
        {8, 8, 1, false, 3, 512},
        {8, 8, 1, true, 5, 512},
        {9, 40, 1, false, 8, 128 * 3},
        {64, 64, 3, false, 8, 4 * 4 * 128},
        {128, 100, 3, false, 10, 5 * 4 * 128},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_table *table =
            pictures(3, cases[i].height, cases[i].width, cases[i].channels);
        struct clm_options options = {.batch = 2,
                                      .residual = cases[i].residual};
        struct begun begun = {0};
        begun_make(&begun, table, &options);
        const struct nn_graph *encoder = &begun.net.encoder;
        const struct nn_place *last = &encoder->layer[encoder->layers - 1];
        if (encoder->layers != cases[i].layers || last->in != cases[i].last) {
            fail_msg("%zux%zu: %zu layers, %zu into the last", cases[i].height,
                     cases[i].width, encoder->layers, last->in);
        }
        assert_int_equal(encoder->out, 64);
        assert_true(last->layer.norm &&
                    last->layer.activation == ACTIVATION_NONE);
        begun_clear(&begun);
        sotto_table_free(table);
    }
}

static void
test_reference(void **state)
{
    struct sotto_table *table = pictures(3, 28, 28, 1);
    struct clm_options options = {.batch = 2};
    struct begun begun = {0};
    const struct nn_place *place;
    (void)state;
    begun_make(&begun, table, &options);
    place = begun.net.encoder.layer;
    assert_int_equal(place[0].window.kernel, 5);
    assert_int_equal(place[0].window.stride, 2);
    assert_int_equal(place[0].window.filters, 16);
    assert_int_equal(place[1].window.filters, 32);
    assert_int_equal(place[2].layer.kind, LAYER_POOL_MAX);
    assert_int_equal(place[2].window.pad, 0);
    assert_int_equal(place[3].window.filters, 64);
    assert_int_equal(place[4].window.pad, 1);
    for (size_t i = 0; i < 6; i++) {
        assert_true(place[i].layer.norm == !layer_pools(place[i].layer.kind));
        assert_int_equal(place[i].layer.from[1], 0);
    }
    assert_int_equal(begun.net.head.layer[0].out, 64);
    assert_int_equal(begun.net.head.layer[1].out, 32);
    begun_clear(&begun);
    sotto_table_free(table);
}

/* More sides than layers. */
static void
test_too_large(void **state)
{
    struct sotto_table *table = pictures(2, 255, 255, 1);
    struct clm_options options = {.batch = 2, .residual = true};
    struct begun begun = {0};
    (void)state;
    begun_learnt(&begun, table, &options);
    must(tensor_new("plain", NULL, &begun.backend, &err));
    must_fail(SOTTO_STATUS_LIMIT, "layers",
              contrastive_net_init(&begun.net, &begun.learnt, &begun.set, NULL,
                                   begun.backend, &err));
    begun_clear(&begun);
    sotto_table_free(table);
}

/* Noise comes with eps_pre, anew in every epoch, and not alike in both
   views. */
static void
test_noise(void **state)
{
    struct clm_options options = {
        .label = "kind", .d = 4, .batch = N, .eps_pre = 20, .seed = 3};
    struct sotto_table *table = people(20);
    struct begun begun = {0};
    (void)state;
    begun_make(&begun, table, &options);
    assert_true(begun.net.b == 0.5); /* 2 * 5 / 20 */
    fill_views(&begun);
    memcpy(begun.net.x + N * begun.net.width, begun.net.x,
           N * begun.net.width * sizeof(float));
    double first = contrastive_net_run(&begun.net, rows, 0);
    for (size_t i = 0; i < N * begun.net.d; i++) {
        assert_true(begun.net.z[i] != begun.net.z[i + N * begun.net.d]);
    }
    assert_true(contrastive_net_run(&begun.net, rows, 0) == first);
    assert_true(contrastive_net_run(&begun.net, rows, 1) != first);
    begun_clear(&begun);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_dense),
        cmocka_unit_test(test_gradient_images),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
