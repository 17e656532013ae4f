/*
 * train_kinds.c: the kinds of sotto train, and the options that each takes.
 *
 * What a trained kind takes is what the library says that it has settings for;
 * more kinds are made from a model, each a row here.
 */
#include "verb/train_kinds.h"

#include <string.h>

#include "cli/setting_options.h"

#define OPTION_MODEL                                                           \
    {                                                                          \
        0, false, false, "model", "MODEL",                                     \
            "the model (code, class: of a codebook) that is to\nclassify "     \
            "what is sent"                                                     \
    }

/* ---- Kinds that are made from a model -------------------------------------
 */

static const struct train_model_kind from_model[] = {
    {"code",
     train_code,
     "from --model, for private inference: the code alone, by flip or\nsubset. "
     "With --recut the codes are cut anew.",
     " data header threads ",
     true,
     {OPTION_MODEL,
      {0, false, false, "channel", "CHANNEL",
       "flip or subset (the one the model expects more\nof)"},
      {0, false, false, "recut", "N.model",
       "cut other codes than were learnt from, from the\nrecords of --data; "
       "they are sent by flip, and this\nmodel, which is written, classifies "
       "them"},
      {0, false, false, "k", "N",
       "with --recut: how many codes (the number of which\nthe model expects "
       "most)"},
      {0, false, false, "cells", "N",
       "with --recut: small cells that codes are put\ntogether from (500, or "
       "one for 20 records)"},
      {0, false, false, "seed", "S", "with --recut: of the cells (0)"},
      CLI_OPTION_END}},
    {"class",
     train_class,
     "from --model: what its network says, computed on the device, by\nflip.",
     "",
     true,
     {OPTION_MODEL, CLI_OPTION_END}},
    {"right",
     train_right,
     "from --model, to ask people whether it is right about them: yes or\nno, "
     "by flip. See sotto choose.",
     " label ",
     false,
     {OPTION_MODEL,
      {0, false, false, "network", "N",
       "which of the model's networks, from 1 (the one it\nhas)"},
      CLI_OPTION_END}},
};
#define FROM_MODEL (sizeof from_model / sizeof *from_model)

static size_t
find_from_model(const char *name)
{
    size_t i = 0;
    while (i < FROM_MODEL && strcmp(from_model[i].name, name) != 0) {
        i++;
    }
    return i;
}

const struct train_model_kind *
train_model_find(const char *name)
{
    size_t at = find_from_model(name);
    return at < FROM_MODEL ? &from_model[at] : NULL;
}

/* ---- All of them ----------------------------------------------------------
 */

const char *
train_kind_at(size_t i, const char **ret_about)
{
    struct sotto_train_kind kind;
    size_t trained = 0;
    if (sotto_train_kind_at(i, &kind)) {
        *ret_about = kind.about;
        return kind.name;
    }
    while (sotto_train_kind_at(trained, &kind)) {
        trained++;
    }
    if (i - trained >= FROM_MODEL) {
        return NULL;
    }
    *ret_about = from_model[i - trained].about;
    return from_model[i - trained].name;
}

bool
train_kind_find(const char *name, struct sotto_train_kind *ret_kind)
{
    for (size_t i = 0; sotto_train_kind_at(i, ret_kind); i++) {
        if (strcmp(ret_kind->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Their options --------------------------------------------------------
 */

static void
add_kind(struct setting_options *options, const char *name)
{
    struct sotto_setting_info setting;
    size_t at = find_from_model(name);
    for (const struct cli_option *o = at < FROM_MODEL ? from_model[at].options
                                                      : NULL;
         o != NULL && o->name != NULL; o++) {
        setting_options_add(options, o);
    }
    for (size_t i = 0; sotto_train_setting_at(name, i, &setting); i++) {
        setting_options_put(options, &setting);
    }
}

static const struct cli_option *
options_of(const char *word)
{
    static struct setting_options of_all, of_one;
    const char *kind, *about;
    if (word == NULL) {
        bool made = of_all.count > 0;
        for (size_t i = 0; !made && (kind = train_kind_at(i, &about)) != NULL;
             i++) {
            add_kind(&of_all, kind);
        }
        return of_all.option;
    }
    memset(&of_one, 0, sizeof of_one);
    add_kind(&of_one, word);
    return of_one.option;
}

/* What is for every kind; what trained ones have beside; and what only those
   have that make something for the analyst. */
static bool
takes(const char *word, const char *option)
{
    static const char *const all[] = {"eps", "expires", "output", "force"};
    struct sotto_train_kind kind;
    char blanks[64];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(option, all[i]) == 0) {
            return true;
        }
    }
    if (!train_kind_find(word, &kind)) {
        size_t at = find_from_model(word);
        (void)snprintf(blanks, sizeof blanks, " %s ", option);
        return at < FROM_MODEL && strstr(from_model[at].also, blanks) != NULL;
    }
    return kind.analyst != NULL ||
           (strcmp(option, "analyst") != 0 && strcmp(option, "threads") != 0);
}

/* The example of a kind whose row has settings for one. */
static const char *
example_of(const char *word)
{
    static char text[400];
    struct sotto_train_kind kind;
    size_t size;
    if (!train_kind_find(word, &kind) || kind.example == NULL) {
        return NULL;
    }
    size = (size_t)snprintf(text, sizeof text,
                            "sotto train %s --data data/wdbc.csv --label "
                            "diagnosis --eps 8 \\\n   ",
                            word);
    for (const char *at = kind.example; *at != '\0'; at += strspn(at, " ")) {
        int name = (int)strcspn(at, "="), all = (int)strcspn(at, " ");
        size +=
            (size_t)snprintf(text + size, sizeof text - size, " --%.*s %.*s",
                             name, at, all - name - 1, at + name + 1);
        at += all;
    }
    (void)snprintf(text + size, sizeof text - size, " -o wdbc-%s.sotto\n",
                   word);
    return text;
}

const struct cli_word train_words = {.at = train_kind_at,
                                     .of = options_of,
                                     .takes = takes,
                                     .example = example_of};
