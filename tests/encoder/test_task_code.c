/*
 * test_task_code.c: the clip is the device's; the loss is what drawing noise
 * comes to; rows left out are rows left out; slopes are slopes.
 */
#include "fail_alloc.h"
#include "task_numbers.h"

#include "encoder/noise.h"
#include "encoder/task_code.h"
#include "report/domain.h"
#include "slopes.h"

enum { ROWS = 60, WIDTH = 3, OUTPUTS = 2 };

/* Codes, and outputs that follow from them in part. */
struct sample {
    double *z, *y;
    struct task_rows rows;
};

static struct sample
sample_new(size_t rows, uint64_t seed)
{
    struct sample sample = {.z = mixed_rows(rows, WIDTH, seed),
                            .y = normals(rows * OUTPUTS, seed + 9)};
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < OUTPUTS; j++) {
            sample.y[i * OUTPUTS + j] +=
                sample.z[i * WIDTH + j] - sample.z[i * WIDTH + 2] + 5;
        }
    }
    sample.rows = (struct task_rows){.z = sample.z,
                                     .y = sample.y,
                                     .rows = rows,
                                     .width = WIDTH,
                                     .outputs = OUTPUTS};
    return sample;
}

static void
sample_free(struct sample *sample)
{
    free(sample->z);
    free(sample->y);
}

/* q / l of the device is the clip within a step; both balls. */
static void
test_clip(void **state)
{
    enum { L = 4096 };
    struct sample sample = sample_new(ROWS, 1);
    (void)state;
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        sample.z[i] *= 0.2; /* some within, some beyond */
    }
    for (size_t i = 0; i < ROWS; i++) {
        float z[WIDTH];
        int32_t q[WIDTH];
        double c[3][WIDTH];
        for (size_t j = 0; j < WIDTH; j++) {
            z[j] = (float)sample.z[i * WIDTH + j];
            c[0][j] = c[1][j] = c[2][j] = sample.z[i * WIDTH + j];
        }
        for (enum task_ball ball = TASK_BALL_L1; ball <= TASK_BALL_CUBE;
             ball++) {
            (ball == TASK_BALL_L1   ? domain_lattice
             : ball == TASK_BALL_L2 ? domain_ball
                                    : domain_cube)(z, WIDTH, L, q);
            task_clip(ball, 1, WIDTH, c[ball]);
            assert_true(task_norm(ball, WIDTH, c[ball]) <= 1 + 1e-12);
            for (size_t j = 0; j < WIDTH; j++) {
                assert_near(c[ball][j], (double)q[j] / L, 1.5 / L);
            }
        }
    }
    sample_free(&sample);
}

/* Drawn noise, Laplace of the ratio's scale, comes to the loss that is told, on
   rows of its own, and by outputs. */
static void
test_drawn(void **state)
{
    enum { DRAWS = 4000 };
    const double radius = 4, eps = 3;
    struct sample sample = sample_new(ROWS, 1), other = sample_new(ROWS, 4);
    struct task_code code;
    double loss = 0, each[OUTPUTS], drawn[OUTPUTS] = {0}, sum = 0;
    (void)state;
    must(task_code_fit(&code, &sample.rows, TASK_BALL_L1, radius,
                       task_laplace_ratio(eps), &err));
    must(task_code_loss(&code, &sample.rows, &loss, NULL, &err));
    assert_near(loss, code.loss, 1e-9 * loss);
    assert_true(code.left_out > code.loss);
    must(task_code_loss(&code, &other.rows, &loss, each, &err));
    for (uint32_t i = 0; i < ROWS * DRAWS; i++) {
        const double *z = other.z + i % ROWS * WIDTH;
        double c[WIDTH];
        float w[WIDTH];
        memcpy(c, z, sizeof c);
        task_clip(TASK_BALL_L1, radius, WIDTH, c);
        noise_laplace(1, 0, i, WIDTH, w);
        for (size_t j = 0; j < OUTPUTS; j++) {
            double back = code.mean_y[j];
            for (size_t k = 0; k < WIDTH; k++) {
                back += code.decoder[j * WIDTH + k] *
                        (c[k] + 2 * radius / eps * w[k] - code.mean[k]);
            }
            back -= other.y[i % ROWS * OUTPUTS + j];
            drawn[j] += back * back / (ROWS * DRAWS);
        }
    }
    for (size_t j = 0; j < OUTPUTS; j++) {
        assert_near(drawn[j], each[j], 0.02 * each[j]);
        sum += each[j];
    }
    assert_near(sum, loss, 1e-9 * loss);
    task_code_clear(&code);
    sample_free(&sample);
    sample_free(&other);
}

/* The loss that a decoder has on the fitted rows, and no other is below. */
static void
test_best(void **state)
{
    struct sample sample = sample_new(ROWS, 2);
    struct task_code code;
    double loss = 0;
    (void)state;
    must(task_code_fit(&code, &sample.rows, TASK_BALL_L1, 3, 0.5, &err));
    for (size_t i = 0; i < OUTPUTS * WIDTH; i++) {
        for (double step = -0.01; step < 0.02; step += 0.02) {
            code.decoder[i] += step;
            must(task_code_loss(&code, &sample.rows, &loss, NULL, &err));
            assert_true(loss > code.loss);
            code.decoder[i] -= step;
        }
    }
    task_code_clear(&code);
    sample_free(&sample);
}

/* One row's squared error under a decoder of the others: the same ridge on one
   row fewer, whose penalty stays N s2. */
