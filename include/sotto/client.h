/*
 * sotto/client.h: what a device needs to privatise its owner's record.
 *
 * This header, and the freestanding code behind it, is the whole trusted part
 * of sotto: it opens a mechanism file in the caller's memory, and turns one
 * record into one report. It allocates nothing, prints nothing, keeps no
 * global state, and needs one thing from the platform: sotto_entropy().
 *
 *     size_t need;
 *     struct sotto_client *client;
 *     if (sotto_client_size(file, size, &need, NULL) == SOTTO_STATUS_OK &&
 *         sotto_client_open(file, size, pin, work, need, &client, NULL) ==
 *             SOTTO_STATUS_OK)
 *         status = sotto_client_privatise(client, values, count, report, n);
 *
 * Thread safety: one client belongs to one thread at a time; different
 * clients are independent and may share the same mechanism memory.
 */
#ifndef SOTTO_CLIENT_H
#define SOTTO_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOTTO_VERSION "0.1.0"

#if defined(__GNUC__)
#define SOTTO_CHECKED __attribute__((warn_unused_result))
#else
#define SOTTO_CHECKED
#endif

/* Every status: pinned value, name, message. Values never change. */
#define SOTTO_STATUS_LIST(X)                                                   \
    X(0, OK, "done")                                                           \
    X(1, MEMORY, "out of memory")                                              \
    X(2, ENTROPY, "the system gave no entropy")                                \
    X(3, FORMAT, "the data is malformed")                                      \
    X(4, LIMIT, "a size or number is beyond what is allowed")                  \
    X(5, SIZE, "a buffer or a record has the wrong size")                      \
    X(6, BUDGET, "the privacy budget is out of range or exceeded")             \
    X(7, PIN, "this is not the mechanism that was pinned")                     \
    X(8, SIGNATURE, "the signature is missing or wrong")                       \
    X(9, IO, "a file could not be read or written")                            \
    X(10, INPUT, "the input data cannot be used")                              \
    X(11, USAGE, "the request makes no sense")                                 \
    X(12, REFUSED, "refused to protect privacy")                               \
    X(13, STOPPED, "stopped before the end, as asked")                         \
    X(14, CHECK, "an answer of this program is not the right one")

enum sotto_status {
#define SOTTO_STATUS_ENUM(value, name, message) SOTTO_STATUS_##name = (value),
    SOTTO_STATUS_LIST(SOTTO_STATUS_ENUM)
#undef SOTTO_STATUS_ENUM
};

/* The message of a status: a static string, never NULL. */
const char *sotto_status_message(enum sotto_status status);

/* What an error's subject is. */
enum sotto_about {
    SOTTO_ABOUT_NOTHING = 0,  /* the subject is empty */
    SOTTO_ABOUT_SETTING = 1,  /* a setting: the message begins with its name */
    SOTTO_ABOUT_FILE = 2,     /* a file or folder, which the message names */
    SOTTO_ABOUT_COLUMN = 3,   /* a column of a table */
    SOTTO_ABOUT_PARAMETER = 4 /* what the call was given, as "table" */
};

/*
 * What went wrong, in detail. Parsers and readers fill it on failure and leave
 * it alone on success; every `err` parameter may be NULL.
 */
struct sotto_error {
    enum sotto_status status;
    size_t position;        /* byte offset in the input, 0 where it has none */
    enum sotto_about about; /* what `subject` is, for a program: nobody needs to
                               read the message */
    char subject[84];       /* its name, or the end of a long one */
    char remedy[24];        /* a setting that would help, or two with a blank
                               between; empty: none */
    char message[496];      /* one sentence or two, for a person */
};

/*
 * The one import. The platform fills `buffer` with `size` bytes from the
 * operating system's cryptographic generator and returns 0, or returns
 * anything else and leaves no entropy: then no report is made (invariant 3).
 * src/random/entropy_os.c is the implementation for Linux.
 */
int sotto_entropy(void *buffer, size_t size);

enum sotto_value_kind {
    SOTTO_VALUE_MISSING = 0,
    SOTTO_VALUE_NUMBER = 1, /* .number */
    SOTTO_VALUE_TEXT = 2,   /* .data, .size: UTF-8, not terminated */
    SOTTO_VALUE_BYTES = 3   /* .data, .size: one sample a byte, as pixels */
};

/*
 * One field of a record. A value that does not fit its column (text where a
 * number belongs, an unknown category, a NaN, an image of another size) is
 * treated as missing and gives a report all the same (invariant 4).
 */
struct sotto_value {
    enum sotto_value_kind kind;
    double number;
    const void *data;
    size_t size;
};

struct sotto_client;

#define SOTTO_HASH_SIZE 32u /* BLAKE2b-256 of the whole mechanism file */
#define SOTTO_ID_SIZE 16u   /* a report's random identifier */

/*
 * How many bytes of workspace the mechanism of `size` bytes at `mechanism`
 * needs. `mechanism` must be aligned to 8 bytes (USAGE if not), as must the
 * workspace. Statuses: USAGE, FORMAT, LIMIT, BUDGET.
 */
SOTTO_CHECKED enum sotto_status sotto_client_size(const void *mechanism,
                                                  size_t size,
                                                  size_t *ret_workspace,
                                                  struct sotto_error *err);

/*
 * Opens a mechanism. `mechanism` and `workspace` stay the caller's and must
 * outlive the client; nothing is copied, so the mechanism's bytes must not
 * change meanwhile (read a file into memory, do not map it). `pin`, if not
 * NULL, is the SOTTO_HASH_SIZE-byte hash this device agreed to: any other file
 * is refused with PIN. Checking who signed the file is the caller's business,
 * before this; no noise parameter is taken from it (invariant 1), so even a
 * hostile file cannot make a report say more than its stated epsilon allows.
 * Statuses: USAGE, FORMAT, LIMIT, BUDGET, PIN, SIZE (workspace too small).
 */
