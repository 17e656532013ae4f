/*
 * fuzz_report.c: the reader of report files, binary and JSON Lines, against
 * four small fixed mechanisms with every channel between them. Their bytes,
 * and so the hashes that seeds hold, depend on nothing but this file and the
 * format.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/decimal.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const colours[] = {"blue", "green", "red"};
static const struct schema_column column[] = {
    {"age", SOTTO_COLUMN_NUMBER, 1, NULL, false, 50, 0.02},
    {"weight", SOTTO_COLUMN_NUMBER, 1, NULL, false, 80, 0.0125},
    {"colour", SOTTO_COLUMN_CATEGORY, 4, colours, false, 0, 0},
};
static const struct compose_part part[] = {
    {.covers = "features",
     .channel = "laplace",
     .eps = DECIMAL_UNIT,
     .blocks = 2,
     .d = 1,
     .l = 64},
    {.covers = "features",
     .channel = "subset",
     .eps = DECIMAL_UNIT / 10,
     .blocks = 1,
     .factor = {{true, 2, 0}},
     .factors = 1},
    {.covers = "label",
     .channel = "flip",
     .eps = DECIMAL_UNIT,
     .blocks = 1,
     .factor = {{true, 2, 0}},
     .factors = 1},
};
static const struct compose_spec first = {.name = "fuzz",
                                          .campaign = "fuzz",
                                          .auxiliary = "not used",
                                          .eps = 4 * DECIMAL_UNIT,
                                          .column = column,
                                          .columns = 3,
                                          .part = part,
                                          .parts = 3};

static const struct compose_part number_part[] = {
    {.covers = "features",
     .channel = "gaussian",
     .eps = DECIMAL_UNIT,
     .blocks = 1,
     .d = 2,
     .l = 16,
     .delta = DECIMAL_UNIT / 1000000},
    {.covers = "features",
     .channel = "duchi",
     .eps = DECIMAL_UNIT,
     .blocks = 1,
     .d = 2,
     .l = 16},
    {.covers = "label",
     .channel = "window",
     .eps = DECIMAL_UNIT,
     .blocks = 2,
     .d = 1,
     .l = 16},
};
static const struct compose_spec second = {.name = "fuzz",
                                           .campaign = "fuzz",
                                           .auxiliary = "not used",
                                           .eps = 4 * DECIMAL_UNIT,
                                           .column = column,
                                           .columns = 3,
                                           .part = number_part,
                                           .parts = 3};

static const struct compose_part pair_part = {
    .covers = "both",
    .channel = "signs",
    .eps = DECIMAL_UNIT,
    .blocks = 1,
    .factor = {{false, 0, 2}, {true, 2, 0}},
    .factors = 2};
static const struct compose_spec third = {.name = "fuzz",
                                          .campaign = "fuzz",
                                          .auxiliary = "not used",
                                          .eps = DECIMAL_UNIT,
                                          .column = column,
                                          .columns = 3,
                                          .part = &pair_part,
                                          .parts = 1};

/* One of two codebooks is asked, by lot. */
static const struct schema_column book_column[] = {
    {"image", SOTTO_COLUMN_BYTES, 6, NULL, false, 127.5, 0.0078125},
};
static const struct compose_part book_part = {.covers = "features",
                                              .channel = "subset",
                                              .eps = DECIMAL_UNIT,
                                              .blocks = 1,
                                              .factor = {{false, 0, 3}},
                                              .factors = 1,
                                              .books = 2};
static const struct compose_spec fourth = {.name = "fuzz",
                                           .campaign = "fuzz",
                                           .auxiliary = "not used",
                                           .eps = DECIMAL_UNIT,
                                           .column = book_column,
                                           .columns = 1,
                                           .part = &book_part,
                                           .parts = 1};

static struct sotto_mechanism *
make_mechanism(const struct compose_spec *spec)
{
    struct sotto_mechanism *mechanism = NULL;
    require(compose_open(spec, &mechanism, NULL) == SOTTO_STATUS_OK);
    return mechanism;
}

