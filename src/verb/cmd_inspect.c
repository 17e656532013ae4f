/*
 * cmd_inspect.c: sotto inspect: what a mechanism promises.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define REPORTS_MOST 1000000u

/* The description is the library's prose; its line breaks stay. */
static void
put_lines(const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        cli_put(stdout, text, size);
        (void)fputc('\n', stdout);
        text += size;
        text += *text == '\n' ? 1 : 0;
    }
}

/* What devices refuse is described, and is no success. That a mechanism has
   expired is no fault of the file: its page says it. */
static int
tell_refused(const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    sotto_mechanism_info(mechanism, &info);
    return info.uneven &&
                   sotto_mechanism_check(mechanism, &err) != SOTTO_STATUS_OK
               ? cli_fail(&err)
               : CLI_EXIT_DONE;
}

/* A model or an analyst file, if this program takes any; else what was wrong
   with the mechanism. */
static int
inspect_other(const struct cli_args *args, const struct sotto_error *err)
{
    return err->status == SOTTO_STATUS_FORMAT &&
                   cli_program.inspect_model != NULL &&
                   cli_program.inspect_model(
                       args->word[0], cli_given(args, "json")) == CLI_EXIT_DONE
               ? CLI_EXIT_DONE
               : cli_fail(err);
}

static int
run_inspect(const struct cli_args *args)
{
    struct sotto_mechanism *mechanism = NULL;
    char *text = NULL;
    struct sotto_error err = {0};
    uint64_t reports = 1;
    int status = CLI_EXIT_DONE;
    if (!cli_whole(args, "reports", 1, REPORTS_MOST, &reports)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_mechanism_read(args->word[0], &mechanism, &err) !=
        SOTTO_STATUS_OK) {
        status = inspect_other(args, &err);
    } else if (sotto_mechanism_describe_reports(mechanism, (uint32_t)reports,
                                                cli_given(args, "json"), &text,
                                                &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        put_lines(text);
        status = tell_refused(mechanism);
    }
    free(text);
    sotto_mechanism_free(mechanism);
    return status;
}

static const char *const wanted[] = {
    "M (a mechanism, an analyst file, or a model)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "reports", "N",
     "say what a guess can become after N reports of one\n"
     "person, too (1)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_inspect = {
    .name = "inspect",
    .summary = "say in words what a mechanism promises",
    .usage = "M [--reports N] [--json]",
    .about = "Opens M as a device would, checking every byte, and describes "
             "it. What devices\nrefuse for the size of its numbers is described"
             ", too: the page and a message say\nso, and the exit status is 2. "
             "Who signed M is another question: sotto verify.\nOf a model of "
             "sotto fit it says which classes it tells apart, and which of\n"
             "them the reports it was learnt from leave in doubt; of an analyst"
             " file, how its\nmechanism was made, and what a mechanism for one "
             "task keeps of each column.\n",
    .example = "sotto inspect wdbc.sotto\n"
               "sotto inspect wdbc.sotto --reports 12\n",
    .wanted = wanted,
    .options = options,
    .run = run_inspect,
};
