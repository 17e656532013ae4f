/*
 * test_liars.c: what liars do is never more than what is printed, and nearly as
 * much: exactly as much where all reports can be listed.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include "likelihood/group.h"
#include "likelihood/likelihood_fixture.h"
#include "mechanism/liars.h"

#define HONEST 3800u
#define LIARS 200u
#define SHARE 0.05
#define CANDIDATES 600u
#define SIZE_MOST 128u

static struct sotto_error err;

/* ---- Every report there is ----------------------------------------------- */

/* Of all estimates of one entry, or of a sum of the first `sum`. */
static size_t
list_estimates(uint32_t sum, double *ret_list)
{
    uint32_t count = UINT32_C(1) << (8 * instance.wire_size);
    size_t listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        double estimate[16], all = 0;
        const uint8_t wire[] = {(uint8_t)i, (uint8_t)(i >> 8)};
        if (!instance.channel->valid(&instance, wire)) {
            continue;
        }
        at.likelihood->estimate(&at, wire, estimate);
        for (uint32_t j = 0; j < sum; j++) {
            all += estimate[j];
        }
        ret_list[listed++] = all;
    }
    return listed;
}

/* 95 of 100 say one thing and 5 another one, for all pairs of reports: the mean
   is never farther from what the 95 say than the reach, and as far for some. */
static void
check_all(const char *name, uint32_t size, uint32_t l, uint32_t sum)
{
    static double list[65536];
    struct liars_ends ends;
    double nearest = 0;
    set_up(name, size, l, DECIMAL_UNIT);
    ends = (struct liars_ends){at.low, at.high, at.mean_low, at.mean_high};
    if (sum > 1) {
        group_ends(&at, sum, &ends.low, &ends.high);
    }
    size_t count = list_estimates(sum, list);
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            double mean = (1 - SHARE) * list[i] + SHARE * list[j];
            double moved = fabs(mean - list[i]);
            struct sotto_reach reach;
            liars_reach(&ends, mean, SHARE, SHARE, &reach);
            assert_true(moved <= reach.forged * (1 + 1e-12));
            nearest = fmax(nearest, moved / reach.forged);
        }
    }
    assert_true(nearest >= 1 - 1e-9);
}

static void
test_small_domains_exactly(void **state)
{
    (void)state;
    check_all("flip", 2, 0, 1);
    check_all("flip", 5, 0, 1);
    check_all("flip", 6, 0, 2);
    check_all("subset", 7, 0, 1);
    check_all("subset", 8, 0, 4);
    check_all("signs", 6, 0, 1);
    check_all("duchi", 3, 2, 1);
    check_all("window", 1, 5, 1);
}

static void
test_shares(void **state)
{
    const struct liars_ends ends = {-1, 2, 0, 1};
    struct sotto_reach reach;
    (void)state;
    liars_reach(&ends, 0.5, 0.1, 0.1, &reach);
    assert_true(fabs(reach.forged - 2.0 / 9) < 1e-12);
    assert_true(fabs(reach.answered - 1.0 / 9) < 1e-12);
    liars_reach(&ends, -0.5, 0.1, 0.1, &reach); /* an end of its own */
    assert_true(fabs(reach.forged - 2.5 / 9) < 1e-12);
    assert_true(fabs(reach.answered - 1.5 / 9) < 1e-12);
    liars_reach(&ends, 0.5, 0.1, 0.5, &reach); /* all about one book */
    assert_true(fabs(reach.forged - 2) < 1e-12);
    assert_true(fabs(reach.answered - 1.0 / 9) < 1e-12);
    liars_reach(&ends, 0.5, 0.1, 1, &reach);
    assert_true(isinf(reach.forged) && isfinite(reach.answered));
}

/* ---- Campaigns of every channel ------------------------------------------ */

struct campaign {
    struct sotto_mechanism *mechanism;
    size_t size, rows, margins;
    uint8_t report[HONEST][SIZE_MOST];
    uint8_t candidate[CANDIDATES][SIZE_MOST];
};

