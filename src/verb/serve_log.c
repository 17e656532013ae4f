/*
 * serve_log.c: what a collector says of its work.
 *
 *     2026-01-31T12:00:00.123Z warning connections-full: all places ...
 *     <4>connections-full: all places ...
 *     {"time":"2026-...","level":"warning","event":"connections-full",...}
 *
 * The second is systemd's journal, which has a time of its own and takes a
 * number in front for the level.
 */
#include "verb/serve_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json_print.h"

#define TIME_SIZE 40u

/* systemd names the device and inode of a stream that is its journal's. */
static bool
is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat found;
    char name[64];
    if (stream == NULL || fstat(fileno(stderr), &found) != 0) {
        return false;
    }
    (void)snprintf(name, sizeof name, "%" PRIu64 ":%" PRIu64,
                   (uint64_t)found.st_dev, (uint64_t)found.st_ino);
    return strcmp(name, stream) == 0;
}

void
serve_log_init(struct serve_log *log, bool json)
{
    (void)pthread_mutex_init(&log->lock, NULL);
    log->json = json;
    log->journal = is_journal();
}

void
serve_log_clear(struct serve_log *log)
{
    (void)pthread_mutex_destroy(&log->lock);
}

/* The time of day in UTC, to the millisecond. */
static void
write_time(char text[TIME_SIZE])
{
    struct timespec now = {0};
    struct tm day = {0};
    size_t size;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &day);
    size = strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &day);
    (void)snprintf(text + size, TIME_SIZE - size, ".%03ldZ",
                   now.tv_nsec / 1000000);
}

void
serve_log_write(void *log, enum sotto_log_level level, const char *code,
                const char *text)
{
    static const struct {
        const char *name;
        int syslog;
    } levels[] = {{"info", 6}, {"warning", 4}, {"error", 3}};
    struct serve_log *own = log;
    char at[TIME_SIZE];
    (void)pthread_mutex_lock(&own->lock);
    write_time(at);
    if (own->json) {
        json_begin(stderr);
        json_text(stderr, "time", at);
        json_text(stderr, "level", levels[level].name);
        json_text(stderr, "event", code);
        json_text(stderr, "message", text);
        json_end(stderr);
    } else {
        if (own->journal) {
            (void)fprintf(stderr, "<%d>%s: ", levels[level].syslog, code);
        } else {
            (void)fprintf(stderr, "%s %s %s: ", at, levels[level].name, code);
        }
        cli_put(stderr, text, strlen(text));
        (void)fputc('\n', stderr);
    }
    (void)pthread_mutex_unlock(&own->lock);
}
