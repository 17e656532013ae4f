/*
 * load.c: as many reports as a collector takes.
 *
 *     IDLE --fill--> SENDING --all of it--> READING --200--> IDLE
 *                       ^                      |
 *                       +---- RESTING <--503---+
 */
#include "bench/load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/checked.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "report/report.h"
#include "sender/answer.h"

#define HEAD_MOST ((size_t)1024) /* bytes of a head, theirs or ours */
#define EVENTS 64
#define REST_S 0.1    /* after a 503 */
#define SILENCE_S 60. /* then nobody is there any more */
#define TICK_MS 50
#define SHOWN_MOST ((size_t)100) /* bytes of a wrong answer */
#define STEPS 32u                /* intervals from a time to twice that */
#define STEPS_LOG 5u

enum state { IDLE, SENDING, READING, RESTING };

struct line {
    int fd;
    enum state state;
    bool wants_room; /* epoll tells when it can send on */
    bool again;      /* what it sends was sent before */
    uint8_t *request;
    char *answer;
    size_t head, sent, got;
    double begun, rest_end;
};

struct load {
    const struct load_options *options;
    struct load_tally *tally;
    struct line *line;
    size_t request_size, answer_room;
    char expected[128]; /* the body of an answer, if all are new */
    size_t expected_size;
    struct load_ids ids;
    uint64_t started;    /* reports of requests that were begun */
    size_t open;         /* lines that are not idle */
    size_t resting;      /* of them */
    double begun, heard; /* moments */
    int epoll;
};

/* ---- Times --------------------------------------------------------------- */

/* Microseconds below 32 are themselves, then STEPS to every power of 2. */
static size_t
interval_of(double seconds)
{
    uint64_t us = seconds > 0 ? (uint64_t)(1e6 * seconds) : 0;
    if (us < STEPS) {
        return (size_t)us;
    }
    unsigned log = 63u - (unsigned)__builtin_clzll(us);
    size_t at = (size_t)(log - STEPS_LOG + 1) * STEPS +
                (size_t)((us >> (log - STEPS_LOG)) & (STEPS - 1));
    return at < LOAD_TIMES ? at : LOAD_TIMES - 1;
}

static double
interval_end(size_t at)
{
    if (at < STEPS) {
        return 1e-6 * (double)(at + 1);
    }
    uint64_t first = STEPS + at % STEPS + 1;
    return 1e-6 * (double)(first << (at / STEPS - 1));
}

double
load_quantile(const struct load_tally *tally, double share)
{
    double wanted = share * (double)tally->requests;
    uint64_t below = 0;
    size_t i = 0;
    while (i < LOAD_TIMES && (double)(below += tally->time[i]) < wanted) {
        i++;
    }
    return tally->requests == 0
               ? 0
               : interval_end(i < LOAD_TIMES ? i : LOAD_TIMES - 1);
}

/* ---- Answers ------------------------------------------------------------- */

/* Digits alone, at most nine of them, to the end of the line. */
static bool
read_length(const char *from, const char *end, size_t *ret_length)
{
    size_t length = 0;
    while (from < end && *from == ' ') {
        from++;
    }
    if (from == end || end - from > 9) {
        return false;
    }
    for (; from < end; from++) {
        if (*from < '0' || *from > '9') {
            return false;
        }
        length = 10 * length + (size_t)(*from - '0');
    }
    *ret_length = length;
    return true;
}

static bool
begins(const char *line, const char *end, const char *name)
{
    size_t size = strlen(name);
    return (size_t)(end - line) >= size && strncasecmp(line, name, size) == 0;
}

/* The lines behind the first; `end` is that of the head. */
static bool
read_fields(const char *line, const char *end, size_t *ret_length)
{
    static const char length_name[] = "Content-Length:";
    bool known = false, right = true;
    while (right && line < end) {
        const char *stop = memchr(line, '\r', (size_t)(end - line));
        stop = stop != NULL ? stop : end;
        if (begins(line, stop, length_name)) {
            right = !known && read_length(line + sizeof length_name - 1, stop,
                                          ret_length);
            known = true;
        } else if (begins(line, stop, "Transfer-Encoding:")) {
            right = false;
        }
        line = stop + 2;
    }
    return right && known;
}