/* What is seen of some reports: estimates, then margins. */
struct seen {
    struct sotto_estimate *estimate;
    struct sotto_margins *margins;
};

static struct seen
begin(const struct campaign *campaign)
{
    struct seen seen;
    assert_int_equal(
        sotto_estimate_new(campaign->mechanism, &seen.estimate, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_margins_new(campaign->mechanism, &seen.margins, &err),
        SOTTO_STATUS_OK);
    return seen;
}

static void
add(struct seen *seen, const uint8_t *report)
{
    sotto_estimate_add(seen->estimate, report);
    sotto_margins_add(seen->margins, report);
}

static void
end(struct seen *seen)
{
    sotto_estimate_free(seen->estimate);
    sotto_margins_free(seen->margins);
}

static struct sotto_estimate_row
row_of(const struct campaign *campaign, const struct seen *seen, size_t i)
{
    struct sotto_estimate_row row;
    if (i < campaign->rows) {
        sotto_estimate_row(seen->estimate, i, 1.96, &row);
    } else {
        sotto_margins_row(seen->margins, i - campaign->rows, 1.96, &row);
    }
    return row;
}

static double
forged_of(const struct campaign *campaign, const struct seen *seen, size_t i)
{
    struct sotto_reach reach;
    if (i < campaign->rows) {
        sotto_estimate_reach(seen->estimate, i, SHARE, &reach);
    } else {
        sotto_margins_reach(seen->margins, i - campaign->rows, SHARE, &reach);
    }
    return reach.forged;
}

/* Writes the numbers of a part as large as a valid report may have them, of the
   signs that the bits of `turn` say. */
static void
write_ends(const struct sotto_mechanism *mechanism, size_t part, unsigned turn,
           uint8_t *report)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    const struct likelihood_instance *from = &mechanism->likelihood[part];
    const char *name = own->instance->channel->name;
    int64_t most = (int64_t)from->most, values[8];
    if (!own->numbers) {
        return;
    }
    if (strcmp(name, "duchi") == 0) {
        most = 1;
    } else if (strcmp(name, "window") == 0) {
        most = llround(from->most * from->own[0]);
    }
    for (size_t block = 0; block < own->blocks; block++) {
        for (size_t i = 0; i < own->instance->size; i++) {
            values[i] = (turn >> i & 1) != 0 ? -most : most;
        }
        assert_true(from->likelihood->pack(
            from, values,
            report + shape_offset(&mechanism->shape, part, block)));
    }
}

/* Reports that a liar may choose among: of other people, some with all numbers
   at their ends. */
static void
make_candidates(struct campaign *campaign,
                void (*make)(struct campaign *, uint64_t, uint8_t *))
{
    for (size_t i = 0; i < CANDIDATES; i++) {
        make(campaign, 1000000 + i, campaign->candidate[i]);
        for (size_t p = 0; i < 64 && p < campaign->mechanism->shape.parts;
             p++) {
            write_ends(campaign->mechanism, p, (unsigned)i,
                       campaign->candidate[i]);
        }
        assert_true(report_valid(campaign->mechanism->device.report,
                                 campaign->candidate[i], campaign->size));
    }
}

/* The candidates that pull a row down and up most. */
struct choice {
    size_t low, high;
};

/* What an estimate of one report comes to; NaN: it is not about that row. */
static double
say(const struct campaign *campaign, size_t candidate, size_t i)
{
    struct seen seen = begin(campaign);
    add(&seen, campaign->candidate[candidate]);
    struct sotto_estimate_row row = row_of(campaign, &seen, i);
    end(&seen);
    return isfinite(row.noise_deviation) ? row.value : NAN;
}

static struct choice
choose(const struct campaign *campaign, size_t i)
{
    struct choice choice = {0, 0};
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < CANDIDATES; c++) {
        double value = say(campaign, c, i);
        if (value < low) {
            low = value;
            choice.low = c;
        }
        if (value > high) {
            high = value;
            choice.high = c;
        }
    }
    return choice;
}

