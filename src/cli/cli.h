/*
 * cli.h: what the verbs share: their options, their help, their messages.
 *
 * A verb is one struct cli_verb in its verb/cmd_<verb>.c and one row in
 * verbs.c. It gets its arguments parsed and checked against its own option
 * table, does its work through the public headers, and returns the program's
 * exit status. Only src/cli, src/verb and src/demo print; what reaches a
 * terminal has passed cli_put, so that no file's content can steer the
 * terminal.
 */
#ifndef SOTTO_CLI_CLI_H
#define SOTTO_CLI_CLI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sotto/sotto.h"

#if defined(__GNUC__)
#define CLI_PRINTF(at) __attribute__((format(printf, (at), (at) + 1)))
#else
#define CLI_PRINTF(at)
#endif

/* The program's exit status. */
enum cli_exit {
    CLI_EXIT_DONE = 0,
    CLI_EXIT_FAILED = 1, /* the system failed us: files, memory, entropy; or
                            our own answers are wrong */
    CLI_EXIT_BAD = 2,    /* bad usage or input */
    CLI_EXIT_REFUSED = 3 /* refused for privacy */
};

/* One option of a verb; a table of them ends with a NULL name. */
struct cli_option {
    char letter; /* of the short form, 0: none */
    bool needed;
    bool many;         /* may be given more than once */
    const char *name;  /* without its dashes */
    const char *value; /* what its value is called; NULL: it takes none */
    const char *what;  /* for the help, a line or more */
};

#define CLI_OPTION_END                                                         \
    {                                                                          \
        0, false, false, NULL, NULL, NULL                                      \
    }

struct cli_given {
    const struct cli_option *option;
    const char *value; /* "" if the option takes none */
};

/* A parsed command line. */
struct cli_args {
    const struct cli_verb *verb;
    struct cli_given *given;
    size_t given_count;
    const char **word; /* what is not an option, in order */
    size_t words;
};

struct cli_verb {
    const char *name;
    const char *summary;       /* one line, for the list of verbs */
    const char *usage;         /* without "sotto VERB" */
    const char *about;         /* a paragraph or two */
    const char *example;       /* lines that run as they stand */
    const char *const *wanted; /* the words' names, then NULL: what they are */
    size_t optional;           /* how many of the last words may be left out */
    bool more;                 /* the last word may be followed by others */
    const struct cli_option *options;
    /* What goes with a word alone, for a verb whose first word decides; NULL:
       nothing does. `at` gives the i-th word and what it is about, NULL if
       there are fewer; `of` the options of a word, or of all words for NULL
       (NULL: words have none); `takes` says whether a word goes with one of
       `options` (NULL: each does); `example` gives lines that run as they
       stand, until it is called again (NULL: the verb's do). */
    const struct cli_word {
        const char *(*at)(size_t i, const char **ret_about);
        const struct cli_option *(*of)(const char *word);
        bool (*takes)(const char *word, const char *option);
        const char *what; /* the word is; NULL: as `wanted` calls it */
        const char *(*example)(const char *word);
    } * words;
    /* What the library says can be set, each an option, too; NULL: nothing,
       or only with a word. */
    bool (*setting_at)(size_t i, struct sotto_setting_info *ret_setting);
    bool computes; /* long enough that the right kernels matter */
    int (*run)(const struct cli_args *args);
};

/* ---- Arguments ---------------------------------------------------------- */

/*
 * Parses argv[2..] for `verb`. On success returns CLI_EXIT_DONE and
 * cli_args_clear frees `ret_args`; otherwise the message is printed and the
 * exit status returned. --help anywhere wins over other mistakes: then the
 * verb's help is asked for, and nothing else is checked.
 */
int cli_args_parse(const struct cli_verb *verb, int argc, char **argv,
                   struct cli_args *ret_args);
void cli_args_clear(struct cli_args *args);

/* Whether the first word is the kind of file that the verb asks for, as far as
   the file's first bytes tell; the exit status, the message printed. */
int cli_check_order(const struct cli_args *args);

/* The n-th value given for an option, from 0; NULL if there is none. */
const char *cli_nth(const struct cli_args *args, const char *name, size_t n);
/* The value of an option given once or not at all (NULL). */
const char *cli_value(const struct cli_args *args, const char *name);
bool cli_given(const struct cli_args *args, const char *name);

/*
 * An option's value as a whole number or as a number, in [low, high], or as yes
 * (1) or no (0). Untouched if the option was not given; false, with
 * the message printed, if it does not fit.
 */
bool cli_whole(const struct cli_args *args, const char *name, uint64_t low,
               uint64_t high, uint64_t *ret_value);
bool cli_number(const struct cli_args *args, const char *name, double low,
                double high, double *ret_value);
bool cli_yes(const struct cli_args *args, const char *name, int *ret_value);
/* The same for a share: 0.9, or 90%. */
bool cli_share(const struct cli_args *args, const char *name, double low,
               double high, double *ret_value);

#define CLI_EPS_MIN 0.000001
#define CLI_EPS_MAX 32

