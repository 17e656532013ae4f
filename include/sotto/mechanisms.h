/*
 * sotto/mechanisms.h: mechanism files: keys and signatures, opening a
 * mechanism, and what it says of itself.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_MECHANISMS_H
#define SOTTO_MECHANISMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Keys and signatures: minisign's formats ----------------------------- */

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

/* ---- Mechanisms ---------------------------------------------------------- */

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

/* The file's bytes, every one of them: they live as long as the mechanism. */
const uint8_t *sotto_mechanism_bytes(const struct sotto_mechanism *mechanism,
                                     size_t *ret_size);
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
    /* What the file tells of one auxiliary record, as the maker says it: not
       checked. "": no guarantee is stated; delta "": pure. */
    const char *central_eps, *central_delta;
    uint64_t
        expires; /* from this second of 1970 on no device reports; 0: never */
    bool label_only; /* the record is not protected: the collector holds it in
                        the clear, and a report is about its label alone */
    /* At most, about the features alone and the label alone, if the maker
       labelled the parts rightly (sotto_part_info's `covers`): not checked. */
    double eps_features;
    double eps_label;
    size_t columns;
    size_t layers;
    size_t weights; /* floats in the encoder */
    uint64_t work;  /* multiply-adds that the encoder takes for a record */
    bool uneven;    /* devices refuse it: sotto_mechanism_check says why */
    size_t parts;
    size_t books; /* of the part that has several; 1: none has */
    size_t report_size;
    char hash[2 * SOTTO_HASH_SIZE + 1]; /* hexadecimal */
};
void sotto_mechanism_info(const struct sotto_mechanism *mechanism,
                          struct sotto_mechanism_info *ret_info);

/*
 * Whether devices make reports with it. An analyst may open a mechanism whose
 * weights are so small that the encoder's time could depend on the record
 * (0.1.0 wrote some); sotto_client_open refuses it. Nor is any made once the
 * mechanism has expired. Statuses: FORMAT, REFUSED.
 */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_check(const struct sotto_mechanism *mechanism,
                      struct sotto_error *err);
/*
 * Whether its reports may go from a device to a collector: not those of a
 * mechanism for the label only, which belong beside a record that their
 * receiver holds. They go from curator to curator. Statuses: REFUSED.
 */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_check_sent(const struct sotto_mechanism *mechanism,
                           struct sotto_error *err);

struct sotto_column_info {
    const char *name;
    enum sotto_column_kind kind;
    size_t count;     /* symbols ("other" the last), or bytes; 1 for a number */
    size_t symbols;   /* as `count`, where a value is one of several; else 0 */
    size_t samples;   /* as `count`, where a value is several samples; else 0 */
    size_t inputs;    /* entries of x that it fills; 0: not the encoder's */
    bool missing;     /* a missing value is told apart: the last category, or
                         an entry of x behind the number's */
    bool log;         /* of a number v, sign(v) ln(1 + |v|) is scaled: a mean of
                         reports is a mean of that */
    double low, high; /* a number's range: -1 to 1 in x, or 1/sqrt(d) of that
                         where it goes straight into a ball with others */
};
void sotto_mechanism_column(const struct sotto_mechanism *mechanism,
                            size_t column, struct sotto_column_info *ret_info);
/* The column of that name; SIZE_MAX: there is none. */
size_t sotto_mechanism_find(const struct sotto_mechanism *mechanism,
                            const char *name);
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
    size_t size;  /* d, or k */
    size_t l;     /* 0 for symbols */
    size_t books; /* codebooks, of which a device asks one, by a lot that it
                     sends along; 1: there is no lot */
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
 * number straight from its column, or with what says that it is missing, or a
 * category column. SIZE_MAX otherwise: behind an encoder, for other blocks of
 * d > 1, for a combination of columns, and for what is not there.
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
/* The same, and what a guess can become after `reports` reports of one person,
   at least 1, besides after one. */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_describe_reports(const struct sotto_mechanism *mechanism,
                                 uint32_t reports, bool json, char **ret_text,
                                 struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
