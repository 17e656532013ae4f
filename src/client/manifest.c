/*
 * manifest.c: reading the manifest, the JSON string in a mechanism's header.
 *
 *     {"sotto":1,"name":"...","campaign":"...","auxiliary":"...","eps":"4",
 *      "columns":[COLUMN,...],"encoder":[LAYER,...],"parts":[PART,...]}
 *     COLUMN  {"kind":"number"}  {"kind":"bytes","count":784}
 *             {"kind":"category","count":3,"input":0}
 *     LAYER   {"kind":"dense","in":784,"out":400,"activation":"relu"}, or as
 *             layer.c reads it
 *     PART    {"covers":"features","channel":"laplace","eps":"0.1",
 *              "blocks":30,"lattice":{"from":0,"d":1,"l":4096}}
 *             {"covers":"label","channel":"flip","eps":"1","blocks":1,
 *              "symbols":[{"column":3},{"from":0,"k":50}]}
 *             {...,"blocks":1,"books":3,"symbols":[{"from":0,"k":50}]}
 *             {"covers":"both","channel":"gaussian","eps":"1",
 *              "delta":"0.000001","blocks":1,"ball":{"from":0,"d":8,"l":256}}
 *
 * in this order, without blanks; "delta" stands also behind the total epsilon
 * if a part has one, and "ball" and "cube" are as "lattice". docs/format.md is
 * the specification. It is hostile input: every number has a range, every
 * reference is checked, and no noise parameter is in it.
 */
#include "base/checked.h"
#include "base/decimal.h"
#include "client/device.h"

#define EXPIRES_MAX ((UINT64_C(1) << 53) - 1) /* seconds since 1970 */

/* The state of one reading. */
struct reading {
    struct reader *reader;
    const struct channel *const *channels; /* that it may name */
    struct device_sizes *sizes;
    struct sotto_client *client; /* NULL while measuring */
    struct device_terms terms;
    uint32_t width; /* of what the next stage sees */
    struct wiring wiring;
    uint64_t eps, delta; /* sums over parts */
    uint64_t drawn;      /* likewise, of entropy */
    uint32_t books;      /* of the part that has some; 0: none has */
};

static uint32_t
number(struct reader *reader, uint32_t least, uint32_t most)
{
    return (uint32_t)reader_number(reader, least, most);
}

static uint64_t
read_eps(struct reader *reader, struct reader_word *ret_text)
{
    uint64_t eps = 0;
    struct sotto_error err;
    enum sotto_status status;
    *ret_text = reader_string(reader, DECIMAL_TEXT_SIZE);
    if (reader->status != SOTTO_STATUS_OK) {
        return 0;
    }
    status = decimal_read_eps(ret_text->text, ret_text->size, &eps, &err);
    if (status != SOTTO_STATUS_OK) {
        reader_fail(reader, status,
                    "an epsilon in the mechanism is not a decimal number "
                    "from 0.000001 to 32");
    }
    return eps;
}

/* A delta, where one comes next; else 0. */
static uint64_t
read_delta(struct reader *reader, struct reader_word *ret_text)
{
    uint64_t delta = 0;
    struct sotto_error err;
    enum sotto_status status;
    if (!reader_match(reader, ",\"delta\":")) {
        return 0;
    }
    *ret_text = reader_string(reader, DECIMAL_TEXT_SIZE);
    if (reader->status != SOTTO_STATUS_OK) {
        return 0;
    }
    status = decimal_read_delta(ret_text->text, ret_text->size, &delta, &err);
    if (status != SOTTO_STATUS_OK) {
        reader_fail(reader, status,
                    "a delta in the mechanism is not a decimal number "
                    "from 0.000000000001 to 0.01");
    }
    return delta;
}

static void
widen(struct reading *reading, uint64_t by)
{
    uint64_t width = checked_add(reading->width, by);
    if (width > DEVICE_WIDTH_MAX) {
        reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                    "the mechanism's records are too wide");
        return;
    }
    reading->width = (uint32_t)width;
}

/* A JSON array of at most `most` elements; returns how many. */
static uint32_t
read_list(struct reading *reading, const char *key, uint32_t most,
          void (*read)(struct reading *, uint32_t))
{
    struct reader *reader = reading->reader;
    uint32_t count = 0;
    reader_expect(reader, key);
    reader_expect(reader, "[");
    if (reader_match(reader, "]")) {
        return 0;
    }
    do {
        if (count == most) {
            reader_fail(reader, SOTTO_STATUS_LIMIT,
                        "a list in the mechanism's header is too long");
            return count;
        }
        read(reading, count++);
    } while (reader_match(reader, ","));
    reader_expect(reader, "]");
    return count;
}

