/*
 * train_kinds.c: the kinds of sotto train, and the options that each takes.
 *
 * What a trained kind takes is what the library says that it has settings for;
 * two more kinds are made from a model.
 */
#include "verb/train_kinds.h"

#include <string.h>

#include "verb/setting_options.h"

#define OPTION_MODEL                                                           \
    {                                                                          \
        0, false, false, "model", "MODEL",                                     \
            "the model of a codebook that is to classify what\nis sent"        \
    }

/* ---- Kinds that are made from a model -------------------------------------
 */

static const struct {
    const char *name, *about;
    struct cli_option options[3];
} from_model[] = {
    {"code",
     "from --model, for private inference: the code alone, by flip or\nsubset.",
     {OPTION_MODEL,
      {0, false, false, "channel", "CHANNEL",
       "flip or subset (the one the model expects more\nof)"},
      CLI_OPTION_END}},
    {"class",
     "from --model: what its network says, computed on the device, by\nflip.",
     {OPTION_MODEL, CLI_OPTION_END, CLI_OPTION_END}},
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

/* ---- All of them ----------------------------------------------------------
 */

const char *
train_kind_at(size_t i)
{
    struct sotto_train_kind kind;
    size_t trained = 0;
    if (sotto_train_kind_at(i, &kind)) {
        return kind.name;
    }
    while (sotto_train_kind_at(trained, &kind)) {
        trained++;
    }
    return i - trained < FROM_MODEL ? from_model[i - trained].name : NULL;
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

bool
train_has_setting(const char *kind, const char *name)
{
    struct sotto_setting_info setting;
    for (size_t i = 0; sotto_train_setting_at(kind, i, &setting); i++) {
        if (strcmp(setting.name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Their options --------------------------------------------------------
 */

static bool
add_kind(struct setting_options *options, const char *name,
         const char **ret_about)
{
    struct sotto_train_kind kind;
    struct sotto_setting_info setting;
    size_t at = find_from_model(name);
    if (at < FROM_MODEL) {
        *ret_about = from_model[at].about;
        for (const struct cli_option *o = from_model[at].options;
             o->name != NULL; o++) {
            setting_options_add(options, o);
        }
        return true;
    }
    if (!train_kind_find(name, &kind)) {
        return false;
    }
    *ret_about = kind.about;
    for (size_t i = 0; sotto_train_setting_at(name, i, &setting); i++) {
        setting_options_put(options, &setting);
    }
    return true;
}

static const struct cli_option *
options_of(const char *word, const char **ret_about)
{
    static struct setting_options of_all, of_one;
    if (word == NULL) {
        bool made = of_all.count > 0;
        for (size_t i = 0; !made && train_kind_at(i) != NULL; i++) {
            (void)add_kind(&of_all, train_kind_at(i), ret_about);
        }
        return of_all.option;
    }
    memset(&of_one, 0, sizeof of_one);
    return add_kind(&of_one, word, ret_about) ? of_one.option : NULL;
}

/* What is for every kind; what trained ones have beside; and what only those
   have that make something for the analyst. */
static bool
takes(const char *word, const char *option)
{
    static const char *const all[] = {"eps", "output", "json", "help"};
    struct sotto_train_kind kind;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(option, all[i]) == 0) {
            return true;
        }
    }
    if (!train_kind_find(word, &kind)) {
        return false;
    }
    return kind.analyst != NULL ||
           (strcmp(option, "analyst") != 0 && strcmp(option, "threads") != 0);
}

const struct cli_word train_words = {train_kind_at, options_of, takes, NULL};
