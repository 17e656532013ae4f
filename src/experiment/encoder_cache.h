/*
 * encoder_cache.h: trained encoders by the hash of what decides them.
 *
 *     FOLDER/encoders/HASH.sotto        the mechanism
 *                     HASH.analyst      decoder and prior
 *                     HASH.txt          what was hashed
 *                     HASH.checkpoint   a training that was stopped
 */
#ifndef SOTTO_EXPERIMENT_ENCODER_CACHE_H
#define SOTTO_EXPERIMENT_ENCODER_CACHE_H

#include "sotto/sotto.h"

struct encoder_files {
    char *mechanism, *analyst, *checkpoint;
};

/* Fills in the paths for a configuration, and writes it down beside them.
   Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status encoder_files_init(struct encoder_files *files,
                                                   const char *folder,
                                                   const char *configuration,
                                                   struct sotto_error *err);
void encoder_files_clear(struct encoder_files *files);

/* Whether both files of a trained encoder are there. */
bool encoder_files_there(const struct encoder_files *files);

#endif
