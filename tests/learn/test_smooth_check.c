/*
 * test_smooth_check.c: reports that are asked about an answer which was found
 * without them tell how often it is right, and how far off they may be.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

enum { LEAVES = 14, CELLS = 7, CLASSES = 4, DRAWS = 60 };

/* How often the answer is right, of the people. */
static double
find_right(const struct line *line, const double *tau)
{
    double right = 0;
    for (size_t l = 0; l < LEAVES; l++) {
        size_t answer = 0;
        for (size_t y = 1; y < CLASSES; y++) {
            if (tau[l * CLASSES + y] > tau[l * CLASSES + answer]) {
                answer = y;
            }
        }
        right += line->truth[l * CLASSES + answer] / LEAVES;
    }
    return right;
}

/* Over many collections the check is as far from the truth as its error says,
   and it does not lean to one side by more than that: where labels are mixed at
   every leaf, which the particles' prior holds for rare, and where there is
   nothing to be learnt at all (a purity of 0.25), too. */
static void
check_channel(const char *channel, double eps, double purity, size_t reports)
{
    double off = 0, square = 0, stated = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        const struct smooth_options options = {.particles = 64, .seed = seed};
        const double share[CLASSES] = {0.25, 0.25, 0.25, 0.25};
        double tau[LEAVES * CLASSES], gap;
        struct smooth_info info;
        static struct line line;
        line_init(&line, LEAVES, CELLS, CLASSES, purity, channel, eps, reports,
                  "cpu", 1, seed);
        if (strcmp(channel, "signs") == 0) {
            line.problem.share = share; /* which signs says nothing of */
        }
        must(smooth_fit(&line.problem, &options, tau, NULL, &info, &err));
        gap = info.check.right - find_right(&line, tau);
        off += gap / DRAWS;
        square += gap * gap / DRAWS;
        stated += info.check.error * info.check.error / DRAWS;
        line_clear(&line);
    }
    print_message("%s, epsilon %g, purity %.2f: off by %.3f, deviation %.3f, "
                  "stated %.3f\n",
                  channel, eps, purity, off, sqrt(square), sqrt(stated));
    assert_true(off * off < stated);
    assert_true(square < 1.6 * stated && square > 0.4 * stated);
}

static void
test_unbiased(void **state)
{
    (void)state;
    check_channel("subset", 1, 0.6, 3000);
    check_channel("subset", 1, 0.25, 3000);
    check_channel("subset", 3, 0.9, 600);
    check_channel("flip", 2, 0.5, 1500);
    check_channel("signs", 0.5, 0.6, 6000);
}

static void
test_memory(void **state)
{
    const struct smooth_options options = {.particles = 8, .seed = 1};
    double tau[LEAVES * CLASSES];
    struct smooth_info info;
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    static struct line line;
    (void)state;
    line_init(&line, LEAVES, CELLS, CLASSES, 0.9, "subset", 1, 200, "cpu", 1,
              1);
    for (long at = 1; status != SOTTO_STATUS_OK; at++) {
        fail_alloc_at(at);
        status = smooth_fit(&line.problem, &options, tau, NULL, &info, &err);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    }
    line_clear(&line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbiased),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
