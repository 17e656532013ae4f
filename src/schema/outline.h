/*
 * outline.h: a schema as people see it: what the columns of a table are.
 *
 * Apart from struct schema (column.h), which is what a device does with them.
 */
#ifndef SOTTO_SCHEMA_OUTLINE_H
#define SOTTO_SCHEMA_OUTLINE_H

#include "sotto/schemas.h"

#define OUTLINE_VALUES_MOST ((size_t)1024)
#define OUTLINE_RANGE_MOST 1e30 /* no real quantity's range ends beyond */

struct sotto_schema {
    struct sotto_schema_column *column;
    void **block; /* the texts of each column */
    size_t columns, room, block_room;
    struct sotto_schema_problem *problem;
    size_t problems, problem_room;
    bool is_public;
};

/* An empty one; NULL for lack of memory. */
struct sotto_schema *outline_new(void);
/* Adds a copy of a column. False for lack of memory. */
bool outline_add(struct sotto_schema *schema,
                 const struct sotto_schema_column *column);
/* Adds a problem, which outline_rank puts in order. Likewise. */
bool outline_complain(struct sotto_schema *schema,
                      const struct sotto_schema_problem *problem);
void outline_rank(struct sotto_schema *schema);
/* Whether a column has what its type needs to be used. */
bool outline_usable(const struct sotto_schema_column *column);

#endif
