/*
 * settings.h: what can be set of a thing, as a table beside the thing.
 *
 *     struct own {
 *         uint32_t epochs;
 *         double rate;
 *     };
 *     static const struct setting settings[] = {
 *         {.name = "epochs", SETTING_WHOLE, offsetof(struct own, epochs), 1,
 * 1e6, "60", "passes over the data"},
 *         {.name = "rate", SETTING_NUMBER, offsetof(struct own, rate), 1e-9,
 * 10, "0.001", "Adam's rate"}, SETTING_END};
 *
 * A setting is one row and one field. Its default, its check, the command line,
 * its help, the man page's check, the facts in JSON and the keys of checkpoints
 * and caches all read the row. Messages name the setting as the row does; the
 * program adds the dashes.
 */
#ifndef SOTTO_HOST_SETTINGS_H
#define SOTTO_HOST_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/text.h"
#include "sotto/client.h"

enum setting_kind {                 /* and the field it fills */
                    SETTING_WHOLE,  /* uint32_t, from low to high */
                    SETTING_SEED,   /* uint64_t, any */
                    SETTING_NUMBER, /* double, from low to high */
                    SETTING_FLAG,   /* bool; takes no value */
                    SETTING_WORD,   /* const char *: one of those in `value` */
                    SETTING_TEXT,   /* const char * */
                    SETTING_LIST, /* struct setting_list, each from low to high
                                   */
                    SETTING_MANY  /* size_t: how often it was given; its owner
                                     reads the  texts */
};

#define SETTING_LIST_MAX 15u

struct setting_list {
    uint32_t value[SETTING_LIST_MAX];
    size_t count; /* 0: not set */
};

struct setting {
    const char *name; /* letters and dashes */
    enum setting_kind kind;
    size_t offset; /* of its field */
    double low, high;
    const char *initial; /* text of the default; NULL: the field stays 0, and
                            `help` says in parentheses what that means */
    const char *help;    /* a line or more */
    const char *value;   /* what the value is called, of a word all it may be,
                            as "cnn|mlp"; NULL: by its kind */
    bool late; /* it decides what is made of what was trained, not the training:
                  not in a checkpoint's key */
};

#define SETTING_END                                                            \
    {                                                                          \
        .name = NULL                                                           \
    }

/* The row of that name; NULL: there is none. */
const struct setting *settings_find(const struct setting *table,
                                    const char *name);
/* Sets every field to its default. */
void settings_init(const struct setting *table, void *own);
/*
 * Reads a value into its field. A word or a text stays the caller's, and must
 * outlive `own`. A flag takes NULL, "" or "yes", and "no". Statuses: USAGE (no
 * such setting, or no such value: nothing is changed).
 */
SOTTO_CHECKED enum sotto_status settings_put(const struct setting *table,
                                             void *own, const char *name,
                                             const char *text,
                                             struct sotto_error *err);
/* Reads a finite decimal number that is all of `text`. */
bool setting_read_number(const char *text, double *ret_value);
/* Fails with USAGE: the subject is the setting, and the message is "NAME" and
   what follows. */
__attribute__((format(printf, 3, 4))) enum sotto_status
settings_fail(struct sotto_error *err, const char *name, const char *format,
              ...);

/*
 * Adds all settings, or those that are not late, in their canonical form:
 * "epochs=60 rate=0.001 hidden=400,150,50 linear=yes". What has no default and
 * was not given is left out. Equal settings have equal texts, however they were
 * written.
 */
void settings_text(const struct setting *table, const void *own, bool late,
                   struct host_text *text);

/* What its value is called in a help: "N", "cnn|mlp"; NULL for a flag. */
const char *setting_value_name(const struct setting *setting);

#endif
