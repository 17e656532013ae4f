/*
 * test_peer.c: a child's answer, its time and its memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/peer.h"
#include "host/pool.h"

static struct sotto_error err;

static void
test_answer(void **state)
{
    static const char script[] =
        "import os, sys\n"
        "answer(float(sys.argv[2]), len(sys.argv[1]) +\n"
        "       10 * int(os.environ['OMP_NUM_THREADS']) +\n"
        "       100 * int(os.environ['OPENBLAS_NUM_THREADS']))\n";
    const char *const args[] = {"abc", "1.5", NULL};
    const struct peer_threads threads = {2, 4};
    struct peer_result result;
    (void)state;
    if (access(PEER_PYTHON, X_OK) != 0) {
        skip();
    }
    assert_int_equal(peer_run(script, args, &threads, &result, &err),
                     SOTTO_STATUS_OK);
    assert_true(result.seconds == 1.5 && result.value == 423);
    assert_true(result.memory > 1e6);
}

static void
test_no_answer(void **state)
{
    static const char *const scripts[] = {
        "import sys\nsys.exit(3)\n", "print('no JSON')\n",
        "print('{\"seconds\": 1}')\n", "import os\nos.kill(os.getpid(), 9)\n",
        "answer(1, 2)\nraise SystemExit(1)\n"};
    const char *const none[] = {NULL};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct peer_result result = {7, 7, 7};
        assert_int_equal(
            peer_run(scripts[i], none, &peer_settings[0], &result, &err),
            SOTTO_STATUS_IO);
        assert_true(result.seconds == 7 && result.memory == 7);
        assert_non_null(strstr(err.message, "peer"));
    }
}

/* Line after line, until there is no more; a dead one does not kill us. */
static void
test_questions(void **state)
{
    static const char script[] =
        "import sys\nfor line in sys.stdin:\n"
        "    if line == 'die\\n':\n        sys.exit(1)\n"
        "    answer(float(line), 2 * float(line))\n";
    const char *const none[] = {NULL};
    struct peer_result result;
    struct peer *peer = NULL;
    (void)state;
    if (access(PEER_PYTHON, X_OK) != 0) {
        skip();
    }
    for (int dies = 0; dies < 2; dies++) {
        assert_int_equal(
            peer_start(script, none, &peer_settings[0], &peer, &err),
            SOTTO_STATUS_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(peer_ask(peer, "4", &result, &err),
                             SOTTO_STATUS_OK);
            assert_true(result.seconds == 4 && result.value == 8);
        }
        for (int i = 0; i < 2 && dies; i++) {
            assert_int_equal(peer_ask(peer, "die", &result, &err),
                             SOTTO_STATUS_IO);
        }
        assert_int_equal(peer_stop(peer), !dies);
    }
}

/* What a peer reads has no name that could stay behind; two read it at once. */
static void
test_file(void **state)
{
    static const char script[] =
        "import sys\n"
        "for line in sys.stdin:\n"
        "    answer(0, sum(open(sys.argv[1], 'rb').read()))\n";
    static const uint8_t data[] = {1, 2, 250};
    struct peer_file file = {0};
    struct peer *peer[2] = {NULL, NULL};
    struct peer_result result;
    struct stat about;
    (void)state;
    if (access(PEER_PYTHON, X_OK) != 0) {
        skip();
    }
    assert_int_equal(peer_file_write(&file, data, sizeof data, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(fstat(file.fd, &about), 0);
    assert_int_equal(about.st_nlink, 0);
    for (size_t i = 0; i < 2; i++) {
        const char *const args[] = {file.path, NULL};
        assert_int_equal(
            peer_start(script, args, &peer_settings[0], &peer[i], &err),
            SOTTO_STATUS_OK);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(peer_ask(peer[i % 2], "", &result, &err),
                         SOTTO_STATUS_OK);
        assert_true(result.value == 253);
    }
    assert_true(peer_stop(peer[0]) && peer_stop(peer[1]));
    int fd = file.fd;
    peer_file_close(&file);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    peer_file_close(&file); /* none: closes nothing, not 0 either */
    assert_int_equal(fcntl(0, F_GETFD), 0);
}

/* A peer does not outlive the program. */
static void
test_orphan(void **state)
{
    static const char script[] = "import time\nanswer(0, 1)\n"
                                 "time.sleep(60)\n";
    const char *const none[] = {NULL};
    int ends[2];
    char byte;
    (void)state;
    if (access(PEER_PYTHON, X_OK) != 0) {
        skip();
    }
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct peer *peer = NULL;
        struct peer_result result;
        bool good = peer_start(script, none, &peer_settings[0], &peer, &err) ==
                        SOTTO_STATUS_OK &&
                    peer_ask(peer, NULL, &result, &err) == SOTTO_STATUS_OK;
        _exit(good ? 0 : 1); /* the peer has the pipe still */
    }
    (void)close(ends[1]);
    struct pollfd ended = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&ended, 1, 30000), 1);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    (void)close(ends[0]);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* An interpreter that is not there, and one without the package. */
static void
test_missing(void **state)
{
    char path[] = "/tmp/sotto-test.XXXXXX";
    static const char text[] =
        "#!/bin/sh\n"
        "echo '{\"seconds\": 0, \"value\": 0, \"memory\": 1}'\n";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(fchmod(fd, 0700), 0);
    (void)close(fd);
    assert_string_equal(peer_missing(path, "torch"), "python3-torch");
    assert_string_equal(peer_missing(path, "numpy"), "python3-numpy");
    assert_string_equal(peer_missing("/nowhere/python3", "torch"), "python3");
    (void)unlink(path);
}

static void
test_machine(void **state)
{
    struct host_pool *pool = NULL;
    (void)state;
    assert_int_equal(host_pool_new(2, &pool, &err), SOTTO_STATUS_OK);
    assert_true(peer_bandwidth(pool, (size_t)1 << 26) > 1e7);
    assert_true(peer_own_memory() > 6.7e7); /* what was just streamed */
    host_pool_free(pool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer),    cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_questions), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_machine),   cmocka_unit_test(test_file),
        cmocka_unit_test(test_orphan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
