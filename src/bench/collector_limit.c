/*
 * collector_limit.c: how fast reports can be stored at all.
 */
#include "bench/collector_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/load.h"
#include "collector/mover.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"
#include "report/report.h"
#include "store/store.h"

#define BATCH_MIN ((size_t)1000)

#define FILE_BYTES ((size_t)4 << 20) /* gone through again and again */

/* ---- The store ----------------------------------------------------------- */

struct bare {
    struct store *store;
    uint32_t campaign;
    uint8_t *reports; /* room for a group */
    size_t report_size;
    struct load_ids ids;
    bool moving;
};

static enum sotto_status
put_group(struct bare *bare, size_t count, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    load_number(bare->reports, bare->report_size, count, &bare->ids);
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        enum store_answer answer = STORE_ACCEPTED;
        status = store_put(bare->store, bare->campaign,
                           bare->reports + i * bare->report_size, &answer, err);
        if (status == SOTTO_STATUS_OK && answer != STORE_ACCEPTED) {
            status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                               "the store knew a report that is new");
        }
    }
    return status;
}

static enum sotto_status
run_group(struct bare *bare, size_t count, struct sotto_error *err)
{
    bool moved = true, clean = false;
    enum sotto_status status = store_begin(bare->store, err);
    status = HOST_THEN(status, put_group(bare, count, err));
    status = HOST_THEN(status, store_advance(bare->store, mover_slice(count),
                                             BATCH_MIN, &moved, err));
    status = HOST_THEN(status, store_commit(bare->store, err));
    if (status == SOTTO_STATUS_OK && moved && bare->moving) {
        status = store_scrub(bare->store, &clean, err);
    }
    bare->moving = !moved;
    return status;
}

static enum sotto_status
open_bare(struct bare *bare, const struct collector_place *place,
          const char *url, size_t group, struct sotto_error *err)
{
    size_t size = place->report_size;
    enum sotto_status status = load_ids_init(&bare->ids, err);
    status = HOST_THEN(status, store_open(url, true, &bare->store, err));
    status = HOST_THEN(status, store_campaign(bare->store, place->hash,
                                              COLLECTOR_PLACE_CAMPAIGN,
                                              size - REPORT_HEADER_SIZE,
                                              &bare->campaign, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    bare->report_size = size;
    bare->reports = malloc(group * size);
    if (bare->reports == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < group; i++) {
        memcpy(bare->reports + i * size,
               place->reports + i % COLLECTOR_PLACE_KINDS * size, size);
    }
    return SOTTO_STATUS_OK;
}

/* As a collector does that is stopped, and as little timed. */
static enum sotto_status
end_window(const struct bare *bare, struct sotto_error *err)
{
    bool moved = false, clean = false;
    enum sotto_status status = store_begin(bare->store, err);
    if (status == SOTTO_STATUS_OK && !bare->moving) {
        status = store_end_window(bare->store, err);
    }
    while (status == SOTTO_STATUS_OK && !moved) {
        status = store_advance(bare->store, STORE_WINDOW_MOST, BATCH_MIN,
                               &moved, err);
    }
    status = HOST_THEN(status, store_commit(bare->store, err));
    return HOST_THEN(status, store_scrub(bare->store, &clean, err));
}

enum sotto_status
collector_limit_run(const struct collector_place *place, const char *url,
                    uint64_t reports, size_t group, double *ret_seconds,
                    struct sotto_error *err)
{
    struct bare bare = {0};
    enum sotto_status status = open_bare(&bare, place, url, group, err);
    double start = host_seconds();
    while (status == SOTTO_STATUS_OK && reports > 0) {
        size_t count = reports < group ? (size_t)reports : group;
        status = run_group(&bare, count, err);
        reports -= count;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_seconds = host_seconds() - start;
        status = end_window(&bare, err);
    }
    store_free(bare.store);
    free(bare.reports);
    return status;
}

/* ---- The disk ------------------------------------------------------------ */

static bool
write_all(int fd, const uint8_t *data, size_t size, size_t at)
{
    while (size > 0) {
        ssize_t put = pwrite(fd, data, size, (off_t)at);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        if (put > 0) {
            data += put;
            size -= (size_t)put;
            at += (size_t)put;
        }
    }
    return true;
}

/* Over and over through a file that does not grow. */
static bool
flush_on(int fd, const uint8_t *data, size_t bytes, double seconds,
         double *ret_rate)
{
    size_t at = 0, count = 0;
    double start, now;
    if (!write_all(fd, data, FILE_BYTES, 0) || fsync(fd) != 0) {
        return false;
    }
    start = now = host_seconds();
    while (count == 0 || now - start < seconds) {
        if (!write_all(fd, data, bytes, at) || fdatasync(fd) != 0) {
            return false;
        }
        at = at + 2 * bytes <= FILE_BYTES ? at + bytes : 0;
        count++;
        now = host_seconds();
    }
    *ret_rate = (double)count / (now - start);
    return true;
}

enum sotto_status
collector_limit_flush(const struct collector_place *place, size_t bytes,
                      double seconds, double *ret_rate, struct sotto_error *err)
{
    char *path = host_text_path("%s/flushed", place->folder);
    uint8_t *data = calloc(FILE_BYTES, 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    int fd = -1;
    if (path == NULL || data == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !flush_on(fd, data, bytes < FILE_BYTES ? bytes : FILE_BYTES,
                            seconds, ret_rate)) {
        status =
            host_fail(err, SOTTO_STATUS_IO, 0, "'%s' cannot be written: %s",
                      host_shown(path), strerror(errno));
    }
done:
    if (fd >= 0) {
        (void)close(fd);
    }
    free(path);
    free(data);
    return status;
}
