/*
 * people.h: rows of a table as people whose reports go through a ledger.
 */
#ifndef SOTTO_VERB_PEOPLE_H
#define SOTTO_VERB_PEOPLE_H

#include "cli/cli.h"
#include "verb/late.h"

struct people {
    struct sotto_ledger *ledger; /* NULL: none is used */
    bool borrowed;               /* the ledger is the caller's */
    struct sotto_ledger_port inner;
    const struct sotto_table *table;
    size_t column; /* that tells people apart */
    int found;     /* whether the last report was there already */
    size_t made, replayed, refused;
    size_t unnamed;   /* rows that name nobody */
    struct late late; /* its `schedule` may be set, for who waits for it */
    const struct people_task *task; /* the report at hand */
};

/* Whether --ledger, --person and --seed go together; the exit status, the
   message printed. */
int people_check(const struct cli_args *args);

/* Whether what an option names ("output") is none of the names beside the
   ledger that are SQLite's own; the exit status, the message printed. */
int people_check_output(const struct cli_args *args, const char *option);

/*
 * Opens --ledger, if it is given and `ledger` is NULL, which else is one that
 * is open and stays the caller's, and finds the column --person of the table.
 * Rows that name nobody are
 * counted and told. `path` is the table's, for messages. Returns the exit
 * status, the message printed; people_close frees.
 */
int people_open(const struct cli_args *args, const struct sotto_table *table,
                const char *path, struct sotto_ledger *ledger,
                struct people *ret_people);
void people_close(struct people *people);

/* Whether a row names somebody. */
bool people_named(const struct people *people, size_t row);
/* The exit status once all were asked: REFUSED if the ledger refused somebody,
   BAD if a row named nobody. */
int people_exit(const struct people *people);

/* The report of the person in a row, as sotto_client_report makes it, and
   counted. A refusal is REFUSED: the next row may be asked all the same. With a
   schedule also STOPPED: nobody was charged. */
enum sotto_status people_report(struct people *people,
                                struct sotto_client *client, size_t row,
                                const struct sotto_value *values, size_t count,
                                uint8_t *report, size_t size,
                                struct sotto_error *err);

#endif
