/*
 * inquiry.h: the records of a file, asked one after the other.
 */
#ifndef SOTTO_VERB_INQUIRY_H
#define SOTTO_VERB_INQUIRY_H

#include "cli/cli.h"
#include "verb/people.h"
#include "verb/records.h"

struct inquiry {
    const char *data; /* the file of records */
    struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct sotto_table_stream *stream; /* what follows the table; NULL: none */
    size_t before;                     /* rows of the file before the table's */
    struct sotto_table *table;
    struct sotto_records *records;
    struct people people;
};

#define INQUIRY_WORK_OPTION                                                    \
    {                                                                          \
        0, false, false, "work", "N",                                          \
            "take a mechanism of up to N multiply-adds a record\n"             \
            "(268435456, which is 2^28; inspect says its number)"              \
    }

/* Whether a record takes no more work than --work allows; the exit status, the
   message printed. */
int inquiry_check_work(const struct cli_args *args,
                       const struct sotto_mechanism *mechanism);

/*
 * Reads the file `data`, with --labels and --header: with --ledger as a device
 * does, total on content (invariant 4), else as a curator. Matches its columns
 * with the mechanism's, which stays the caller's, and opens --ledger if it is
 * given and not open already: then it is `ledger`, and stays the caller's.
 * Returns the exit status, the message printed; inquiry_clear frees, also on
 * failure.
 */
int inquiry_open(const struct cli_args *args, struct sotto_mechanism *mechanism,
                 const char *data, struct sotto_ledger *ledger,
                 struct inquiry *ret_inquiry);
void inquiry_clear(struct inquiry *inquiry);

/* The same for a curator's file of any size, without --labels or a ledger: the
   table is that of its first rows. */
int inquiry_open_stream(const struct cli_args *args,
                        struct sotto_mechanism *mechanism, const char *data,
                        struct inquiry *ret_inquiry);
/* Goes on to the next rows of the file, if there are any: `ret_more`. Returns
   the exit status, the message printed. */
int inquiry_next(struct inquiry *inquiry, bool *ret_more);
/* Wipes and frees the records; who was asked, and how it went, stays. */
void inquiry_forget(struct inquiry *inquiry);

/*
 * The report of a row through the ledger, which must be open. What the ledger
 * refuses is counted, told of the first time, and OK with `ret_given` clear; so
 * is a row that names nobody. Messages name the row.
 */
enum sotto_status inquiry_report(struct inquiry *inquiry, size_t row,
                                 uint8_t *report, bool *ret_given,
                                 struct sotto_error *err);

/* Says before a message which row it is about. */
void inquiry_name_row(const struct inquiry *inquiry, size_t row,
                      struct sotto_error *err);

#endif
