/*
 * backoff.c: how long to wait before a request is sent again.
 *
 * With full jitter: uniform between nothing and a bound that doubles. Devices
 * that a collector's failure has brought into step fall out of it, and the
 * times say nothing but that there was a failure.
 */
#include "sender/backoff.h"

#include <math.h>
#include <string.h>

#include <curl/curl.h>

#include "base/bytes.h"
#include "host/clock.h"
#include "host/error.h"

#define DIGITS "0123456789"
#define LOOK_MS ((uint64_t)100)
#define NS_PER_MS 1000000
#define START_S 0.25                   /* to open and read the records */
#define KEEP_S 0.1                     /* to keep all that was queued */
#define REPORT_S 0.03                  /* to charge a report */
#define ENCODER_S 0.04                 /* to start a process for a record */
#define STOP_S 0.01                    /* and to end it */
#define SPARE_PART 0.25                /* of what is left that encoders get, */
#define ENCODER_MOST 4                 /* up to so many times their least */
#define WORK_PER_S ((double)(1 << 28)) /* multiply-adds of a slow device */

int64_t
backoff_asked(const char *value, time_t now)
{
    size_t size = strlen(value);
    if (size > 0 && strspn(value, DIGITS) == size) {
        int64_t seconds = 0;
        for (size_t i = 0; i < size && seconds < INT32_MAX; i++) {
            seconds = 10 * seconds + (value[i] - '0');
        }
        return seconds < INT32_MAX ? seconds : INT32_MAX;
    }
    time_t date = curl_getdate(value, NULL);
    if (date == -1) {
        return -1;
    }
    int64_t seconds = (int64_t)date - (int64_t)now;
    seconds = seconds > 0 ? seconds : 0;
    return seconds < INT32_MAX ? seconds : INT32_MAX;
}

/* The high bits of a product: 64 bits of entropy, so that no value is more
   frequent than another by anything that could be seen. */
enum sotto_status
backoff_draw(uint64_t most, uint64_t *ret_drawn, struct sotto_error *err)
{
    uint8_t bytes[8];
    if (sotto_entropy(bytes, sizeof bytes) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; nothing was sent");
    }
    uint64_t range = (most < UINT32_MAX ? most : UINT32_MAX - 1) + 1;
    uint64_t low = bytes_load(bytes, 4), high = bytes_load(bytes + 4, 4);
    *ret_drawn = (high * range + (low * range >> 32)) >> 32;
    return SOTTO_STATUS_OK;
}

uint64_t
backoff_most(uint64_t first, unsigned next)
{
    uint64_t most = first < BACKOFF_MOST_MS ? first : BACKOFF_MOST_MS;
    for (unsigned i = 1; i < next && most < BACKOFF_MOST_MS; i++) {
        most *= 2;
    }
    return most < BACKOFF_MOST_MS ? most : BACKOFF_MOST_MS;
}

/* A record's encoder runs twice: for the record, and for one with everything
   missing. */
double
backoff_allowance(uint64_t work, uint64_t reports)
{
    double each = REPORT_S + ENCODER_S + STOP_S + 2 * (double)work / WORK_PER_S;
    return reports > 0 ? START_S + KEEP_S + (double)reports * each : 0;
}

struct sotto_schedule
backoff_schedule(double asked, double aside, uint64_t work, uint64_t reports)
{
    double once = (double)work / WORK_PER_S;
    double spare = aside - backoff_allowance(work, reports);
    double least = ENCODER_S + once;
    struct sotto_schedule schedule = {
        .first = asked + START_S,
        .encoder = fmin(least + SPARE_PART * spare / (double)reports,
                        ENCODER_MOST * least),
        .stop = STOP_S};
    schedule.turn = once + schedule.encoder + schedule.stop + REPORT_S;
    return schedule;
}

uint64_t
backoff_least_grid(uint64_t work)
{
    return (uint64_t)ceil(4 * (double)work / WORK_PER_S);
}

double
backoff_align(double due, unsigned grid, double now)
{
    if (due >= now) {
        return due;
    }
    return grid > 0 ? due + grid * ceil((now - due) / grid) : now;
}

enum sotto_status
backoff_wait(uint64_t ms, const char *what, const struct sotto_watch *watch,
             struct sotto_error *err)
{
    double began = host_seconds();
    for (;;) {
        double passed = 1000 * (host_seconds() - began);
        double left = (double)ms - passed;
        if (watch->tick != NULL &&
            !watch->tick(watch->context, what, (uint64_t)(passed / 1000),
                         ms / 1000)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped while %s",
                             what);
        }
        if (left <= 0) {
            return SOTTO_STATUS_OK;
        }
        uint64_t pause = left < (double)LOOK_MS ? (uint64_t)left + 1 : LOOK_MS;
        const struct timespec time = {0, (long)(pause * NS_PER_MS)};
        (void)nanosleep(&time, NULL);
    }
}
