/*
 * test_heap.c: large blocks go back to the system when they are freed, whatever
 * was freed before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>

#include "host/heap.h"

#define BLOCK ((size_t)1 << 20)

/* Blocks that the system gave one by one, when there is one more of ours. */
static size_t
count_blocks(void)
{
    void *volatile block = malloc(BLOCK);
    assert_non_null(block);
    size_t count = (size_t)mallinfo2().hblks;
    free(block);
    return count;
}

static void
test_give_back(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    skip(); /* which have a heap of their own */
#endif
    host_heap_give_back();
    size_t before = (size_t)mallinfo2().hblks;
    for (size_t i = 0; i < 4; i++) {
        void *volatile large = malloc(8 * BLOCK);
        free(large); /* glibc would keep blocks of that size from now on */
        assert_int_equal(count_blocks(), before + 1);
    }
    assert_int_equal((size_t)mallinfo2().hblks, before);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