/*
 * How far the liars' estimate is from what the honest say, over the reach: no
 * more than 1, by what is printed before and after. Of a share also how far it
 * is from what all would have said, if all the liars would have said the
 * opposite: that is farther.
 */
static double
attack(const struct campaign *campaign, const struct seen *honest, size_t i,
       size_t candidate)
{
    struct sotto_estimate_row before = row_of(campaign, honest, i), after;
    struct seen all = begin(campaign);
    double reach, moved, lie = say(campaign, candidate, i);
    for (size_t j = 0; j < HONEST; j++) {
        add(&all, campaign->report[j]);
    }
    for (size_t j = 0; j < LIARS; j++) {
        add(&all, campaign->candidate[candidate]);
    }
    after = row_of(campaign, &all, i);
    reach = forged_of(campaign, &all, i);
    end(&all);
    assert_true(isfinite(reach) && !isnan(lie));
    moved = fabs(after.value - before.value);
    assert_true(moved <= reach * (1 + 1e-9));
    assert_true(moved <= forged_of(campaign, honest, i) * (1 + 1e-9));
    if (before.category != NULL) {
        double share = moved / fabs(lie - before.value);
        moved = share * fabs(lie - (lie > before.value ? 0 : 1));
        assert_true(moved <= reach * (1 + 1e-9));
    }
    return moved / reach;
}

static void
check_campaign(const struct compose_spec *spec,
               void (*make)(struct campaign *, uint64_t, uint8_t *),
               double least)
{
    static struct campaign campaign;
    struct seen honest;
    campaign.mechanism = fixture_open(spec);
    campaign.size = campaign.mechanism->shape.report_size;
    assert_true(campaign.size <= SIZE_MOST);
    honest = begin(&campaign);
    campaign.rows = sotto_estimate_rows(honest.estimate);
    campaign.margins = sotto_margins_rows(honest.margins);
    for (size_t i = 0; i < HONEST; i++) {
        make(&campaign, i, campaign.report[i]);
        add(&honest, campaign.report[i]);
    }
    make_candidates(&campaign, make);
    for (size_t i = 0; i < campaign.rows + campaign.margins; i++) {
        struct choice choice = choose(&campaign, i);
        double down = attack(&campaign, &honest, i, choice.low);
        double up = attack(&campaign, &honest, i, choice.high);
        if (fmax(down, up) < least) {
            fail_msg("%s, row %zu: %g and %g of the reach", spec->name, i, down,
                     up);
        }
    }
    end(&honest);
    sotto_mechanism_free(campaign.mechanism);
}

static void
make_plain(struct campaign *campaign, uint64_t stream, uint8_t *report)
{
    static const uint8_t pixels[2] = {100, 150};
    struct sotto_value values[FIXTURE_COLUMNS];
    fixture_record(54, pixels, stream % 4 == 0 ? "red" : "blue",
                   stream % 3 == 0 ? "yes" : "no", values);
    assert_int_equal(sotto_simulate(campaign->mechanism, 3, stream, values,
                                    FIXTURE_COLUMNS, report, campaign->size),
                     SOTTO_STATUS_OK);
}

static void
make_numbers(struct campaign *campaign, uint64_t stream, uint8_t *report)
{
    static const uint8_t bytes[2] = {127, 128};
    struct sotto_value values[6];
    for (size_t i = 0; i < 6; i++) {
        values[i] = (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                         .number = stream % 2 == 0 ? 0 : 2};
    }
    values[2] = (struct sotto_value){SOTTO_VALUE_BYTES, 0, bytes, 2};
    assert_int_equal(sotto_simulate(campaign->mechanism, 4, stream, values, 6,
                                    report, campaign->size),
                     SOTTO_STATUS_OK);
}

/* Shares and means of laplace, subset and flip, and margins; then gaussian,
   duchi and window. What is missing to 1 is that there are 19 honest ones to
   each liar, and that means of the honest are not at the end of the range. */
static void
test_campaigns(void **state)
{
    (void)state;
    check_campaign(&fixture_plain, make_plain, 0.9);
    check_campaign(&fixture_numbers, make_numbers, 0.5);
}

