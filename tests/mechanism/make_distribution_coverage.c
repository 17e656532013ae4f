/*
 * make_distribution_coverage.c: how often the intervals of decode's quantiles
 * and histograms hold the truth: a CSV on standard output.
 *
 *     make_distribution_coverage REPETITIONS PEOPLE
 *
 * As make_missing_coverage.c: people drawn from a made-up population, reports
 * as devices make them but by a seeded generator, 95% intervals of the library.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/random.h"
#include "random/seeded.h"
#include "sotto/sotto.h"

#define POPULATION 100000u
#define BINS 4u
#define LEVELS 3u
#define HIGH 800.0
#define Z 1.959963984540054
#define SEED UINT64_C(20240301)

static const double levels[LEVELS] = {0.1, 0.5, 0.9};

struct scenario {
    const char *channel, *eps;
    bool missing; /* half, the larger the likelier */
    bool atoms;   /* few different values, some on the edges of bins */
};

/* What is true of those who have a value. */
struct population {
    double *value; /* NaN: missing */
    double quantile[LEVELS], share[BINS];
};

static double
uniform(struct seeded *seeded)
{
    return ((double)random_u32(&seeded->random) + 0.5) / 4294967296.0;
}

static double
draw_value(const struct scenario *scenario, struct seeded *seeded)
{
    static const double atoms[] = {0, 0, 0, 200, 200, 330, 330, 330, 400, 800};
    double u = uniform(seeded), v = uniform(seeded);
    if (scenario->atoms) {
        return atoms[(size_t)(10 * u)];
    }
    return fmin(
        HIGH, 140 * exp(0.5 * sqrt(-2 * log(u)) * cos(6.283185307179586 * v)));
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void
population_fill(const struct scenario *scenario, struct population *ret)
{
    double *there = calloc(POPULATION, sizeof *there);
    size_t count = 0;
    struct seeded seeded;
    seeded_init(&seeded, SEED, 1);
    for (size_t i = 0; there != NULL && i < POPULATION; i++) {
        double value = draw_value(scenario, &seeded);
        double chance = fmin(1, value / 280);
        bool gone = scenario->missing && uniform(&seeded) < chance;
        ret->value[i] = gone ? NAN : value;
        if (!gone) {
            there[count++] = value;
        }
    }
    if (there == NULL) {
        exit(1);
    }
    qsort(there, count, sizeof *there, compare);
    for (size_t i = 0; i < LEVELS; i++) {
        ret->quantile[i] = there[(size_t)(levels[i] * (double)count)];
    }
    for (size_t i = 0; i < BINS; i++) {
        ret->share[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        size_t bin = (size_t)(there[i] / HIGH * BINS);
        ret->share[bin < BINS ? bin : BINS - 1] += 1 / (double)count;
    }
    free(there);
}

static void
fail(const struct sotto_error *err)
{
    (void)fprintf(stderr, "make_distribution_coverage: %s\n", err->message);
    exit(1);
}

static struct sotto_mechanism *
train(const struct scenario *scenario)
{
    const struct sotto_setting set[] = {{"range", "value=0:800"},
                                        {"numbers", scenario->channel},
                                        {"missing", "value"}};
    const struct sotto_train_options options = {
        .eps = scenario->eps, .set = set, .sets = scenario->missing ? 3 : 2};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_table *table = NULL;
    struct sotto_error err;
    if (sotto_table_parse("value\n1\n", 8, "-", NULL, &table, &err) !=
            SOTTO_STATUS_OK ||
        sotto_train(table, "direct", &options, NULL, NULL, NULL, &mechanism,
                    &err) != SOTTO_STATUS_OK) {
        fail(&err);
    }
    sotto_table_free(table);
    return mechanism;
}

static bool
holds(const struct sotto_distribution_row *row, double truth)
{
    return row->low <= truth && truth <= row->high;
}

static void
run_campaign(struct sotto_mechanism *mechanism,
             const struct population *population, uint64_t seed, size_t people,
             size_t *covered)
{
    struct sotto_mechanism_info info;
    struct sotto_distribution *distribution = NULL;
    struct sotto_distribution_row row;
    struct sotto_error err;
    struct seeded seeded;
    uint8_t report[256];
    sotto_mechanism_info(mechanism, &info);
    seeded_init(&seeded, seed, 2);
    if (sotto_distribution_new(mechanism, 0, BINS, &distribution, &err) !=
        SOTTO_STATUS_OK) {
        fail(&err);
    }
    for (size_t i = 0; i < people; i++) {
        double value =
            population->value[(size_t)(uniform(&seeded) * POPULATION)];
        struct sotto_value record = {.kind = isnan(value) ? SOTTO_VALUE_MISSING
                                                          : SOTTO_VALUE_NUMBER,
                                     .number = value};
        if (sotto_simulate(mechanism, seed, i, &record, 1, report,
                           info.report_size) != SOTTO_STATUS_OK) {
            fail(&(struct sotto_error){.message = "no report"});
        }
        sotto_distribution_add(distribution, report);
    }
    for (size_t i = 0; i < LEVELS; i++) {
        sotto_distribution_quantile(distribution, levels[i], Z, &row);
        covered[i] += holds(&row, population->quantile[i]) ? 1 : 0;
    }
    for (size_t i = 0; i < BINS; i++) {
        sotto_distribution_bin(distribution, i, Z, &row);
        covered[LEVELS + i] += holds(&row, population->share[i]) ? 1 : 0;
    }
    sotto_distribution_free(distribution);
}

int
main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {{"laplace", "4", false, false},
                                                {"laplace", "4", true, false},
                                                {"laplace", "4", false, true},
                                                {"laplace", "1", false, false}};
    size_t repetitions = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    size_t people = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    struct population population = {
        .value = calloc(POPULATION, sizeof *population.value)};
    if (repetitions == 0 || people < 2 || population.value == NULL) {
        (void)fputs("make_distribution_coverage REPETITIONS PEOPLE\n", stderr);
        return 2;
    }
    (void)puts("channel,eps,people,missing,values,repetitions,q10,q50,q90,bin1,"
               "bin2,bin3,bin4");
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const struct scenario *at = &scenarios[i];
        struct sotto_mechanism *mechanism = train(at);
        size_t covered[LEVELS + BINS] = {0};
        population_fill(at, &population);
        for (size_t j = 0; j < repetitions; j++) {
            run_campaign(mechanism, &population,
                         SEED + ((uint64_t)(i + 1) << 32) + j, people, covered);
        }
        (void)printf("%s,%s,%zu,%s,%s,%zu", at->channel, at->eps, people,
                     at->missing ? "half" : "none",
                     at->atoms ? "five" : "skewed", repetitions);
        for (size_t j = 0; j < LEVELS + BINS; j++) {
            (void)printf(",%zu", covered[j]);
        }
        (void)puts("");
        (void)fflush(stdout);
        sotto_mechanism_free(mechanism);
    }
    free(population.value);
    return 0;
}
