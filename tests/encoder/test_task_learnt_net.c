/*
 * test_task_learnt_net.c: a task net's loss against a plain loop, and its
 * gradients through function, decoder, noise and clip against finite
 * differences.
 */
#include "encoder/noise.h"
#include "encoder/task_learnt.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "slopes.h"

#define ROWS ((size_t)12)
#define WIDTH ((size_t)5)
#define D ((size_t)3)
#define OUT ((size_t)4)

/* A number, then a category of three; of x^ the second entry counts too. */
static const struct task_block blocks[] = {{ANALYST_GAUSSIAN, 0, 1, 2},
                                           {ANALYST_CATEGORICAL, 1, 3, 0.5}};
static const struct task_block rebuilt[] = {{ANALYST_GAUSSIAN, 1, 1, 0.25}};

static const struct layer linear[] = {{.out = D}};
static const struct layer back[] = {{.out = WIDTH}};
static const struct layer deep[] = {
    {.out = 6, .activation = ACTIVATION_SIGMOID}, {.out = D}};
static const struct layer deep_back[] = {
    {.out = 6, .activation = ACTIVATION_TANH}, {.out = WIDTH}};

struct small {
    struct tensor_backend *backend;
    struct task_net net;
    float x[ROWS * WIDTH], y[ROWS * WIDTH]; /* of OUT a row, or of x */
    uint32_t row[ROWS];
    float weight[7 * WIDTH + OUT * 7], bias[7 + OUT];
    struct layer function[2];
};

static struct task_shape
small_shape(const struct small *small, bool hidden)
{
    return (struct task_shape){.width = WIDTH,
                               .d = D,
                               .out = OUT,
                               .encoder = hidden ? deep : linear,
                               .encoders = hidden ? 2 : 1,
                               .decoder = hidden ? deep_back : back,
                               .decoders = hidden ? 2 : 1,
                               .function = small->function,
                               .functions = 2,
                               .block = blocks,
                               .blocks = 2,
                               .rebuilt = rebuilt,
                               .rebuilts = 1,
                               .l = 1,
                               .b = 0.4,
                               .seed = 3,
                               .batch = ROWS};
}

/* Fills the data and a function of fixed weights. */
static void
small_fill(struct small *small)
{
    struct seeded seeded;
    memset(small, 0, sizeof *small);
    seeded_init(&seeded, 17, 0);
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        small->x[i] = (float)(4 * uniform(&seeded) - 2);
    }
    for (size_t i = 0; i < sizeof small->weight / sizeof(float); i++) {
        small->weight[i] = (float)(2 * uniform(&seeded) - 1);
    }
    for (size_t i = 0; i < sizeof small->bias / sizeof(float); i++) {
        small->bias[i] = (float)(uniform(&seeded) - 0.5);
    }
    for (size_t i = 0; i < ROWS; i++) {
        small->row[i] = (uint32_t)(ROWS - 1 - i);
        small->y[i * OUT] = (float)(3 * uniform(&seeded) - 1);
        for (size_t j = 1; j < OUT; j++) {
            small->y[i * OUT + j] = j == 1 + i % 3 ? 0.75F : 0.125F;
        }
    }
    small->function[0] = (struct layer){.out = 7,
                                        .activation = ACTIVATION_TANH,
                                        .weight = small->weight,
                                        .bias = small->bias};
    small->function[1] = (struct layer){.out = OUT,
                                        .weight = small->weight + 7 * WIDTH,
                                        .bias = small->bias + 7};
}

static void
small_make(struct small *small, const struct task_shape *shape)
{
    must(tensor_new("plain", NULL, &small->backend, &err));
    must(task_net_init(&small->net, shape, small->backend, &err));
}

static void
small_clear(struct small *small)
{
    task_net_clear(&small->net);
    tensor_backend_free(small->backend);
}

static double
mean_loss(struct small *small, bool training, double *ret_clipped)
{
    struct task_sums sums = {0};
    task_net_run(&small->net, small->x, small->y, small->row, ROWS, 5, training,
                 &sums);
    assert_true(sums.rows == ROWS);
    if (ret_clipped != NULL) {
        *ret_clipped = sums.clipped;
    }
    return sums.loss / ROWS;
}

/* ---- Forward --------------------------------------------------------------
 */

static double
apply(enum activation activation, double a)
{
    switch (activation) {
    case ACTIVATION_RELU:
        return a > 0 ? a : 0;
    case ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-a));
    case ACTIVATION_TANH:
        return tanh(a);
    default:
        return a;
    }
}

