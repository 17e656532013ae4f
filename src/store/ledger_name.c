/*
 * ledger_name.c: names of people that are equal in Unicode and not in bytes.
 *
 * A letter with an accent is one character or two, and both look the same:
 * canonical equivalence, which the two normal forms NFC and NFD decide
 * (Unicode Standard Annex 15; libutf8proc). Nothing else is taken for equal:
 * neither case nor blanks nor letters that look alike, for identifiers may
 * differ by these alone. Bytes that are no UTF-8 have one form, themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "host/error.h"
#include "host/utf8.h"
#include "host/wipe.h"
#include "store/ledger.h"

static enum sotto_status
map_name(const void *name, size_t size, utf8proc_option_t option,
         struct ledger_form *ret_form, struct sotto_error *err)
{
    utf8proc_uint8_t *text = NULL;
    utf8proc_ssize_t made =
        utf8proc_map(name, (utf8proc_ssize_t)size, &text,
                     (utf8proc_option_t)(UTF8PROC_STABLE | option));
    if (made >= 0 && text != NULL) {
        *ret_form = (struct ledger_form){text, (size_t)made};
        return SOTTO_STATUS_OK;
    }
    text = made == UTF8PROC_ERROR_NOMEM ? NULL : malloc(size + 1);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    memcpy(text, name, size);
    *ret_form = (struct ledger_form){text, size};
    return SOTTO_STATUS_OK;
}

enum sotto_status
ledger_name_forms(const void *name, size_t size,
                  struct ledger_form ret_forms[LEDGER_FORMS],
                  struct sotto_error *err)
{
    struct ledger_form forms[LEDGER_FORMS] = {{NULL, 0}, {NULL, 0}};
    enum sotto_status status =
        map_name(name, size, UTF8PROC_COMPOSE, &forms[0], err);
    status = HOST_THEN(
        status, map_name(name, size, UTF8PROC_DECOMPOSE, &forms[1], err));
    if (status == SOTTO_STATUS_OK) {
        memcpy(ret_forms, forms, sizeof forms);
    } else {
        ledger_name_clear(forms);
    }
    return status;
}

void
ledger_name_clear(struct ledger_form forms[LEDGER_FORMS])
{
    for (size_t i = 0; i < LEDGER_FORMS; i++) {
        host_wipe_free(forms[i].text, forms[i].size);
        forms[i] = (struct ledger_form){NULL, 0};
    }
}

void
ledger_name_spell(const void *name, size_t size, char text[LEDGER_SPELT_SIZE])
{
    const uint8_t *bytes = name;
    size_t used = 0, length = 0;
    for (size_t i = 0; i < size; i += length) {
        uint32_t character = 0xfffd;
        char spelt[16];
        length = host_utf8_decode(bytes + i, size - i, &character);
        length = length > 0 ? length : 1;
        bool plain = character >= 0x20 && character < 0x7f;
        int n = snprintf(spelt, sizeof spelt,
                         plain                 ? "%c"
                         : character < 0x10000 ? "\\u%04x"
                                               : "\\U%08x",
                         character);
        if (n < 0 || used + (size_t)n + sizeof "..." > LEDGER_SPELT_SIZE) {
            memcpy(text + used, "...", sizeof "...");
            return;
        }
        memcpy(text + used, spelt, (size_t)n);
        used += (size_t)n;
    }
    text[used] = '\0';
}

/* ---- In a ledger -------------------------------------------------------- */

/* The message; `other` may be NULL: the ledger knows it by its hash alone. */
static enum sotto_status
fail_spelling(const struct sql *sql, const struct sotto_charge *charge,
              const struct ledger_form *other, struct sotto_error *err)
{
    char asked[LEDGER_SPELT_SIZE], known[LEDGER_SPELT_SIZE];
    ledger_name_spell(charge->person, charge->person_size, asked);
    if (other != NULL) {
        ledger_name_spell(other->text, other->size, known);
    }
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     "refused: '%s' is the name of somebody in the ledger in "
                     "another spelling%s%s%s: use that one (ledger '%s')",
                     asked, other != NULL ? ", '" : "",
                     other != NULL ? known : "", other != NULL ? "'" : "",
                     host_shown(sql->path));
}

