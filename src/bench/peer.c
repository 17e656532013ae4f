/*
 * peer.c: running a peer as a child, and measuring the machine beside it.
 *
 * The child reports its own peak: what wait4 tells would include what this
 * process had in memory when the child was started.
 */
#include "bench/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "host/clock.h"
#include "host/embedded.h"
#include "host/error.h"
#include "host/pool.h"

#define ANSWER_MAX 4096u
#define STREAM_TASKS 64u
#define STREAM_TIMES 5

const struct peer_threads peer_settings[PEER_SETTINGS] = {
    {1, 1}, {2, 1}, {1, 2}};

/* ---- Scripts --------------------------------------------------------------
 */

extern const struct embedded peer_script[];
extern const size_t peer_script_count;

const char *
peer_script_text(const char *name)
{
    size_t i = 0;
    while (i + 1 < peer_script_count &&
           strcmp(peer_script[i].name, name) != 0) {
        i++;
    }
    return (const char *)peer_script[i].bytes;
}

/* ---- The child ---------------------------------------------------------- */

static const char prelude[] =
    "import json\n"
    "def answer(seconds, value):\n"
    "    peak = [line.split()[1] for line in open('/proc/self/status')\n"
    "            if line.startswith('VmHWM:')]\n"
    "    print(json.dumps({'seconds': seconds, 'value': value,\n"
    "                      'memory': 1024 * int(peak[0])}), flush=True)\n";

struct peer {
    pid_t child;
    int end; /* of a pair of sockets: its input and output are the other */
};

static void
set_threads(const char *name, unsigned threads)
{
    char number[16];
    (void)snprintf(number, sizeof number, "%u", threads);
    (void)setenv(name, number, 1);
}

/* In the child: everything but the three standard files, and those of
   peer_file_write, goes away. */
static void
become(const char *python, const char *script, const char *const *args,
       const struct peer_threads *threads, int end)
{
    const char *word[PEER_ARGS_MAX + 4] = {python, "-c", script};
    size_t count = 3;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a peer alone is of no use */
    set_threads("OMP_NUM_THREADS", threads->own);
    set_threads("MKL_NUM_THREADS", threads->own);
    set_threads("OPENBLAS_NUM_THREADS", threads->blas);
    for (size_t i = 0; args[i] != NULL; i++) {
        word[count++] = args[i];
    }
    word[count] = NULL;
    if (dup2(end, STDIN_FILENO) >= 0 && dup2(end, STDOUT_FILENO) >= 0) {
        union {
            const char **from;
            char *const *to;
        } words = {word}; /* execv promises not to write */
        (void)execv(python, words.to);
    }
    _exit(127);
}

static enum sotto_status
start(const char *python, const char *script, const char *const *args,
      const struct peer_threads *threads, struct peer **ret_peer,
      struct sotto_error *err)
{
    struct peer *peer = malloc(sizeof *peer);
    size_t room = sizeof prelude + strlen(script);
    char *text = malloc(room);
    int ends[2];
    if (peer == NULL || text == NULL) {
        free(peer);
        free(text);
        return host_fail_memory(err);
    }
    (void)snprintf(text, room, "%s%s", prelude, script);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        free(peer);
        free(text);
        return host_fail(err, SOTTO_STATUS_IO, 0, "no socket for the peer");
    }
    peer->end = ends[0];
    peer->child = fork();
    if (peer->child == 0) {
        become(python, text, args, threads, ends[1]);
    }
    (void)close(ends[1]);
    free(text);
    *ret_peer = peer;
    return SOTTO_STATUS_OK; /* without a child no answer will come */
}

enum sotto_status
peer_start(const char *script, const char *const *args,
           const struct peer_threads *threads, struct peer **ret_peer,
           struct sotto_error *err)
{
    size_t count = 0;
    while (args[count] != NULL) {
        count++;
    }
    if (count > PEER_ARGS_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "too many arguments");
    }
    return start(PEER_PYTHON, script, args, threads, ret_peer, err);
}

