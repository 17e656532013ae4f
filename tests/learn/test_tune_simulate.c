/*
 * test_tune_simulate.c: tuning on a table: a candidate that learns beats one
 * that hardly does, and the oracle sees what the table says.
 */
#include "learn_fixture.h"

#include "learn/tune.h"

#define ROWS 800u

/* The label is the sign of a. */
static struct sotto_table *
line_rows(uint64_t seed)
{
    char *text = malloc(64 + 32 * ROWS), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,label\n");
    for (size_t i = 0; i < ROWS; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        at += sprintf(at, "%.3f,%s\n", a, a > 0 ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

static void
test_simulate(void **state)
{
    /* reports at 16 tell of the record, at 0.01 nothing */
    struct sotto_mechanism *mechanism[] = {
        open_line(DECIMAL_UNIT / 100, 8 * DECIMAL_UNIT),
        open_line(16 * DECIMAL_UNIT, 8 * DECIMAL_UNIT)};
    static const char *const path[] = {"little", "much"};
    static const struct sotto_setting grid[] = {{"epochs", "1,60"}};
    const struct sotto_tune_options options = {.mechanism = mechanism,
                                               .path = path,
                                               .mechanisms = 2,
                                               .grid = grid,
                                               .grids = 1,
                                               .eps = "2",
                                               .train = 0.5,
                                               .final = 0.2};
    struct sotto_table *table = line_rows(1), *aux = line_rows(2);
    struct sotto_tune_people people = {
        .table = table, .aux = aux, .people = 4000, .seed = 3, .threads = 1};
    struct sotto_tune_simulation *simulation = NULL;
    struct sotto_tune_outcome outcome, again;
    struct sotto_tune *tune = NULL;
    double best = 0;
    (void)state;
    must(sotto_tune_simulation_new(&options, &people, &simulation, &err));
    for (size_t i = 0; i < 4; i++) {
        best = fmax(best, sotto_tune_simulation_clean(simulation, i));
    }
    assert_true(best > 0.9);
    must(sotto_tune_simulation_run(simulation, 5, &outcome, &tune, &err));
    assert_true(outcome.best == best);
    assert_true(outcome.clean ==
                sotto_tune_simulation_clean(simulation, outcome.winner));
    assert_true(best - outcome.clean < 0.1);
    /* everybody was asked once: those who reported by another key */
    assert_true(fabs((double)(outcome.reports + outcome.choosing +
                              outcome.final.reports) -
                     4000) < 250);
    assert_true(fabs(outcome.final.share - outcome.clean) <
                5 * outcome.final.error);
    must(sotto_tune_simulation_run(simulation, 5, &again, NULL, &err));
    assert_int_equal(again.final.yes, outcome.final.yes);
    assert_int_equal(again.winner, outcome.winner);
    sotto_tune_free(tune);
    sotto_tune_simulation_free(simulation);

    /* Nobody left for a mechanism, or no rows. */
    people.people = 1;
    simulation = NULL;
    assert_int_equal(
        sotto_tune_simulation_new(&options, &people, &simulation, &err),
        SOTTO_STATUS_INPUT);
    assert_null(simulation);
    sotto_table_free(table);
    people.table = table = table_of("a,label\n1,yes\n");
    assert_int_equal(
        sotto_tune_simulation_new(&options, &people, &simulation, &err),
        SOTTO_STATUS_INPUT);
    sotto_table_free(table);
    sotto_table_free(aux);
    sotto_mechanism_free(mechanism[0]);
    sotto_mechanism_free(mechanism[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulate),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
