/*
 * setting_options.h: settings that the library tells of, as options of the
 * command line.
 */
#ifndef SOTTO_VERB_SETTING_OPTIONS_H
#define SOTTO_VERB_SETTING_OPTIONS_H

#include "cli/cli.h"

#define SETTING_OPTIONS_MAX 64u
#define SETTING_HELP_SIZE 256u

/* Options as the command line has them, ended as its tables are. */
struct setting_options {
    struct cli_option option[SETTING_OPTIONS_MAX + 1];
    char help[SETTING_OPTIONS_MAX][SETTING_HELP_SIZE];
    size_t count;
};

/* Adds an option, unless one of its name is there. */
void setting_options_add(struct setting_options *options,
                         const struct cli_option *option);
/* Adds a setting; its default stands behind the help. */
void setting_options_put(struct setting_options *options,
                         const struct sotto_setting_info *setting);

#endif
