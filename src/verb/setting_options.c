/*
 * setting_options.c: settings that the library tells of, as options of the
 * command line.
 */
#include "verb/setting_options.h"

#include <string.h>

static bool
is_there(const struct setting_options *options, const char *name)
{
    size_t i = 0;
    while (i < options->count && strcmp(options->option[i].name, name) != 0) {
        i++;
    }
    return i < options->count;
}

void
setting_options_add(struct setting_options *options,
                    const struct cli_option *option)
{
    if (options->count < SETTING_OPTIONS_MAX &&
        !is_there(options, option->name)) {
        options->option[options->count++] = *option;
    }
}

void
setting_options_put(struct setting_options *options,
                    const struct sotto_setting_info *setting)
{
    char *help = options->help[options->count < SETTING_OPTIONS_MAX
                                   ? options->count
                                   : SETTING_OPTIONS_MAX - 1];
    struct cli_option option = {.many = setting->many,
                                .name = setting->name,
                                .value = setting->value,
                                .what = help};
    if (is_there(options, setting->name)) {
        return;
    }
    (void)snprintf(help, SETTING_HELP_SIZE, "%s%s%s%s", setting->help,
                   setting->initial != NULL ? " (" : "",
                   setting->initial != NULL ? setting->initial : "",
                   setting->initial != NULL ? ")" : "");
    setting_options_add(options, &option);
}
