/*
 * test_smooth_energy.c: the value of particles against plain sums, its gradient
 * against differences, and the expansion against the likelihood.
 */
#include "smooth_fixture.h"

#define PARTICLES 3u

static struct line line;
static float e[64 * PARTICLES * 4], de[64 * PARTICLES * 4];
static float u[SMOOTH_SCALES * PARTICLES], du[SMOOTH_SCALES * PARTICLES];

static void
draw_particles(struct smooth_energy *energy, uint64_t seed)
{
    size_t size = line.features.count * energy->columns;
    struct seeded seeded;
    assert_true(size <= sizeof e / sizeof *e);
    seeded_init(&seeded, seed, 3);
    for (size_t i = 0; i < size; i++) {
        e[i] = (float)(0.4 * draw_normal_of(&seeded));
    }
    for (size_t i = 0; i < SMOOTH_SCALES * PARTICLES; i++) {
        u[i] = (float)(0.3 * draw_normal_of(&seeded));
    }
    smooth_energy_forward(energy, e, u);
}

static double
value_at(struct smooth_energy *energy, size_t particle)
{
    double value[PARTICLES];
    smooth_energy_forward(energy, e, u);
    smooth_energy_value(energy, e, u, value, NULL, NULL);
    return value[particle];
}

/* Moves one number of particle p, and compares. */
static void
check_slope(struct smooth_energy *energy, float *at, float slope, size_t p)
{
    const float by = 0.02F, was = *at;
    double up, down, found;
    *at = was + by;
    up = value_at(energy, p);
    *at = was - by;
    down = value_at(energy, p);
    *at = was;
    found = (up - down) / (2 * (double)by);
    if (fabs(found - (double)slope) > 0.02 * (1 + fabs(found))) {
        fail_msg("gradient %g, differences %g", (double)slope, found);
    }
}

static void
test_gradient(void **state)
{
    static const double share[] = {0.4, 0.3, 0.2, 0.1};
    (void)state;
    for (size_t given = 0; given < 2; given++) {
        struct smooth_energy energy;
        double value[PARTICLES];
        size_t classes = 4;
        line_init(&line, 9, 5, classes, 0.9, "subset", 1.5, 700, "plain", 1, 4);
        line.problem.share = given == 1 ? share : NULL;
        must(smooth_energy_init(&energy, &line.problem, PARTICLES, &err));
        draw_particles(&energy, 1);
        must(smooth_energy_expand(&energy, true, &err));
        draw_particles(&energy, 2);
        smooth_energy_value(&energy, e, u, value, de, du);
        for (size_t i = 0; i < line.features.count * energy.columns; i += 7) {
            check_slope(&energy, &e[i], de[i], i % energy.columns / classes);
        }
        for (size_t i = 0; i < SMOOTH_SCALES * PARTICLES; i++) {
            check_slope(&energy, &u[i], du[i], i % PARTICLES);
        }
        smooth_energy_clear(&energy);
        line_clear(&line);
    }
}

/* About the particles' mean: there the expansion is exact, near it off by less
   than the first order is, and on all back-ends the same. */
static void
test_expansion(void **state)
{
    static const char *const backend[] = {"plain", "cpu"};
    double likely[2][PARTICLES];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct smooth_energy energy;
        double room[1024], first = 0, second = 0;
        line_init(&line, 9, 5, 4, 0.9, "subset", 1.5, 700, backend[i], 1, 4);
        must(smooth_energy_init(&energy, &line.problem, PARTICLES, &err));
        draw_particles(&energy, 1);
        must(smooth_energy_expand(&energy, true, &err));
        smooth_energy_likely(&energy, likely[i]);
        for (size_t p = 0; p < PARTICLES; p++) {
            double exact = smooth_energy_exact(&energy, p, room), slope = 0;
            for (size_t j = 0; j < 20; j++) {
                double off = -energy.expansion[0].at[j];
                for (size_t l = 0; l < 9; l++) {
                    off += line.joint[l * 5 + j / 4] * room[l * 4 + j % 4];
                }
                slope += (double)energy.expansion[0].g[j] * off;
            }
            first =
                fmax(first, fabs(exact - energy.expansion[0].log_p - slope));
            second = fmax(second, fabs(exact - likely[i][p]));
        }
        print_message("%s: first order off by %.3f, second by %.3f\n",
                      backend[i], first, second);
        assert_true(second < first / 5);
        smooth_energy_clear(&energy);
        line_clear(&line);
    }
    for (size_t p = 0; p < PARTICLES; p++) {
        assert_true(fabs(likely[0][p] - likely[1][p]) < 1e-2);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_expansion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
