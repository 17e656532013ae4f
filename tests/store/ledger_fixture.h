/*
 * ledger_fixture.h: ledgers, charges and reports for the tests beside it.
 */
#ifndef SOTTO_TESTS_LEDGER_FIXTURE_H
#define SOTTO_TESTS_LEDGER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"
#include "client/device.h"
#include "scratch.h"
#include "sotto/sotto.h"

#define REPORT_SIZE (REPORT_HEADER_SIZE + 8u)
#define EPS(milli) ((uint64_t)(milli) * (DECIMAL_UNIT / 1000))

static inline int
setup(void **state)
{
    (void)state;
    return scratch_make();
}

static inline int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

/* A made-up report: `salt` decides its id and its content. */
static inline void
fake_report(const uint8_t *mechanism, unsigned salt, uint8_t *report)
{
    memset(report, 0, REPORT_SIZE);
    memcpy(report, REPORT_MAGIC, REPORT_MAGIC_SIZE);
    memcpy(report + REPORT_MAGIC_SIZE, mechanism, SOTTO_HASH_SIZE);
    memcpy(report + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE, &salt, sizeof salt);
    memcpy(report + REPORT_HEADER_SIZE, &salt, sizeof salt);
}

/* The texts must stay; `mechanism` is filled with one byte. */
static inline struct sotto_charge
fake_charge(const char *person, const char *campaign, uint8_t mechanism,
            uint64_t eps)
{
    static uint8_t hash[256][SOTTO_HASH_SIZE];
    memset(hash[mechanism], mechanism, SOTTO_HASH_SIZE);
    struct sotto_charge charge = {(const uint8_t *)person,
                                  strlen(person),
                                  campaign,
                                  strlen(campaign),
                                  hash[mechanism],
                                  eps,
                                  0};
    return charge;
}

static inline void
create(const char *path, const char *lifetime, const char *campaign)
{
    struct sotto_ledger_caps caps = {lifetime, "0.001", campaign, NULL};
    struct sotto_error err = {0};
    if (sotto_ledger_create(path, &caps, &err) != SOTTO_STATUS_OK) {
        fail_msg("create: %s", err.message);
    }
}

static inline struct sotto_ledger *
open_ledger(const char *path)
{
    struct sotto_ledger *ledger = NULL;
    struct sotto_error err = {0};
    if (sotto_ledger_open(path, &ledger, &err) != SOTTO_STATUS_OK) {
        fail_msg("open: %s", err.message);
    }
    return ledger;
}

/* Opens one whose people agree to every mechanism of a campaign. */
static inline struct sotto_ledger *
open_agreed(const char *path)
{
    struct sotto_ledger *ledger = open_ledger(path);
    sotto_ledger_again(ledger, true);
    return ledger;
}

/* Asks; makes a report of this salt if there is none yet. */
static inline enum sotto_status
ask(struct sotto_ledger *ledger, const struct sotto_charge *charge,
    unsigned salt, uint8_t report[REPORT_SIZE], struct sotto_error *err)
{
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    int found = -1;
    enum sotto_status status =
        port.begin(port.context, charge, report, REPORT_SIZE, &found, err);
    if (status == SOTTO_STATUS_OK && !found) {
        fake_report(charge->mechanism, salt, report);
        status = port.commit(port.context, charge, report, REPORT_SIZE, err);
    }
    return status;
}

static inline void
expect_in(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, text);
    }
}

/* Opening fails with this status and a message that names `piece`. */
static inline void
expect_closed(const char *path, enum sotto_status wanted, const char *piece)
{
    struct sotto_ledger *ledger = NULL;
    struct sotto_error err = {0};
    assert_int_equal(sotto_ledger_open(path, &ledger, &err), wanted);
    assert_null(ledger);
    assert_int_equal(err.status, wanted);
    expect_in(err.message, piece);
    expect_in(err.message, strrchr(path, '/') + 1);
}

/* A whole file, which the caller frees. */
static inline uint8_t *
slurp(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(1 << 20);
    assert_non_null(data);
    *ret_size = fread(data, 1, 1 << 20, file);
    (void)fclose(file);
    return data;
}

static inline void
spill(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
