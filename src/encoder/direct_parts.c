/*
 * direct_parts.c: which channel each column goes through.
 *
 *     laplace, window   x in [-1,1]      a block of d = 1 for each number
 *     duchi             x in [-1,1]^d    all numbers in one cube
 *     gaussian          x in the ball    all numbers in one ball, each scaled
 *                                        by 1/sqrt(d) so that none leaves it
 *     flip, subset      a symbol         one part for each category
 *
 * Numbers (a sample is one, too) lie side by side in x, for categories take no
 * room in it. Those that cover the same thing make a run, and a run is one
 * part: of d blocks, or, in a cube or ball, of one with d numbers. Joint parts
 * have the epsilon of their d shares together.
 *
 * A number that tells what is missing has two entries of x: its value, and 1
 * where it is missing, of which one is always 0 (docs/missing.md):
 *
 *     laplace           (x, m)           a block of d = 2: |x| + |m| <= 1, so
 *                                        telling it costs nothing
 *     window, gaussian  the same, through laplace: a window is on a line, and
 *                       in a ball of several columns m, which is 1, would
 *                       leave no room for the others
 *     duchi             (x, m)           two numbers more in the cube, for one
 *                                        share of epsilon
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/direct.h"
#include "encoder/learnt_channel.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

#define L_DEFAULT 4096u
#define L_BALL 256u /* its noise grows with it, and is sampled step by step */

/* Whether d numbers go through one channel together. */
static bool
is_joint(const struct channel *channel)
{
    return channel->domain == CHANNEL_DOMAIN_BALL ||
           channel->domain == CHANNEL_DOMAIN_CUBE;
}

/* ---- Channels ----------------------------------------------------------- */

/* Whether it takes a column that is a symbol, or a number, by itself. */
static bool
takes(const struct channel *channel, bool symbols)
{
    return (channel->domain == CHANNEL_DOMAIN_SYMBOLS) == symbols &&
           !channel->pairs;
}

static void
fail_channel(const char *setting, const char *given, bool symbols,
             struct sotto_error *err)
{
    struct host_text shown, there;
    host_text_init(&shown, 1024);
    host_text_init(&there, 1024);
    host_printable_add(&shown, given, 40);
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        if (takes(channel_exact[i], symbols)) {
            host_text_print(&there, "%s%s", there.size > 0 ? ", " : "",
                            channel_exact[i]->name);
        }
    }
    (void)settings_fail(err, setting, "%s%s: the channels for %s are %s",
                        shown.data != NULL ? shown.data : "",
                        learnt_channel_note(given),
                        symbols ? "categories" : "numbers",
                        there.data != NULL ? there.data : "");
    host_text_clear(&shown);
    host_text_clear(&there);
}

/* NULL, and a message, if there is none of that name for such a column. */
static const struct channel *
find_channel(const char *setting, const char *given, const char *otherwise,
             bool symbols, struct sotto_error *err)
{
    const char *name = given != NULL ? given : otherwise;
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    if (channel != NULL && takes(channel, symbols)) {
        return channel;
    }
    fail_channel(setting, name, symbols, err);
    return NULL;
}

static bool
is_symbols(const struct direct *direct, size_t at)
{
    return schema_kind(direct->schema.column[at].kind)->symbols;
}

/* The channel of a pair, where the column by itself would go through another.
 */
static const struct channel *
pair_channel(const struct channel *alone)
{
    static const char pairs[] = "laplace";
    return alone == NULL || alone->domain == CHANNEL_DOMAIN_CUBE
               ? alone
               : channel_find(channel_exact, pairs, sizeof pairs - 1);
}

/* Whether column `at` has an entry of x for what is missing. */
static bool
is_pair(const struct direct *direct, size_t at)
{
    return !is_symbols(direct, at) && direct->schema.column[at].missing;
}

/* The channel of column `at` of those kept; NULL, and a message, for none. */
static const struct channel *
choose_channel(const struct direct *direct, size_t at, struct sotto_error *err)
{
    const struct direct_settings *set = direct->set;
    bool symbols = is_symbols(direct, at);
    if (direct->kept[at] == direct->label) {
        return find_channel("label-channel", set->label_channel,
                            symbols ? "flip" : "window", symbols, err);
    }
    if (symbols) {
        return find_channel("categories", set->categories, "flip", true, err);
    }
    const struct channel *alone =
        find_channel("numbers", set->numbers, "laplace", false, err);
    return is_pair(direct, at) ? pair_channel(alone) : alone;
}