/* What was read is valid, and comes back from its own JSON unchanged. */
static void
check_report(const struct sotto_mechanism *mechanism, const uint8_t *report)
{
    size_t size = mechanism->shape.report_size;
    struct sotto_report_reader *reader = NULL;
    char *line = NULL;
    require(report_valid(mechanism->device.report, report, size));
    require(sotto_report_json(mechanism, report, &line, NULL) ==
            SOTTO_STATUS_OK);
    require(sotto_report_reader_parse(mechanism, line, strlen(line), "line",
                                      &reader, NULL) == SOTTO_STATUS_OK);
    require(sotto_report_reader_count(reader) == 1);
    require(memcmp(sotto_report_reader_at(reader, 0), report, size) == 0);
    sotto_report_reader_free(reader);
    free(line);
}

/* No two neighbours that were read have one id, and none was lost. */
static void
check_ids(const struct sotto_mechanism *mechanism,
          const struct sotto_report_reader *reader, const uint8_t *data,
          size_t size)
{
    size_t count = sotto_report_reader_count(reader);
    size_t whole = count + sotto_report_reader_repeated(reader);
    require(count > 0);
    require(data[0] == '{' || whole == size / mechanism->shape.report_size);
    for (size_t i = 1; i < count; i++) {
        require(memcmp(sotto_report_id(sotto_report_reader_at(reader, i - 1)),
                       sotto_report_id(sotto_report_reader_at(reader, i)),
                       SOTTO_ID_SIZE) != 0);
    }
}

/* A file with these bytes, without a name; its descriptor. */
static int
make_file(const uint8_t *data, size_t size, char *ret_path, size_t room)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0);
    require(write(fd, data, size) == (ssize_t)size);
    require(lseek(fd, 0, SEEK_SET) == 0);
    (void)snprintf(ret_path, room, "/dev/fd/%d", fd);
    return fd;
}

/* Block by block a file gives what it gives at once, or fails likewise;
   `reader` NULL: it did not. */
static void
check_stream(const struct sotto_mechanism *mechanism, const uint8_t *data,
             size_t size, enum sotto_status wanted,
             const struct sotto_report_reader *reader)
{
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_reader *other = NULL;
    char text[32];
    const char *path = text;
    int fd = make_file(data, size, text, sizeof text);
    require(sotto_report_stream_new(mechanism, &path, 1, &stream, NULL) ==
            SOTTO_STATUS_OK);
    require(sotto_report_stream_collect(stream, false, &other, NULL) == wanted);
    require((other == NULL) == (reader == NULL));
    for (size_t i = 0; other != NULL && i < sotto_report_reader_count(reader);
         i++) {
        require(sotto_report_reader_count(other) ==
                    sotto_report_reader_count(reader) &&
                memcmp(sotto_report_reader_at(other, i),
                       sotto_report_reader_at(reader, i),
                       mechanism->shape.report_size) == 0);
    }
    sotto_report_reader_free(other);
    sotto_report_stream_free(stream);
    (void)close(fd);
}

static void
check_file(const struct sotto_mechanism *mechanism, const uint8_t *data,
           size_t size)
{
    struct sotto_report_reader *reader = NULL;
    struct sotto_estimate *estimate = NULL;
    struct sotto_error err = {.status = SOTTO_STATUS_OK};
    enum sotto_status status = sotto_report_reader_parse(
        mechanism, data, size, "fuzz.bin", &reader, &err);
    require((status == SOTTO_STATUS_OK) == (reader != NULL));
    require(err.status == status && err.position <= size);
    check_stream(mechanism, data, size, status, reader);
    if (reader == NULL) {
        return;
    }
    check_ids(mechanism, reader, data, size);
    require(sotto_estimate_new(mechanism, &estimate, NULL) == SOTTO_STATUS_OK);
    for (size_t i = 0; i < sotto_report_reader_count(reader); i++) {
        check_report(mechanism, sotto_report_reader_at(reader, i));
        sotto_estimate_add(estimate, sotto_report_reader_at(reader, i));
    }
    sotto_estimate_free(estimate);
    sotto_report_reader_free(reader);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sotto_mechanism *mechanism[4];
    if (mechanism[0] == NULL) {
        mechanism[0] = make_mechanism(&first);
        mechanism[1] = make_mechanism(&second);
        mechanism[2] = make_mechanism(&third);
        mechanism[3] = make_mechanism(&fourth);
    }
    check_file(mechanism[0], data, size);
    check_file(mechanism[1], data, size);
    check_file(mechanism[2], data, size);
    check_file(mechanism[3], data, size);
    return 0;
}