/* Words of version 2 that this device does not know how to follow. */
static bool
match_newer(struct reader *reader, const char *word, const char *problem)
{
    bool newer = reader_match(reader, word);
    if (newer) {
        reader_fail(reader, SOTTO_STATUS_FORMAT, problem);
    }
    return newer;
}

static void
read_number_column(struct reading *reading, struct encode_column *column)
{
    struct reader *reader = reading->reader;
    reader_expect(reader, "number\"");
    if (reading->terms.version == 1) {
        return;
    }
    column->log = reader_match(reader, ",\"transform\":\"log\"");
    column->clip =
        !column->log && reader_match(reader, ",\"transform\":\"clip\"");
    column->missing = reader_match(reader, ",\"missing\":1");
    column->inputs = column->missing ? 2 : 1;
}

static void
read_category_column(struct reading *reading, struct encode_column *column)
{
    struct reader *reader = reading->reader;
    column->kind = ENCODE_COLUMN_CATEGORY;
    column->count = number(reader, 2, CHANNEL_K_MAX);
    reader_expect(reader, ",\"input\":");
    column->inputs = number(reader, 0, 1) * column->count;
    column->missing =
        reading->terms.version > 1 && reader_match(reader, ",\"missing\":1");
    if (column->missing && column->count < 3) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a column without categories has none for what is missing");
    }
}

/* Ranges of a number, two at least, and the symbol of anything else. */
static bool
match_bins_column(struct reading *reading, struct encode_column *column)
{
    if (reading->terms.version == 1 ||
        !reader_match(reading->reader, "bins\",\"count\":")) {
        return false;
    }
    column->kind = ENCODE_COLUMN_BINS;
    column->count = number(reading->reader, 3, CHANNEL_K_MAX);
    column->inputs = 0;
    return true;
}

static void
read_column(struct reading *reading, uint32_t at)
{
    struct reader *reader = reading->reader;
    struct encode_column column = {
        .kind = ENCODE_COLUMN_NUMBER, .count = 1, .inputs = 1};
    reader_expect(reader, "{\"kind\":\"");
    if (reader_match(reader, "bytes\",\"count\":")) {
        column.kind = ENCODE_COLUMN_BYTES;
        column.count = number(reader, 1, DEVICE_WIDTH_MAX);
        column.inputs = column.count;
    } else if (reader_match(reader, "category\",\"count\":")) {
        read_category_column(reading, &column);
    } else if (reading->terms.version == 1 ||
               (!match_bins_column(reading, &column) &&
                !match_newer(reader, "image\"",
                             "the mechanism needs a newer sotto: columns of "
                             "images") &&
                !match_newer(reader, "text\"",
                             "the mechanism needs a newer sotto: columns of "
                             "text"))) {
        read_number_column(reading, &column);
    }
    reader_expect(reader, "}");
    widen(reading, column.inputs);
    if (reading->client != NULL && reader->status == SOTTO_STATUS_OK) {
        reading->client->encoder.column[at] = column;
    }
}

static void
read_layer(struct reading *reading, uint32_t at)
{
    struct reader *reader = reading->reader;
    struct layer layer = layer_read(reader, reading->terms.version, at);
    struct device_sizes *sizes = reading->sizes;
    wiring_add(&reading->wiring, reader, reading->terms.version, &layer);
    sizes->work = checked_add(sizes->work, layer_work(&layer));
    if (sizes->work > DEVICE_WORK_MAX) {
        reader_fail(reader, SOTTO_STATUS_LIMIT,
                    "the encoder takes too many multiplications");
    }
    if (reader->status != SOTTO_STATUS_OK) {
        return;
    }
    reading->width = layer.out;
    if (layer.out > sizes->width) {
        sizes->width = layer.out;
    }
    if (reading->client != NULL) {
        reading->client->encoder.layer[at] = layer;
    }
}

