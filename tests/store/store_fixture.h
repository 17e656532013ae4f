/*
 * store_fixture.h: stores and reports for the tests beside it.
 *
 * Report number i has an id and a payload that say i, so that what is found
 * anywhere tells which report it was.
 */
#ifndef SOTTO_TESTS_STORE_FIXTURE_H
#define SOTTO_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/device.h"
#include "scratch.h"
#include "store/store.h"

#define PAYLOAD_SIZE 24u
#define REPORT_SIZE (REPORT_HEADER_SIZE + PAYLOAD_SIZE)
#define PAYLOAD_MARK "SeRiAl"
#define ID_SECOND ((uint64_t)1 << 40) /* for the second half of an id */
#define ALL SIZE_MAX

/* In memory where there is such a folder: thousands of flushes take minutes on
   some disks, and what these tests ask does not depend on them. */
static inline int
setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/dev/shm/sotto-test.XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : scratch_make();
}

static inline int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

/* The same numbers on every machine. */
static inline uint64_t
mix(uint64_t x)
{
    uint64_t z = (x + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t
next_random(uint64_t *state)
{
    return mix((*state)++);
}

static inline const uint8_t *
hash_of(uint8_t mechanism)
{
    static uint8_t hash[256][SOTTO_HASH_SIZE];
    memset(hash[mechanism], mechanism, SOTTO_HASH_SIZE);
    return hash[mechanism];
}

/* The payload is PAYLOAD_MARK, 2 bytes, the number, and something of it. */
static inline void
fake_report(uint8_t mechanism, uint64_t number, bool simulated, uint8_t *report)
{
    uint64_t id[2] = {mix(number), mix(number + ID_SECOND)};
    uint8_t *payload = report + REPORT_HEADER_SIZE;
    memcpy(report, simulated ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC,
           REPORT_MAGIC_SIZE);
    memcpy(report + REPORT_MAGIC_SIZE, hash_of(mechanism), SOTTO_HASH_SIZE);
    memcpy(report + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE, id, sizeof id);
    memset(payload, 0, PAYLOAD_SIZE);
    memcpy(payload, PAYLOAD_MARK, sizeof PAYLOAD_MARK - 1);
    memcpy(payload + 8, &number, sizeof number);
    uint64_t check = mix(number ^ 0x5a5a5a5a);
    memcpy(payload + 16, &check, sizeof check);
}

/* The number that a payload says; UINT64_MAX: it is none of ours. */
static inline uint64_t
payload_number(const uint8_t *payload)
{
    uint64_t number = 0, check = 0;
    memcpy(&number, payload + 8, sizeof number);
    memcpy(&check, payload + 16, sizeof check);
    return memcmp(payload, PAYLOAD_MARK, sizeof PAYLOAD_MARK) == 0 &&
                   check == mix(number ^ 0x5a5a5a5a)
               ? number
               : UINT64_MAX;
}

/* What the last call that failed said. */
static struct sotto_error said;

#define MUST(call)                                                             \
    do {                                                                       \
        if ((call) != SOTTO_STATUS_OK) {                                       \
            fail_msg("%s:%d: %s: %s", __FILE__, __LINE__, #call,               \
                     said.message);                                            \
        }                                                                      \
    } while (0)

/* Where a writer has the keys of its windows; NULL: it needs none. */
static const char *window_keys;

static inline enum sotto_status
try_store(const char *url, bool simulation, struct store **ret_store)
{
    return store_open_with_keys(url, window_keys, simulation, ret_store, &said);
}

static inline struct store *
open_store(const char *url)
{
    struct store *store = NULL;
    MUST(try_store(url, false, &store));
    return store;
}

static inline uint32_t
campaign_of(struct store *store, uint8_t mechanism)
{
    uint32_t number = 0;
    MUST(store_campaign(store, hash_of(mechanism), "test", PAYLOAD_SIZE,
                        &number, &said));
    return number;
}

static inline enum store_answer
put(struct store *store, uint32_t campaign, uint8_t mechanism, uint64_t number)
{
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_DUPLICATE;
    fake_report(mechanism, number, false, report);
    MUST(store_put(store, campaign, report, &answer, &said));
    return answer;
}

#define PUT_AT_ONCE 4096u

/* Puts reports `first` to `last` - 1 of mechanism 1, in one commit; returns
   how many were new. */
static inline size_t
put_many(struct store *store, uint32_t campaign, uint64_t first, uint64_t last)
{
    static uint8_t report[PUT_AT_ONCE][REPORT_SIZE];
    static const uint8_t *at[PUT_AT_ONCE];
    static enum store_answer answer[PUT_AT_ONCE];
    size_t accepted = 0;
    MUST(store_begin(store, &said));
    while (first < last) {
        size_t count = 0;
        for (; count < PUT_AT_ONCE && first < last; count++, first++) {
            fake_report(1, first, false, report[count]);
            at[count] = report[count];
        }
        MUST(store_put_many(store, campaign, at, count, answer, &said));
        for (size_t i = 0; i < count; i++) {
            accepted += answer[i] == STORE_ACCEPTED;
        }
    }
    MUST(store_commit(store, &said));
    return accepted;
}

/* Ends the window and moves it on, `rows` at a time. */
static inline void
move_window(struct store *store, size_t rows, size_t batch_min)
{
    bool done = false;
    MUST(store_begin(store, &said));
    MUST(store_end_window(store, &said));
    MUST(store_commit(store, &said));
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, rows, batch_min, &done, &said));
        MUST(store_commit(store, &said));
    }
}

