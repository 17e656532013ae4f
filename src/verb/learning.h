/*
 * learning.h: what the verbs that learn share: train, fit, predict, evaluate.
 */
#ifndef SOTTO_VERB_LEARNING_H
#define SOTTO_VERB_LEARNING_H

#include "cli/cli.h"

/* cli_fail, with a file's name before the message unless the error is about a
   file, which the message then names, or about an option. */
int learning_fail(const struct sotto_error *err, const char *path);

/* Notes on standard error that fit used fewer of the prior's `there` points
   than asked for (`most`, or all if it is 0): lack of room for the weights. */
void learning_note_thinned(size_t there, size_t most, size_t used,
                           size_t reports);

#endif
