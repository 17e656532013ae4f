/*
 * giving_way.c: who leaves when all places are taken.
 *
 * A scan of the list: with a thousand places it takes some microseconds, and
 * only while all of them are taken.
 */
#include "collector/giving_way.h"

#define SLOW_MS 1000u /* to arrive or to be taken: slow, unless faster than */
#define SLOW_BYTES_MS 4u /* what comes with so many bytes a millisecond */

uint64_t
giving_way_age(const struct connection *connection, uint64_t now)
{
    uint64_t since = atomic_load(&connection->since);
    return now > since ? now - since : 0;
}

static enum giving_way_kind
way_of(const struct connection *c, int state, uint64_t age)
{
    switch (state) {
    case WAITING:
        return age >= SLOW_MS ? WAY_SILENT : WAY_FRESH;
    case IDLE:
        return WAY_IDLE;
    case OPENED:
    case SENDING:
        return age >= SLOW_MS ? WAY_SLOW : WAY_FRESH;
    case ARRIVING:
        return age >= SLOW_MS && atomic_load(&c->bytes) / SLOW_BYTES_MS < age
                   ? WAY_SLOW
                   : WAY_FRESH;
    default:
        return WAY_NEVER;
    }
}

static bool
may_leave(const struct giving_way *choice,
          const struct giving_way_newcomer *newcomer)
{
    const struct connection *c = choice->connection;
    if (c->origin == newcomer->origin || newcomer->full) {
        return c->origin == newcomer->origin &&
               (choice->way != WAY_FRESH || choice->state == WAITING);
    }
    if (newcomer->reserve && atomic_load(&c->proven)) {
        return false;
    }
    switch (choice->way) {
    case WAY_SILENT:
        return true;
    case WAY_IDLE:
    case WAY_SLOW:
        return choice->weight >= newcomer->weight;
    default:
        return choice->weight > newcomer->weight;
    }
}

static bool
is_better(const struct giving_way *choice, const struct giving_way *best)
{
    if (best->connection == NULL || choice->way != best->way) {
        return best->connection == NULL || choice->way < best->way;
    }
    return choice->weight != best->weight ? choice->weight > best->weight
                                          : choice->age > best->age;
}

struct giving_way
giving_way_choose(struct connection *first, uint64_t now,
                  const struct giving_way_newcomer *newcomer)
{
    struct giving_way best = {0};
    for (struct connection *c = first; c != NULL; c = c->next) {
        struct giving_way choice = {.connection = c,
                                    .state = atomic_load(&c->state),
                                    .age = giving_way_age(c, now)};
        choice.way = way_of(c, choice.state, choice.age);
        if (choice.way == WAY_NEVER ||
            (best.connection != NULL && choice.way > best.way)) {
            continue;
        }
        choice.weight = origins_weight(c->origin);
        if (may_leave(&choice, newcomer) && is_better(&choice, &best)) {
            best = choice;
        }
    }
    return best;
}

struct connection *
giving_way_memory(struct connection *first, uint64_t now,
                  const struct origin *origin)
{
    struct connection *best = NULL;
    for (struct connection *c = first; c != NULL; c = c->next) {
        size_t taken = c->origin->taken;
        if (c->memory > 0 && !c->leaving && taken > origin->taken &&
            atomic_load(&c->state) == ARRIVING &&
            way_of(c, ARRIVING, giving_way_age(c, now)) == WAY_SLOW &&
            (best == NULL || taken > best->origin->taken ||
             (taken == best->origin->taken && c->memory > best->memory))) {
            best = c;
        }
    }
    return best;
}