/* Whether anything was charged under a spelling. */
static enum sotto_status
find_spelling(const struct sql *sql, const uint8_t *secret,
              const struct ledger_form *form, bool *ret_found,
              struct sotto_error *err)
{
    uint8_t key[LEDGER_PERSON_SIZE];
    int64_t found = 0;
    ledger_secret_person(secret, form->text, form->size, key);
    enum sotto_status status =
        sql_read(sql, "SELECT EXISTS (SELECT 1 FROM charge WHERE person = ?1)",
                 SQL_VALUES(SQL_BLOB(key, sizeof key)),
                 SQL_TARGETS(SQL_INTO(&found)), err);
    *ret_found = found != 0;
    return status;
}

/* Whether nobody is in the ledger under another spelling of the name: under
   either form, or under one that is known by the key of all spellings. */
static enum sotto_status
compare_spellings(const struct sql *sql, const uint8_t *secret,
                  const uint8_t person[LEDGER_PERSON_SIZE],
                  const struct sotto_charge *charge,
                  const struct ledger_form forms[LEDGER_FORMS],
                  struct sotto_error *err)
{
    uint8_t name[LEDGER_PERSON_SIZE];
    int64_t others = 0;
    for (size_t i = 0; i < LEDGER_FORMS; i++) {
        bool found = false;
        if (forms[i].size == charge->person_size &&
            memcmp(forms[i].text, charge->person, forms[i].size) == 0) {
            continue;
        }
        enum sotto_status status =
            find_spelling(sql, secret, &forms[i], &found, err);
        if (status != SOTTO_STATUS_OK || found) {
            return found ? fail_spelling(sql, charge, &forms[i], err) : status;
        }
    }
    ledger_secret_name(secret, forms[0].text, forms[0].size, name);
    enum sotto_status status = sql_read(
        sql, "SELECT count(*) FROM spelling WHERE name = ?1 AND person <> ?2",
        SQL_VALUES(SQL_BLOB(name, sizeof name),
                   SQL_BLOB(person, LEDGER_PERSON_SIZE)),
        SQL_TARGETS(SQL_INTO(&others)), err);
    return status == SOTTO_STATUS_OK && others > 0
               ? fail_spelling(sql, charge, NULL, err)
               : status;
}

enum sotto_status
ledger_name_check(const struct sql *sql,
                  const uint8_t secret[LEDGER_SECRET_SIZE],
                  const uint8_t person[LEDGER_PERSON_SIZE],
                  const struct sotto_charge *charge, struct sotto_error *err)
{
    struct ledger_form forms[LEDGER_FORMS];
    enum sotto_status status =
        ledger_name_forms(charge->person, charge->person_size, forms, err);
    if (status == SOTTO_STATUS_OK) {
        status = compare_spellings(sql, secret, person, charge, forms, err);
        ledger_name_clear(forms);
    }
    return status;
}

enum sotto_status
ledger_name_keep(const struct sql *sql,
                 const uint8_t secret[LEDGER_SECRET_SIZE],
                 const uint8_t person[LEDGER_PERSON_SIZE],
                 const struct sotto_charge *charge, struct sotto_error *err)
{
    struct ledger_form forms[LEDGER_FORMS];
    uint8_t name[LEDGER_PERSON_SIZE];
    enum sotto_status status =
        ledger_name_forms(charge->person, charge->person_size, forms, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    ledger_secret_name(secret, forms[0].text, forms[0].size, name);
    ledger_name_clear(forms);
    return sql_execute(sql, "INSERT OR IGNORE INTO spelling VALUES (?1, ?2)",
                       SQL_VALUES(SQL_BLOB(name, sizeof name),
                                  SQL_BLOB(person, LEDGER_PERSON_SIZE)),
                       err);
}
