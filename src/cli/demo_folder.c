/*
 * demo_folder.c: the folder the demo may write in. Its files have fixed names,
 * so it never goes where files of others are.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/demo.h"

static bool
is_empty(DIR *folder)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0) {
            return false;
        }
    }
    return true;
}

/* Whether the folder's demo.sotto was made by a demo. */
static bool
is_demo(const char *folder)
{
    char path[4096];
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)snprintf(path, sizeof path, "%s/demo.sotto", folder);
    if (sotto_mechanism_read(path, &mechanism, NULL) != SOTTO_STATUS_OK) {
        return false;
    }
    sotto_mechanism_info(mechanism, &info);
    bool same = strcmp(info.name, DEMO_MECHANISM) == 0;
    sotto_mechanism_free(mechanism);
    return same;
}

int
demo_folder_make(const char *path)
{
    if (mkdir(path, 0777) == 0) {
        return CLI_EXIT_DONE;
    }
    DIR *folder = errno == EEXIST ? opendir(path) : NULL;
    if (folder == NULL) {
        cli_error("cannot make the folder '%.240s': %s; choose another place "
                  "with -o",
                  path, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    bool empty = is_empty(folder);
    (void)closedir(folder);
    if (!empty && !is_demo(path)) {
        return cli_bad("the folder '%.240s' holds other files: choose an empty "
                       "or new one with -o",
                       path);
    }
    return CLI_EXIT_DONE;
}