bool
peer_stop(struct peer *peer)
{
    int status = 0;
    bool ended = false;
    if (peer == NULL) {
        return true;
    }
    (void)close(peer->end);
    if (peer->child > 0) {
        pid_t got;
        do {
            got = waitpid(peer->child, &status, 0);
        } while (got < 0 && errno == EINTR);
        ended = got > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    free(peer);
    return ended;
}

/* ---- Questions and answers ----------------------------------------------- */

static bool
write_line(int to, const char *line)
{
    char text[128];
    int size = snprintf(text, sizeof text, "%s\n", line);
    return size > 0 && (size_t)size < sizeof text &&
           send(to, text, (size_t)size, MSG_NOSIGNAL) == size;
}

/* A line, or what there is of it at the end. */
static size_t
read_line(int from, char *text, size_t most)
{
    size_t size = 0;
    while (size < most) {
        ssize_t got = recv(from, text + size, most - size, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        size += (size_t)got;
        if (text[size - 1] == '\n') {
            break;
        }
    }
    return size;
}

static enum sotto_status
fail_peer(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0,
                     "the peer did not run to its end");
}

static enum sotto_status
read_answer(const char *text, size_t size, struct peer_result *ret_result,
            struct sotto_error *err)
{
    json_t *answer = json_loadb(text, size, 0, NULL);
    const json_t *seconds = json_object_get(answer, "seconds");
    const json_t *value = json_object_get(answer, "value");
    const json_t *memory = json_object_get(answer, "memory");
    bool good = json_is_number(seconds) && json_is_number(value) &&
                json_is_number(memory);
    if (good) {
        *ret_result = (struct peer_result){json_number_value(seconds),
                                           json_number_value(value),
                                           json_number_value(memory)};
    }
    json_decref(answer);
    return good ? SOTTO_STATUS_OK : fail_peer(err);
}

enum sotto_status
peer_ask(struct peer *peer, const char *line, struct peer_result *ret_result,
         struct sotto_error *err)
{
    char text[ANSWER_MAX];
    if (peer == NULL || (line != NULL && !write_line(peer->end, line))) {
        return fail_peer(err);
    }
    return read_answer(text, read_line(peer->end, text, sizeof text),
                       ret_result, err);
}

enum sotto_status
peer_run(const char *script, const char *const *args,
         const struct peer_threads *threads, struct peer_result *ret_result,
         struct sotto_error *err)
{
    struct peer_result result;
    struct peer *peer = NULL;
    enum sotto_status status = peer_start(script, args, threads, &peer, err);
    status = HOST_THEN(status, peer_ask(peer, NULL, &result, err));
    if (!peer_stop(peer) && status == SOTTO_STATUS_OK) {
        status = fail_peer(err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_result = result;
    }
    return status;
}

const char *
peer_missing(const char *python, const char *module)
{
    static const char script[] =
        "import sys\ntry:\n    __import__(sys.argv[1])\n    found = 1\n"
        "except ImportError:\n    found = 0\n"
        "answer(0, found)\n";
    const char *const args[] = {module, NULL};
    const struct peer_threads one = {1, 1};
    struct peer_result result = {0, 0, 0};
    struct peer *peer = NULL;
    enum sotto_status status = start(python, script, args, &one, &peer, NULL);
    status = HOST_THEN(status, peer_ask(peer, NULL, &result, NULL));
    (void)peer_stop(peer);
    if (status != SOTTO_STATUS_OK) {
        return "python3";
    }
    if (result.value > 0) {
        return NULL;
    }
    return strcmp(module, "numpy") == 0 ? "python3-numpy" : "python3-torch";
}

/* ---- Files --------------------------------------------------------------- */

static bool
write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        data += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

enum sotto_status
peer_file_write(struct peer_file *ret_file, const void *data, size_t size,
                struct sotto_error *err)
{
    int fd = memfd_create("sotto-bench", 0); /* which a child inherits */
    if (fd < 0 || !write_all(fd, data, size)) {
        int error = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return host_fail(err, SOTTO_STATUS_IO, 0, "no file for the peer: %s",
                         strerror(error));
    }
    ret_file->fd = fd;
    (void)snprintf(ret_file->path, sizeof ret_file->path, "/proc/self/fd/%d",
                   fd);
    return SOTTO_STATUS_OK;
}

void
peer_file_close(struct peer_file *file)
{
    if (file->path[0] != '\0') {
        (void)close(file->fd);
    }
    *file = (struct peer_file){0};
}

/* ---- The machine -------------------------------------------------------- */

struct stream {
    const uint64_t *data;
    size_t bytes;
    uint64_t sum[STREAM_TASKS];
};

/* Reads one share of the memory; the sums keep the compiler honest. */
static void
read_share(void *context, size_t task, unsigned worker)
{
    struct stream *stream = context;
    size_t count = stream->bytes / sizeof(uint64_t) / STREAM_TASKS;
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

double
peer_bandwidth(struct host_pool *pool, size_t bytes)
{
    struct stream stream;
    double best = 0;
    uint64_t *data = malloc(bytes);
    if (data == NULL) {
        return 0;
    }
    memset(data, 1, bytes);
    stream.data = data;
    stream.bytes = bytes;
    for (int i = 0; i < STREAM_TIMES; i++) {
        double start = host_seconds(), rate;
        host_pool_run(pool, STREAM_TASKS, read_share, &stream);
        rate = (double)bytes / (host_seconds() - start);
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
