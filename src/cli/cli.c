/*
 * cli.c: reading a verb's arguments.
 *
 * --name VALUE, --name=VALUE, -o VALUE, -oVALUE, and -- before words that
 * begin with a dash. Options and words may be mixed.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/setting_options.h"
#include "host/nearest.h"
#include "host/settings.h"

#define NEAREST_MAX 32u /* letters of a word that is compared */
#define BEGUN_LEAST 3u  /* letters that two words begin with alike */
#define OPTIONS_MAX 128u
#define USAGE_SIZE ((size_t)512)
#define EPS_DIGITS 12u /* behind the point */

/* ---- Suggestions -------------------------------------------------------- */

const char *
cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    return host_nearest(word, candidates, count);
}

const char *
cli_begun(const char *word, const char *const *candidates, size_t count)
{
    const char *longest = NULL;
    size_t size = strlen(word), best = 0;
    for (size_t i = 0; i < count; i++) {
        size_t other = candidates[i] != NULL ? strlen(candidates[i]) : 0;
        size_t same = size < other ? size : other;
        if (same >= BEGUN_LEAST && same > best &&
            strncmp(word, candidates[i], same) == 0) {
            best = same;
            longest = candidates[i];
        }
    }
    return longest;
}

/* Whether one of a verb's words is a table. */
static bool
takes_table(const struct cli_verb *verb)
{
    for (size_t i = 0; verb->wanted[i] != NULL; i++) {
        if (verb->wanted[i][0] == 'F' &&
            (verb->wanted[i][1] == '\0' || verb->wanted[i][1] == ' ')) {
            return true;
        }
    }
    return false;
}

static int
bad_option(const struct cli_verb *verb, const char *word)
{
    const char *names[OPTIONS_MAX];
    char name[NEAREST_MAX + 1];
    size_t count = 0;
    const char *dashless = word + strspn(word, "-");
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(dashless, "="),
                   dashless);
    while (count < OPTIONS_MAX && cli_option_at(verb, count) != NULL) {
        names[count] = cli_option_at(verb, count)->name;
        count++;
    }
    if (strcmp(name, "data") == 0 && verb->wanted != NULL &&
        takes_table(verb)) {
        return cli_bad("unknown option '%.80s': the table is named by itself, "
                       "without an option: %s %s %s",
                       word, cli_program.name, verb->name, verb->usage);
    }
    const char *nearest = cli_nearest(name, names, count);
    nearest = nearest != NULL ? nearest : cli_begun(name, names, count);
    if (nearest != NULL) {
        return cli_bad("unknown option '%.80s': did you mean --%s?", word,
                       nearest);
    }
    return cli_bad("unknown option '%.80s': see %s %s --help", word,
                   cli_program.name, verb->name);
}

/* ---- Parsing ------------------------------------------------------------ */

const struct cli_option cli_shared_options[] = {
    {0, false, false, "json", NULL, "print one JSON object a line"},
    {'h', false, false, "help", NULL, "print this text"},
    CLI_OPTION_END,
};

const struct cli_option *
cli_option_at(const struct cli_verb *verb, size_t i)
{
    static const struct cli_option none = CLI_OPTION_END;
    const struct cli_option *const tables[] = {
        verb->setting_at != NULL ? setting_options_of(verb->setting_at) : &none,
        verb->options, cli_shared_options,
        verb->words != NULL && verb->words->of != NULL ? verb->words->of(NULL)
                                                       : &none};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct cli_option *at = tables[t]; at->name != NULL; at++) {
            if (i-- == 0) {
                return at;
            }
        }
    }
    return NULL;
}

static const struct cli_option *
find_long(const struct cli_verb *verb, const char *name, size_t size)
{
    const struct cli_option *o;
    for (size_t i = 0; (o = cli_option_at(verb, i)) != NULL; i++) {
        if (strlen(o->name) == size && strncmp(o->name, name, size) == 0) {
            return o;
        }
    }
    return NULL;
}

static const struct cli_option *
find_letter(const struct cli_verb *verb, char letter)
{
    const struct cli_option *o;
    for (size_t i = 0; (o = cli_option_at(verb, i)) != NULL; i++) {
        if (o->letter != 0 && o->letter == letter) {
            return o;
        }
    }
    return NULL;
}