/* Reads all layers, and says where each puts what it makes. */
static void
read_encoder(struct reading *reading)
{
    struct device_sizes *sizes = reading->sizes;
    wiring_start(&reading->wiring, reading->width);
    sizes->layers =
        read_list(reading, ",\"encoder\":", DEVICE_LAYERS_MAX, read_layer);
    sizes->floats = (uint64_t)sizes->width *
                    wiring_finish(&reading->wiring, reading->reader);
    if (sizes->floats > DEVICE_FLOATS_MAX) {
        reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                    "the encoder keeps too many outputs at a time");
    }
    for (uint32_t i = 0; reading->client != NULL && i < reading->wiring.layers;
         i++) {
        reading->client->encoder.layer[i].slot =
            reading->wiring.output[i + 1].slot;
    }
}

/* Whether [from, from + count) are entries of z. */
static bool
in_outputs(const struct reading *reading, uint64_t from, uint64_t count)
{
    return checked_add(from, count) <= reading->width;
}

static void
read_numbers(struct reading *reading, struct report_part *part,
             uint32_t *ret_size, uint32_t *ret_l)
{
    struct reader *reader = reading->reader;
    reader_expect(reader, "{\"from\":");
    part->from = number(reader, 0, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",\"d\":");
    *ret_size = number(reader, 1, CHANNEL_D_MAX);
    reader_expect(reader, ",\"l\":");
    *ret_l = number(reader, 1, UINT32_MAX);
    reader_expect(reader, "}");
    if (!in_outputs(reading, part->from, (uint64_t)part->blocks * *ret_size)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a part takes more numbers than the encoder gives");
    }
}

/* The number of a category column, and in ret_k its symbols. */
static uint32_t
read_column_number(struct reading *reading, uint32_t *ret_k)
{
    struct reader *reader = reading->reader;
    uint32_t at = number(reader, 0, DEVICE_COLUMNS_MAX);
    if (at >= reading->sizes->columns) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a part names a column that does not exist");
    } else if (reading->client != NULL) {
        const struct encode_column *column =
            &reading->client->encoder.column[at];
        *ret_k = column->count;
        if (!encode_column_symbols(column)) {
            reader_fail(reader, SOTTO_STATUS_FORMAT,
                        "a part takes a symbol from a column without");
        }
    }
    return at;
}

/* Where the outputs begin of which the largest counts, and how many; those of
   other books follow. */
static uint32_t
read_choice(struct reading *reading, uint32_t books, uint32_t *ret_k)
{
    struct reader *reader = reading->reader;
    uint32_t at;
    reader_expect(reader, "{\"from\":");
    at = number(reader, 0, DEVICE_WIDTH_MAX);
    reader_expect(reader, ",\"k\":");
    *ret_k = number(reader, 2, CHANNEL_K_MAX);
    if (!in_outputs(reading, at, *ret_k * (uint64_t)(books > 0 ? books : 1))) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a part takes more numbers than the encoder gives");
    }
    return at;
}

static void
read_factor(struct reading *reading, uint32_t books,
            struct report_factor *factor)
{
    struct reader *reader = reading->reader;
    uint32_t k = 1;
    factor->is_column = reader_match(reader, "{\"column\":");
    factor->k = 1;
    if (factor->is_column) {
        factor->at = read_column_number(reading, &factor->k);
    } else if (reading->terms.version > 1 &&
               reader_match(reader, "{\"equal\":[{\"column\":")) {
        factor->equal = true;
        factor->column = read_column_number(reading, &k);
        reader_expect(reader, "},");
        factor->at = read_choice(reading, books, &factor->choices);
        factor->k = 2;
        reader_expect(reader, "}]");
    } else {
        factor->at = read_choice(reading, books, &factor->k);
    }
    reader_expect(reader, "}");
}

/* Returns the product of the factors' sizes. */
static uint32_t
read_factors(struct reading *reading, struct report_part *part)
{
    uint64_t k = 1;
    bool columns = true;
    reader_expect(reading->reader, "[");
    do {
        if (part->factors == REPORT_FACTORS_MAX) {
            reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                        "a part has too many factors");
            return 0;
        }
        read_factor(reading, part->books, &part->factor[part->factors]);
        columns = columns && part->factor[part->factors].is_column;
        k *= part->factor[part->factors++].k;
        if (k > CHANNEL_K_MAX) {
            reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                        "a part has too many symbols");
            return 0;
        }
    } while (reader_match(reading->reader, ","));
    reader_expect(reading->reader, "]");
    if (part->books > 0 && columns) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "a part's codebooks are all the same");
    }
    if (part->blocks != 1) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "a part of symbols must have one block");
    }
    if (part->instance.channel->pairs && part->factors != 2) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "a part's channel takes pairs, and it has not two factors");
    }
    return (uint32_t)k;
}