/* Names that no column needs are looked up all the same. */
static enum sotto_status
check_channels(const struct direct *direct, struct sotto_error *err)
{
    const struct direct_settings *set = direct->set;
    if (find_channel("numbers", set->numbers, "laplace", false, err) == NULL ||
        find_channel("categories", set->categories, "flip", true, err) ==
            NULL) {
        return SOTTO_STATUS_USAGE;
    }
    if (set->label_channel != NULL && direct->label == SIZE_MAX) {
        return settings_fail(err, "label-channel", "needs a label: name one");
    }
    return SOTTO_STATUS_OK;
}

/* ---- Numbers ------------------------------------------------------------ */

/* Where a column of numbers went; no channel for categories. */
struct place {
    const struct channel *channel;
    size_t part;
};

/* The epsilon of one number or category of a part. */
static uint64_t
part_share(const struct direct *direct, const struct compose_part *part)
{
    return strcmp(part->covers, "label") == 0 ? direct->label_each
                                              : direct->each;
}

static struct compose_part *
add_part(struct direct *direct, size_t at, const struct channel *channel)
{
    struct compose_part *part = &direct->part[direct->parts++];
    part->covers = direct->kept[at] == direct->label ? "label" : "features";
    part->channel = channel->name;
    part->eps = part_share(direct, part);
    part->blocks = 1;
    return part;
}

static uint32_t
steps_of(const struct direct *direct, const struct channel *channel)
{
    if (direct->set->l > 0) {
        return direct->set->l;
    }
    return channel->domain == CHANNEL_DOMAIN_BALL ? L_BALL : L_DEFAULT;
}

/* Entries of a block of column `at` that goes through a channel by itself. */
static uint32_t
block_size(const struct direct *direct, size_t at)
{
    return is_pair(direct, at) ? 2 : 1;
}

/* Whether column `at` may join the part before it. */
static bool
joins(const struct direct *direct, size_t at, const struct compose_part *part,
      const struct channel *channel)
{
    bool label = direct->kept[at] == direct->label;
    return part != NULL && !label && strcmp(part->covers, "label") != 0 &&
           strcmp(part->channel, channel->name) == 0 &&
           (is_joint(channel)
                ? part->d + direct->schema.column[at].inputs <= CHANNEL_D_MAX
                : part->d == block_size(direct, at));
}

/* The part column `at` goes into, a new one if need be; its entries are from
   `from` on. */
static struct compose_part *
add_number(struct direct *direct, size_t at, const struct channel *channel,
           struct compose_part *last, uint32_t from)
{
    uint32_t shares = (uint32_t)direct->schema.column[at].count;
    uint32_t entries = (uint32_t)direct->schema.column[at].inputs;
    if (!joins(direct, at, last, channel)) {
        last = add_part(direct, at, channel);
        last->from = from;
        last->l = steps_of(direct, channel);
        last->d = is_joint(channel) ? 0 : block_size(direct, at);
        last->blocks = is_joint(channel) ? 1 : 0;
        last->eps = is_joint(channel) ? 0 : part_share(direct, last);
    }
    if (is_joint(channel)) {
        last->d += entries;
        last->eps += part_share(direct, last) * shares;
    } else {
        last->blocks += shares;
    }
    return last;
}

static enum sotto_status
add_numbers(struct direct *direct, struct place *place, struct sotto_error *err)
{
    struct compose_part *last = NULL;
    uint32_t from = 0;
    for (size_t i = 0; i < direct->columns; i++) {
        const struct channel *channel;
        if (is_symbols(direct, i)) {
            continue;
        }
        channel = choose_channel(direct, i, err);
        if (channel == NULL) {
            return SOTTO_STATUS_USAGE;
        }
        if (is_joint(channel) &&
            direct->schema.column[i].inputs > CHANNEL_D_MAX) {
            return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                             "'%s' takes at most %u numbers together, and an "
                             "image here has %zu: use laplace for numbers",
                             channel->name, (unsigned)CHANNEL_D_MAX,
                             direct->schema.column[i].count);
        }
        last = add_number(direct, i, channel, last, from);
        place[i].channel = channel;
        place[i].part = direct->parts - 1;
        from += (uint32_t)direct->schema.column[i].inputs;
    }
    return SOTTO_STATUS_OK;
}

/*
 * d numbers in [-1, 1] have a length of up to sqrt(d); divided by it they lie
 * in the ball, whatever they are. The scale is the column's, so that estimates
 * come out in the column's own units.
 */
static void
scale_balls(struct direct *direct, const struct place *place)
{
    for (size_t i = 0; i < direct->columns; i++) {
        if (place[i].channel != NULL &&
            place[i].channel->domain == CHANNEL_DOMAIN_BALL) {
            direct->schema.column[i].scale /=
                sqrt(direct->part[place[i].part].d);
        }
    }
}