/* Splits one argument: its option, and the value if it is in there too. */
static const struct cli_option *
split_word(const struct cli_verb *verb, const char *word,
           const char **ret_value)
{
    if (word[1] != '-') {
        *ret_value = word[2] != '\0' ? word + 2 : NULL;
        return find_letter(verb, word[1]);
    }
    size_t size = strcspn(word + 2, "=");
    *ret_value = word[2 + size] == '=' ? word + 2 + size + 1 : NULL;
    return find_long(verb, word + 2, size);
}

static int
add_given(struct cli_args *args, const struct cli_option *option,
          const char *value)
{
    if (!option->many && cli_value(args, option->name) != NULL) {
        return cli_bad("--%s is given twice", option->name);
    }
    args->given[args->given_count].option = option;
    args->given[args->given_count].value = value;
    args->given_count++;
    return CLI_EXIT_DONE;
}

/* One argument that begins with a dash; `next` is the one after it, or NULL.
   Sets `ret_used` if that was its value. */
static int
parse_option(struct cli_args *args, const char *word, const char *next,
             bool *ret_used)
{
    const char *value = NULL;
    const struct cli_option *option = split_word(args->verb, word, &value);
    *ret_used = false;
    if (option == NULL) {
        return bad_option(args->verb, word);
    }
    if (option->value == NULL) {
        if (value != NULL) {
            return cli_bad("--%s takes no value", option->name);
        }
        return add_given(args, option, "");
    }
    if (value == NULL) {
        if (next == NULL || strncmp(next, "--", 2) == 0) {
            return cli_bad("--%s needs a value: --%s %s", option->name,
                           option->name, option->value);
        }
        value = next;
        *ret_used = true;
    }
    return add_given(args, option, value);
}

/* How it is used, on one line, as a message is. */
static void
write_usage(const struct cli_verb *verb, char text[USAGE_SIZE])
{
    size_t size = 0;
    for (const char *at = verb->usage; *at != '\0';) {
        size_t line = strcspn(at, "\n");
        const char *next = at + line + strspn(at + line, "\n ");
        const char *between = *next == '\0'                     ? ""
                              : strncmp(next, "sotto ", 6) == 0 ? ", or "
                                                                : " ";
        size += (size_t)snprintf(text + size, USAGE_SIZE - size, "%.*s%s",
                                 (int)line, at, between);
        size = size < USAGE_SIZE ? size : USAGE_SIZE;
        at = next;
    }
}

static int
check_complete(const struct cli_args *args)
{
    const struct cli_verb *verb = args->verb;
    char usage[USAGE_SIZE];
    size_t wanted = 0;
    write_usage(verb, usage);
    while (verb->wanted[wanted] != NULL) {
        wanted++;
    }
    if (args->words > wanted && !verb->more) {
        return cli_bad("'%.80s' is one word too many: usage: %s %s %s",
                       args->word[wanted], cli_program.name, verb->name, usage);
    }
    if (args->words + verb->optional < wanted) {
        return cli_bad("%s is missing: usage: %s %s %s",
                       verb->wanted[args->words], cli_program.name, verb->name,
                       usage);
    }
    const struct cli_option *o;
    for (size_t i = 0; (o = cli_option_at(verb, i)) != NULL; i++) {
        if (o->needed && !cli_given(args, o->name)) {
            return cli_bad("--%s %s is missing: see %s %s --help", o->name,
                           o->value, cli_program.name, verb->name);
        }
    }
    return CLI_EXIT_DONE;
}

static bool
asks_help(int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return true;
        }
    }
    return false;
}

static int
parse_all(struct cli_args *args, int argc, char **argv)
{
    bool plain = false; /* behind a -- */
    for (int i = 2; i < argc; i++) {
        if (plain || argv[i][0] != '-' || argv[i][1] == '\0') {
            args->word[args->words++] = argv[i];
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            plain = true;
            continue;
        }
        bool used;
        int status = parse_option(args, argv[i],
                                  i + 1 < argc ? argv[i + 1] : NULL, &used);
        if (status != CLI_EXIT_DONE) {
            return status;
        }
        i += used ? 1 : 0;
    }
    return check_complete(args);
}

int
cli_args_parse(const struct cli_verb *verb, int argc, char **argv,
               struct cli_args *ret_args)
{
    struct cli_args args = {.verb = verb};
    size_t most = argc > 2 ? (size_t)argc - 2 : 1;
    int status;
    args.given = calloc(most, sizeof *args.given);
    args.word = calloc(most, sizeof *args.word);
    if (args.given == NULL || args.word == NULL) {
        status = cli_no_memory();
    } else if (asks_help(argc, argv)) {
        status = add_given(&args, &cli_shared_options[1], "");
    } else {
        status = parse_all(&args, argc, argv);
    }
    if (status != CLI_EXIT_DONE) {
        cli_args_clear(&args);
        return status;
    }
    *ret_args = args;
    return CLI_EXIT_DONE;
}