/* Sets the part's channel up in the workspace. What a report draws is what it
   costs in time: a hostile file must not make a device work for minutes. */
static void
keep_part(struct reading *reading, uint32_t at, struct report_part *part,
          uint32_t size, uint32_t l)
{
    struct sotto_client *client = reading->client;
    const struct channel *channel = part->instance.channel;
    uint32_t rows = part->factors == 2 ? part->factor[0].k : 0;
    enum sotto_status status = channel_init(
        &part->instance, channel, size, rows, l, part->instance.eps,
        part->instance.delta, client->channels);
    if (status != SOTTO_STATUS_OK) {
        reader_fail(reading->reader, status,
                    "a part's domain or budget is beyond what its channel "
                    "allows");
        return;
    }
    reading->drawn += (uint64_t)part->blocks * part->instance.entropy_size;
    if (reading->drawn > DEVICE_DRAWN_MAX) {
        reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                    "a report of this mechanism would draw too much entropy");
        return;
    }
    client->channels += channel->own_size;
    client->report.part[at] = *part;
}

static const struct channel *
read_channel(struct reading *reading)
{
    struct reader_word name = reader_string(reading->reader, 16);
    const struct channel *channel =
        channel_find(reading->channels, name.text, name.size);
    if (channel == NULL) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "the mechanism uses a channel this device does not know");
    }
    return channel;
}

static void
read_covers(struct reader *reader, struct report_part *part)
{
    static const char *const all[] = {"features", "label", "both"};
    struct reader_word word;
    reader_expect(reader, "{\"covers\":");
    word = reader_string(reader, 8);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (reader_is(word, all[i])) {
            part->covers = all[i];
        }
    }
    if (part->covers == NULL) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a part must cover features, label or both");
    }
}

/* Reads how many codebooks a part has, of which a lot chooses one. Channel and
   budget are the part's, so that no book can spend more than another, nor have
   a report of another size. */
static void
read_books(struct reading *reading, struct report_part *part)
{
    if (reading->terms.version == 1 ||
        !reader_match(reading->reader, ",\"books\":")) {
        return;
    }
    part->books = number(reading->reader, 2, REPORT_BOOKS_MAX);
    if (reading->books > 0) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "two parts have codebooks, and there is one lot");
    }
    reading->books = part->books;
}

/* Returns the domain's size; its radius for numbers. */
static uint32_t
read_domain(struct reading *reading, struct report_part *part, uint32_t *ret_l)
{
    enum channel_domain domain = part->instance.channel->domain;
    uint32_t size = 1;
    part->place = domain_place(domain);
    if (part->place == NULL) {
        read_books(reading, part);
    }
    reader_expect(reading->reader, ",\"");
    reader_expect(reading->reader, domain_key(domain));
    reader_expect(reading->reader, "\":");
    if (part->place == NULL) {
        return read_factors(reading, part);
    }
    read_numbers(reading, part, &size, ret_l);
    return size;
}

static void
count_part(struct reading *reading, const struct report_part *part,
           uint32_t size)
{
    const struct channel_instance *instance = &part->instance;
    reading->eps = checked_add(reading->eps, part->blocks * instance->eps);
    reading->delta =
        checked_add(reading->delta, part->blocks * instance->delta);
    reading->sizes->channels += instance->channel->own_size;
    if (reading->sizes->channels > DEVICE_OWN_MAX) {
        reader_fail(reading->reader, SOTTO_STATUS_LIMIT,
                    "the mechanism's channels take too much memory");
    }
    if (part->place != NULL && size > reading->sizes->q) {
        reading->sizes->q = size;
    }
}

