/*
 * send_look.h: sotto send --dry-run.
 */
#ifndef SOTTO_VERB_SEND_LOOK_H
#define SOTTO_VERB_SEND_LOOK_H

#include <stdbool.h>

#include "sotto/sotto.h"

/* Prints what the next request of a sender that was opened to look would be,
   and what each of its bytes says. The exit status. */
int send_look(bool json, struct sotto_sender *sender,
              struct sotto_mechanism *mechanism);

#endif