enum load_progress
load_parse(const char *data, size_t size, struct load_answer *ret_answer)
{
    static const char version[] = "HTTP/1.1 ";
    const size_t first = sizeof version - 1;
    const char *end = memmem(data, size, "\r\n\r\n", 4);
    size_t length = 0;
    if (end == NULL) {
        return size < HEAD_MOST ? LOAD_PART : LOAD_WRONG;
    }
    const char *fields = memmem(data, size, "\r\n", 2);
    if (fields < data + first + 4 || memcmp(data, version, first) != 0 ||
        data[first + 3] != ' ' || !read_fields(fields + 2, end, &length)) {
        return LOAD_WRONG;
    }
    unsigned status = 0;
    for (size_t i = first; i < first + 3; i++) {
        if (data[i] < '0' || data[i] > '9') {
            return LOAD_WRONG;
        }
        status = 10 * status + (unsigned)(data[i] - '0');
    }
    size_t body = (size_t)(end - data) + 4;
    if (size < body + length) {
        return LOAD_PART;
    }
    *ret_answer = (struct load_answer){status, body, length};
    return size == body + length ? LOAD_WHOLE : LOAD_WRONG;
}

static enum sotto_status
fail_answer(const struct line *line, struct sotto_error *err)
{
    struct host_text text;
    enum sotto_status status;
    host_text_init(&text, 4096);
    host_printable_add(&text, line->answer, SHOWN_MOST);
    status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                       "the collector did not count all it was sent, but "
                       "answered '%s'",
                       text.failed || text.size == 0 ? "" : text.data);
    host_text_clear(&text);
    return status;
}

/* Whether the body says that every report is there. */
static bool
counts_all(const struct load *load, const struct line *line,
           const struct load_answer *answer)
{
    const char *body = line->answer + answer->body;
    struct answer counts;
    bool right;
    if (answer->size == load->expected_size &&
        memcmp(body, load->expected, answer->size) == 0) {
        return true;
    }
    if (answer_parse(body, answer->size, load->options->batch, &counts, NULL) !=
        SOTTO_STATUS_OK) {
        return false;
    }
    right = counts.refused == 0 && (line->again || counts.duplicate == 0);
    answer_clear(&counts);
    return right;
}

static enum sotto_status
take_answer(struct load *load, struct line *line, struct sotto_error *err)
{
    struct load_tally *tally = load->tally;
    struct load_answer answer = {0, 0, 0};
    double now = host_seconds();
    line->answer[line->got] = '\0';
    switch (load_parse(line->answer, line->got, &answer)) {
    case LOAD_PART:
        return SOTTO_STATUS_OK;
    case LOAD_WRONG:
        return fail_answer(line, err);
    case LOAD_WHOLE:
        break;
    }
    load->heard = now;
    if (answer.status == 503) {
        tally->later++;
        line->state = RESTING;
        line->rest_end = now + REST_S;
        load->resting++;
        return SOTTO_STATUS_OK;
    }
    if (answer.status != 200 || !counts_all(load, line, &answer)) {
        return fail_answer(line, err);
    }
    tally->requests++;
    tally->reports += load->options->batch;
    tally->time[interval_of(now - line->begun)]++;
    line->state = IDLE;
    load->open--;
    return SOTTO_STATUS_OK;
}

/* ---- Requests ------------------------------------------------------------ */

static enum sotto_status
fail_line(const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "the collector %s: %s", what,
                     errno != 0 ? strerror(errno) : "the connection ended");
}

enum sotto_status
load_ids_init(struct load_ids *ids, struct sotto_error *err)
{
    ids->count = 0;
    return sotto_entropy(ids->run, sizeof ids->run) == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_ENTROPY, 0, "%s",
                           sotto_status_message(SOTTO_STATUS_ENTROPY));
}

void
load_number(uint8_t *reports, size_t report_size, size_t count,
            struct load_ids *ids)
{
    uint8_t *id = reports + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE;
    for (size_t i = 0; i < count; i++, id += report_size) {
        uint64_t number = ++ids->count * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(id, ids->run, sizeof ids->run);
        memcpy(id + sizeof ids->run, &number, sizeof number);
    }
}
_Static_assert(sizeof((struct load_ids){0}).run + sizeof(uint64_t) ==
                   SOTTO_ID_SIZE,
               "an id is the run and a number");

