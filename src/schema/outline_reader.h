/*
 * outline_reader.h: what the files that read a schema share.
 *
 *     outline_read.c     keys, columns, the file; faults
 *     outline_words.c    texts and words of a line
 */
#ifndef SOTTO_SCHEMA_OUTLINE_READER_H
#define SOTTO_SCHEMA_OUTLINE_READER_H

#include "schema/outline.h"

struct outline_reader {
    const char *name;
    const char *at, *end; /* of the line that is read */
    size_t line;
    struct sotto_schema *schema;
    /* The column that is being read, if `open`; its texts are the reader's. */
    bool open;
    size_t opened; /* on this line */
    struct sotto_schema_column column;
    unsigned keys, head; /* that were given: of the column, of the file */
    char *text;          /* the column's name */
    char **value;
    size_t value_room;
    bool spoilt; /* the column has a fault: no more is asked of it */
    bool passed; /* a column began */
    size_t faults;
    void (*tell)(void *own, const char *message); /* NULL: nobody asks */
    void *own;
    struct sotto_error fault; /* the one at hand */
    struct sotto_error *err;  /* the first */
};

/* Describes a fault of a line, 0: of none. Always INPUT. */
__attribute__((format(printf, 3, 4))) enum sotto_status
outline_fail(struct outline_reader *r, size_t line, const char *format, ...);

void outline_skip_blanks(struct outline_reader *r);
/* Whether nothing but a comment is left of the line. */
bool outline_at_end(struct outline_reader *r);
/* Takes this character, blanks before it off; false: it is not there. */
bool outline_take(struct outline_reader *r, char wanted);
/* Takes a text that is not empty, for the caller to free. Statuses: INPUT,
   MEMORY. */
SOTTO_CHECKED enum sotto_status
outline_take_text(struct outline_reader *r, const char *what, char **ret_text);
/* Takes one of several words, of which the last is NULL, and gives its place.
   Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status outline_take_word(struct outline_reader *r,
                                                  const char *key,
                                                  const char *const *words,
                                                  size_t *ret_place);

#endif
