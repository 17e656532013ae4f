/*
 * test_report_stream.c: reports block by block, as a reader has them all at
 * once; what a damaged store leaves out; ids; payloads; tallies.
 */
#include "mechanism_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "mechanism/id_set.h"
#include "mechanism/payloads.h"
#include "mechanism/report_stream.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "scratch.h"

#define REPORTS 30000u /* more than a piece, and than lines at a time */
#define ROOM 64u       /* for the fixture's reports: see setup */

static struct sotto_error err;
static struct sotto_mechanism *mechanism;
static size_t each;
static uint8_t *reports;

static int
setup(void **state)
{
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    each = mechanism->shape.report_size;
    reports = calloc(REPORTS, each);
    for (uint64_t i = 0; i < REPORTS; i++) {
        fixture_report(mechanism, i, reports + i * each, each);
    }
    fail_alloc_at(0);
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    free(reports);
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

static const char *
write_file(const char *name, const void *data, size_t size)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Reads a stream to its end. */
static enum sotto_status
drain(struct sotto_report_stream *stream, uint8_t *ret_reports, size_t *ret_n)
{
    struct sotto_report_block block = {.count = 1};
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_n = 0;
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, &err);
        if (status == SOTTO_STATUS_OK && block.count > 0) {
            assert_true(*ret_n + block.count <= 2 * REPORTS);
            memcpy(ret_reports + *ret_n * each, block.reports,
                   block.count * each);
            *ret_n += block.count;
        }
    }
    return status;
}

static enum sotto_status
read_files(const char *const *path, size_t paths, uint8_t *ret_reports,
           size_t *ret_n, struct sotto_report_seen *ret_seen)
{
    struct sotto_report_stream *stream = NULL;
    enum sotto_status status =
        sotto_report_stream_new(mechanism, path, paths, &stream, &err);
    if (status == SOTTO_STATUS_OK) {
        status = drain(stream, ret_reports, ret_n);
        sotto_report_stream_seen(stream, ret_seen);
    }
    sotto_report_stream_free(stream);
    return status;
}

/* ---- Files ----------------------------------------------------------------
 */

static void
test_files(void **state)
{
    uint8_t *got = calloc(2 * REPORTS, each);
    struct sotto_report_writer *writer = NULL;
    struct sotto_report_seen seen;
    char path[2][512];
    const char *const both[] = {path[0], path[1]};
    size_t n;
    (void)state;
    (void)snprintf(path[0], sizeof path[0], "%s",
                   write_file("a.bin", reports, 20000 * each));
    (void)snprintf(path[1], sizeof path[1], "%s", in_folder("b.jsonl"));
    assert_int_equal(sotto_report_writer_new(mechanism, path[1], &writer, &err),
                     0);
    const struct sotto_report_block block = {reports + 15000 * each, 15000, 0};
    assert_int_equal(sotto_report_writer_add_block(writer, &block, &err), 0);
    assert_int_equal(sotto_report_writer_commit(writer, &err), 0);
    assert_int_equal(read_files(both, 1, got, &n, &seen), SOTTO_STATUS_OK);
    assert_int_equal(n, 20000);
    assert_memory_equal(got, reports, n * each);
    assert_int_equal(seen.repeated, 0);
    /* 5,000 are in both. */
    assert_int_equal(read_files(both, 2, got, &n, &seen), SOTTO_STATUS_OK);
    assert_int_equal(n, REPORTS);
    assert_memory_equal(got, reports, n * each);
    assert_int_equal(seen.reports, REPORTS);
    assert_int_equal(seen.simulated, REPORTS);
    assert_int_equal(seen.repeated, 5000);
    assert_int_equal(seen.batches, 0);
    free(got);
}

