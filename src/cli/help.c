/*
 * help.c: a verb's help.
 */
#include <string.h>

#include "cli/cli.h"

#define OPTION_WIDTH 24

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
    for (size_t i = 0; (word = verb->words->at(i)) != NULL; i++) {
        int first;
        (void)verb->words->of(word, &about);
        first = (int)strcspn(about, "\n");
        (void)fprintf(to, "  %-8s  %.*s\n", word, first, about);
        put_indented(to, about + first + (about[first] == '\n' ? 1 : 0), 12);
    }
}

/* Prints the options, those of the word first. */
static void
put_options(FILE *to, const struct cli_verb *verb, const char *word)
{
    const char *about;
    const struct cli_option *of =
        word != NULL ? verb->words->of(word, &about) : NULL;
    (void)fprintf(to, "\nOptions:\n");
    for (; of != NULL && of->name != NULL; of++) {
        put_option(to, of);
    }
    for (const struct cli_option *o = verb->options; o->name != NULL; o++) {
        if (word == NULL || verb->words->takes(word, o->name)) {
            put_option(to, o);
        }
    }
}

/* Prints the examples, or those that begin as the word's do; lines that go on
   are indented. */
static void
put_examples(FILE *to, const struct cli_verb *verb, const char *word)
{
    char start[80] = "";
    bool shown = true, begun = false;
    if (word != NULL) {
        (void)snprintf(start, sizeof start, "sotto %s %s ", verb->name, word);
    }
    for (const char *at = verb->example; *at != '\0';) {
        int size = (int)strcspn(at, "\n");
        shown = *at == ' ' ? shown : strncmp(at, start, strlen(start)) == 0;
        if (shown) {
            (void)fprintf(to, "%s  %.*s\n", begun ? "" : "\nExample:\n", size,
                          at);
            begun = true;
        }
        at += size;
        at += *at == '\n' ? 1 : 0;
    }
}

/* Finds the first argument that is a word with options of its own; NULL: there
   is none. */
static const char *
find_word(const struct cli_verb *verb, int argc, char **argv)
{
    const char *about;
    for (int i = 2; verb->words != NULL && i < argc; i++) {
        if (verb->words->of(argv[i], &about) != NULL) {
            return argv[i];
        }
    }
    return NULL;
}

void
cli_help(const struct cli_verb *verb, int argc, char **argv, FILE *to)
{
    const char *word = find_word(verb, argc, argv);
    const char *about = verb->about;
    if (word == NULL) {
        (void)fprintf(to, "%s %s: %s\n\nUsage:\n  %s %s %s\n\n",
                      cli_program.name, verb->name, verb->summary,
                      cli_program.name, verb->name, verb->usage);
    } else {
        (void)verb->words->of(word, &about);
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