void
cli_args_clear(struct cli_args *args)
{
    free(args->given);
    free(args->word);
    args->given = NULL;
    args->word = NULL;
}

/* ---- Values ------------------------------------------------------------- */

const char *
cli_nth(const struct cli_args *args, const char *name, size_t n)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0 && n-- == 0) {
            return args->given[i].value;
        }
    }
    return NULL;
}

const char *
cli_value(const struct cli_args *args, const char *name)
{
    return cli_nth(args, name, 0);
}

bool
cli_given(const struct cli_args *args, const char *name)
{
    return cli_nth(args, name, 0) != NULL;
}

bool
cli_whole(const struct cli_args *args, const char *name, uint64_t low,
          uint64_t high, uint64_t *ret_value)
{
    const char *text = cli_value(args, name);
    uint64_t value = 0;
    if (text == NULL) {
        return true;
    }
    if (!setting_read_whole(text, &value) || value < low || value > high) {
        (void)cli_bad("--%s %.80s is not a whole number from %" PRIu64
                      " to %" PRIu64,
                      name, text, low, high);
        return false;
    }
    *ret_value = value;
    return true;
}

bool
cli_number(const struct cli_args *args, const char *name, double low,
           double high, double *ret_value)
{
    const char *text = cli_value(args, name);
    double value;
    if (text == NULL) {
        return true;
    }
    if (!setting_read_number(text, &value) || value < low || value > high) {
        (void)cli_bad("--%s %.80s is not a number from %g to %g", name, text,
                      low, high);
        return false;
    }
    *ret_value = value;
    return true;
}

bool
cli_share(const struct cli_args *args, const char *name, double low,
          double high, double *ret_value)
{
    const char *text = cli_value(args, name);
    char number[32];
    double value = 0;
    if (text == NULL) {
        return true;
    }
    size_t size = strlen(text);
    bool percent = size > 0 && text[size - 1] == '%';
    (void)snprintf(
        number, sizeof number, "%.*s",
        (int)(percent && size < sizeof number ? size - 1 : sizeof number - 1),
        text);
    bool read = setting_read_number(number, &value);
    double share = percent ? value / 100 : value;
    if (read && share >= low && share <= high) {
        *ret_value = share;
        return true;
    }
    if (read && !percent && value / 100 >= low && value / 100 <= high) {
        (void)cli_bad("--%s %.80s is not a share from %g to %g: write %g or "
                      "%g%%",
                      name, text, low, high, value / 100, value);
    } else {
        (void)cli_bad("--%s %.80s is not a share from %g to %g, or from %g%% "
                      "to %g%%",
                      name, text, low, high, 100 * low, 100 * high);
    }
    return false;
}

/* digits[.digits], without a needless nought at the front. */
static bool
is_plain_decimal(const char *text)
{
    static const char digits[] = "0123456789";
    size_t whole = strspn(text, digits);
    if (whole == 0 || (whole > 1 && text[0] == '0')) {
        return false;
    }
    if (text[whole] == '\0') {
        return true;
    }
    const char *behind = text + whole + 1;
    size_t fraction = strspn(behind, digits);
    return text[whole] == '.' && fraction > 0 && fraction <= EPS_DIGITS &&
           behind[fraction] == '\0';
}

bool
cli_eps(const struct cli_args *args, const char *name, double *ret_eps)
{
    const char *text = cli_value(args, name);
    double eps;
    if (text == NULL) {
        return true;
    }
    if (!is_plain_decimal(text) || !setting_read_number(text, &eps) ||
        eps < CLI_EPS_MIN || eps > CLI_EPS_MAX) {
        (void)cli_bad("--%s %.80s%s: epsilon must be a plain decimal number "
                      "from 0.000001 to 32, such as 0.5",
                      name, text, strlen(text) > 80 ? "..." : "");
        return false;
    }
    *ret_eps = eps;
    return true;
}

bool
cli_yes(const struct cli_args *args, const char *name, int *ret_value)
{
    const char *text = cli_value(args, name);
    if (text == NULL) {
        return true;
    }
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
        (void)cli_bad("--%s %.80s: say yes or no", name, text);
        return false;
    }
    *ret_value = strcmp(text, "yes") == 0;
    return true;
}
