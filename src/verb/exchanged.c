/*
 * exchanged.c: classes of a model that may have each other's place.
 */
#include "verb/exchanged.h"

#include <math.h>

#include "cli/json_print.h"

#define DOUBT 0.05 /* the least probability that is told */

/* Either way round. */
static double
exchange_of(const struct sotto_model *model, size_t y, size_t other)
{
    return fmax(sotto_model_exchanged(model, y, other),
                sotto_model_exchanged(model, other, y));
}

static void
tell_pair(const struct sotto_model *model, size_t y, size_t other, bool json)
{
    const char *name = sotto_model_class(model, y);
    const char *second = sotto_model_class(model, other);
    double p = exchange_of(model, y, other);
    if (json) {
        json_begin(stdout);
        json_text(stdout, "class", name);
        json_text(stdout, "other", second);
        json_number(stdout, "exchanged", p);
        json_end(stdout);
    } else {
        (void)printf("\"%s\" and \"%s\" may be exchanged: the reports leave a "
                     "probability of %.2f that one is the other\n",
                     cli_shown(name), cli_shown(second), p);
    }
}

void
exchanged_tell(const struct sotto_model *model, bool json)
{
    size_t classes = sotto_model_classes(model);
    for (size_t y = 0; y < classes; y++) {
        for (size_t other = y + 1; other < classes; other++) {
            if (exchange_of(model, y, other) >= DOUBT) {
                tell_pair(model, y, other, json);
            }
        }
    }
}
