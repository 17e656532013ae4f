/*
 * test_peer.c: a child's answer, its time and its memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench/peer.h"
#include "host/pool.h"

static struct sotto_error err;

static void
test_answer(void **state)
{
    static const char script[] =
        "import os, sys, json\n"
        "print(json.dumps({'seconds': float(sys.argv[2]),\n"
        "    'value': int(os.environ['OMP_NUM_THREADS']) + "
        "len(sys.argv[1])}))\n";
    const char *const args[] = {"abc", "1.5", NULL};
    struct peer_result result;
    (void)state;
    if (peer_missing() != NULL && strcmp(peer_missing(), "python3") == 0) {
        skip();
    }
    assert_int_equal(peer_run(script, args, 2, &result, &err), SOTTO_STATUS_OK);
    assert_true(result.seconds == 1.5 && result.value == 5);
    assert_true(result.memory > 1e6);
}

static void
test_no_answer(void **state)
{
    static const char *const scripts[] = {
        "import sys\nsys.exit(3)\n", "print('no JSON')\n",
        "print('{\"seconds\": 1}')\n", "import os\nos.kill(os.getpid(), 9)\n"};
    const char *const none[] = {NULL};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct peer_result result = {7, 7, 7};
        assert_int_equal(peer_run(scripts[i], none, 1, &result, &err),
                         SOTTO_STATUS_IO);
        assert_non_null(strstr(err.message, "peer"));
    }
}

static void
test_machine(void **state)
{
    struct host_pool *pool = NULL;
    (void)state;
    assert_int_equal(host_pool_new(2, &pool, &err), SOTTO_STATUS_OK);
    assert_true(peer_bandwidth(pool) > 1e7);
    assert_true(peer_own_memory() > 5e8); /* what was just streamed */
    host_pool_free(pool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