/* Asks epoll to tell, or not to, when there is room to send. */
static enum sotto_status
watch_room(const struct load *load, struct line *line, bool wanted,
           struct sotto_error *err)
{
    struct epoll_event event = {
        .events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN,
        .data.ptr = line,
    };
    if (line->wants_room == wanted) {
        return SOTTO_STATUS_OK;
    }
    line->wants_room = wanted;
    return epoll_ctl(load->epoll, EPOLL_CTL_MOD, line->fd, &event) == 0
               ? SOTTO_STATUS_OK
               : fail_line("cannot be watched", err);
}

static enum sotto_status
send_on(const struct load *load, struct line *line, struct sotto_error *err)
{
    while (line->sent < load->request_size) {
        ssize_t sent =
            send(line->fd, line->request + line->sent,
                 load->request_size - line->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            line->sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            return watch_room(load, line, true, err);
        } else if (errno != EINTR) {
            return fail_line("takes nothing", err);
        }
    }
    line->state = READING;
    return watch_room(load, line, false, err);
}

static enum sotto_status
begin_request(struct load *load, struct line *line, bool again,
              struct sotto_error *err)
{
    if (again) {
        load->resting--;
    } else {
        load_number(line->request + line->head, load->options->report_size,
                    load->options->batch, &load->ids);
        load->started += load->options->batch;
        load->open++;
        line->begun = host_seconds();
    }
    line->again = again;
    line->sent = line->got = 0;
    line->state = SENDING;
    return send_on(load, line, err);
}

static bool
is_enough(const struct load *load)
{
    const struct load_options *options = load->options;
    return (options->most > 0 && load->started >= options->most) ||
           (options->seconds > 0 &&
            host_seconds() - load->begun >= options->seconds);
}

static enum sotto_status
read_on(struct load *load, struct line *line, struct sotto_error *err)
{
    size_t room = load->answer_room - 1 - line->got;
    ssize_t got =
        room > 0 ? recv(line->fd, line->answer + line->got, room, MSG_DONTWAIT)
                 : 0;
    enum sotto_status status;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return SOTTO_STATUS_OK;
    }
    if (got <= 0 || line->state != READING) {
        errno = got < 0 ? errno : 0;
        return fail_line("broke off", err);
    }
    line->got += (size_t)got;
    status = take_answer(load, line, err);
    if (status == SOTTO_STATUS_OK && line->state == IDLE && !is_enough(load)) {
        status = begin_request(load, line, false, err);
    }
    return status;
}

/* ---- Connections --------------------------------------------------------- */

static enum sotto_status
connect_line(const struct load *load, struct line *line,
             struct sotto_error *err)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)load->options->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = line};
    int one = 1;
    line->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line->fd < 0 ||
        connect(line->fd, (const struct sockaddr *)&address, sizeof address) !=
            0 ||
        setsockopt(line->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) {
        return fail_line("is not there", err);
    }
    return epoll_ctl(load->epoll, EPOLL_CTL_ADD, line->fd, &event) == 0
               ? SOTTO_STATUS_OK
               : fail_line("cannot be watched", err);
}