/* ---- Categories --------------------------------------------------------- */

static enum sotto_status
add_categories(struct direct *direct, struct sotto_error *err)
{
    for (size_t i = 0; i < direct->columns; i++) {
        const struct channel *channel;
        struct compose_part *part;
        if (!is_symbols(direct, i)) {
            continue;
        }
        channel = choose_channel(direct, i, err);
        if (channel == NULL) {
            return SOTTO_STATUS_USAGE;
        }
        part = add_part(direct, i, channel);
        part->factors = 1;
        part->factor[0].is_column = true;
        part->factor[0].at = (uint32_t)i;
    }
    return SOTTO_STATUS_OK;
}

/* ---- Delta -------------------------------------------------------------- */

static const struct channel *
channel_of(const struct compose_part *part)
{
    return part->channel != NULL ? channel_find(channel_exact, part->channel,
                                                strlen(part->channel))
                                 : NULL;
}

static bool
is_approximate(const struct compose_part *part)
{
    const struct channel *channel = channel_of(part);
    return channel != NULL && channel->approximate;
}

/* The same for every part that needs one, rounded down. */
static enum sotto_status
share_delta(struct direct *direct, struct sotto_error *err)
{
    uint64_t needing = 0;
    const char *name = "";
    bool pairs = false;
    for (size_t i = 0; i < direct->columns; i++) {
        pairs = pairs || is_pair(direct, i);
    }
    for (size_t i = 0; i < direct->parts; i++) {
        if (is_approximate(&direct->part[i])) {
            name = direct->part[i].channel;
            needing += direct->part[i].blocks;
        }
    }
    if (needing == 0 && direct->delta > 0) {
        return settings_fail(err, "delta",
                             "is for a channel that no column goes through%s: "
                             "leave it out",
                             pairs ? " (a number that tells what is missing "
                                     "goes through laplace)"
                                   : "");
    }
    if (needing > 0 && direct->delta == 0) {
        return settings_fail(err, "delta",
                             "is missing, and the channel '%s' needs one: give "
                             "one far below one in the number of people, such "
                             "as 0.000001",
                             name);
    }
    if (needing > 0 && direct->delta / needing < DECIMAL_DELTA_MIN) {
        (void)host_fail(err, SOTTO_STATUS_BUDGET, 0,
                        "delta is too small to be shared by %zu parts: raise "
                        "it",
                        (size_t)needing);
        return host_about(SOTTO_STATUS_BUDGET, err, SOTTO_ABOUT_SETTING,
                          "delta");
    }
    for (size_t i = 0; needing > 0 && i < direct->parts; i++) {
        if (is_approximate(&direct->part[i])) {
            direct->part[i].delta = direct->delta / needing;
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- All of it ---------------------------------------------------------- */

enum sotto_status
direct_add_parts(struct direct *direct, struct sotto_error *err)
{
    struct place *place = NULL;
    enum sotto_status status = check_channels(direct, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    place = calloc(direct->columns, sizeof *place);
    direct->part = calloc(direct->columns, sizeof *direct->part);
    if (place == NULL || direct->part == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = add_numbers(direct, place, err);
    if (status == SOTTO_STATUS_OK) {
        scale_balls(direct, place);
        status = add_categories(direct, err);
    }
    status = HOST_THEN(status, share_delta(direct, err));
done:
    free(place);
    return status;
}

enum sotto_status
direct_explain(const struct direct *direct, enum sotto_status status,
               struct sotto_error *err)
{
    for (size_t i = 0; status == SOTTO_STATUS_LIMIT && i < direct->parts; i++) {
        const struct compose_part *part = &direct->part[i];
        const struct channel *channel = channel_of(part);
        struct channel_instance instance;
        void *own =
            channel != NULL && part->d > 0 ? malloc(channel->own_size) : NULL;
        if (own != NULL &&
            channel_init(&instance, channel, part->d, 0, part->l, part->eps,
                         part->delta, own) == SOTTO_STATUS_LIMIT) {
            (void)host_fail(err, status, 0,
                            "l is too large: '%s' cannot make the noise for %u "
                            "number%s with %u steps at so small an epsilon: "
                            "lower it, or raise epsilon",
                            channel->name, (unsigned)part->d,
                            part->d == 1 ? "" : "s", (unsigned)part->l);
            (void)host_about(status, err, SOTTO_ABOUT_SETTING, "l");
        }
        free(own);
    }
    return status;
}
