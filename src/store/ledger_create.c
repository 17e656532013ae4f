/*
 * ledger_create.c: making a ledger: its caps, its secret, its file.
 *
 *     caps --> nothing there? --> PATH.secret --> PATH.mark --> PATH --> OK
 *                                       each flushed before the next
 *
 * What is left by a crash in between is a secret that no ledger uses; it is
 * not told from one whose ledger was lost, and so never taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/decimal.h"
#include "host/amount.h"
#include "host/error.h"
#include "store/ledger.h"

#define CAP_EPS_MAX (1000000 * DECIMAL_UNIT)
#define CAP_DELTA_MAX DECIMAL_UNIT
#define SUFFIX_SIZE 16u

static enum sotto_status
read_cap(const char *what, const char *text, uint64_t low, uint64_t high,
         uint64_t *ret_units, struct sotto_error *err)
{
    char least[DECIMAL_TEXT_SIZE], most[DECIMAL_TEXT_SIZE];
    enum sotto_status status = decimal_read(text, strlen(text), ret_units, err);
    if (status == SOTTO_STATUS_OK && *ret_units >= low && *ret_units <= high) {
        return SOTTO_STATUS_OK;
    }
    (void)amount_write(low, least);
    (void)amount_write(high, most);
    return host_fail(
        err, status != SOTTO_STATUS_OK ? status : SOTTO_STATUS_BUDGET, 0,
        "the cap of the %s, '%.40s', must be a plain decimal "
        "number from %s to %s with at most 12 digits behind the "
        "point",
        what, text, least, most);
}

static enum sotto_status
read_caps(const struct sotto_ledger_caps *from, struct ledger_budgets *ret_caps,
          struct sotto_error *err)
{
    const char *eps = from->lifetime_eps != NULL ? from->lifetime_eps : "";
    const char *delta =
        from->lifetime_delta != NULL ? from->lifetime_delta : "0";
    enum sotto_status status =
        read_cap("lifetime's epsilon", eps, DECIMAL_EPS_MIN, CAP_EPS_MAX,
                 &ret_caps->lifetime.eps, err);
    status =
        HOST_THEN(status, read_cap("lifetime's delta", delta, 0, CAP_DELTA_MAX,
                                   &ret_caps->lifetime.delta, err));
    if (status == SOTTO_STATUS_OK && from->campaign_eps != NULL) {
        status =
            read_cap("campaign's epsilon", from->campaign_eps, DECIMAL_EPS_MIN,
                     ret_caps->lifetime.eps, &ret_caps->campaign.eps, err);
        ret_caps->campaign.delta = ret_caps->lifetime.delta;
    }
    if (status == SOTTO_STATUS_OK && from->campaign_delta != NULL) {
        status =
            read_cap("campaign's delta", from->campaign_delta, 0,
                     ret_caps->lifetime.delta, &ret_caps->campaign.delta, err);
    }
    return status;
}

/* Nothing of another ledger may be there: a journal left by it would be played
   back into the new one. */
static enum sotto_status
check_absent(const char *path, struct sotto_error *err)
{
    static const char *const suffixes[] = {"", ".secret", ".mark", "-journal",
                                           "-wal"};
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t size = strlen(path) + SUFFIX_SIZE;
    char *name = malloc(size);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < 5 && status == SOTTO_STATUS_OK; i++) {
        struct stat info;
        (void)snprintf(name, size, "%s%s", path, suffixes[i]);
        if (lstat(name, &info) == 0) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "'%s' is there already: a ledger is never "
                               "replaced, for it knows who was asked; choose "
                               "another name",
                               host_shown(name));
        }
    }
    free(name);
    return status;
}

enum sotto_status
sotto_ledger_create(const char *path, const struct sotto_ledger_caps *caps,
                    struct sotto_error *err)
{
    struct ledger_budgets units = {{0, 0}, {LEDGER_BY_FIRST, LEDGER_BY_FIRST}};
    uint8_t secret[LEDGER_SECRET_SIZE];
    uint8_t check[LEDGER_CHECK_SIZE];
    enum sotto_status status = read_caps(caps, &units, err);
    status = HOST_THEN(status, check_absent(path, err));
    status = HOST_THEN(status, ledger_secret_create(path, secret, err));
    if (status == SOTTO_STATUS_OK) {
        ledger_secret_check(secret, check);
        status = ledger_mark_create(path, secret, 0, err);
        sodium_memzero(secret, sizeof secret);
        status =
            HOST_THEN(status, ledger_file_create(path, &units, check, err));
        if (status != SOTTO_STATUS_OK) {
            ledger_mark_remove(path); /* ours: there was none before */
            ledger_secret_remove(path);
        }
    }
    return status;
}