/* A stream of some bytes fails where, and as, a reader of them does. */
static void
check_same(const void *data, size_t size)
{
    struct sotto_report_reader *reader = NULL;
    struct sotto_report_seen seen;
    struct sotto_error other = {0};
    uint8_t *got = calloc(2 * REPORTS, each);
    const char *path = write_file("s", data, size);
    size_t n = 0;
    enum sotto_status want =
        sotto_report_reader_parse(mechanism, data, size, path, &reader, &other);
    enum sotto_status status = read_files(&path, 1, got, &n, &seen);
    assert_int_equal(status, want);
    if (want == SOTTO_STATUS_OK) {
        assert_int_equal(n, sotto_report_reader_count(reader));
        assert_int_equal(seen.repeated, sotto_report_reader_repeated(reader));
        for (size_t i = 0; i < n; i++) {
            assert_memory_equal(got + i * each,
                                sotto_report_reader_at(reader, i), each);
        }
    } else if (strstr(other.message, "one id") == NULL) {
        assert_string_equal(err.message, other.message);
        assert_int_equal(err.position, other.position);
    } else {
        assert_non_null(strstr(err.message, "has the id of an earlier report"));
    }
    sotto_report_reader_free(reader);
    free(got);
}

static void
test_faults(void **state)
{
    uint8_t *data = malloc(3 * each);
    char *line = NULL, text[4096];
    int size;
    (void)state;
    check_same("", 0);
    check_same(reports, 17000 * each + 3);
    check_same(reports, 10);
    check_same(reports, each);
    memcpy(data, reports, 3 * each);
    memcpy(data + 2 * each, data, each); /* a copy */
    check_same(data, 3 * each);
    data[3 * each - 1] ^= 1; /* another report of its id, or none */
    check_same(data, 3 * each);
    data[each + 3] ^= 1; /* its beginning */
    check_same(data, 3 * each);
    memcpy(data, reports, 3 * each);
    data[each + 10] ^= 1; /* its mechanism */
    check_same(data, 3 * each);
    data[10] ^= 1;
    check_same(data, 3 * each);
    assert_int_equal(sotto_report_json(mechanism, reports, &line, &err), 0);
    static const char *const ends[] = {
        "", "\n", "\n\n \t\r\n", "\n{}\n", "\n\n{}", "\nx", " \n", "\n \n{}\n"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size = snprintf(text, sizeof text, "%s%s", line, ends[i]);
        check_same(text, (size_t)size);
    }
    free(line);
    free(data);
}

static void
test_not_there(void **state)
{
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_block block;
    const char *const none[] = {in_folder("none")};
    const char *const twice[] = {"-", "x", "-"};
    (void)state;
    assert_int_equal(sotto_report_stream_new(mechanism, none, 1, &stream, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_stream_next(stream, &block, &err),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "none"));
    sotto_report_stream_free(stream);
    stream = NULL;
    assert_int_equal(
        sotto_report_stream_new(mechanism, twice, 3, &stream, &err),
        SOTTO_STATUS_USAGE);
    assert_null(stream);
}