SOTTO_CHECKED enum sotto_status
sotto_client_open(const void *mechanism, size_t size, const uint8_t *pin,
                  void *workspace, size_t workspace_size,
                  struct sotto_client **ret_client, struct sotto_error *err);

/* Multiply-adds of a record that sotto_client_open takes: a quarter of a second
   on a phone, say. */
#define SOTTO_WORK_USUAL (UINT64_C(1) << 28)

/* Opens one of up to `work` multiply-adds a record, of which 2^32 are the most.
   More is LIMIT, here and there. */
SOTTO_CHECKED enum sotto_status
sotto_client_open_work(const void *mechanism, size_t size, const uint8_t *pin,
                       void *workspace, size_t workspace_size, uint64_t work,
                       struct sotto_client **ret_client,
                       struct sotto_error *err);

/* Wipes the workspace. NULL is fine. */
void sotto_client_close(struct sotto_client *client);

/* Fields a record has, and bytes a report has: fixed per mechanism. */
size_t sotto_client_columns(const struct sotto_client *client);
size_t sotto_client_report_size(const struct sotto_client *client);

/* The mechanism's hash: SOTTO_HASH_SIZE bytes inside the client. */
const uint8_t *sotto_client_hash(const struct sotto_client *client);

/*
 * Privatises one record: reads `count` values, writes exactly `size` bytes of
 * report. Spends the mechanism's whole budget once.
 *
 *   Neighbours: any two records at all (local differential privacy).
 *   Guarantee:  (epsilon, delta), at most the mechanism's stated totals; for
 *               every set R of reports and records x, x':
 *               P[R|x] <= e^epsilon P[R|x'] + delta. Where the mechanism
 *               states no delta it is 0, which is pure epsilon: for every
 *               report r, p(r|x) <= e^epsilon p(r|x').
 *   Why:        each part is an exact randomiser on a public finite domain,
 *               parts compose by adding both (docs/channels.md).
 *
 * Never fails because of what the values hold (invariant 4). Calling it twice
 * for one person spends twice: keeping one person to one report is the
 * ledger's work. On failure `report` is wiped. Statuses: SIZE (count or size
 * is not the mechanism's), ENTROPY.
 *
 * Time: from a category, and from the encoder's output, to the report the
 * instructions executed do not depend on the record, nor do the encoder's; no
 * number on the way is subnormal, whatever the weights are. A division may take
 * a little longer for some floats, and this code has no clock: where a
 * stopwatch could be watching, answer at a fixed time after asking (invariant
 * 7). What a report leaves on the stack and in registers is wiped.
 */
SOTTO_CHECKED enum sotto_status
sotto_client_privatise(struct sotto_client *client,
                       const struct sotto_value *values, size_t count,
                       uint8_t *report, size_t size);

/* ---- One person, one campaign, one report (invariant 5) ------------------ */

#define SOTTO_PERSON_MAX 256u /* bytes that name a person on this device */

/* What a report would cost, and whom. Nothing in it comes from the record. */
struct sotto_charge {
    const uint8_t *person; /* 1 to SOTTO_PERSON_MAX bytes, as the device names
                              its owner; a ledger keeps a keyed hash of it */
    size_t person_size;
    const char *campaign; /* as the mechanism names it, not terminated */
    size_t campaign_size;
    const uint8_t *mechanism; /* SOTTO_HASH_SIZE bytes */
    uint64_t eps;             /* stated total, in units of 10^-12 */
    uint64_t delta;           /* likewise; 0: pure */
};

/*
 * A ledger, as far as a device needs to know it. All three calls are for one
 * thread. `err` may be NULL.
 */
struct sotto_ledger_port {
    void *context;

    /*
     * Looks the charge up and locks the ledger. OK and *ret_found set: `report`
     * is what was sent before, nothing is charged, nothing is locked. OK and
     * *ret_found clear: there is room for the charge under every cap, and
     * commit or cancel must follow. Statuses: REFUSED (a cap would be
     * exceeded), IO, MEMORY, FORMAT (the ledger is damaged), USAGE (something
     * is begun already, or this process did not open the ledger).
     */
    enum sotto_status (*begin)(void *context, const struct sotto_charge *charge,
                               uint8_t *report, size_t size, int *ret_found,
                               struct sotto_error *err);
    /*
     * Keeps charge, report and id, durably: once it returns OK, neither a kill
     * nor a loss of power loses any of them. After a failure nothing may be
     * released: it may or may not have been kept. Unlocks either way, unless
     * nothing was begun. Statuses: IO, MEMORY, FORMAT (the ledger is damaged),
     * REFUSED (a cap would be exceeded after all), USAGE (nothing was begun,
     * this process did not open the ledger, or `report` is none).
     */
    enum sotto_status (*commit)(void *context,
                                const struct sotto_charge *charge,
                                const uint8_t *report, size_t size,
                                struct sotto_error *err);
    /* Unlocks without charging; does nothing where nothing was begun. */
    void (*cancel)(void *context);
};

/*
 * The report of one person: the stored one if this mechanism asked before,
 * whatever the record says now; else a new one, charged and kept before this
 * function returns it. Whether there is a report is decided before `values`
 * are looked at (invariant 4). On failure `report` is wiped. Statuses:
 * sotto_client_privatise's, the ledger's, USAGE (person_size), FORMAT (what
 * the ledger kept is no report of this mechanism).
 */
SOTTO_CHECKED enum sotto_status sotto_client_report(
    struct sotto_client *client, const struct sotto_ledger_port *ledger,
    const void *person, size_t person_size, const struct sotto_value *values,
    size_t count, uint8_t *report, size_t size, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
