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
    (void)fprintf(to, "  %-*s %.*s\n", OPTION_WIDTH, head, first, what);
    if (what[first] == '\n') {
        put_indented(to, what + first + 1, OPTION_WIDTH + 3);
    }
}

void
cli_help(const struct cli_verb *verb, FILE *to)
{
    (void)fprintf(to, "%s %s: %s\n\nUsage:\n  %s %s %s\n\n", cli_program.name,
                  verb->name, verb->summary, cli_program.name, verb->name,
                  verb->usage);
    put_indented(to, verb->about, 0);
    (void)fprintf(to, "\nOptions:\n");
    for (const struct cli_option *o = verb->options; o->name != NULL; o++) {
        put_option(to, o);
    }
    (void)fprintf(to, "\nExample:\n");
    put_indented(to, verb->example, 2);
}
