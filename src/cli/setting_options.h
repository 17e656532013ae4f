/*
 * setting_options.h: settings that the library tells of, as options of the
 * command line.
 */
#ifndef SOTTO_CLI_SETTING_OPTIONS_H
#define SOTTO_CLI_SETTING_OPTIONS_H

#include "cli/cli.h"

#define SETTING_OPTIONS_MAX 64u
#define SETTING_HELP_SIZE 512u

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

/* Which settings there are: the i-th; false: fewer. */
typedef bool setting_options_at(size_t i, struct sotto_setting_info *ret_info);
/* All of them as options, until this is asked of others. */
const struct cli_option *setting_options_of(setting_options_at *at);
/* The options given that are among `of`, which ends as a table does, as
   settings; the caller frees them. NULL: no memory, and that is said. */
struct sotto_setting *setting_options_given(const struct cli_args *args,
                                            const struct cli_option *of,
                                            size_t *ret_count);
/* Adds to a JSON object what the settings of the verb stand at, as "settings":
   numbers, flags and what has a default, not the caller's paths. */
void setting_options_json(FILE *to, const struct cli_args *args);

#endif
