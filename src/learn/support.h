/*
 * support.h: how much of the label the reports can tell.
 */
#ifndef SOTTO_LEARN_SUPPORT_H
#define SOTTO_LEARN_SUPPORT_H

#include "learn/model.h"

/* Sets `labels`, `within` and `reports_needed` from the number of reports and
   the label's channel; leaves them 0 for a model without classes. */
void support_find(const struct sotto_model *model, struct sotto_fit_info *info);

#endif
