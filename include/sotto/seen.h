/*
 * sotto/seen.h: the rows that a mechanism was fitted to, remembered so that
 * nobody takes them for people whom it protects.
 *
 * Ranges, categories, encoder and codes of a trained mechanism tell of its
 * auxiliary rows, without a guarantee. A report of such a row would state an
 * epsilon that its person does not have. The curator who holds those rows keeps
 * M.seen beside M.sotto: a salted hash of every row, for the owner alone (mode
 * 0600), never for devices. Whoever has the file can ask it whether a row that
 * they know in full is an auxiliary one: it is as secret as the analyst file.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_SEEN_H
#define SOTTO_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"
#include "sotto/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the hashes of all rows of `table`, of the columns that the mechanism
   asks for, to `path`, under a new random salt. Statuses: INPUT (a column is
   not there), IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_seen_write(struct sotto_mechanism *mechanism,
                 const struct sotto_table *table, const char *path,
                 struct sotto_error *err);

struct sotto_seen {
    size_t rows;    /* of the table that was looked at */
    size_t same;    /* of them, that are as an auxiliary row is */
    double chance;  /* at most: that so many of other people's rows are */
    bool auxiliary; /* chance is below one in a million: rows of the table are
                       auxiliary ones */
};

/*
 * Looks for the rows of `table` among those of the file at `path`. People may
 * be alike: of n auxiliary rows d have a twin, so a row of another person is as
 * one of them with a probability of about p = (d + 1) / (n + 2), and the chance
 * is bounded by exp(-N D(same / N || p)), D being the divergence of two coins.
 * A single row is never enough. Statuses: IO, FORMAT, LIMIT, INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_seen_look(struct sotto_mechanism *mechanism,
                const struct sotto_table *table, const char *path,
                struct sotto_seen *ret_seen, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
