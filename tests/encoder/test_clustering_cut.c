/*
 * test_clustering_cut.c: parts of the tree, none of them a few rows.
 */
#include "encoder/clustering.h"

#include "cluster_fixture.h"
#include "fail_alloc.h"

enum { CELLS = 9 };

/* Nine cells on a line. Two groups of four, each of two pairs, and one far
   off, which Ward's tree merges last; the weights are the tests'. */
static float centre[CELLS] = {0, 1, 4, 5, 20, 21, 24, 25, 1000};
static uint32_t merged[2 * (CELLS - 1)] = {0, 1, 2, 3, 4, 5, 6, 7,
                                           0, 2, 4, 6, 0, 4, 0, 8};

static struct clustering
line(double *weight)
{
    return (struct clustering){.cells = CELLS,
                               .d = 1,
                               .asked = CELLS,
                               .least = CLUSTERING_LEAST,
                               .centre = centre,
                               .weight = weight,
                               .merged = merged};
}

static void
must_be(const struct clustering *clustering, size_t parts,
        const uint32_t wanted[CELLS])
{
    uint32_t part[CELLS];
    must(clustering_cut(clustering, parts, part, &err));
    for (size_t i = 0; i < CELLS; i++) {
        assert_int_equal(part[i], wanted[i]);
    }
}

/* With rows enough the far cell is a part; with few it is left over, and goes
   to the nearest: the cut is between the two groups. */
static void
test_outliers(void **state)
{
    double weight[CELLS] = {10, 10, 10, 10, 10, 10, 10, 10, 40};
    float site[CELLS] = {0, 0, 0, 0, 5, 5, 5, 5, 1};
    struct clustering clustering = line(weight);
    (void)state;
    must_be(&clustering, 2, (const uint32_t[]){0, 0, 0, 0, 0, 0, 0, 0, 1});
    must_be(&clustering, 3, (const uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1, 2});
    weight[8] = 1;
    must_be(&clustering, 2, (const uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1, 1});
    must_be(&clustering, 3, (const uint32_t[]){0, 0, 0, 0, 1, 1, 2, 2, 2});
    must_be(&clustering, 4, (const uint32_t[]){0, 0, 1, 1, 2, 2, 3, 3, 3});
    /* 15 of 95 rows are 0.32 of an even half: enough for a quarter alone. */
    weight[8] = 15;
    must_be(&clustering, 2, (const uint32_t[]){0, 0, 0, 0, 0, 0, 0, 0, 1});
    clustering.least = 0.4;
    must_be(&clustering, 2, (const uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1, 1});
    /* Where the far cell lies near the first ones by another description, it
       goes there. */
    clustering.site = site;
    clustering.site_d = 1;
    must_be(&clustering, 2, (const uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1, 0});
}

/* More parts than the tree has of that size: the size gives way, up to every
   cell a part of its own. */
static void
test_share_gives_way(void **state)
{
    double weight[CELLS] = {10, 10, 10, 10, 10, 10, 10, 10, 1};
    struct clustering clustering = line(weight);
    (void)state;
    must_be(&clustering, 1, (const uint32_t[CELLS]){0});
    must_be(&clustering, 8, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 7});
    must_be(&clustering, CELLS, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8});
}

/* A part at every cut has rows, and a quarter of an even share where cells are
   even; parts are numbered by their first cell. */
static void
test_share(void **state)
{
    enum { N = 2000, D = 3, MANY = 100 };
    float *z = points(N, D, 7, 3);
    struct tensor_backend *backend = backend_over(NULL);
    struct clustering clustering;
    uint32_t part[MANY];
    (void)state;
    for (size_t i = 0; i < 12; i++) { /* twelve that are far from all */
        z[i * D] += 1000 * (float)(i + 1);
    }
    must(clustering_init(&clustering, NULL, backend, z, N, D, MANY, 1, NULL,
                         &err));
    for (size_t parts = 1; parts <= 20; parts++) {
        double rows[MANY] = {0};
        uint32_t next = 0;
        must(clustering_cut(&clustering, parts, part, &err));
        for (size_t i = 0; i < clustering.cells; i++) {
            assert_true(part[i] <= next && part[i] < parts);
            next += part[i] == next;
            rows[part[i]] += clustering.weight[i];
        }
        assert_int_equal(next, parts);
        for (size_t c = 0; c < parts; c++) {
            assert_true(rows[c] >= N / (4.0 * (double)parts));
        }
    }
    clustering_clear(&clustering);
    tensor_backend_free(backend);
    free(z);
}

static void
test_cut_memory(void **state)
{
    double weight[CELLS] = {10, 10, 10, 10, 10, 10, 10, 10, 1};
    struct clustering clustering = line(weight);
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        uint32_t part[CELLS];
        fail_alloc_at(++n);
        status = clustering_cut(&clustering, 3, part, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(n, 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_share_gives_way),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_cut_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
