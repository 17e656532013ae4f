/*
 * main.c: the program's entry: finds the verb, runs it, and makes sure that
 * what it printed arrived.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"

static void
put_overview(FILE *to)
{
    const char *name = cli_program.name;
    (void)fprintf(
        to,
        "%s " SOTTO_VERSION ": %s\n\n"
        "Usage:\n"
        "  %s VERB [ARGUMENTS]\n"
        "  %s VERB --help          how to use a verb, with an example\n"
        "  %s --version\n\n"
        "Verbs:\n",
        name, cli_program.about, name, name, name);
    for (size_t i = 0; i < cli_program.verbs; i++) {
        const struct cli_verb *verb = cli_program.verb[i];
        (void)fprintf(to, "  %-10s  %s\n", verb->name, verb->summary);
    }
    (void)fprintf(to,
                  "\nExit status: 0 done, 1 failed, 2 bad usage or input, "
                  "3 refused for privacy.\n"
                  "Start here:\n"
                  "  %s %s\n",
                  name, cli_program.start);
}

/*
 * Starts the program anew, once, with the kernels that suit the processor; does
 * nothing where they do, where the user has chosen some, or where it cannot be
 * done: slow is better than not at all. OpenBLAS reads the name before main, so
 * no other way is left. Nothing has been read or written yet.
 */
static void
choose_kernels(char **argv)
{
    static const char name[] = "OPENBLAS_CORETYPE";
    char path[PATH_MAX];
    const char *better = cli_program.kernels != NULL && getenv(name) == NULL
                             ? cli_program.kernels()
                             : NULL;
    ssize_t size =
        better != NULL ? readlink("/proc/self/exe", path, sizeof path - 1) : 0;
    if (size > 0 && setenv(name, better, 0) == 0) {
        path[size] = '\0';
        (void)execv(path, argv);
    }
}

static int
run_verb(const struct cli_verb *verb, int argc, char **argv)
{
    struct cli_args args;
    cli_speak_as(verb->name);
    int status = cli_args_parse(verb, argc, argv, &args);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (cli_given(&args, "help")) {
        cli_help(verb, argc, argv, stdout);
    } else {
        progress_silence(cli_given(&args, "json"));
        status = cli_check_order(&args);
        status = CLI_THEN(status, verb->run(&args));
    }
    cli_args_clear(&args);
    return status;
}

/* Finds the verb that such a word belongs behind, as a kind does behind train;
   NULL: none. */
static const char *
find_owner(const char *word)
{
    const char *at, *about;
    for (size_t i = 0; i < cli_program.verbs; i++) {
        const struct cli_verb *verb = cli_program.verb[i];
        for (size_t j = 0;
             verb->words != NULL && (at = verb->words->at(j, &about)) != NULL;
             j++) {
            if (strcmp(at, word) == 0) {
                return verb->name;
            }
        }
    }
    return NULL;
}

static int
bad_verb(const char *word)
{
    const char *names[CLI_VERBS_MAX] = {NULL};
    for (size_t i = 0; i < cli_program.verbs; i++) {
        names[i] = cli_program.verb[i]->name;
    }
    const char *nearest = cli_nearest(word, names, cli_program.verbs);
    const char *owner = find_owner(word);
    if (owner != NULL) {
        return cli_bad("unknown verb '%.80s': did you mean '%s %s %s'?", word,
                       cli_program.name, owner, word);
    }
    if (nearest != NULL) {
        return cli_bad("unknown verb '%.80s': did you mean '%s %s'?", word,
                       cli_program.name, nearest);
    }
    return cli_bad("unknown verb '%.80s': see %s --help", word,
                   cli_program.name);
}

static int
run_words(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
        strcmp(word, "help") == 0) {
        put_overview(stdout);
        return CLI_EXIT_DONE;
    }
    if (strcmp(word, "--version") == 0) {
        (void)printf("%s " SOTTO_VERSION "\n", cli_program.name);
        return CLI_EXIT_DONE;
    }
    for (size_t i = 0; i < cli_program.verbs; i++) {
        if (strcmp(word, cli_program.verb[i]->name) == 0) {
            if (cli_program.verb[i]->computes) {
                choose_kernels(argv);
            }
            return run_verb(cli_program.verb[i], argc, argv);
        }
    }
    return bad_verb(word);
}

/* Ends the program as a closed pipe ends others: silently, by the signal, so
   that the shell sees 128 + SIGPIPE. */
static int
end_by_pipe(void)
{
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
    return CLI_EXIT_FAILED; /* the signal is blocked */
}

int
main(int argc, char **argv)
{
    /* A closed pipe or a file at its size limit is a write error like any
       other: nothing half-written is left behind. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    /* libcurl would write the keys of every connection there. Only here, where
       there are no threads yet, may the environment be changed. */
    (void)unsetenv("SSLKEYLOGFILE");
    int status = run_words(argc, argv);
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (cli_output_gone(lost)) {
        return end_by_pipe();
    }
    if (lost && status == CLI_EXIT_DONE) {
        cli_error("cannot write to standard output: %s",
                  errno != 0 ? strerror(errno) : "an earlier write failed");
        status = CLI_EXIT_FAILED;
    }
    return status;
}
