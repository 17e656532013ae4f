/*
 * task_people.h: people with an age, a wage that rises with it, and a city, and
 * mechanisms made of them for a task.
 */
#ifndef SOTTO_TESTS_TASK_PEOPLE_H
#define SOTTO_TESTS_TASK_PEOPLE_H

#include "learnt_fixture.h"
#include "mechanism/rows.h"

/* One field in `gaps` is missing; 0: none. */
static inline struct sotto_table *
earners(size_t rows, unsigned gaps)
{
    static const char *const cities[] = {"Ulm", "Bonn", "Kiel"};
    size_t room = 64 * (rows + 1), used;
    char *text = malloc(room);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(text);
    seeded_init(&seeded, 8, 0);
    used = (size_t)snprintf(text, room, "age,wage,city\n");
    for (size_t i = 0; i < rows; i++) {
        double age = 20 + 45 * uniform(&seeded);
        double city = 3 * uniform(&seeded);
        double wage = 1000 + 40 * age + 900 * (city < 1) +
                      1500 * (uniform(&seeded) + uniform(&seeded) - 1);
        bool gap = gaps > 0 && uniform(&seeded) * gaps < 1;
        used += (size_t)snprintf(text + used, room - used, "%.1f,", age);
        if (!gap) {
            used += (size_t)snprintf(text + used, room - used, "%.0f", wage);
        }
        used += (size_t)snprintf(text + used, room - used, ",%s\n",
                                 cities[(size_t)city]);
    }
    must(sotto_table_parse(text, used, "earners", NULL, &table, &err));
    free(text);
    return table;
}

/* A file in the test's folder. */
static inline const char *
write_task(const char *text)
{
    static char path[512];
    FILE *file;
    (void)snprintf(path, sizeof path, "%s", in_folder("K.csv"));
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline struct sotto_mechanism *
make_task(const struct sotto_table *table,
          const struct task_linear_options *options,
          struct sotto_train_facts *ret_facts)
{
    struct sotto_mechanism *mechanism = NULL;
    must(train_task_linear(table, options, in_folder("m.sotto"),
                           in_folder("m.analyst"), ret_facts, &mechanism,
                           &err));
    return mechanism;
}

#endif
