/*
 * fuzz_sql_log.c: sql_log.c on a log. With an odd first byte the sums of header
 * and frames are put right first, so that what lies behind them is reached; the
 * second byte says from which frame on they are not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "require.h"
#include "store/sql_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
put_big(uint8_t *to, uint32_t value)
{
    for (size_t i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

/* The sum as SQLite's documentation has it, over big-endian numbers. */
static void
add_sum(uint32_t sum[2], const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint32_t pair[2] = {0, 0};
        for (size_t j = 0; j < 8; j++) {
            pair[j / 4] = pair[j / 4] << 8 | data[i + j];
        }
        sum[0] += pair[0] + sum[1];
        sum[1] += pair[1] + sum[0];
    }
}

static void
put_sums(uint8_t *log, size_t size, size_t frames)
{
    uint32_t sum[2] = {0, 0};
    if (size < SQL_LOG_HEADER) {
        return;
    }
    put_big(log, UINT32_C(0x377f0683));
    put_big(log + 4, 3007000);
    put_big(log + 8, (uint32_t)SQL_LOG_PAGE);
    add_sum(sum, log, SQL_LOG_SUM);
    put_big(log + SQL_LOG_SUM, sum[0]);
    put_big(log + SQL_LOG_SUM + 4, sum[1]);
    for (size_t i = 0; i < frames; i++) {
        if (size - SQL_LOG_HEADER < (i + 1) * SQL_FRAME) {
            return;
        }
        uint8_t *frame = log + SQL_LOG_HEADER + i * SQL_FRAME;
        memcpy(frame + SQL_FRAME_SALTS, log + SQL_LOG_SALTS, 8);
        add_sum(sum, frame, 8);
        add_sum(sum, frame + SQL_FRAME_HEADER, SQL_LOG_PAGE);
        put_big(frame + SQL_FRAME_SUM, sum[0]);
        put_big(frame + SQL_FRAME_SUM + 4, sum[1]);
    }
}

/* What a look says must be of this log. */
static void
check_look(const char *path, const uint8_t *log, size_t size)
{
    struct sql_log_look found;
    struct sotto_error err;
    size_t frames =
        size < SQL_LOG_HEADER ? 0 : (size - SQL_LOG_HEADER) / SQL_FRAME;
    if (sql_log_look(path, &found, &err) != SOTTO_STATUS_OK) {
        require(err.status == SOTTO_STATUS_MEMORY);
        return;
    }
    require(found.frames <= frames && found.commits <= found.frames);
    require((found.damaged == 0) == (found.lost == 0));
    require(found.damaged == 0 || found.damaged == found.frames + 1);
    require(found.frames + found.lost <= frames);
    for (uint32_t i = 1; i < 4; i++) {
        require(!sql_log_has(path, i) || found.commits > 0);
    }
    require(found.frames == 0 || sql_log_header_sound(log));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[32];
    if (fd < 0) {
        fd = memfd_create("log", 0);
    }
    uint8_t *log = malloc(size + 1);
    if (size < 2 || log == NULL || fd < 0) {
        free(log);
        return 0;
    }
    size -= 2;
    memcpy(log, data + 2, size);
    if (data[0] % 2 == 1) {
        put_sums(log, size, data[1]);
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ftruncate(fd, 0) == 0 && pwrite(fd, log, size, 0) == (ssize_t)size) {
        check_look(path, log, size);
    }
    free(log);
    return 0;
}
