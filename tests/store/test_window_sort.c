/*
 * test_window_sort.c: the same order as qsort's, of few, many and equal keys,
 * with and without memory.
 */
#include "fail_alloc.h"
#include "store/store_window.h"
#include "store_fixture.h"

#define MOST 20000u
#define SIZE_MOST 40u

static int
compare(const void *a, const void *b)
{
    return memcmp(a, b, TAG_SIZE);
}

/* Random keys, but for the first `same` bytes; then the record's number. */
static void
try(size_t count, size_t size, size_t same, long fail)
{
    static uint8_t records[MOST * SIZE_MOST], expected[MOST * SIZE_MOST];
    for (size_t i = 0; i < count; i++) {
        uint8_t *record = records + i * size;
        uint64_t half[2] = {mix(i), mix(i + ID_SECOND)};
        memset(record, 0, size);
        memcpy(record, half, sizeof half);
        memset(record, 0xab, same);
        memcpy(record + TAG_SIZE, &i, size - TAG_SIZE < 8 ? 0 : 8);
    }
    memcpy(expected, records, count * size);
    qsort(expected, count, size, compare);
    fail_alloc_at(fail);
    window_sort(records, count, size);
    fail_alloc_at(0);
    assert_memory_equal(records, expected, count * size);
}

static void
test_order(void **state)
{
    static const size_t count[] = {0, 1, 2, 31, 32, 33, 64, 65, 1000, MOST};
    (void)state;
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) {
        try(count[i], TAG_SIZE, 0, 0);
        try(count[i], TAG_SIZE + 1, 0, 0);
        try(count[i], SIZE_MOST, 0, 0);
    }
    try(1000, SIZE_MOST, 8, 0); /* beginnings that are the same */
    for (long n = 1; n <= 3; n++) {
        try(1000, SIZE_MOST, 0, n);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
