/*
 * judge.h: a body of reports, each judged by itself, and the answer in JSON.
 *
 *     body --judge_body--> verdicts: PENDING or a refusal
 *          --writer------> every PENDING becomes ACCEPTED or DUPLICATE
 *          --judge_write-> {"accepted":...}
 *
 * What is pending has passed every check that the mechanism's channels have.
 */
#ifndef SOTTO_COLLECTOR_JUDGE_H
#define SOTTO_COLLECTOR_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/text.h"
#include "mechanism/mechanism.h"

enum judge_verdict {
    JUDGE_ACCEPTED,
    JUDGE_DUPLICATE,
    JUDGE_HASH,      /* of another mechanism */
    JUDGE_MALFORMED, /* cut short, no report, no line of JSON as it should be */
    JUDGE_IMPOSSIBLE, /* no device can send this payload */
    JUDGE_SIMULATED,  /* simulated, or not, where the other kind is taken */
    JUDGE_PENDING     /* the store has not said yet */
};
#define JUDGE_VERDICTS 6u /* without PENDING */

enum judge_form { JUDGE_BINARY, JUDGE_LINES };

#define JUDGE_WHY_SIZE 200u
#define JUDGE_WHY_MOST ((size_t)16) /* refusals that are explained */

struct judge {
    enum judge_form form;
    size_t count;     /* reports in the body */
    uint8_t *verdict; /* of each; `one` where there is but one */
    uint8_t one;
    size_t found[JUDGE_VERDICTS + 1]; /* how many of each verdict */

    /* Pending report i is at reports + i * each in the binary form; the lines'
       reports stand one behind the other, those that are pending alone. */
    const uint8_t *reports;
    size_t each;
    uint8_t *own; /* the lines' reports */
    size_t own_size, own_room;

    char (*why)[JUDGE_WHY_SIZE]; /* of the first refusals of lines */
    size_t whys;
};

/* "accepted", "duplicate", or the refusal's code. */
const char *judge_verdict_name(enum judge_verdict verdict);

/*
 * Judges a body; `body` must live as long as the judge. Statuses: INPUT (no
 * list of reports at all), LIMIT (more than `most`), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
judge_body(struct judge *judge, const struct sotto_mechanism *mechanism,
           enum judge_form form, bool simulation, const uint8_t *body,
           size_t size, size_t most, struct sotto_error *err);
/* Wipes what it decoded, and frees. */
void judge_clear(struct judge *judge);

/* The place of the next pending report at or behind *at; false: there is none.
 *slot counts them for the lines' form: both start at 0. */
bool judge_next(const struct judge *judge, size_t *at, size_t *slot,
                const uint8_t **ret_report);
/* Takes the store's word for a pending report. */
void judge_settle(struct judge *judge, size_t at, bool duplicate);
/* Makes all that the store settled pending again: it was not committed. */
void judge_unsettle(struct judge *judge);

/* The most bytes that the answer to so many refused and so many other reports
   has: known before any of them is stored. */
size_t judge_answer_most(size_t refused, size_t others);
/* Appends the answer; nothing may be pending any more. */
void judge_write(const struct judge *judge, struct host_text *text);

#endif
