/*
 * ledger_view.c: what a person may see of a ledger: the caps, what is spent and
 * left, and every charge with its report.
 */
#include <string.h>

#include <sodium.h>

#include "base/decimal.h"
#include "host/amount.h"
#include "host/error.h"
#include "store/ledger.h"

static void
write_budget(const struct ledger_budget *units,
             struct sotto_ledger_amount *ret_budget)
{
    ret_budget->eps = (double)units->eps / (double)DECIMAL_UNIT;
    ret_budget->delta = (double)units->delta / (double)DECIMAL_UNIT;
    (void)amount_write(units->eps, ret_budget->eps_text);
    (void)amount_write(units->delta, ret_budget->delta_text);
}

void
sotto_ledger_caps(const struct sotto_ledger *ledger,
                  struct sotto_ledger_amount *ret_lifetime,
                  struct sotto_ledger_amount *ret_campaign)
{
    struct ledger_budget campaign = ledger->caps.campaign;
    bool eps_set = campaign.eps != LEDGER_BY_FIRST;
    bool delta_set = campaign.delta != LEDGER_BY_FIRST;
    campaign.eps = eps_set ? campaign.eps : 0;
    campaign.delta = delta_set ? campaign.delta : 0;
    write_budget(&ledger->caps.lifetime, ret_lifetime);
    write_budget(&campaign, ret_campaign);
    if (!eps_set) {
        ret_campaign->eps_text[0] = '\0';
    }
    if (!delta_set) {
        ret_campaign->delta_text[0] = '\0';
    }
}

/* A person's key, if this process may ask for it and the name is one. */
static enum sotto_status
find_person(const struct sotto_ledger *ledger, const void *name, size_t size,
            uint8_t ret_person[LEDGER_PERSON_SIZE], struct sotto_error *err)
{
    enum sotto_status status = ledger_usable(ledger, ledger->locked, err);
    if (status == SOTTO_STATUS_OK && (size == 0 || size > SOTTO_PERSON_MAX)) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "a person's name must have 1 to %u bytes",
                           SOTTO_PERSON_MAX);
    }
    if (status == SOTTO_STATUS_OK) {
        ledger_secret_person(ledger->secret, name, size, ret_person);
    }
    return status;
}

static uint64_t
lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What a campaign leaves under its cap, if it has one; else what is left of its
   first mechanism's cost. */
static uint64_t
left_in_campaign(uint64_t cap, uint64_t first, uint64_t spent)
{
    return ledger_left(cap != LEDGER_BY_FIRST ? cap : first, spent);
}

enum sotto_status
sotto_ledger_balance(struct sotto_ledger *ledger, const void *person,
                     size_t person_size, const char *campaign,
                     struct sotto_ledger_amount *ret_spent,
                     struct sotto_ledger_amount *ret_left,
                     struct sotto_error *err)
{
    uint8_t key[LEDGER_PERSON_SIZE];
    struct ledger_budgets spent = {{0, 0}, {0, 0}};
    struct ledger_budget first = {0, 0};
    const char *name = campaign != NULL ? campaign : "";
    const struct ledger_budgets *caps = &ledger->caps;
    enum sotto_status status =
        find_person(ledger, person, person_size, key, err);
    status = HOST_THEN(
        status, ledger_spent(ledger, key, name, strlen(name), &spent, err));
    status = HOST_THEN(status, ledger_first(ledger, name, strlen(name),
                                            &caps->lifetime, &first, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct ledger_budget left = {
        ledger_left(caps->lifetime.eps, spent.lifetime.eps),
        ledger_left(caps->lifetime.delta, spent.lifetime.delta)};
    if (campaign != NULL) {
        left.eps =
            lesser(left.eps, left_in_campaign(caps->campaign.eps, first.eps,
                                              spent.campaign.eps));
        left.delta = lesser(left.delta,
                            left_in_campaign(caps->campaign.delta, first.delta,
                                             spent.campaign.delta));
    }
    write_budget(campaign != NULL ? &spent.campaign : &spent.lifetime,
                 ret_spent);
    write_budget(&left, ret_left);
    return SOTTO_STATUS_OK;
}

/* Who is told of each row. */
struct listener {
    void (*row)(void *context, const struct sotto_ledger_row *);
    void *context;
};

/* Tells of a row as sotto_ledger_export selects it. */
static enum sotto_status
export_row(void *context, sqlite3_stmt *select, struct sotto_error *err)
{
    const struct listener *listener = context;
    const void *mechanism = sqlite3_column_blob(select, 1);
    const void *id = sqlite3_column_blob(select, 2);
    struct ledger_budget cost = {(uint64_t)sqlite3_column_int64(select, 4),
                                 (uint64_t)sqlite3_column_int64(select, 5)};
    struct sotto_ledger_row row = {
        .campaign = (const char *)sqlite3_column_text(select, 0),
        .charged_at = sqlite3_column_int64(select, 3),
        .report = sqlite3_column_blob(select, 6),
        .report_size = (size_t)sqlite3_column_bytes(select, 6)};
    if (mechanism == NULL || id == NULL || row.campaign == NULL ||
        row.report == NULL) {
        return host_fail_memory(err);
    }
    (void)sodium_bin2hex(row.mechanism, sizeof row.mechanism, mechanism,
                         SOTTO_HASH_SIZE);
    (void)sodium_bin2hex(row.id, sizeof row.id, id, SOTTO_ID_SIZE);
    write_budget(&cost, &row.cost);
    listener->row(listener->context, &row);
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_ledger_export(struct sotto_ledger *ledger, const void *person,
                    size_t person_size,
                    void (*row)(void *context, const struct sotto_ledger_row *),
                    void *context, struct sotto_error *err)
{
    uint8_t key[LEDGER_PERSON_SIZE];
    struct listener listener = {row, context};
    enum sotto_status status =
        find_person(ledger, person, person_size, key, err);
    return HOST_THEN(
        status,
        sql_each(
            &ledger->sql,
            "SELECT campaign, mechanism, id, charged_at, eps, delta, report "
            "FROM charge WHERE person = ?1 ORDER BY campaign, sequence",
            SQL_VALUES(SQL_BLOB(key, sizeof key)), export_row, &listener, err));
}