static void
plain_layer(const float *weight, const float *bias, size_t in, size_t out,
            enum activation activation, const double *x, double *y)
{
    for (size_t i = 0; i < out; i++) {
        double sum = (double)bias[i];
        for (size_t j = 0; j < in; j++) {
            sum += (double)weight[i * in + j] * x[j];
        }
        y[i] = apply(activation, sum);
    }
}

static void
plain_graph(const struct nn_graph *graph, const double *x, double *y)
{
    double room[2][16];
    memcpy(room[0], x, graph->in * sizeof *x);
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        plain_layer(nn_arena_value(graph->arena, place->weight),
                    nn_arena_value(graph->arena, place->bias), place->in,
                    place->out, place->layer.activation, room[i % 2],
                    room[(i + 1) % 2]);
    }
    memcpy(y, room[graph->layers % 2], graph->out * sizeof *y);
}

/* The paper's loss of a row, by the book. */
static double
plain_loss(struct small *small, uint32_t row, double *ret_answer)
{
    const struct task_net *net = &small->net;
    double x[WIDTH], h[D], z[D], decoded[WIDTH], norm = 0, loss, most, sum = 0;
    float noise[D];
    for (size_t j = 0; j < WIDTH; j++) {
        x[j] = (double)small->x[row * WIDTH + j];
    }
    plain_graph(&net->encoder, x, h);
    for (size_t j = 0; j < D; j++) {
        norm += fabs(h[j]);
    }
    noise_laplace(3, 5, row, D, noise);
    for (size_t j = 0; j < D; j++) {
        z[j] = h[j] * (net->shape.l > 0 && norm > net->shape.l
                           ? net->shape.l / norm
                           : 1) +
               task_net_b(net) * (double)noise[j];
    }
    plain_graph(&net->decoder, z, decoded);
    if (net->shape.functions > 0) {
        plain_graph(&net->function, decoded, ret_answer);
    } else {
        memcpy(ret_answer, decoded, sizeof decoded);
    }
    loss = 2 * pow(ret_answer[0] - (double)small->y[row * net->shape.out], 2) +
           0.25 * pow(decoded[1] - x[1], 2);
    if (net->shape.functions == 0) {
        return loss;
    }
    most = fmax(fmax(ret_answer[1], ret_answer[2]), ret_answer[3]);
    for (size_t j = 1; j < OUT; j++) {
        sum += exp(ret_answer[j] - most);
    }
    for (size_t j = 1; j < OUT; j++) {
        loss -= 0.5 * (double)small->y[row * OUT + j] *
                (ret_answer[j] - most - log(sum));
    }
    return loss;
}

static void
check_forward(const struct task_shape *shape, struct small *small)
{
    float answers[ROWS * WIDTH];
    double expected = 0, loss;
    small_make(small, shape);
    task_net_answers(&small->net, small->x, small->row, ROWS, 5, answers);
    for (size_t i = 0; i < ROWS; i++) {
        double answer[WIDTH];
        expected += plain_loss(small, small->row[i], answer) / ROWS;
        for (size_t j = 0; j < shape->out; j++) {
            assert_true(fabs(answer[j] - (double)answers[i * shape->out + j]) <
                        1e-4);
        }
    }
    loss = mean_loss(small, false, NULL);
    if (fabs(loss - expected) > 1e-4 * (1 + expected)) {
        fail_msg("%.9g is not %.9g", loss, expected);
    }
    assert_true(fabs(mean_loss(small, true, NULL) - loss) < 1e-6);
    small_clear(small);
}

static void
test_forward(void **state)
{
    struct small small;
    struct task_shape shape;
    (void)state;
    small_fill(&small);
    for (int hidden = 0; hidden < 2; hidden++) {
        shape = small_shape(&small, hidden > 0);
        check_forward(&shape, &small);
        shape.l = 0; /* as in the paper: no clip */
        check_forward(&shape, &small);
        shape.b = 0;
        check_forward(&shape, &small);
    }
    shape = small_shape(&small, false);
    shape.functions = 0; /* the task is x^ itself */
    shape.out = WIDTH;
    shape.blocks = 1;
    memset(small.y, 0, sizeof small.y);
    check_forward(&shape, &small);
}

/* ---- Back ------------------------------------------------------------------
 */

static void
check_gradient(const struct task_shape *shape, struct small *small)
{
    const struct nn_arena *arena;
    float *gradient;
    double at;
    size_t wrong = 0, checked = 0;
    small_make(small, shape);
    arena = &small->net.arena;
    (void)mean_loss(small, true, NULL);
    gradient = malloc(arena->size * sizeof *gradient);
    assert_non_null(gradient);
    memcpy(gradient, arena->gradient, arena->size * sizeof *gradient);
    at = mean_loss(small, false, NULL);
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
                up = mean_loss(small, false, NULL);
                arena->value[i] = (float)((double)keep - h);
                down = mean_loss(small, false, NULL);
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
    small_clear(small);
}

