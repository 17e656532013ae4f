/*
 * settings.h: what can be set of a thing, as a table beside the thing.
 *
 *     struct own {
 *         uint32_t epochs;
 *         double rate;
 *     };
 *     static const struct setting settings[] = {
 *         SETTING("epochs", WHOLE, offsetof(struct own, epochs), 1, 1e6,
 *                 "60", NULL, "passes over the data"),
 *         SETTING("rate", NUMBER, offsetof(struct own, rate), 1e-9, 10,
 *                 "0.001", NULL, "Adam's rate"),
 *         SETTING_END};
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
#include "sotto/work.h"

enum setting_kind {                 /* and the field it fills */
                    SETTING_WHOLE,  /* uint32_t, from low to high */
                    SETTING_SIZE,   /* size_t, from low to high */
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
    bool needed;   /* there is no default: settings_complete asks for it */
    bool unshared; /* a kind that is made on another does not take it over */
};

/* A row: see struct setting. */
#define SETTING(name_, kind_, at, low_, high_, initial_, value_, help_)        \
    {                                                                          \
        .name = (name_), .kind = SETTING_##kind_, .offset = (at),              \
        .low = (low_), .high = (high_), .initial = (initial_),                 \
        .value = (value_), .help = (help_)                                     \
    }
/* A row of a text that must be given. */
#define SETTING_NEEDED(name_, at, value_, help_)                               \
    {                                                                          \
        .name = (name_), .kind = SETTING_TEXT, .offset = (at),                 \
        .value = (value_), .help = (help_), .needed = true                     \
    }
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
/* Sets every field: to what is given for it, or to its default. Statuses: as
   settings_put, and some fields may have been changed. */
SOTTO_CHECKED enum sotto_status settings_set(const struct setting *table,
                                             void *own,
                                             const struct sotto_setting *set,
                                             size_t sets,
                                             struct sotto_error *err);
/*
 * Completes what a caller filled in by hand: a field that is 0, or NULL, and
 * may not be gets its default; the others must be in their range. Statuses:
 * USAGE.
 */
SOTTO_CHECKED enum sotto_status settings_complete(const struct setting *table,
                                                  void *own,
                                                  struct sotto_error *err);
/* Reads a whole number, digits alone, that is all of `text`. */
bool setting_read_whole(const char *text, uint64_t *ret_value);
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
/* Tells a program of a setting; false for NULL and for a table's end. */
bool setting_tell(const struct setting *setting,
                  struct sotto_setting_info *ret_info);
/* Tells of the i-th setting; false: there are fewer. */
bool settings_tell(const struct setting *table, size_t i,
                   struct sotto_setting_info *ret_info);

#endif
