/*
 * ledger.h: what the ledger's files share: budgets, the secret, the file.
 *
 *     ledger_secret.c   PATH.secret: names of people become hashes
 *     ledger_name.c     names that are equal in Unicode
 *     ledger_mark.c     PATH.mark: how many charges there were at least
 *     ledger_file.c     PATH: the schema; making it, and opening it checked
 *     ledger_create.c   making both, with the caps
 *     ledger_sqlite.c   the ledger itself
 *     ledger_view.c     what a person may see of it
 */
#ifndef SOTTO_STORE_LEDGER_H
#define SOTTO_STORE_LEDGER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sotto/sotto.h"
#include "store/sql.h"

/* In units of 10^-12 (base/decimal.h). */
struct ledger_budget {
    uint64_t eps, delta;
};
/* In place of a campaign's cap: what the campaign's first mechanism costs. */
#define LEDGER_BY_FIRST UINT64_MAX
/* Caps, or what is spent. */
struct ledger_budgets {
    struct ledger_budget lifetime, campaign;
};

/* ---- The secret --------------------------------------------------------- */

#define LEDGER_SECRET_SIZE 32u
#define LEDGER_PERSON_SIZE 32u
#define LEDGER_CHECK_SIZE 32u

/* Draws a secret and writes it to PATH.secret, for the owner alone, flushed;
   never over a file. Statuses: ENTROPY, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_secret_create(const char *path, uint8_t ret_secret[LEDGER_SECRET_SIZE],
                     struct sotto_error *err);
/* Takes back what ledger_secret_create wrote. */
void ledger_secret_remove(const char *path);
/* Reads it; the caller wipes it. Statuses: FORMAT (not there, or no secret),
   IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_secret_read(const char *path, uint8_t ret_secret[LEDGER_SECRET_SIZE],
                   struct sotto_error *err);

/* A person's key in the ledger. */
void ledger_secret_person(const uint8_t secret[LEDGER_SECRET_SIZE],
                          const void *name, size_t size,
                          uint8_t ret_person[LEDGER_PERSON_SIZE]);
/* What tells a secret from others and gives nothing of it away. */
void ledger_secret_check(const uint8_t secret[LEDGER_SECRET_SIZE],
                         uint8_t ret_check[LEDGER_CHECK_SIZE]);

/* What vouches for a mark. */
void ledger_secret_mark(const uint8_t secret[LEDGER_SECRET_SIZE], uint64_t mark,
                        uint8_t ret_check[LEDGER_CHECK_SIZE]);

/* The key of all spellings of a name, from its form NFC. */
void ledger_secret_name(const uint8_t secret[LEDGER_SECRET_SIZE],
                        const void *name, size_t size,
                        uint8_t ret_name[LEDGER_PERSON_SIZE]);

/* ---- Names -------------------------------------------------------------- */

#define LEDGER_FORMS 2u       /* NFC, NFD */
#define LEDGER_SPELT_SIZE 64u /* of a name as text */

struct ledger_form {
    uint8_t *text;
    size_t size;
};
/* A name in both normal forms; one that is no UTF-8, as it is.
   ledger_name_clear wipes and frees. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_name_forms(const void *name, size_t size,
                  struct ledger_form ret_forms[LEDGER_FORMS],
                  struct sotto_error *err);
void ledger_name_clear(struct ledger_form forms[LEDGER_FORMS]);
/* Spells a name for a person to see how: every character that is not printable
   ASCII as \u and its number. */
void ledger_name_spell(const void *name, size_t size,
                       char text[LEDGER_SPELT_SIZE]);

/*
 * Whether nobody is in the ledger under another spelling of the charge's name.
 * Statuses: REFUSED (somebody is), IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
ledger_name_check(const struct sql *sql,
                  const uint8_t secret[LEDGER_SECRET_SIZE],
                  const uint8_t person[LEDGER_PERSON_SIZE],
                  const struct sotto_charge *charge, struct sotto_error *err);
/* Notes down whose the name is, in the charge's transaction. Statuses: IO,
   FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_name_keep(const struct sql *sql,
                 const uint8_t secret[LEDGER_SECRET_SIZE],
                 const uint8_t person[LEDGER_PERSON_SIZE],
                 const struct sotto_charge *charge, struct sotto_error *err);

/* ---- The mark ----------------------------------------------------------- */