/* The same for an epsilon: digits[.digits], at most 12 behind the point, from
   CLI_EPS_MIN to CLI_EPS_MAX. The library reads its text, exactly. */
bool cli_eps(const struct cli_args *args, const char *name, double *ret_eps);

/* --json and --help, which every verb has. */
extern const struct cli_option cli_shared_options[];
/* The i-th option of a verb, whatever word goes with it; NULL: fewer. */
const struct cli_option *cli_option_at(const struct cli_verb *verb, size_t i);

/* The candidate nearest to `word`, NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *candidates,
                        size_t count);

/* The longest candidate that begins the word, or that the word begins: "eps"
   for "epsilon". NULL: there is none. */
const char *cli_begun(const char *word, const char *const *candidates,
                      size_t count);

/* ---- Help --------------------------------------------------------------- */

/* With a word that decides among argv[2..], the help of that word. */
void cli_help(const struct cli_verb *verb, int argc, char **argv, FILE *to);

/* ---- Messages ----------------------------------------------------------- */

/* The verb that messages begin with; NULL: the program alone. */
void cli_speak_as(const char *verb);

/* Prints text with '?' in place of what is not UTF-8, of control characters
   and of all else that could make a text read as another. */
void cli_put(FILE *to, const char *text, size_t size);
/* How many characters cli_put prints of a text; the text cut to `width` of
   them, and blanks up to that: printf counts bytes. */
size_t cli_width(const char *text);
void cli_put_padded(FILE *to, const char *text, size_t width);
/* The same as a text, for a format's %s: good until four more are shown. */
const char *cli_shown(const char *text);

/* "sotto VERB: message" on standard error; the first returns CLI_EXIT_BAD. */
int cli_bad(const char *format, ...) CLI_PRINTF(1);
void cli_error(const char *format, ...) CLI_PRINTF(1);
void cli_note(const char *format, ...) CLI_PRINTF(1);
/* Whether notes are left out from now on. */
void cli_hush(bool hush);

/* Whether a failure is about an option of this verb: the library names
   settings, the dashes are the program's. */
bool cli_names_option(const struct sotto_error *err);
/* Calls the next step only if what came before went well: the exit status of
   the last step called. */
#define CLI_THEN(status, next) ((status) == CLI_EXIT_DONE ? (next) : (status))
/* The exit status of a call into the library; cli_fail if it failed. */
int cli_exit(enum sotto_status status, const struct sotto_error *err);
/* Says that there is no memory: CLI_EXIT_FAILED. */
int cli_no_memory(void);
/* Prints what went wrong, and which options would help; the exit status that
   goes with it. */
int cli_fail(const struct sotto_error *err);

/* Whether nobody reads standard output any more: a pipe whose reader ended.
   Writing to it failed if `lost`, or if cli_fail was told so, which then said
   nothing. */
bool cli_output_gone(bool lost);

/* Where a verb tells what it did: standard error if `path`, the file it
   wrote, is standard output itself. */
FILE *cli_summary(const char *path);

/* ---- The verbs ---------------------------------------------------------- */

#define CLI_VERBS_MAX 32u

/* What main.c runs: verbs.c is sotto, verbs_collector.c is sotto-collector. */
struct cli_program {
    const char *name;
    const char *about; /* one sentence */
    const char *start; /* the arguments to try first */
    const struct cli_verb *verb[CLI_VERBS_MAX];
    size_t verbs;
    /* Tells of a model: what it classifies, and which classes may be
       exchanged; prints nothing where the file is none, and returns
       CLI_EXIT_BAD. NULL: the program takes no models. */
    int (*inspect_model)(const char *path, bool json);
    /* Names the kernels that OPENBLAS_CORETYPE should name, NULL: none. NULL:
       the program has no matrix products. */
    const char *(*kernels)(void);
};
extern const struct cli_program cli_program;

/* verb/inspect_model.c */
int cmd_inspect_model(const char *path, bool json);

extern const struct cli_verb cmd_demo;
extern const struct cli_verb cmd_data;
extern const struct cli_verb cmd_try;
extern const struct cli_verb cmd_plan;
extern const struct cli_verb cmd_schema;
extern const struct cli_verb cmd_train;
extern const struct cli_verb cmd_keygen;
extern const struct cli_verb cmd_sign;
extern const struct cli_verb cmd_verify;
extern const struct cli_verb cmd_inspect;
extern const struct cli_verb cmd_privatise;
extern const struct cli_verb cmd_send;
extern const struct cli_verb cmd_decode;
extern const struct cli_verb cmd_fit;
extern const struct cli_verb cmd_predict;
extern const struct cli_verb cmd_evaluate;
extern const struct cli_verb cmd_choose;
extern const struct cli_verb cmd_validate;
extern const struct cli_verb cmd_tune;
extern const struct cli_verb cmd_audit;
extern const struct cli_verb cmd_account;
extern const struct cli_verb cmd_ledger;
extern const struct cli_verb cmd_serve;
extern const struct cli_verb cmd_store;
extern const struct cli_verb cmd_export;
extern const struct cli_verb cmd_experiment;
extern const struct cli_verb cmd_bench;

#endif