static inline void
scrub(struct store *store)
{
    bool clean = false;
    MUST(store_scrub(store, &clean, &said));
    assert_true(clean);
}

static inline struct store_counts
counts_of(struct store *store, uint32_t campaign)
{
    struct store_counts counts = {0};
    MUST(store_count(store, campaign, &counts, &said));
    return counts;
}

/*
 * Reads all batches of mechanism 1: how often each number below `numbers` was
 * released goes to `times` (NULL: nowhere), their order to `order` (likewise).
 * Returns how many reports there were; fails at one that nobody put, at a
 * number or a count that is wrong.
 */
static inline size_t
read_all(const char *url, uint8_t mechanism, size_t batch_min, uint64_t numbers,
         unsigned *times, uint64_t *order)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    size_t count = 0;
    uint64_t after = 0;
    MUST(store_reader_open(url, &reader, NULL, &said));
    for (;;) {
        MUST(store_reader_next(reader, hash_of(mechanism), after, &batch,
                               &said));
        if (batch.number == 0) {
            break;
        }
        assert_int_equal(batch.number, ++after);
        assert_true(batch.count >= batch_min);
        assert_int_equal(batch.size, batch.count * REPORT_SIZE);
        for (size_t i = 0; i < batch.count; i++) {
            const uint8_t *report = batch.reports + i * REPORT_SIZE;
            uint64_t number = payload_number(report + REPORT_HEADER_SIZE);
            assert_memory_equal(report, REPORT_MAGIC, REPORT_MAGIC_SIZE);
            assert_memory_equal(report + REPORT_MAGIC_SIZE, hash_of(mechanism),
                                SOTTO_HASH_SIZE);
            assert_true(number < numbers);
            if (times != NULL) {
                times[number]++;
            }
            if (order != NULL) {
                order[count] = number;
            }
            count++;
        }
        free(batch.reports);
    }
    store_reader_free(reader);
    return count;
}

/* What a look at all of a store finds; a store that cannot be opened has one
   damaged place. */
static inline struct store_damage
look_at_all(const char *at)
{
    struct store_checker *checker = NULL;
    struct store_damage damage = {0};
    bool done = false;
    enum sotto_status status =
        store_checker_open(at, NULL, NULL, &checker, &said);
    if (status == SOTTO_STATUS_OK) {
        status = store_checker_step(checker, ALL, &damage, &done, &said);
        assert_true(status != SOTTO_STATUS_OK || done);
    }
    store_checker_free(checker);
    if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_FORMAT) {
        fail_msg("%s", said.message);
    }
    damage.places += status != SOTTO_STATUS_OK;
    return damage;
}

/* What a writer and a reader do, until something fails. */
static inline enum sotto_status
live(const char *at, uint64_t first, struct sotto_error *err)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    enum store_answer answer = STORE_ACCEPTED;
    uint8_t report[REPORT_SIZE];
    uint32_t c = 0;
    bool done = false;
    enum sotto_status status =
        store_open_with_keys(at, window_keys, false, &store, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            store_campaign(store, hash_of(1), "test", PAYLOAD_SIZE, &c, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_begin(store, err);
    }
    for (uint64_t i = first; i < first + 40 && status == SOTTO_STATUS_OK; i++) {
        fake_report(1, i, false, report);
        status = store_put(store, c, report, &answer, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_end_window(store, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_advance(store, ALL, 30, &done, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_commit(store, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_scrub(store, &done, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_reader_open(at, &reader, NULL, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_reader_next(reader, hash_of(1), 0, &batch, err);
    }
    free(batch.reports);
    store_reader_free(reader);
    store_free(store);
    return status;
}

#endif