static void
test_no_memory(void **state)
{
    uint8_t *got = calloc(2 * REPORTS, each);
    struct sotto_report_seen seen;
    const char *path = write_file("m", reports, 50 * each);
    enum sotto_status status;
    size_t n;
    long i = 0;
    (void)state;
    do {
        fail_alloc_at(++i);
        status = read_files(&path, 1, got, &n, &seen);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (status != SOTTO_STATUS_OK);
    assert_true(i > 10);
    free(got);
}

/* ---- A collector's --------------------------------------------------------
 */

/* Three batches: in the second some reports are damaged, all of the third. */
struct fake {
    uint8_t *reports;
    uint64_t batch;
    bool closed;
};

static enum sotto_status
next_fake(void *own, struct report_chunk *ret_chunk, struct sotto_error *error)
{
    struct fake *fake = own;
    (void)error;
    fake->batch++;
    if (fake->batch == 4) {
        ret_chunk->last = true;
        return SOTTO_STATUS_OK;
    }
    *ret_chunk = (struct report_chunk){
        .reports = fake->reports + (fake->batch - 1) * 100 * each,
        .count = fake->batch == 3 ? 0 : 100,
        .batch = 10 * fake->batch,
        .damaged = fake->batch == 3   ? 100
                   : fake->batch == 2 ? 7
                                      : 0};
    return SOTTO_STATUS_OK;
}

static void
close_fake(void *own)
{
    ((struct fake *)own)->closed = true;
}

static void
test_damage(void **state)
{
    static const struct report_source source = {.next = next_fake,
                                                .close = close_fake,
                                                .judged = true,
                                                .simulation = true};
    static const struct report_source people = {
        .next = next_fake, .close = close_fake, .judged = true};
    struct fake fake = {.reports = malloc(200 * each)};
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_seen seen;
    uint8_t *got = calloc(2 * REPORTS, each);
    size_t n;
    (void)state;
    memcpy(fake.reports, reports, 200 * each);
    fake.reports[130 * each - 1] = 0xff; /* a label that there is not */
    fake.reports[170 * each - 1] = 0xff;
    assert_int_equal(
        report_stream_new(mechanism, &source, &fake, &stream, &err), 0);
    assert_int_equal(drain(stream, got, &n), SOTTO_STATUS_OK);
    assert_int_equal(n, 198);
    assert_memory_equal(got, reports, 129 * each);
    assert_memory_equal(got + 129 * each, reports + 130 * each,
                        40 * each - each);
    sotto_report_stream_seen(stream, &seen);
    assert_int_equal(seen.reports, 198);
    assert_int_equal(seen.damaged, 109);
    assert_int_equal(seen.damaged_batches, 2);
    assert_int_equal(seen.damaged_batch[0], 20);
    assert_int_equal(seen.damaged_batch[1], 30);
    assert_int_equal(seen.batches, 3);
    assert_int_equal(seen.last_batch, 30);
    sotto_report_stream_free(stream);
    assert_true(fake.closed);
    fake.batch = 0;
    assert_int_equal(
        report_stream_new(mechanism, &people, &fake, &stream, &err), 0);
    assert_int_equal(drain(stream, got, &n), SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(err.message, "for simulation"));
    sotto_report_stream_free(stream);
    free(fake.reports);
    free(got);
}

/* ---- Ids ------------------------------------------------------------------
 */

static void
test_ids(void **state)
{
    struct id_set *set = NULL;
    enum id_answer answer;
    uint8_t other[512];
    (void)state;
    assert_int_equal(id_set_new(&set, &err), 0);
    for (size_t i = 0; i < REPORTS; i++) {
        assert_int_equal(
            id_set_add(set, reports + i * each, each, &answer, &err), 0);
        assert_int_equal(answer, ID_NEW);
    }
    for (size_t i = 0; i < REPORTS; i += 7) {
        assert_int_equal(
            id_set_add(set, reports + i * each, each, &answer, &err), 0);
        assert_int_equal(answer, ID_COPY);
        memcpy(other, reports + i * each, each);
        other[each - 1] ^= 4;
        assert_int_equal(id_set_add(set, other, each, &answer, &err), 0);
        assert_int_equal(answer, ID_OTHER);
        memcpy(other, reports + i * each, each);
        memcpy(other, REPORT_MAGIC, REPORT_MAGIC_SIZE);
        assert_int_equal(id_set_add(set, other, each, &answer, &err), 0);
        assert_int_equal(answer, ID_OTHER);
    }
    id_set_free(set);
}

/* Few bytes of each, once there are many. */
static void
test_id_bytes(void **state)
{
    struct id_set *set = NULL;
    enum id_answer answer;
    uint8_t report[REPORT_HEADER_SIZE + 1] = REPORT_MAGIC;
    size_t n = 400000;
    (void)state;
    assert_int_equal(id_set_new(&set, &err), 0);
    for (uint64_t i = 0; i < n; i++) {
        memcpy(report + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE, &i, sizeof i);
        assert_int_equal(id_set_add(set, report, sizeof report, &answer, &err),
                         0);
        assert_int_equal(answer, ID_NEW);
    }
    assert_true(id_set_bytes(set) < 18 * n);
    id_set_free(set);
}

/* ---- Payloads -------------------------------------------------------------
 */

static void
test_payloads(void **state)
{
    struct sotto_report_stream *stream[2] = {NULL};
    struct payloads *payloads[2] = {NULL};
    uint8_t *backwards = malloc(REPORTS * each);
    uint64_t all = 0;
    char name[2][512];
    (void)state;
    /* Everybody's label and colour, few of which differ; and in any order. */
    for (size_t i = 0; i < REPORTS; i++) {
        uint8_t *report = backwards + (REPORTS - 1 - i) * each;
        memcpy(report, reports + i * each, each);
        memcpy(report + REPORT_HEADER_SIZE,
               reports + (i % 50) * each + REPORT_HEADER_SIZE,
               each - REPORT_HEADER_SIZE);
    }
    (void)snprintf(name[0], sizeof name[0], "%s",
                   write_file("p", backwards, REPORTS * each));
    for (size_t i = 0; i < REPORTS / 2; i++) {
        uint8_t held[512];
        memcpy(held, backwards + i * each, each);
        memcpy(backwards + i * each, backwards + (REPORTS - 1 - i) * each,
               each);
        memcpy(backwards + (REPORTS - 1 - i) * each, held, each);
    }
    (void)snprintf(name[1], sizeof name[1], "%s",
                   write_file("q", backwards, REPORTS * each));
    for (size_t i = 0; i < 2; i++) {
        const char *path = name[i];
        assert_int_equal(
            sotto_report_stream_new(mechanism, &path, 1, &stream[i], &err), 0);
        assert_int_equal(payloads_new(mechanism, &payloads[i], &err), 0);
        struct sotto_report_block block = {.count = 1};
        while (block.count > 0) {
            assert_int_equal(sotto_report_stream_next(stream[i], &block, &err),
                             0);
            assert_int_equal(payloads_add(payloads[i], &block, &err), 0);
        }
        assert_int_equal(payloads_sort(payloads[i], &err), 0);
        assert_int_equal(payloads_distinct(payloads[i]), 50);
        assert_int_equal(payloads_all(payloads[i]), REPORTS);
    }
    for (size_t i = 0; i < 50; i++) {
        uint32_t times[2];
        const uint8_t *at[2];
        for (size_t j = 0; j < 2; j++) {
            at[j] = payloads_at(payloads[j], i, &times[j]);
        }
        assert_int_equal(times[0], times[1]);
        assert_int_equal(times[0], REPORTS / 50);
        assert_memory_equal(at[0], at[1], each - REPORT_HEADER_SIZE);
        if (i > 0) {
            const uint8_t *before = payloads_at(payloads[0], i - 1, &times[1]);
            assert_true(memcmp(before, at[0], each - REPORT_HEADER_SIZE) < 0);
        }
        all += times[0];
    }
    assert_int_equal(all, REPORTS);
    for (size_t i = 0; i < 2; i++) {
        payloads_free(payloads[i]);
        sotto_report_stream_free(stream[i]);
    }
    free(backwards);
}

/* ---- Estimates ------------------------------------------------------------
 */

/* One by one, in blocks, and in any order: the same numbers to the last bit. */
static void
test_estimates(void **state)
{
    struct sotto_estimate *one = NULL, *many = NULL;
    struct sotto_margins *few = NULL, *all = NULL;
    (void)state;
    assert_int_equal(sotto_estimate_new(mechanism, &one, &err), 0);
    assert_int_equal(sotto_estimate_new(mechanism, &many, &err), 0);
    assert_int_equal(sotto_margins_new(mechanism, &few, &err), 0);
    assert_int_equal(sotto_margins_new(mechanism, &all, &err), 0);
    for (size_t i = REPORTS; i-- > 0;) {
        sotto_estimate_add(one, reports + i * each);
        sotto_margins_add(few, reports + i * each);
    }
    for (size_t i = 0; i < REPORTS; i += 10000) {
        const struct sotto_report_block block = {reports + i * each, 10000, 1};
        sotto_estimate_add_block(many, &block);
        sotto_margins_add_block(all, &block);
    }
    for (size_t i = 0; i < sotto_estimate_rows(one); i++) {
        struct sotto_estimate_row a, b;
        sotto_estimate_row(one, i, 2, &a);
        sotto_estimate_row(many, i, 2, &b);
        assert_true(a.value >= b.value && a.value <= b.value);
        assert_true(a.low >= b.low && a.low <= b.low);
        assert_true(a.high >= b.high && a.high <= b.high);
    }
    for (size_t i = 0; i < sotto_margins_rows(few); i++) {
        struct sotto_estimate_row a, b;
        sotto_margins_row(few, i, 2, &a);
        sotto_margins_row(all, i, 2, &b);
        assert_true(a.value >= b.value && a.value <= b.value);
    }
    sotto_estimate_free(one);
    sotto_estimate_free(many);
    sotto_margins_free(few);
    sotto_margins_free(all);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),     cmocka_unit_test(test_faults),
        cmocka_unit_test(test_not_there), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_ids),
        cmocka_unit_test(test_id_bytes),  cmocka_unit_test(test_payloads),
        cmocka_unit_test(test_estimates),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
