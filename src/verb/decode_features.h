/*
 * decode_features.h: reports decoded to records, through an analyst file.
 */
#ifndef SOTTO_VERB_DECODE_FEATURES_H
#define SOTTO_VERB_DECODE_FEATURES_H

#include "cli/cli.h"

/*
 * Writes what every report decodes to, in the units of the columns: NPY if
 * `path` ends in .npy (one row of floats a report; samples 0 to 255, a
 * probability for each category), else CSV (the likeliest category, and the
 * label as it was reported: through subset a set, one field with '|' between
 * its categories, and a '|' or backslash of a name behind a backslash). Costs
 * no privacy: it is made of the report alone. Returns the exit status, messages
 * printed.
 */
int decode_features(const struct sotto_mechanism *mechanism,
                    const struct sotto_report_reader *reader,
                    const char *analyst_path, const char *path);

#endif