/* In place of a mark that is not there, or no mark of this ledger's. */
#define LEDGER_MARK_LOST UINT64_MAX

/* Writes PATH.mark, for the owner alone, flushed, if nothing is there.
   Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_mark_create(const char *path, const uint8_t secret[LEDGER_SECRET_SIZE],
                   uint64_t mark, struct sotto_error *err);
/* Takes it back. */
void ledger_mark_remove(const char *path);
/*
 * Raises the mark to `sequence`, flushed, unless it is there or above already;
 * returns the one that was found, or LEDGER_MARK_LOST, and that is left as it
 * is. Several programs may do so at once. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
ledger_mark_raise(const char *path, const uint8_t secret[LEDGER_SECRET_SIZE],
                  uint64_t sequence, uint64_t *ret_mark,
                  struct sotto_error *err);

/* ---- An open ledger ------------------------------------------------------ */

struct sotto_ledger {
    struct sql sql;
    char *path;
    pid_t owner;     /* the process that opened it */
    bool locked;     /* between begin and commit or cancel */
    bool again;      /* people agree to a campaign's further mechanisms */
    uint64_t mark;   /* that PATH.mark has at least */
    uint64_t behind; /* the mark that the ledger is behind; 0: none */
    struct ledger_budgets caps;
    uint8_t secret[LEDGER_SECRET_SIZE];
};

/* Whether this process may use it, in that state. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status ledger_usable(const struct sotto_ledger *ledger,
                                              bool locked,
                                              struct sotto_error *err);
/* What a person has spent, in all and in a campaign. Statuses: IO, FORMAT,
   MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_spent(const struct sotto_ledger *ledger,
             const uint8_t person[LEDGER_PERSON_SIZE], const char *campaign,
             size_t campaign_size, struct ledger_budgets *ret_spent,
             struct sotto_error *err);
/* What the first charge of a campaign cost, whoever's it was; `otherwise` if
   there is none. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_first(const struct sotto_ledger *ledger, const char *campaign,
             size_t campaign_size, const struct ledger_budget *otherwise,
             struct ledger_budget *ret_first, struct sotto_error *err);
/* What a cap leaves. */
uint64_t ledger_left(uint64_t cap, uint64_t spent);

/* ---- What a queue asks of an open ledger --------------------------------- */

/* How many charges it has. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_sequence(const struct sotto_ledger *ledger, uint64_t *ret_sequence,
                struct sotto_error *err);
/* The same, of charges that no loss of power undoes any more: what a mark may
   be raised to. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status ledger_settle(const struct sotto_ledger *ledger,
                                              uint64_t *ret_sequence,
                                              struct sotto_error *err);
/* Tells it of a mark that is kept elsewhere: if it is behind that, it makes no
   new charge. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status ledger_compare(struct sotto_ledger *ledger,
                                               uint64_t mark,
                                               struct sotto_error *err);

/* The check of an open ledger's secret: what tells it from all others. */
void ledger_check(const struct sotto_ledger *ledger,
                  uint8_t ret_check[LEDGER_CHECK_SIZE]);

/* ---- The file ----------------------------------------------------------- */

/* Writes an empty ledger to `path`, for the owner alone, in one step; never
   over a file. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
ledger_file_create(const char *path, const struct ledger_budgets *caps,
                   const uint8_t check[LEDGER_CHECK_SIZE],
                   struct sotto_error *err);

/*
 * Opens the ledger at `path`, of this version or the one before, checked from
 * end to end, and set to flush all it keeps. `ret_sql` points to `path`.
 * sqlite3_close frees `ret_sql->db`. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
ledger_file_open(const char *path, struct sql *ret_sql,
                 struct ledger_budgets *ret_caps,
                 uint8_t ret_check[LEDGER_CHECK_SIZE], struct sotto_error *err);

/* Makes an open ledger of version 1 (sotto 0.1.0) one of this version, as
   sql_file_upgrade does. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status ledger_file_upgrade(const struct sql *sql,
                                                    struct sotto_error *err);

#endif
