/*
 * answer.h: what a collector says of the reports it was sent.
 */
#ifndef SOTTO_SENDER_ANSWER_H
#define SOTTO_SENDER_ANSWER_H

#include <stddef.h>

#include "sotto/client.h"

#define ANSWER_CODE_SIZE 33u
#define ANSWER_WHY_SIZE 160u

struct answer {
    size_t accepted, duplicate, refused;
    size_t count;
    char (*code)[ANSWER_CODE_SIZE]; /* of each report; "": it arrived */
    char why[ANSWER_WHY_SIZE]; /* of the first refusal, printable; "": none */
};

/* Bytes that an answer about `count` reports may have. */
size_t answer_most(size_t count);

/*
 * Reads the JSON of docs/collector.md about `count` reports: every field, no
 * other, every report spoken of once at most, and the sums right. answer_clear
 * frees. Statuses: FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status answer_parse(const char *text, size_t size,
                                             size_t count,
                                             struct answer *ret_answer,
                                             struct sotto_error *err);
void answer_clear(struct answer *answer);

#endif
