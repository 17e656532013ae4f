/*
 * support.c: how much of the label the reports can tell.
 *
 * Whatever else a learner finds, it has to find which classes there are: a
 * model of K classes that cannot tell how frequent a class is cannot tell for
 * whom it is likely either. So the frequency of a class bounds what can be
 * learnt, whichever learner it is. Of n reports, an unbiased estimate of a
 * frequency f has the variance
 *
 *     V(f) / n,   V(f) = f (1 - f) + f V_true + (1 - f) V_other,
 *
 * where the first term is what n labels in the clear would have, and the others
 * are the channel's noise (margins.c). At f = 1/K, n reports are worth
 *
 *     n g,   g = f (1 - f) / V(f)
 *
 * labels, and know f to within z sqrt(V / n) in 19 of 20 cases. From 1/2 on
 * that interval is [0, 1]: then the reports rule out nothing, and nothing can
 * be learnt. It is a bound: what is reported of the record has noise of its
 * own.
 *
 * Of a code and a label in one symbol the label's symbols are sums over codes.
 * Reports of signs tell of no frequency; their noise about one combination
 * stands for it.
 */
#include "learn/support.h"

#include <math.h>

#include "mechanism/margins.h"
#include "mechanism/mechanism.h"

#define Z 1.959963984540054 /* 19 of 20 */

/* The noise of a report about one class, if it is the truth or not. */
static double
noise_of(const struct likelihood_instance *at, double symbols, bool in)
{
    if (at->bias > 0) {
        return in ? at->variance_true : at->variance_other;
    }
    return margins_variance(at, symbols, in);
}

void
support_find(const struct sotto_model *model, struct sotto_fit_info *info)
{
    const struct shape *shape = &model->mechanism->shape;
    size_t part =
        shape->label_part != SIZE_MAX ? shape->label_part : shape->code;
    double f, variance, symbols, n = (double)info->reports;
    const struct likelihood_instance *at;
    if (shape->label == SIZE_MAX || part == SIZE_MAX || model->classes < 2 ||
        info->reports == 0) {
        return;
    }
    at = &model->mechanism->likelihood[part];
    symbols = shape->part[part].cells > 0 ? (double)shape->part[part].cells : 1;
    f = 1 / (double)model->classes;
    variance = f * (1 - f) + f * noise_of(at, symbols, true) +
               (1 - f) * noise_of(at, symbols, false);
    info->labels = n * f * (1 - f) / variance;
    info->within = Z * sqrt(variance / n);
    info->reports_needed =
        ceil(Z * Z * variance / (SOTTO_FIT_WITHIN * SOTTO_FIT_WITHIN));
}
