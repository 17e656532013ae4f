/*
 * setting_options.c: settings that the library tells of, as options of the
 * command line.
 */
#include "cli/setting_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"

/* NULL: there is none of that name. */
static struct cli_option *
find_option(struct setting_options *options, const char *name)
{
    size_t i = 0;
    while (i < options->count && strcmp(options->option[i].name, name) != 0) {
        i++;
    }
    return i < options->count ? &options->option[i] : NULL;
}

void
setting_options_add(struct setting_options *options,
                    const struct cli_option *option)
{
    if (options->count < SETTING_OPTIONS_MAX &&
        find_option(options, option->name) == NULL) {
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
                                .needed = setting->needed,
                                .name = setting->name,
                                .value = setting->value,
                                .what = help};
    struct cli_option *there = find_option(options, setting->name);
    if (there != NULL) { /* another kind's, which may take it once alone */
        there->many = there->many || setting->many;
        return;
    }
    (void)snprintf(help, SETTING_HELP_SIZE, "%s%s%s%s", setting->help,
                   setting->initial != NULL ? " (" : "",
                   setting->initial != NULL ? setting->initial : "",
                   setting->initial != NULL ? ")" : "");
    setting_options_add(options, &option);
}

const struct cli_option *
setting_options_of(setting_options_at *at)
{
    static struct setting_options options;
    static setting_options_at *made;
    struct sotto_setting_info setting;
    if (made == at) {
        return options.option;
    }
    made = at;
    memset(&options, 0, sizeof options);
    for (size_t i = 0; at(i, &setting); i++) {
        setting_options_put(&options, &setting);
    }
    return options.option;
}

static bool
is_among(const struct cli_option *of, const char *name)
{
    while (of->name != NULL && strcmp(of->name, name) != 0) {
        of++;
    }
    return of->name != NULL;
}

struct sotto_setting *
setting_options_given(const struct cli_args *args, const struct cli_option *of,
                      size_t *ret_count)
{
    struct sotto_setting *set = calloc(args->given_count + 1, sizeof *set);
    size_t count = 0;
    if (set == NULL) {
        (void)cli_no_memory();
        return NULL;
    }
    for (size_t i = 0; i < args->given_count; i++) {
        const struct cli_given *given = &args->given[i];
        if (is_among(of, given->option->name)) {
            set[count++] =
                (struct sotto_setting){given->option->name, given->value};
        }
    }
    *ret_count = count;
    return set;
}

void
setting_options_json(FILE *to, const struct cli_args *args)
{
    struct sotto_setting_info setting;
    char text[1024] = "";
    size_t size = 0;
    for (size_t i = 0; args->verb->setting_at(i, &setting); i++) {
        const char *given = cli_value(args, setting.name);
        bool flag = setting.value == NULL;
        const char *value = flag            ? (given != NULL ? "yes" : NULL)
                            : given != NULL ? given
                                            : setting.initial;
        bool shown = flag || setting.number || setting.initial != NULL;
        if (shown && value != NULL) {
            size +=
                (size_t)snprintf(text + size, sizeof text - size, "%s%s=%.80s",
                                 size > 0 ? " " : "", setting.name, value);
            size = size < sizeof text ? size : sizeof text - 1;
        }
    }
    json_text(to, "settings", text);
}
