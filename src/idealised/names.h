/*
 * names.h: which names are those of idealised channels: all that folders that
 * make or read mechanisms know of them, to say so when one is asked for.
 */
#ifndef SOTTO_IDEALISED_NAMES_H
#define SOTTO_IDEALISED_NAMES_H

#include <stdbool.h>

bool idealised_named(const char *name);

#endif
