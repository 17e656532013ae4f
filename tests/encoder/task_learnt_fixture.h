/*
 * task_learnt_fixture.h: made-up records with a task that needs one direction
 * of ten.
 */
#ifndef SOTTO_TESTS_TASK_LEARNT_FIXTURE_H
#define SOTTO_TESTS_TASK_LEARNT_FIXTURE_H

#include "learnt_fixture.h"

/* Nearly normal, of variance 1. */
static inline double
bell(struct seeded *seeded)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += uniform(seeded);
    }
    return sum;
}

/*
 * x0 to x7 are nearly one number, x8 and x9 are independent of it;
 * y is what these two say together, `sign` whether that is positive, `noise`
 * has nothing to do with them. So what the records have most of is not what y
 * needs.
 */
static inline struct sotto_table *
ten(size_t rows)
{
    size_t room = 256 * (rows + 1), used = 0;
    char *text = malloc(room);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(text);
    seeded_init(&seeded, 4, 0);
    for (size_t j = 0; j < 10; j++) {
        used += (size_t)snprintf(text + used, room - used, "x%zu,", j);
    }
    used += (size_t)snprintf(text + used, room - used, "y,sign,noise\n");
    for (size_t i = 0; i < rows; i++) {
        double last[2] = {0, 0}, common = bell(&seeded), y;
        for (size_t j = 0; j < 10; j++) {
            double x = j < 8 ? common + 0.5 * bell(&seeded) : bell(&seeded);
            last[j % 2] = x;
            used += (size_t)snprintf(text + used, room - used, "%.4f,", x);
        }
        y = 3 + 2 * (last[0] - last[1]) + 0.2 * bell(&seeded);
        used += (size_t)snprintf(text + used, room - used, "%.4f,%s,%.3f\n", y,
                                 y > 3 ? "plus" : "minus", bell(&seeded));
    }
    must(sotto_table_parse(text, used, "ten", NULL, &table, &err));
    free(text);
    return table;
}

/* Settings as the command line gives them. */
struct task_asked {
    struct sotto_setting set[16];
    size_t sets;
    struct sotto_train_options options;
};

static inline void
ask(struct task_asked *asked, const char *name, const char *value)
{
    asked->set[asked->sets++] = (struct sotto_setting){name, value};
    asked->options.set = asked->set;
    asked->options.sets = asked->sets;
}

/* y foretold by a report of one number, in a second. */
static inline struct task_asked
small_asked(void)
{
    static const char *const drop[] = {"sign", "noise"};
    return (struct task_asked){
        .options = {.eps = "4", .drop = drop, .drops = 2, .threads = 1}};
}

#endif