static void
test_gradient(void **state)
{
    struct small small;
    struct task_shape shape;
    double clipped;
    (void)state;
    small_fill(&small);
    for (int hidden = 0; hidden < 2; hidden++) {
        shape = small_shape(&small, hidden > 0);
        small_make(&small, &shape);
        (void)mean_loss(&small, false, &clipped);
        assert_true(clipped > 1 && clipped <= ROWS); /* so the clip has a say */
        small_clear(&small);
        check_gradient(&shape, &small);
        shape.l = 50; /* nobody is clipped */
        check_gradient(&shape, &small);
        shape.l = 0;
        check_gradient(&shape, &small);
        shape.rebuilts = 0;
        check_gradient(&shape, &small);
    }
    shape = small_shape(&small, true);
    shape.functions = 0;
    shape.out = WIDTH;
    shape.blocks = 1;
    check_gradient(&shape, &small);
    shape.domain = CHANNEL_DOMAIN_BALL;
    check_gradient(&shape, &small);
    shape.domain = CHANNEL_DOMAIN_CUBE;
    shape.l = 50; /* what lies outside has another slope: learnt_channel.h */
    check_gradient(&shape, &small);
}

/* The function is fixed: no row of the arena is its own. */
static void
test_parts(void **state)
{
    struct small small;
    struct task_shape shape;
    (void)state;
    small_fill(&small);
    shape = small_shape(&small, true);
    small_make(&small, &shape);
    assert_int_equal(
        small.net.decoder_at,
        small.net.arena.row[small.net.decoder.layer[0].weight].offset);
    assert_int_equal(small.net.encoder.layer[0].weight, 0);
    assert_true(small.net.arena.row[small.net.b].fixed);
    assert_true(fabs(task_net_b(&small.net) - 0.4) < 1e-7);
    task_net_set_b(&small.net, 3);
    assert_true(task_net_b(&small.net) == 3);
    small_clear(&small);
}

/* Afterwards the mean of |h|_1 is what was asked for. */
static void
test_center(void **state)
{
    struct small small;
    struct task_shape shape;
    float h[ROWS * D];
    double sum = 0;
    (void)state;
    small_fill(&small);
    shape = small_shape(&small, true);
    shape.l = 8;
    small_make(&small, &shape);
    task_net_center(&small.net, small.x, small.row, ROWS, 0.5);
    task_net_codes(&small.net, small.x, ROWS, h);
    for (size_t i = 0; i < ROWS * D; i++) {
        sum += fabs((double)h[i]);
    }
    assert_true(fabs(sum / ROWS - 4) < 1e-4);
    memset(small.x, 0, sizeof small.x); /* with biases of 0 all codes are 0.5 */
    task_net_center(&small.net, small.x, small.row, ROWS, 0.5);
    assert_true(isfinite(mean_loss(&small, false, NULL)));
    small_clear(&small);
}

/* Given weights are begun with. */
static void
test_given(void **state)
{
    static const float eye[WIDTH * WIDTH] = {
        1, [6] = 1, [12] = 1, [18] = 1, [24] = 1};
    static const float zero[WIDTH];
    const struct layer identity[] = {
        {.out = WIDTH, .weight = eye, .bias = zero}};
    struct small small;
    struct task_shape shape;
    float h[ROWS * WIDTH];
    (void)state;
    small_fill(&small);
    shape = small_shape(&small, false);
    shape.d = WIDTH;
    shape.encoder = identity;
    small_make(&small, &shape);
    task_net_codes(&small.net, small.x, ROWS, h);
    assert_memory_equal(h, small.x, sizeof h);
    small_clear(&small);
}

static void
test_refused(void **state)
{
    struct small small;
    struct task_shape shape;
    (void)state;
    small_fill(&small);
    shape = small_shape(&small, false);
    shape.d = D + 1;
    must(tensor_new("plain", NULL, &small.backend, &err));
    must_fail(SOTTO_STATUS_INPUT, "do not fit together",
              task_net_init(&small.net, &shape, small.backend, &err));
    small_clear(&small);
}

static void
test_memory(void **state)
{
    struct small small;
    struct task_shape shape;
    enum sotto_status status;
    long n = 0;
    (void)state;
    small_fill(&small);
    shape = small_shape(&small, true);
    must(tensor_new("plain", NULL, &small.backend, &err));
    do {
        fail_alloc_at(++n);
        status = task_net_init(&small.net, &shape, small.backend, &err);
        task_net_clear(&small.net);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 8);
    tensor_backend_free(small.backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward), cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_center),
        cmocka_unit_test(test_given),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