static double
leave_out(const struct sample *sample, size_t out, double radius, double ratio)
{
    double z[ROWS * WIDTH], y[ROWS * OUTPUTS], c[WIDTH], error = 0;
    size_t at = 0;
    struct task_code code;
    for (size_t i = 0; i < ROWS; i++) {
        if (i != out) {
            memcpy(z + at * WIDTH, sample->z + i * WIDTH, WIDTH * sizeof *z);
            memcpy(y + at * OUTPUTS, sample->y + i * OUTPUTS,
                   OUTPUTS * sizeof *y);
            at++;
        }
    }
    struct task_rows rows = {z, y, ROWS - 1, WIDTH, OUTPUTS};
    must(task_code_fit(&code, &rows, TASK_BALL_L1, radius,
                       ratio * ROWS / (ROWS - 1), &err));
    memcpy(c, sample->z + out * WIDTH, sizeof c);
    task_clip(TASK_BALL_L1, radius, WIDTH, c);
    for (size_t j = 0; j < OUTPUTS; j++) {
        double e = sample->y[out * OUTPUTS + j] - code.mean_y[j];
        for (size_t k = 0; k < WIDTH; k++) {
            e -= code.decoder[j * WIDTH + k] * (c[k] - code.mean[k]);
        }
        error += e * e;
    }
    task_code_clear(&code);
    return error;
}

static void
test_left_out(void **state)
{
    const double radius = 3, ratio = 0.02;
    struct sample sample = sample_new(ROWS, 3);
    struct task_code code;
    double sum = 0, noise = 0;
    (void)state;
    must(task_code_fit(&code, &sample.rows, TASK_BALL_L1, radius, ratio, &err));
    for (size_t i = 0; i < OUTPUTS * WIDTH; i++) {
        noise += code.noise * code.decoder[i] * code.decoder[i];
    }
    for (size_t i = 0; i < ROWS; i++) {
        sum += leave_out(&sample, i, radius, ratio) / ROWS;
    }
    assert_near(code.left_out, sum + noise, 1e-9 * sum);
    task_code_clear(&code);
    sample_free(&sample);
}

static double
loss_at(struct task_fitting *fitting, const double *z, enum task_ball ball)
{
    double loss = 0, left_out = 0;
    must(task_fitting_fit(fitting, z, WIDTH, ball, 1, 0.3, &loss, &left_out,
                          &err));
    return loss;
}

/* Through the clip and the refitted decoder, number by number. */
static void
test_slope(void **state)
{
    const double step = 1e-5;
    struct sample sample = sample_new(ROWS, 5);
    struct task_fitting fitting;
    double slope[ROWS * WIDTH];
    (void)state;
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        sample.z[i] *= 0.2;
    }
    must(task_fitting_init(&fitting, sample.y, ROWS, OUTPUTS, WIDTH, &err));
    for (enum task_ball ball = TASK_BALL_L1; ball <= TASK_BALL_CUBE; ball++) {
        double at = loss_at(&fitting, sample.z, ball);
        task_fitting_slope(&fitting, sample.z, WIDTH, ball, 1);
        memcpy(slope, fitting.g, sizeof slope);
        for (size_t i = 0; i < ROWS * WIDTH; i++) {
            double kept = sample.z[i], before, behind;
            sample.z[i] = kept - step;
            before = loss_at(&fitting, sample.z, ball);
            sample.z[i] = kept + step;
            behind = loss_at(&fitting, sample.z, ball);
            sample.z[i] = kept;
            assert_near(slope_off(before, at, behind, step, slope[i]), 0, 1e-6);
        }
    }
    task_fitting_clear(&fitting);
    sample_free(&sample);
}

/* Of the radii it tries, the one that is best on rows left out. */
static void
test_choose(void **state)
{
    const double ratio = task_laplace_ratio(4);
    struct sample sample = sample_new(ROWS, 6);
    struct task_code best, code;
    double radius[TASK_RADII];
    size_t count = 0;
    bool found = false;
    (void)state;
    must(task_code_choose(&best, &sample.rows, TASK_BALL_L1, ratio, &err));
    must(task_radii(sample.z, ROWS, WIDTH, TASK_BALL_L1, radius, &count, &err));
    assert_true(count > 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || radius[i] > radius[i - 1]);
        must(task_code_fit(&code, &sample.rows, TASK_BALL_L1, radius[i], ratio,
                           &err));
        assert_true(code.left_out >= best.left_out);
        found = found || radius[i] == best.radius;
        task_code_clear(&code);
    }
    assert_true(found && best.noise == ratio * best.radius * best.radius);
    task_code_clear(&best);
    memset(sample.z, 0, ROWS * WIDTH * sizeof *sample.z); /* tells nothing */
    must(task_code_choose(&best, &sample.rows, TASK_BALL_L1, ratio, &err));
    assert_near(best.decoder[0], 0, 1e-12);
    task_code_clear(&best);
    sample_free(&sample);
}

static void
test_refused(void **state)
{
    struct sample sample = sample_new(ROWS, 6);
    struct task_code code;
    enum sotto_status status;
    (void)state;
    survive_memory(
        status, task_code_choose(&code, &sample.rows, TASK_BALL_L1, 0.1, &err),
        task_code_clear(&code));
    sample.rows.rows = 1;
    assert_int_equal(
        task_code_fit(&code, &sample.rows, TASK_BALL_L1, 1, 1, &err),
        SOTTO_STATUS_INPUT);
    task_code_clear(&code);
    sample.rows.rows = ROWS;
    sample.z[4] = NAN;
    assert_int_equal(
        task_code_fit(&code, &sample.rows, TASK_BALL_L1, 1, 1, &err),
        SOTTO_STATUS_INPUT);
    task_code_clear(&code);
    sample_free(&sample);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clip),    cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_best),    cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_slope),   cmocka_unit_test(test_choose),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
