/*
 * chance.c: what a channel's coin does, as doubles.
 */
#include "likelihood/chance.h"

#include "base/wide.h"
#include "random/threshold.h"

void
chance_init(struct chance *chance, const struct odds *odds)
{
    struct wide h, out;
    threshold_wide(&odds->threshold[0], &h);
    wide_ratio(1, 1, &out);
    wide_subtract(&out, &h, &out);
    chance->in = wide_double(&h);
    chance->out = wide_double(&out);
    wide_subtract(&h, &out, &out);
    chance->lead = wide_double(&out);
}