/* ---- Codebooks: the lot is the liar's -------------------------------------
 */

static const struct schema_column book_columns[] = {
    {"pixels", SOTTO_COLUMN_BYTES, 6, NULL, false, 127.5, 1 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 0}};
static const struct compose_part book_part = {
    .covers = "both",
    .channel = "subset",
    .eps = 2 * DECIMAL_UNIT,
    .blocks = 1,
    .factor = {{false, 0, 2}, {true, 1}},
    .factors = 2,
    .books = 3};
static const struct compose_spec book_spec = {.name = "books",
                                              .campaign = "spring",
                                              .auxiliary = "none",
                                              .eps = 2 * DECIMAL_UNIT,
                                              .column = book_columns,
                                              .columns = 2,
                                              .part = &book_part,
                                              .parts = 1};

static void
make_book(struct campaign *campaign, uint64_t stream, uint8_t *report)
{
    static const uint8_t pixels[6] = {9, 1, 1, 9, 1, 9};
    struct sotto_value values[2] = {
        {SOTTO_VALUE_BYTES, 0, pixels, sizeof pixels},
        {SOTTO_VALUE_TEXT, 0, stream % 4 == 0 ? "yes" : "no",
         stream % 4 == 0 ? 3 : 2}};
    assert_int_equal(sotto_simulate(campaign->mechanism, 5, stream, values, 2,
                                    report, campaign->size),
                     SOTTO_STATUS_OK);
}

static void
test_books(void **state)
{
    (void)state;
    check_campaign(&book_spec, make_book, 0.8);
}

/* ---- Numbers that some do not have --------------------------------------- */

static void
make_gap(struct campaign *campaign, uint64_t stream, uint8_t *report)
{
    struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER, .number = 4};
    if (stream % 4 == 0) {
        value.kind = SOTTO_VALUE_MISSING;
    }
    assert_int_equal(sotto_simulate(campaign->mechanism, 6, stream, &value, 1,
                                    report, campaign->size),
                     SOTTO_STATUS_OK);
}

/* A mean of those who have a value, at an epsilon at which it can be told: by
   liars at any corner. At a smaller one nothing is left of it. */
static void
test_ratio(void **state)
{
    static struct campaign campaign;
    const struct schema_column column = {.name = "n",
                                         .kind = SOTTO_COLUMN_NUMBER,
                                         .count = 1,
                                         .shift = 5,
                                         .scale = 0.2,
                                         .missing = true};
    struct compose_part part =
        NUMBER_PART("features", "laplace", 16 * DECIMAL_UNIT, 1, 0, 2, 100, 0);
    struct compose_spec spec = {.name = "gap",
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = 16 * DECIMAL_UNIT,
                                .column = &column,
                                .columns = 1,
                                .part = &part,
                                .parts = 1};
    double most = 0;
    struct seen honest;
    (void)state;
    campaign.mechanism = fixture_open(&spec);
    campaign.size = campaign.mechanism->shape.report_size;
    honest = begin(&campaign);
    campaign.rows = sotto_estimate_rows(honest.estimate);
    assert_int_equal(campaign.rows, 2);
    for (size_t i = 0; i < HONEST; i++) {
        make_gap(&campaign, i, campaign.report[i]);
        add(&honest, campaign.report[i]);
    }
    make_candidates(&campaign, make_gap);
    for (size_t i = 0; i < 4; i++) {
        most = fmax(most, attack(&campaign, &honest, 0, i));
    }
    assert_true(most >= 0.5);
    end(&honest);
    sotto_mechanism_free(campaign.mechanism);

    spec.eps = part.eps = DECIMAL_UNIT;
    campaign.mechanism = fixture_open(&spec);
    honest = begin(&campaign);
    for (size_t i = 0; i < HONEST; i++) {
        make_gap(&campaign, i, campaign.report[i]);
        add(&honest, campaign.report[i]);
    }
    struct sotto_reach reach;
    sotto_estimate_reach(honest.estimate, 0, SHARE, &reach);
    assert_true(isinf(reach.forged));
    assert_true(reach.answered > 0 && reach.answered <= 10 + 1e-9);
    sotto_estimate_reach(honest.estimate, 0, 0, &reach);
    assert_true(reach.forged == 0 && reach.answered == 0);
    end(&honest);
    sotto_mechanism_free(campaign.mechanism);
}

