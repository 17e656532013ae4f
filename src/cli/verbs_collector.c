/*
 * verbs_collector.c: sotto-collector's verbs: those that a collector's machine
 * needs, and no library for learning with them.
 */
#include "cli/cli.h"

const struct cli_program cli_program = {
    .name = "sotto-collector",
    .about = "takes the reports of devices, and gives them to analysts.",
    .start = "serve --help",
    .verb = {&cmd_serve, &cmd_store, &cmd_export, &cmd_verify, &cmd_inspect},
    .verbs = 5,
};
