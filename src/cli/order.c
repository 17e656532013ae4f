/*
 * order.c: whether the first word of a command is the kind of file that its
 * verb asks for, told by how the file begins.
 *
 * It is about mistakes, not about safety: what is opened is checked by whoever
 * opens it. The second word is looked at only if the first one is wrong, so
 * that a device's records are not.
 */
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

#define START 512u
/* How files of reports begin, docs/format.md. */
#define REPORTS "STO1"
#define SIMULATED "SIM1"

enum form {
    FORM_OTHER = 0, /* or not there: whoever opens it says so */
    FORM_MECHANISM,
    FORM_MODEL,
    FORM_REPORTS,
    FORM_KEY,
    FORM_TABLE
};

static const char *const form_words[] = {
    "something else",    "a mechanism",          "a model",
    "a file of reports", "a key or a signature", "a table"};

static bool
begins(const char *start, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(start, with, strlen(with)) == 0;
}

/* Whether these are lines with something between fields. */
static bool
is_table(const char *start, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)start[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
            return false;
        }
    }
    return memchr(start, '\n', size) != NULL &&
           (memchr(start, ',', size) != NULL ||
            memchr(start, ';', size) != NULL ||
            memchr(start, '\t', size) != NULL);
}

/* Tells how the file begins. */
static enum form
find_form(const char *path)
{
    char start[START];
    struct stat about;
    size_t size = 0;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode)
                     ? fopen(path, "rb")
                     : NULL;
    if (file == NULL) {
        return FORM_OTHER;
    }
    size = fread(start, 1, sizeof start, file);
    (void)fclose(file);
    if (size > 8 &&
        begins(start + 8, size - 8, "{\"__metadata__\":{\"sotto\":\"{\\\"")) {
        static const char model[] = "\\\"kind\\\":\\\"model\\\"";
        return memmem(start, size, model, sizeof model - 1) != NULL
                   ? FORM_MODEL
                   : FORM_MECHANISM;
    }
    if (begins(start, size, REPORTS) || begins(start, size, SIMULATED)) {
        return FORM_REPORTS;
    }
    if (begins(start, size, "untrusted comment:")) {
        return FORM_KEY;
    }
    return is_table(start, size) ? FORM_TABLE : FORM_OTHER;
}

static bool
has_option(const struct cli_verb *verb, const char *name)
{
    const struct cli_option *option;
    for (size_t i = 0; (option = cli_option_at(verb, i)) != NULL; i++) {
        if (strcmp(option->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int
cli_check_order(const struct cli_args *args)
{
    const char *wanted = args->verb->wanted[0];
    enum form first, right;
    bool mechanism = wanted != NULL && strncmp(wanted, "M (", 3) == 0;
    bool model = wanted != NULL && strcmp(wanted, "MODEL") == 0;
    if ((!mechanism && !model) || args->words == 0) {
        return CLI_EXIT_DONE;
    }
    right = mechanism ? FORM_MECHANISM : FORM_MODEL;
    first = find_form(args->word[0]);
    if (first == FORM_OTHER || first == right ||
        (first == FORM_MODEL && strstr(wanted, "or a model") != NULL)) {
        return CLI_EXIT_DONE;
    }
    if (args->words > 1 && find_form(args->word[1]) == right) {
        return cli_bad("'%.240s' looks like %s, '%.240s' like %s: the %s comes "
                       "first: %s %s '%.240s' '%.240s'",
                       args->word[0], form_words[first], args->word[1],
                       form_words[right], form_words[right] + 2,
                       cli_program.name, args->verb->name, args->word[1],
                       args->word[0]);
    }
    if (first == FORM_TABLE && has_option(args->verb, "data")) {
        return cli_bad("'%.240s' looks like a table, and %s comes first: give "
                       "a table with --data '%.240s'",
                       args->word[0], form_words[right], args->word[0]);
    }
    return cli_bad("'%.240s' looks like %s, and %s comes first: see %s %s "
                   "--help",
                   args->word[0], form_words[first], form_words[right],
                   cli_program.name, args->verb->name);
}
