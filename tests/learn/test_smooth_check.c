/*
 * test_smooth_check.c: reports that are asked about an answer which was found
 * without them tell how often it is right, and how far off they may be.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

enum { LEAVES = 14, CELLS = 7, CLASSES = 4, DRAWS = 24 };

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

enum { BOOKS_MOST = 3 };

/* Reports of so many books, which cut the same leaves into the same codes. */
struct books {
    struct line line[BOOKS_MOST];
    struct smooth_book book[BOOKS_MOST];
    struct smooth_problem problem;
};

static void
books_init(struct books *books, size_t count, const char *channel, double eps,
           double purity, size_t reports, uint64_t seed)
{
    for (size_t b = 0; b < count; b++) {
        line_init(&books->line[b], LEAVES, CELLS, CLASSES, purity, channel, eps,
                  reports / count, "cpu", 1, seed + 1000 * b);
        books->book[b] = books->line[b].book;
    }
    books->problem = books->line[0].problem;
    books->problem.book = books->book;
    books->problem.books = count;
}

static void
books_clear(struct books *books)
{
    for (size_t b = 0; b < books->problem.books; b++) {
        line_clear(&books->line[b]);
    }
}

/* Over many collections the check is as far from the truth as its error says,
   and it does not lean to one side by more than that: where labels are mixed at
   every leaf, which the particles' prior holds for rare, and where there is
   nothing to be learnt at all (a purity of 0.25), too. */
static void
check_channel(const char *channel, double eps, double purity, size_t reports,
              size_t count)
{
    const double share[CLASSES] = {0.25, 0.25, 0.25, 0.25};
    double off = 0, square = 0, stated = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        const struct smooth_options options = {.particles = 64, .seed = seed};
        double tau[LEAVES * CLASSES], gap;
        struct smooth_info info;
        static struct books books;
        books_init(&books, count, channel, eps, purity, reports, seed);
        if (strcmp(channel, "signs") == 0) {
            books.problem.share = share; /* which signs says nothing of */
        }
        must(smooth_fit(&books.problem, &options, tau, NULL, &info, &err));
        gap = info.check.right - find_right(&books.line[0], tau);
        off += gap / DRAWS;
        square += gap * gap / DRAWS;
        stated += info.check.error * info.check.error / DRAWS;
        books_clear(&books);
    }
    print_message("%zu of %s, epsilon %g, purity %.2f: off by %.3f, deviation "
                  "%.3f, stated %.3f\n",
                  count, channel, eps, purity, off, sqrt(square), sqrt(stated));
    assert_true(off * off < stated);
    assert_true(square < 1.6 * stated && square > 0.3 * stated);
}

static void
test_error(void **state)
{
    (void)state;
    check_channel("subset", 1, 0.6, 3000, 3);
    check_channel("subset", 1, 0.25, 3000, 3);
    check_channel("subset", 3, 0.9, 600, 1);
    check_channel("flip", 2, 0.5, 1500, 1);
    check_channel("signs", 0.5, 0.6, 6000, 1);
}

/* Fewer than ten reports to a pair are not asked. */
static void
test_few(void **state)
{
    const struct smooth_options options = {.particles = 8, .seed = 1};
    const size_t reports[] = {1, 10 * CELLS * CLASSES - 1,
                              10 * CELLS * CLASSES};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double tau[LEAVES * CLASSES];
        struct smooth_info info;
        static struct books books;
        books_init(&books, 1, "subset", 3, 0.6, reports[i], 1);
        must(smooth_fit(&books.problem, &options, tau, NULL, &info, &err));
        assert_int_equal(isfinite(info.check.error) != 0, i == 2);
        books_clear(&books);
    }
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
    line_init(&line, LEAVES, CELLS, CLASSES, 0.9, "subset", 1, 280, "cpu", 1,
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
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