/* ---- Quantiles and bins -------------------------------------------------- */

static struct sotto_distribution *
collect(const struct campaign *campaign, size_t liars, const uint8_t *lie)
{
    struct sotto_distribution *distribution = NULL;
    assert_int_equal(
        sotto_distribution_new(campaign->mechanism, 0, 4, &distribution, &err),
        SOTTO_STATUS_OK);
    for (size_t i = 0; i < HONEST; i++) {
        sotto_distribution_add(distribution, campaign->report[i]);
    }
    for (size_t i = 0; i < liars; i++) {
        sotto_distribution_add(distribution, lie);
    }
    return distribution;
}

static void
make_number(struct campaign *campaign, uint64_t stream, uint8_t *report)
{
    struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER,
                                .number = (double)(stream % 10)};
    assert_int_equal(sotto_simulate(campaign->mechanism, 8, stream, &value, 1,
                                    report, campaign->size),
                     SOTTO_STATUS_OK);
}

/* All liars at either end, or all in the middle: no quantile and no share of a
   bin moves by more than is printed, and some do by a tenth of the range. */
static void
test_distribution(void **state)
{
    static struct campaign campaign;
    static const double levels[] = {0.1, 0.5, 0.9};
    const struct schema_column column = {.name = "n",
                                         .kind = SOTTO_COLUMN_NUMBER,
                                         .count = 1,
                                         .shift = 5,
                                         .scale = 0.2};
    const struct compose_part part =
        NUMBER_PART("features", "laplace", 8 * DECIMAL_UNIT, 1, 0, 1, 100, 0);
    const struct compose_spec spec = {.name = "number",
                                      .campaign = "spring",
                                      .auxiliary = "none",
                                      .eps = 8 * DECIMAL_UNIT,
                                      .column = &column,
                                      .columns = 1,
                                      .part = &part,
                                      .parts = 1};
    struct sotto_distribution *honest, *all;
    struct sotto_distribution_row before, after;
    struct sotto_reach reach;
    double moved = 0;
    (void)state;
    campaign.mechanism = fixture_open(&spec);
    campaign.size = campaign.mechanism->shape.report_size;
    for (size_t i = 0; i < HONEST; i++) {
        make_number(&campaign, i, campaign.report[i]);
    }
    make_candidates(&campaign, make_number);
    honest = collect(&campaign, 0, NULL);
    for (size_t lie = 0; lie < 2; lie++) {
        all = collect(&campaign, LIARS, campaign.candidate[lie]);
        for (size_t i = 0; i < 3; i++) {
            sotto_distribution_quantile(honest, levels[i], 1.96, &before);
            sotto_distribution_quantile(all, levels[i], 1.96, &after);
            sotto_distribution_quantile_reach(all, levels[i], SHARE, &reach);
            assert_true(fabs(after.value - before.value) <= reach.forged);
            assert_true(reach.forged <= 10 && reach.answered <= reach.forged);
            moved = fmax(moved, fabs(after.value - before.value));
            sotto_distribution_quantile_reach(honest, levels[i], SHARE, &reach);
            assert_true(fabs(after.value - before.value) <= reach.forged);
        }
        for (size_t i = 0; i < 4; i++) {
            sotto_distribution_bin(honest, i, 1.96, &before);
            sotto_distribution_bin(all, i, 1.96, &after);
            sotto_distribution_bin_reach(all, i, SHARE, &reach);
            assert_true(fabs(after.value - before.value) <= reach.forged);
            assert_true(reach.forged <= 1 && reach.answered <= SHARE);
        }
        sotto_distribution_free(all);
    }
    assert_true(moved > 0.3);
    sotto_distribution_free(honest);
    sotto_mechanism_free(campaign.mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_domains_exactly),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_campaigns),
        cmocka_unit_test(test_books),
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
