/*
 * cmd_keygen.c: sotto keygen: a new pair of keys.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/password.h"

static void
tell_keygen(const struct cli_args *args, const char *prefix, bool encrypted)
{
    char path[4200];
    if (cli_given(args, "json")) {
        json_begin(stdout);
        (void)snprintf(path, sizeof path, "%s.key", prefix);
        json_text(stdout, "key", path);
        (void)snprintf(path, sizeof path, "%s.pub", prefix);
        json_text(stdout, "pub", path);
        json_bool(stdout, "encrypted", encrypted);
        json_end(stdout);
        return;
    }
    (void)printf("Wrote %s.key (keep it secret%s) and %s.pub (give it to every "
                 "device).\n",
                 cli_shown(prefix),
                 encrypted ? "; it is encrypted with the password" : "",
                 cli_shown(prefix));
}

static int
run_keygen(const struct cli_args *args)
{
    const char *prefix = cli_value(args, "output");
    const char *file = cli_value(args, "password-file");
    char password[PASSWORD_SIZE] = "";
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    bool encrypted = !cli_given(args, "no-password");
    int ways = (file != NULL ? 1 : 0) + (cli_given(args, "password") ? 1 : 0) +
               (encrypted ? 0 : 1);
    if (ways > 1) {
        return cli_bad("--password, --password-file and --no-password exclude "
                       "each other: give one of them");
    }
    if (file != NULL) {
        status = password_read(file, password);
    } else if (encrypted) {
        status = password_ask(true, password);
    }
    status = CLI_THEN(
        status,
        cli_exit(sotto_key_generate(prefix, encrypted ? password : NULL, &err),
                 &err));
    explicit_bzero(password, sizeof password);
    if (status == CLI_EXIT_DONE) {
        tell_keygen(args, prefix, encrypted);
    }
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {'o', true, false, "output", "K", "writes K.key and K.pub"},
    {0, false, false, "password", NULL,
     "encrypt the secret key with a password, asked for on\n"
     "the terminal: the default"},
    {0, false, false, "password-file", "FILE",
     "encrypt it with the first line of this file"},
    {0, false, false, "no-password", NULL,
     "write the secret key in clear: for scripts, where\n"
     "nobody else can read the file"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_keygen = {
    .name = "keygen",
    .summary = "make a pair of keys for signing mechanisms",
    .usage = "-o K [--password-file F | --no-password]",
    .about = "Writes a new Ed25519 pair in minisign's formats, and never over "
             "files that\nare there.\n",
    .example = "sotto keygen -o collector --no-password\n",
    .wanted = wanted,
    .options = options,
    .run = run_keygen,
};
