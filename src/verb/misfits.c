/*
 * misfits.c: what in a curator's file does not fit a mechanism, column by
 * column.
 */
#include "verb/misfits.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"

#define NAME_WIDTH 24
#define SHOWN_MOST 4u /* categories of a column that a note names */

int
misfits_count(const struct sotto_mechanism *mechanism,
              struct sotto_records *records, size_t rows,
              struct misfits *misfits)
{
    if (misfits->column == NULL) {
        misfits->mechanism = mechanism;
        misfits->columns = sotto_records_columns(records);
        misfits->column = calloc(misfits->columns + 1, sizeof *misfits->column);
    }
    if (misfits->column == NULL) {
        return cli_no_memory();
    }
    for (size_t row = 0; row < rows; row++) {
        sotto_mechanism_misfit(mechanism, sotto_records_at(records, row),
                               misfits->column);
    }
    return CLI_EXIT_DONE;
}

void
misfits_clear(struct misfits *misfits)
{
    free(misfits->column);
    misfits->column = NULL;
}

/* How many values of a column do not fit, whatever is wrong with them. */
static size_t
count_all(const struct sotto_misfit *misfit)
{
    return misfit->missing + misfit->unread + misfit->unknown + misfit->beyond;
}

/* ---- A line each --------------------------------------------------------- */

/* Prints one count of a line, unless it is 0. */
static void
put_count(FILE *to, const struct sotto_misfit *misfit, size_t count,
          const char *what, const char **before)
{
    if (count > 0) {
        (void)fprintf(to, "%s%zu of %zu %s", *before, count, misfit->records,
                      what);
        *before = ", ";
    }
}

static void
put_column(FILE *to, const struct sotto_column_info *info,
           const struct sotto_misfit *misfit)
{
    const char *before = "";
    char range[96] = "";
    (void)snprintf(range, sizeof range, "%s (%.6g to %.6g)",
                   misfit->cut ? "beyond its range" : "far from the usual",
                   info->low, info->high);
    size_t width = cli_width(info->name);
    (void)fprintf(to, "  ");
    cli_put_padded(to, info->name, width > NAME_WIDTH ? width : NAME_WIDTH);
    (void)fprintf(to, " ");
    put_count(to, misfit, misfit->beyond, range, &before);
    put_count(to, misfit, misfit->unknown, "of unknown category", &before);
    put_count(to, misfit, misfit->unread,
              info->samples > 0 ? "not an image of its size" : "not a number",
              &before);
    put_count(to, misfit, misfit->missing, "missing", &before);
    (void)fputc('\n', to);
}

void
misfits_print(FILE *to, const struct misfits *misfits)
{
    struct sotto_column_info info;
    bool begun = false;
    for (size_t i = 0; i < misfits->columns; i++) {
        if (count_all(&misfits->column[i]) == 0) {
            continue;
        }
        if (!begun) {
            (void)fprintf(to, "What did not fit the mechanism:\n");
            begun = true;
        }
        sotto_mechanism_column(misfits->mechanism, i, &info);
        put_column(to, &info, &misfits->column[i]);
    }
    if (!begun) {
        (void)fprintf(to, "All values fit the mechanism.\n");
    }
}

/* ---- JSON ---------------------------------------------------------------- */

/* Adds the counts at an offset in each of the chosen columns. */
static void
put_sizes(FILE *to, const struct misfits *misfits, const char *key,
          size_t offset, size_t *room)
{
    size_t count = 0;
    for (size_t i = 0; i < misfits->columns; i++) {
        const struct sotto_misfit *misfit = &misfits->column[i];
        if (count_all(misfit) > 0) {
            memcpy(&room[count++], (const char *)misfit + offset, sizeof *room);
        }
    }
    json_sizes(to, key, room, count);
}

void
misfits_json(FILE *to, const struct misfits *misfits)
{
    const char **names = calloc(misfits->columns + 1, sizeof *names);
    size_t *room = calloc(misfits->columns + 1, sizeof *room), count = 0;
    struct sotto_column_info info;
    for (size_t i = 0; names != NULL && room != NULL && i < misfits->columns;
         i++) {
        if (count_all(&misfits->column[i]) > 0) {
            sotto_mechanism_column(misfits->mechanism, i, &info);
            names[count++] = info.name;
        }
    }
    if (names != NULL && room != NULL) {
        json_texts(to, "misfits", names, count);
        put_sizes(to, misfits, "beyond", offsetof(struct sotto_misfit, beyond),
                  room);
        put_sizes(to, misfits, "unknown",
                  offsetof(struct sotto_misfit, unknown), room);
        put_sizes(to, misfits, "unread", offsetof(struct sotto_misfit, unread),
                  room);
        put_sizes(to, misfits, "missing",
                  offsetof(struct sotto_misfit, missing), room);
    }
    free(names);
    free(room);
}

/* ---- Columns that are wrong as a whole ----------------------------------- */

/* Writes what a category column knows: "B", "M". */
static void
list_known(const struct misfits *misfits, size_t column, size_t symbols,
           char *text, size_t room)
{
    size_t size = 0;
    for (size_t i = 0; i + 1 < symbols && i <= SHOWN_MOST && size < room; i++) {
        size += (size_t)snprintf(
            text + size, room - size, i == SHOWN_MOST ? ", ..." : "%s\"%.40s\"",
            i > 0 ? ", " : "",
            sotto_mechanism_category(misfits->mechanism, column, i));
    }
}

static void
shout_column(const struct misfits *misfits, size_t at,
             const struct sotto_column_info *info)
{
    const struct sotto_misfit *misfit = &misfits->column[at];
    char known[240] = "";
    if (misfit->missing == misfit->records) {
        cli_note("EVERY value of \"%.80s\" is missing: the reports say nothing "
                 "about it",
                 info->name);
    } else if (misfit->unknown > 0) {
        list_known(misfits, at, info->symbols, known, sizeof known);
        cli_note("NO value of \"%.80s\" is one that the mechanism knows (%s): "
                 "the reports say nothing about it. Is it spelt otherwise?",
                 info->name, known);
    } else if (misfit->beyond > misfit->unread) {
        cli_note("NO value of \"%.80s\" lies %s, %.6g to %.6g: the "
                 "reports say nothing about it. Is it in another unit?",
                 info->name, misfit->cut ? "in its range" : "near the usual",
                 info->low, info->high);
    } else {
        cli_note("NO value of \"%.80s\" can be used: the reports say nothing "
                 "about it. Look at the file",
                 info->name);
    }
}

void
misfits_shout(const struct misfits *misfits)
{
    struct sotto_column_info info;
    for (size_t i = 0; i < misfits->columns; i++) {
        const struct sotto_misfit *misfit = &misfits->column[i];
        if (misfit->records > 0 && count_all(misfit) == misfit->records) {
            sotto_mechanism_column(misfits->mechanism, i, &info);
            shout_column(misfits, i, &info);
        }
    }
}
