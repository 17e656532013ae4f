/*
 * peer.c: running a peer as a child, and measuring the machine beside it.
 */
#include "bench/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "host/error.h"
#include "host/pool.h"

#define ANSWER_MAX 4096u
#define STREAM_BYTES ((size_t)1 << 29)
#define STREAM_TASKS 64u
#define STREAM_TIMES 5

/* ---- The child ---------------------------------------------------------- */

/* In the child: everything but standard output and errors goes away. */
static void
become(const char *script, const char *const *args, unsigned threads, int to)
{
    const char *word[PEER_ARGS_MAX + 4] = {PEER_PYTHON, "-c", script};
    char number[16];
    size_t count = 3;
    (void)snprintf(number, sizeof number, "%u", threads);
    (void)setenv("OMP_NUM_THREADS", number, 1);
    (void)setenv("OPENBLAS_NUM_THREADS", number, 1);
    (void)setenv("MKL_NUM_THREADS", number, 1);
    for (size_t i = 0; args[i] != NULL; i++) {
        word[count++] = args[i];
    }
    word[count] = NULL;
    if (dup2(to, STDOUT_FILENO) >= 0) {
        union {
            const char **from;
            char *const *to;
        } words = {word}; /* execv promises not to write */
        (void)execv(PEER_PYTHON, words.to);
    }
    _exit(127);
}

static size_t
read_all(int from, char *text, size_t most)
{
    size_t size = 0;
    ssize_t got = 1;
    while (got > 0 && size < most) {
        got = read(from, text + size, most - size);
        if (got < 0 && errno == EINTR) {
            got = 1;
            continue;
        }
        size += got > 0 ? (size_t)got : 0;
    }
    return size;
}

static enum sotto_status
read_answer(const char *text, size_t size, struct peer_result *ret_result,
            struct sotto_error *err)
{
    json_t *answer = json_loadb(text, size, 0, NULL);
    const json_t *seconds = json_object_get(answer, "seconds");
    const json_t *value = json_object_get(answer, "value");
    bool good = json_is_number(seconds) && json_is_number(value);
    if (good) {
        ret_result->seconds = json_number_value(seconds);
        ret_result->value = json_number_value(value);
    }
    json_decref(answer);
    return good ? SOTTO_STATUS_OK
                : host_fail(err, SOTTO_STATUS_IO, 0,
                            "the peer did not run to its end");
}

enum sotto_status
peer_run(const char *script, const char *const *args, unsigned threads,
         struct peer_result *ret_result, struct sotto_error *err)
{
    char text[ANSWER_MAX];
    struct rusage usage;
    size_t size, count = 0;
    int ends[2], status = 0;
    pid_t child;
    memset(&usage, 0, sizeof usage);
    while (args[count] != NULL) {
        count++;
    }
    if (count > PEER_ARGS_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "too many arguments");
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0, "no pipe for the peer");
    }
    child = fork();
    if (child == 0) {
        become(script, args, threads, ends[1]);
    }
    (void)close(ends[1]);
    size = child > 0 ? read_all(ends[0], text, sizeof text) : 0;
    (void)close(ends[0]);
    while (child > 0 && wait4(child, &status, 0, &usage) < 0 &&
           errno == EINTR) {
    }
    if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "the peer did not run to its end");
    }
    ret_result->memory = (double)usage.ru_maxrss * 1024;
    return read_answer(text, size, ret_result, err);
}

const char *
peer_missing(void)
{
    static const char script[] =
        "import json\ntry:\n    import torch\n    found = 1\n"
        "except ImportError:\n    found = 0\n"
        "print(json.dumps({'seconds': 0, 'value': found}))\n";
    const char *const none[] = {NULL};
    struct peer_result result = {0, 0, 0};
    if (access(PEER_PYTHON, X_OK) != 0 ||
        peer_run(script, none, 1, &result, NULL) != SOTTO_STATUS_OK) {
        return "python3";
    }
    return result.value > 0 ? NULL : "python3-torch";
}

/* ---- The machine -------------------------------------------------------- */

struct stream {
    const uint64_t *data;
    uint64_t sum[STREAM_TASKS];
};

/* Reads one share of the memory; the sums keep the compiler honest. */
static void
read_share(void *context, size_t task, unsigned worker)
{
    struct stream *stream = context;
    size_t count = STREAM_BYTES / sizeof(uint64_t) / STREAM_TASKS;
    const uint64_t *at = stream->data + task * count;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    (void)worker;
    for (size_t i = 0; i < count; i += 32) { /* four cache lines */
        a += at[i];
        b += at[i + 8];
        c += at[i + 16];
        d += at[i + 24];
    }
    stream->sum[task] = a + b + c + d;
}

static double
now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double
peer_bandwidth(struct host_pool *pool)
{
    struct stream stream;
    double best = 0;
    uint64_t *data = malloc(STREAM_BYTES);
    if (data == NULL) {
        return 0;
    }
    memset(data, 1, STREAM_BYTES);
    stream.data = data;
    for (int i = 0; i < STREAM_TIMES; i++) {
        double start = now(), rate;
        host_pool_run(pool, STREAM_TASKS, read_share, &stream);
        rate = (double)STREAM_BYTES / (now() - start);
        best = rate > best ? rate : best;
    }
    free(data);
    return best;
}

double
peer_own_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kilobytes = strtod(line + 6, NULL);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kilobytes * 1024;
}
