/*
 * decode_features.h: reports decoded to records, through an analyst file.
 */
#ifndef SOTTO_VERB_DECODE_FEATURES_H
#define SOTTO_VERB_DECODE_FEATURES_H

#include "cli/cli.h"

struct decode_features;

/*
 * Begins to write what every report decodes to, in the units of the columns:
 * NPY if `path` ends in .npy (one row of floats a report; samples 0 to 255, a
 * probability for each category), else CSV (the likeliest category, and the
 * label as it was reported: through subset a set, one field with '|' between
 * its categories, and a '|' or backslash of a name behind a backslash). Costs
 * no privacy: it is made of the report alone. An NPY file begins with how many
 * rows there are, so that these wait in a file without a name. Returns the exit
 * status, messages printed.
 */
int decode_features_open(const struct sotto_mechanism *mechanism,
                         const char *analyst_path, const char *path,
                         struct decode_features **ret_features);
/* Likewise. */
int decode_features_add(struct decode_features *features,
                        const struct sotto_report_block *block);
/* Completes the file and frees; without it nothing is left behind. Likewise. */
int decode_features_commit(struct decode_features *features);
void decode_features_free(struct decode_features *features);

#endif