/* The head, and reports whose ids are still those that were given. */
static enum sotto_status
prepare_line(struct load *load, struct line *line, const char *head,
             struct sotto_error *err)
{
    const struct load_options *options = load->options;
    size_t size = options->report_size;
    line->head = strlen(head);
    line->request = malloc(load->request_size);
    line->answer = malloc(load->answer_room);
    if (line->request == NULL || line->answer == NULL) {
        return host_fail_memory(err);
    }
    memcpy(line->request, head, line->head);
    for (size_t i = 0; i < options->batch; i++) {
        memcpy(line->request + line->head + i * size,
               options->reports + i % options->kinds * size, size);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
open_lines(struct load *load, struct sotto_error *err)
{
    const struct load_options *options = load->options;
    char head[HEAD_MOST];
    size_t body = options->batch * options->report_size;
    int size = snprintf(head, sizeof head,
                        "POST /v1/campaigns/%s/reports HTTP/1.1\r\n"
                        "Host: 127.0.0.1:%u\r\nUser-Agent: sotto\r\n"
                        "Content-Type: application/octet-stream\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        options->campaign, options->port, body);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (size < 0 || (size_t)size >= sizeof head) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the campaign's name is too long");
    }
    load->request_size = (size_t)size + body;
    load->answer_room = HEAD_MOST + answer_most(options->batch) + 1;
    for (size_t i = 0; i < options->connections && status == SOTTO_STATUS_OK;
         i++) {
        status = prepare_line(load, &load->line[i], head, err);
        status = HOST_THEN(status, connect_line(load, &load->line[i], err));
    }
    return status;
}

static void
close_lines(struct load *load)
{
    for (size_t i = 0; load->line != NULL && i < load->options->connections;
         i++) {
        struct line *line = &load->line[i];
        if (line->fd >= 0) {
            (void)close(line->fd);
        }
        free(line->request);
        free(line->answer);
    }
    free(load->line);
    if (load->epoll >= 0) {
        (void)close(load->epoll);
    }
}

/* ---- All of it ----------------------------------------------------------- */

/* Those that were told "later" try again. */
static enum sotto_status
wake_rested(struct load *load, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    double now = host_seconds();
    for (size_t i = 0; load->resting > 0 && i < load->options->connections &&
                       status == SOTTO_STATUS_OK;
         i++) {
        struct line *line = &load->line[i];
        if (line->state == RESTING && now >= line->rest_end) {
            status = begin_request(load, line, true, err);
        }
    }
    return status;
}

static enum sotto_status
turn(struct load *load, struct sotto_error *err)
{
    struct epoll_event event[EVENTS];
    enum sotto_status status = SOTTO_STATUS_OK;
    int count = epoll_wait(load->epoll, event, EVENTS, TICK_MS);
    if (count < 0 && errno != EINTR) {
        return fail_line("cannot be watched", err);
    }
    for (int i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        struct line *line = event[i].data.ptr;
        if ((event[i].events & ~(uint32_t)EPOLLOUT) != 0) {
            status = read_on(load, line, err);
        } else {
            status = send_on(load, line, err);
        }
    }
    status = HOST_THEN(status, wake_rested(load, err));
    if (status == SOTTO_STATUS_OK && count <= 0 &&
        host_seconds() - load->heard > SILENCE_S) {
        errno = ETIMEDOUT;
        status = fail_line("answers no more", err);
    }
    return status;
}

static enum sotto_status
run_load(struct load *load, struct sotto_error *err)
{
    enum sotto_status status = open_lines(load, err);
    load->begun = load->heard = host_seconds();
    for (size_t i = 0; i < load->options->connections &&
                       status == SOTTO_STATUS_OK && !is_enough(load);
         i++) {
        struct line *line = &load->line[i];
        status = line->request != NULL ? begin_request(load, line, false, err)
                                       : host_fail_memory(err);
    }
    while (status == SOTTO_STATUS_OK && load->open > 0) {
        status = turn(load, err);
    }
    if (status == SOTTO_STATUS_OK) {
        load->tally->seconds += host_seconds() - load->begun;
    }
    return status;
}

static enum sotto_status
check_options(const struct load_options *options, struct sotto_error *err)
{
    bool something = options->batch > 0 && options->batch <= UINT32_MAX &&
                     options->kinds > 0 && options->connections > 0 &&
                     options->report_size >= REPORT_HEADER_SIZE &&
                     checked_multiply(options->report_size,
                                      (uint32_t)options->batch) <= UINT32_MAX;
    if (!something || (options->most == 0 && options->seconds <= 0)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a load needs reports, connections and an end");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
load_run(const struct load_options *options, struct load_tally *tally,
         struct sotto_error *err)
{
    struct load load = {.options = options, .tally = tally, .epoll = -1};
    enum sotto_status status = check_options(options, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    load.expected_size =
        (size_t)snprintf(load.expected, sizeof load.expected,
                         "{\"accepted\":%zu,\"duplicate\":0,\"refused\":0,"
                         "\"duplicates\":[],\"refusals\":[]}\n",
                         options->batch);
    status = load_ids_init(&load.ids, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    load.line = calloc(options->connections, sizeof *load.line);
    if (load.line == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->connections; i++) {
        load.line[i].fd = -1;
    }
    tally->requests_held = options->connections * load.request_size;
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    status = load.epoll >= 0 ? run_load(&load, err)
                             : fail_line("cannot be watched", err);
    close_lines(&load);
    return status;
}
