/*
 * help.c: a verb's help.
 */
#include <string.h>

#include "cli/setting_options.h"

#define OPTION_WIDTH 24
#define WORD_WIDTH 9

/* Prints text whose every line is indented by `indent` blanks. */
static void
put_indented(FILE *to, const char *text, int indent)
{
    while (*text != '\0') {
        int size = (int)strcspn(text, "\n");
        (void)fprintf(to, "%*s%.*s\n", indent, "", size, text);
        text += size;
        text += *text == '\n' ? 1 : 0;
    }
}

static void
put_option(FILE *to, const struct cli_option *option)
{
    char head[80];
    const char *what = option->what;
    int first = (int)strcspn(what, "\n");
    char letter[5] = "";
    if (option->letter != 0) {
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    (void)snprintf(head, sizeof head, "%s--%s%s%s", letter, option->name,
                   option->value != NULL ? " " : "",
                   option->value != NULL ? option->value : "");
    if (strlen(head) > OPTION_WIDTH) {
        (void)fprintf(to, "  %s\n%*s%.*s\n", head, OPTION_WIDTH + 3, "", first,
                      what);
    } else {
        (void)fprintf(to, "  %-*s %.*s\n", OPTION_WIDTH, head, first, what);
    }
    if (what[first] == '\n') {
        put_indented(to, what + first + 1, OPTION_WIDTH + 3);
    }
}

/* Prints what each word is about. */
static void
put_words(FILE *to, const struct cli_verb *verb)
{
    const char *word, *about;
    (void)fprintf(to, "\n%s is one of:\n",
                  verb->words->what != NULL ? verb->words->what
                                            : verb->wanted[0]);
    for (size_t i = 0; (word = verb->words->at(i, &about)) != NULL; i++) {
        int first;
        if (strlen(word) > WORD_WIDTH) {
            (void)fprintf(to, "  %s\n", word);
            put_indented(to, about, WORD_WIDTH + 4);
            continue;
        }
        first = (int)strcspn(about, "\n");
        (void)fprintf(to, "  %-*s  %.*s\n", WORD_WIDTH, word, first, about);
        put_indented(to, about + first + (about[first] == '\n' ? 1 : 0),
                     WORD_WIDTH + 4);
    }
}

/* Prints those of a verb's own options that must be given, or the others. */
static void
put_own_options(FILE *to, const struct cli_verb *verb, const char *word,
                bool needed)
{
    const struct cli_option *o =
        verb->setting_at != NULL ? setting_options_of(verb->setting_at) : NULL;
    for (; o != NULL && o->name != NULL; o++) {
        if (o->needed == needed) {
            put_option(to, o);
        }
    }
    for (o = verb->options; o->name != NULL; o++) {
        if (o->needed == needed &&
            (word == NULL || verb->words->takes == NULL ||
             verb->words->takes(word, o->name))) {
            put_option(to, o);
        }
    }
}

/* Prints the options: those of the word, those needed, the others. */
static void
put_options(FILE *to, const struct cli_verb *verb, const char *word)
{
    const struct cli_option *of =
        word != NULL && verb->words->of != NULL ? verb->words->of(word) : NULL;
    (void)fprintf(to, "\nOptions:\n");
    for (; of != NULL && of->name != NULL; of++) {
        put_option(to, of);
    }
    put_own_options(to, verb, word, true);
    put_own_options(to, verb, word, false);
    for (of = cli_shared_options; of->name != NULL; of++) {
        put_option(to, of);
    }
}

/* Prints those lines of an example that begin with `start`; lines that go on
   are indented. */
static void
put_lines(FILE *to, const char *text, const char *start, bool *begun)
{
    bool shown = true;
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        int size = (int)strcspn(at, "\n");
        shown = *at == ' ' ? shown : strncmp(at, start, strlen(start)) == 0;
        if (shown) {
            (void)fprintf(to, "%s  %.*s\n", *begun ? "" : "\nExample:\n", size,
                          at);
            *begun = true;
        }
        at += size;
        at += *at == '\n' ? 1 : 0;
    }
}

/* Prints the words' examples and the verb's, or those of one word. */
static void
put_examples(FILE *to, const struct cli_verb *verb, const char *word)
{
    const struct cli_word *words = verb->words;
    char start[80] = "";
    bool begun = false;
    const char *at, *about;
    if (word != NULL) {
        (void)snprintf(start, sizeof start, "sotto %s %s ", verb->name, word);
    }
    for (size_t i = 0; words != NULL && words->example != NULL &&
                       (at = words->at(i, &about)) != NULL;
         i++) {
        put_lines(to, words->example(at), start, &begun);
    }
    put_lines(to, verb->example, start, &begun);
}

/* Finds the first argument that is a word, and what that is about; NULL: there
   is none. */
static const char *
find_word(const struct cli_verb *verb, int argc, char **argv,
          const char **ret_about)
{
    const char *word, *about;
    for (int i = 2; verb->words != NULL && i < argc; i++) {
        for (size_t j = 0; (word = verb->words->at(j, &about)) != NULL; j++) {
            if (strcmp(word, argv[i]) == 0) {
                *ret_about = about;
                return word;
            }
        }
    }
    return NULL;
}

void
cli_help(const struct cli_verb *verb, int argc, char **argv, FILE *to)
{
    const char *about = verb->about;
    const char *word = find_word(verb, argc, argv, &about);
    if (word == NULL) {
        (void)fprintf(to, "%s %s: %s\n\nUsage:\n  %s %s %s\n\n",
                      cli_program.name, verb->name, verb->summary,
                      cli_program.name, verb->name, verb->usage);
    } else {
        (void)fprintf(to, "%s %s %s: %s\n\n%s: ", cli_program.name, verb->name,
                      word, verb->summary, word);
    }
    put_indented(to, about, 0);
    if (word == NULL && verb->words != NULL) {
        put_words(to, verb);
    }
    put_options(to, verb, word);
    put_examples(to, verb, word);
}
