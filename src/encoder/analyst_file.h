/*
 * analyst_file.h: the words of an analyst file's metadata, for its reader and
 * its writer.
 */
#ifndef SOTTO_ENCODER_ANALYST_FILE_H
#define SOTTO_ENCODER_ANALYST_FILE_H

#include "encoder/analyst.h"

#define ANALYST_NAME "sotto-analyst"
#define ANALYST_VERSION 1

/* false for a word that is none. */
bool analyst_likelihood_find(const char *name, enum analyst_likelihood *ret);
bool analyst_activation_find(const char *name, enum activation *ret);

#endif
