/*
 * cmd_verify.c: sotto verify: checks a mechanism's signature.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/clock.h"

/* Tabs separate the parts of a trusted comment: here two blanks do. */
static void
put_comment(const char *comment)
{
    while (*comment != '\0') {
        size_t size = strcspn(comment, "\t");
        cli_put(stdout, comment, size);
        comment += size;
        if (*comment == '\t') {
            (void)printf("  ");
            comment++;
        }
    }
}

static void
tell_verify(const struct cli_args *args,
            const struct sotto_mechanism *mechanism, const char *comment,
            bool opens)
{
    const char *path = args->word[0], *pub = cli_value(args, "pub");
    struct sotto_mechanism_info info;
    char end[HOST_UTC_SIZE] = "never";
    sotto_mechanism_info(mechanism, &info);
    if (info.expires > 0) {
        host_utc_write(info.expires, end);
    }
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_bool(stdout, "verified", true);
        json_text(stdout, "mechanism", path);
        json_text(stdout, "pub", pub);
        json_text(stdout, "comment", comment);
        json_text(stdout, "hash", info.hash);
        json_text(stdout, "campaign", info.campaign);
        json_number(stdout, "eps", info.eps);
        json_number(stdout, "delta", info.delta);
        json_bool(stdout, "opens", opens);
        if (info.expires > 0) {
            json_size(stdout, "expires", (size_t)info.expires);
        }
        json_end(stdout);
        return;
    }
    (void)printf("Verified: %s was signed with the secret half of %s\n  %s\n"
                 "  mechanism        %s\n  epsilon          %s per report\n"
                 "  delta            %s per report\n  expires          %s\n"
                 "  campaign         %s\n  trusted comment  ",
                 cli_shown(path), cli_shown(pub),
                 opens ? "and is a mechanism that a device opens."
                       : "but devices refuse it.",
                 info.hash, info.eps_text, info.delta_text, end,
                 cli_shown(info.campaign));
    put_comment(comment);
    (void)printf("\n");
}

static int
run_verify(const struct cli_args *args)
{
    struct sotto_mechanism *mechanism = NULL;
    char *comment = NULL;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (sotto_mechanism_read_verified(args->word[0], cli_value(args, "pub"),
                                      &comment, &mechanism,
                                      &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        bool opens = sotto_mechanism_check(mechanism, &err) == SOTTO_STATUS_OK;
        tell_verify(args, mechanism, comment, opens);
        if (!opens) {
            (void)cli_fail(&err);
            status = CLI_EXIT_REFUSED;
        }
    }
    sotto_mechanism_free(mechanism);
    free(comment);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, true, false, "pub", "K.pub", "the public key you trust"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_verify = {
    .name = "verify",
    .summary = "check a mechanism's signature",
    .usage = "M --pub K.pub",
    .about = "Checks M.minisig beside M, then that M is a mechanism that a "
             "device opens.\nAnything wrong with either is refused: exit "
             "status 3.\n",
    .example = "sotto verify wdbc.sotto --pub collector.pub\n",
    .wanted = wanted,
    .options = options,
    .run = run_verify,
};
