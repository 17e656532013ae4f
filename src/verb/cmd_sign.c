/*
 * cmd_sign.c: sotto sign: puts a signature beside a mechanism.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/password.h"
#include "host/error.h"

/* Only what a device would open is worth a signature. */
static int
check_mechanism(const char *path, struct sotto_mechanism **ret_mechanism)
{
    struct sotto_error err = {0};
    enum sotto_status status = sotto_mechanism_read(path, ret_mechanism, &err);
    status = HOST_THEN(status, sotto_mechanism_check(*ret_mechanism, &err));
    return cli_exit(status, &err);
}

/* The key's password, "" if it has none. */
static int
get_password(const struct cli_args *args, const char *key,
             char password[PASSWORD_SIZE])
{
    const char *file = cli_value(args, "password-file");
    bool encrypted = false;
    struct sotto_error err = {0};
    if (sotto_key_encrypted(key, &encrypted, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (!encrypted) {
        return CLI_EXIT_DONE;
    }
    return file != NULL ? password_read(file, password)
                        : password_ask(false, password);
}

static void
tell_sign(const struct cli_args *args, const char *path,
          const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_text(stdout, "mechanism", path);
        json_text(stdout, "hash", info.hash);
        json_number(stdout, "eps", info.eps);
        json_number(stdout, "delta", info.delta);
        json_end(stdout);
        return;
    }
    (void)printf("Signed %s (epsilon %s and delta %s per report):\nthe "
                 "signature is in %s.minisig; send both to the devices.\n",
                 cli_shown(path), info.eps_text, info.delta_text,
                 cli_shown(path));
}

static int
run_sign(const struct cli_args *args)
{
    const char *path = args->word[0], *key = cli_value(args, "key");
    char password[PASSWORD_SIZE] = "";
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    int status = check_mechanism(path, &mechanism);
    status = CLI_THEN(status, get_password(args, key, password));
    status = CLI_THEN(status,
                      cli_exit(sotto_mechanism_sign(
                                   mechanism, path, key,
                                   password[0] != '\0' ? password : NULL, &err),
                               &err));
    explicit_bzero(password, sizeof password);
    if (status == CLI_EXIT_DONE) {
        tell_sign(args, path, mechanism);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, true, false, "key", "K.key", "the secret key"},
    {0, false, false, "password-file", "FILE",
     "its password is the first line of this file;\n"
     "else it is asked for on the terminal"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_sign = {
    .name = "sign",
    .summary = "sign a mechanism",
    .usage = "M --key K.key [--password-file F]",
    .about = "Writes M.minisig, which sotto verify and the stock minisign "
             "check. A file that\nno device would open is not signed.\n",
    .example = "sotto sign wdbc.sotto --key collector.key\n",
    .wanted = wanted,
    .options = options,
    .run = run_sign,
};
