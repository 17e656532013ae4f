/*
 * exchanged.h: classes of a model that may have each other's place.
 */
#ifndef SOTTO_VERB_EXCHANGED_H
#define SOTTO_VERB_EXCHANGED_H

#include "cli/cli.h"

/* Prints the classes that may have been exchanged, with probabilities; as JSON
   a line each, else sentences. Nothing, if the model does not say, or there is
   no doubt. */
void exchanged_tell(const struct sotto_model *model, bool json);

#endif