static void
read_part(struct reading *reading, uint32_t at)
{
    struct reader *reader = reading->reader;
    struct report_part part = {.factors = 0};
    struct reader_word text;
    uint32_t size, l = 0;
    read_covers(reader, &part);
    reader_expect(reader, ",\"channel\":");
    part.instance.channel = read_channel(reading);
    reader_expect(reader, ",\"eps\":");
    part.instance.eps = read_eps(reader, &text);
    part.instance.delta = read_delta(reader, &text);
    reader_expect(reader, ",\"blocks\":");
    part.blocks = number(reader, 1, REPORT_POINTS_MAX);
    if (reader->status != SOTTO_STATUS_OK) {
        return;
    }
    size = read_domain(reading, &part, &l);
    reader_expect(reader, "}");
    count_part(reading, &part, size);
    if (reading->client != NULL && reader->status == SOTTO_STATUS_OK) {
        keep_part(reading, at, &part, size, l);
    }
}

/* Nothing here rests on a total that hides what the parts spend. */
static void
check_budget(const struct reading *reading)
{
    if (reading->eps > reading->terms.eps) {
        reader_fail(reading->reader, SOTTO_STATUS_BUDGET,
                    "the parts spend more than the mechanism's stated "
                    "epsilon");
    }
    if (reading->delta > reading->terms.delta) {
        reader_fail(reading->reader, SOTTO_STATUS_BUDGET,
                    "the parts spend more than the mechanism's stated delta");
    }
    if (reading->delta == 0 && reading->terms.delta > 0) {
        reader_fail(reading->reader, SOTTO_STATUS_FORMAT,
                    "the mechanism states a delta but none of its parts has "
                    "one");
    }
}

static void
read_titles(struct reading *reading)
{
    struct reader *reader = reading->reader;
    struct device_terms *terms = &reading->terms;
    terms->version = reader_match(reader, "{\"sotto\":2") ? 2 : 1;
    if (terms->version == 1) {
        reader_expect(reader, "{\"sotto\":1");
    }
    reader_expect(reader, ",\"name\":");
    terms->name = reader_string(reader, DEVICE_TEXT_MAX);
    reader_expect(reader, ",\"campaign\":");
    terms->campaign = reader_string(reader, DEVICE_TEXT_MAX);
    reader_expect(reader, ",\"auxiliary\":");
    terms->auxiliary = reader_string(reader, DEVICE_TEXT_MAX);
}

/* Reads what version 2 may say of the whole, behind the titles. */
static void
read_newer_terms(struct reading *reading)
{
    struct reader *reader = reading->reader;
    struct device_terms *terms = &reading->terms;
    terms->central_eps = terms->central_delta = (struct reader_word){"", 0};
    if (terms->version == 1) {
        return;
    }
    if (reader_match(reader, ",\"central\":{\"eps\":")) {
        (void)read_eps(reader, &terms->central_eps);
        (void)read_delta(reader, &terms->central_delta);
        reader_expect(reader, "}");
    }
    if (reader_match(reader, ",\"expires\":")) {
        terms->expires = reader_number(reader, 1, EXPIRES_MAX);
    }
    terms->label_only = reader_match(reader, ",\"only\":\"label\"");
    (void)match_newer(reader, ",\"issuer\"",
                      "the mechanism needs a newer sotto: tokens of an issuer");
}

void
manifest_read(struct reader *reader, const struct channel *const *channels,
              struct device_sizes *sizes, struct sotto_client *client)
{
    struct reading reading = {.reader = reader,
                              .channels = channels,
                              .sizes = sizes,
                              .client = client};
    struct device_terms *terms = &reading.terms;
    reader->escaped = true;
    read_titles(&reading);
    read_newer_terms(&reading);
    reader_expect(reader, ",\"eps\":");
    terms->eps = read_eps(reader, &terms->eps_text);
    terms->delta_text = (struct reader_word){"0", 1};
    terms->delta = read_delta(reader, &terms->delta_text);
    sizes->width = 0;
    sizes->q = 1;
    sizes->channels = 0;
    sizes->work = 0;
    sizes->columns =
        read_list(&reading, ",\"columns\":", DEVICE_COLUMNS_MAX, read_column);
    sizes->inputs = reading.width;
    if (sizes->width < sizes->inputs) {
        sizes->width = sizes->inputs;
    }
    read_encoder(&reading);
    sizes->parts =
        read_list(&reading, ",\"parts\":", DEVICE_PARTS_MAX, read_part);
    reader_expect(reader, "}");
    if (sizes->columns == 0 || sizes->parts == 0) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a mechanism needs a column and a part");
    }
    check_budget(&reading);
    reader->escaped = false;
    if (client != NULL) {
        client->terms = *terms;
        client->report.books = reading.books;
    }
}
