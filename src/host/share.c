/*
 * share.c: a share as a percentage for people.
 */
#include "host/share.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define ONE UINT64_C(1000000000000)
#define PLACES_MOST 5

static void
write_share(uint64_t units, bool up, char text[SHARE_TEXT_SIZE])
{
    uint64_t step = ONE / 1000,
             scale = 10; /* of the last place; of a percent */
    int places = 1;
    for (uint64_t from = ONE / 10; units < from && places < PLACES_MOST;
         from /= 10) {
        step /= 10;
        scale *= 10;
        places++;
    }
    if (units == 0) {
        (void)snprintf(text, SHARE_TEXT_SIZE, "0%%");
        return;
    }
    uint64_t steps = units / step + (up && units % step != 0 ? 1 : 0);
    (void)snprintf(text, SHARE_TEXT_SIZE, "%" PRIu64 ".%0*" PRIu64 "%%",
                   steps / scale, places, steps % scale);
}

void
share_write_most(uint64_t units, char text[SHARE_TEXT_SIZE])
{
    write_share(units, true, text);
}

void
share_write_least(uint64_t units, char text[SHARE_TEXT_SIZE])
{
    write_share(units, false, text);
}
