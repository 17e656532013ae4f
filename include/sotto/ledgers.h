/*
 * sotto/ledgers.h: the device's memory of who was asked what, what it cost and
 * what was sent.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_LEDGERS_H
#define SOTTO_LEDGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/accounting.h"
#include "sotto/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Who was asked what, what it cost, and what was sent: the device's memory
 * behind sotto_client_report (invariant 5; docs/ledger.md). One SQLite file,
 * PATH, and beside it PATH.secret, 32 random bytes, and PATH.mark, how many
 * charges there were at least; all for the owner alone. A person is in PATH
 * only as a hash under that secret. A PATH with fewer charges than its mark was
 * put back from a backup: it gives the reports it has, and REFUSED in place of
 * a new charge; so does one whose mark is lost.
 *
 *     struct sotto_ledger *ledger;
 *     if (sotto_ledger_open(path, &ledger, &err) == SOTTO_STATUS_OK) {
 *         struct sotto_ledger_port port = sotto_ledger_port(ledger);
 *         status = sotto_client_report(client, &port, name, name_size, values,
 *                                      count, report, size, &err);
 *     }
 *
 * Several programs may use one ledger at once: each waits for the others, up
 * to ten seconds. A forked child may not use its parent's: every call then
 * answers USAGE, and it opens its own. Messages name the file.
 */
struct sotto_ledger;

/* What a person may spend, as decimal text with at most 12 digits behind the
   point. A NULL says what stands behind it. */
struct sotto_ledger_caps {
    const char *lifetime_eps;   /* 0.000001 to 1000000; must be there */
    const char *lifetime_delta; /* 0 to 1; "0": pure mechanisms alone */
    const char *campaign_eps;   /* at most the lifetime's; what the campaign's
                                   first mechanism costs */
    const char *campaign_delta; /* likewise; beside a campaign_eps, the
                                   lifetime's */
};

/*
 * Makes an empty ledger, for good with these caps: the secret first, then the
 * mark, then PATH in one step, each flushed to the disk. Nothing that is there
 * is touched: not PATH, nor a secret or a journal left by a ledger that was
 * there before. Statuses: FORMAT, LIMIT and BUDGET (a cap), ENTROPY, IO,
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_ledger_create(const char *path, const struct sotto_ledger_caps *caps,
                    struct sotto_error *err);

/*
 * Opens one, having checked all of it: that it is a ledger of this version, or
 * of sotto 0.1.0, which is upgraded in place in one step, its caps kept; whole,
 * with the constraints it was made with, flushed as strictly as SQLite can, and
 * that PATH.secret is its own. A secret that is lost or another's is FORMAT,
 * never replaced: under a new one everybody could be asked again. Takes time in
 * proportion to what is kept. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_ledger_open(const char *path, struct sotto_ledger **ret_ledger,
                  struct sotto_error *err);
/* Closes, wipes and frees; what was begun and not committed is not charged. */
void sotto_ledger_free(struct sotto_ledger *ledger);

/*
 * Whether people have agreed to be asked by further mechanisms of a campaign
 * that has asked them before (they have not: such a charge is REFUSED). What
 * they then spend there adds up, under the campaign's cap if the ledger was
 * made with one, and under the lifetime's. Holds for this open ledger.
 */
void sotto_ledger_again(struct sotto_ledger *ledger, bool again);

/* What sotto_client_report takes; valid as long as the ledger. */
struct sotto_ledger_port sotto_ledger_port(struct sotto_ledger *ledger);

/* An amount of privacy; the text is exact, the numbers are its nearest. */
struct sotto_ledger_amount {
    double eps, delta;
    char eps_text[SOTTO_UNITS_SIZE];
    char delta_text[SOTTO_UNITS_SIZE];
};

/* The ledger's caps. An empty text of the campaign's, its number then 0: there
   the campaign's first mechanism decides. */
void sotto_ledger_caps(const struct sotto_ledger *ledger,
                       struct sotto_ledger_amount *ret_lifetime,
                       struct sotto_ledger_amount *ret_campaign);

/*
 * What a person has spent, and what is left: in the campaign of that name, or
 * in all (NULL). Where a campaign has more left than the lifetime, the
 * lifetime's is what is left. A person the ledger does not know has spent
 * nothing. Statuses: USAGE (the name has not 1 to SOTTO_PERSON_MAX bytes),
 * FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_ledger_balance(
    struct sotto_ledger *ledger, const void *person, size_t person_size,
    const char *campaign, struct sotto_ledger_amount *ret_spent,
    struct sotto_ledger_amount *ret_left, struct sotto_error *err);

/* One charge. What it points to lives until the callback returns. */
struct sotto_ledger_row {
    const char *campaign;
    char mechanism[2 * SOTTO_HASH_SIZE + 1]; /* hexadecimal */
    char id[2 * SOTTO_ID_SIZE + 1];          /* the report's, hexadecimal */
    int64_t charged_at;                      /* seconds since 1970, UTC */
    struct sotto_ledger_amount cost;
    const uint8_t *report; /* what was sent */
    size_t report_size;
};

/*
 * All that is kept of a person, by campaign and in the order of asking: what
 * was asked, what it cost, what was sent. `row` must not use the ledger but
 * for sotto_ledger_balance. Statuses: as sotto_ledger_balance.
 */
SOTTO_CHECKED enum sotto_status
sotto_ledger_export(struct sotto_ledger *ledger, const void *person,
                    size_t person_size,
                    void (*row)(void *context, const struct sotto_ledger_row *),
                    void *context, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
