/*
 * make_missing_coverage.c: how often the intervals of decode hold the truth
 * where values are missing: a CSV on standard output.
 *
 *     make_missing_coverage REPETITIONS PEOPLE
 *
 * A population of made-up values, skewed as a blood value is, of which a share
 * is missing: at random, or the larger the likelier. Each repetition draws
 * people from it, makes their reports as devices do but with a seeded
 * generator, and asks the library for its 95% intervals. The truth is the
 * population's own share, and the mean of those of its values that are there.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/random.h"
#include "random/seeded.h"
#include "sotto/sotto.h"

#define POPULATION 100000u
#define RANGE "0:800"
#define Z 1.959963984540054
#define SEED UINT64_C(20240229)

struct scenario {
    const char *channel, *eps;
    double missing;  /* the share */
    bool not_random; /* the larger, the likelier it is missing */
};

/* The population under one scenario, and what is true of it. */
struct population {
    double *value; /* NaN: missing */
    double mean, share;
};

struct tally {
    size_t covered_mean, covered_share, unbounded;
    double width; /* summed, of bounded ones */
};

/* ---- The population ------------------------------------------------------ */

static double
uniform(struct seeded *seeded)
{
    return ((double)random_u32(&seeded->random) + 0.5) / 4294967296.0;
}

static double
normal(struct seeded *seeded)
{
    double radius = sqrt(-2 * log(uniform(seeded)));
    return radius * cos(6.283185307179586 * uniform(seeded));
}

/* The chance to be missing: `missing` on average; not at random it rises with
   the value's rank r, as (1 + a) missing r^a, or likewise for being there. */
static double
chance_of(const struct scenario *scenario, double rank)
{
    double share = scenario->missing;
    if (!scenario->not_random) {
        return share;
    }
    return share <= 0.5 ? 2 * share * rank : 1 - 2 * (1 - share) * (1 - rank);
}

static void
population_fill(const struct scenario *scenario, struct population *ret)
{
    struct seeded seeded;
    double sum = 0;
    size_t there = 0;
    seeded_init(&seeded, SEED, 1);
    for (size_t i = 0; i < POPULATION; i++) {
        double z = normal(&seeded), value = 140 * exp(0.5 * z);
        double rank = 0.5 * erfc(-z / sqrt(2.0));
        bool gone = uniform(&seeded) < chance_of(scenario, rank);
        ret->value[i] = gone ? NAN : value;
        sum += gone ? 0 : fmin(value, 800);
        there += gone ? 0 : 1;
    }
    ret->mean = sum / (double)there;
    ret->share = 1 - (double)there / POPULATION;
}

/* ---- One campaign -------------------------------------------------------- */

static void
fail(const struct sotto_error *err)
{
    (void)fprintf(stderr, "make_missing_coverage: %s\n", err->message);
    exit(1);
}

static struct sotto_mechanism *
train(const struct scenario *scenario)
{
    const struct sotto_setting set[] = {{"range", "value=" RANGE},
                                        {"missing", "value"},
                                        {"numbers", scenario->channel}};
    const struct sotto_train_options options = {
        .eps = scenario->eps, .set = set, .sets = 3};
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

static void
run_campaign(struct sotto_mechanism *mechanism,
             const struct population *population, uint64_t seed, size_t people,
             struct tally *tally)
{
    struct sotto_mechanism_info info;
    struct sotto_estimate *estimate = NULL;
    struct sotto_estimate_row row;
    struct sotto_error err;
    struct seeded seeded;
    uint8_t report[256];
    sotto_mechanism_info(mechanism, &info);
    seeded_init(&seeded, seed, 2);
    if (sotto_estimate_new(mechanism, &estimate, &err) != SOTTO_STATUS_OK) {
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
        sotto_estimate_add(estimate, report);
    }
    sotto_estimate_row(estimate, 0, Z, &row);
    tally->unbounded += row.unbounded ? 1 : 0;
    tally->covered_mean +=
        row.low <= population->mean && population->mean <= row.high ? 1 : 0;
    tally->width += row.unbounded ? 0 : row.high - row.low;
    sotto_estimate_row(estimate, 1, Z, &row);
    tally->covered_share +=
        row.low <= population->share && population->share <= row.high ? 1 : 0;
    sotto_estimate_free(estimate);
}

/* ---- All of it ----------------------------------------------------------- */

static void
run_scenario(const struct scenario *scenario, struct population *population,
             uint64_t seed, size_t repetitions, size_t people)
{
    struct sotto_mechanism *mechanism = train(scenario);
    struct tally tally = {0};
    population_fill(scenario, population);
    for (size_t i = 0; i < repetitions; i++) {
        run_campaign(mechanism, population, seed + i, people, &tally);
    }
    (void)printf("%s,%s,%zu,%.2f,%s,%.4f,%zu,%zu,%zu,%zu,%.1f,%zu\n",
                 scenario->channel, scenario->eps, people, scenario->missing,
                 scenario->not_random ? "by value" : "at random",
                 population->mean, repetitions, tally.covered_mean,
                 tally.unbounded, tally.covered_mean - tally.unbounded,
                 tally.width / (double)(repetitions - tally.unbounded),
                 tally.covered_share);
    (void)fflush(stdout);
    sotto_mechanism_free(mechanism);
}

int
main(int argc, char **argv)
{
    static const char *const kinds[][2] = {
        {"laplace", "4"}, {"laplace", "1"}, {"duchi", "1"}};
    static const double shares[] = {0, 0.1, 0.5, 0.9};
    size_t repetitions = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    size_t people = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    struct population population = {
        .value = calloc(POPULATION, sizeof *population.value)};
    if (repetitions == 0 || people < 2 || population.value == NULL) {
        (void)fputs("make_missing_coverage REPETITIONS PEOPLE\n", stderr);
        return 2;
    }
    (void)puts("channel,eps,people,missing,pattern,mean,repetitions,"
               "mean_covered,mean_unbounded,mean_covered_bounded,mean_width,"
               "share_covered");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < 8; j++) {
            const struct scenario scenario = {kinds[i][0], kinds[i][1],
                                              shares[j / 2], j % 2 == 1};
            if (shares[j / 2] > 0 || j % 2 == 0) {
                run_scenario(&scenario, &population,
                             SEED + ((uint64_t)(8 * i + j + 1) << 32),
                             repetitions, people);
            }
        }
    }
    free(population.value);
    return 0;
}
