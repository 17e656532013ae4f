/*
 * output_file.c: a stream into a sotto_output, which keeps the first failure
 * and tells it at commit.
 */
#include "cli/output_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "host/text.h"

static bool
same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Finds what holds the last name of a path. */
static bool
stat_folder(const char *path, size_t size, struct stat *ret_about)
{
    char *folder = host_text_path("%.*s.", (int)size, path);
    bool there = folder != NULL && stat(folder, ret_about) == 0;
    free(folder);
    return there;
}

/* Compares names that are not there yet: the last names, then the folders. */
static bool
same_new_name(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    size_t size_a = slash_a != NULL ? (size_t)(slash_a - a) + 1 : 0;
    size_t size_b = slash_b != NULL ? (size_t)(slash_b - b) + 1 : 0;
    struct stat folder_a, folder_b;
    return a[size_a] != '\0' && strcmp(a + size_a, b + size_b) == 0 &&
           stat_folder(a, size_a, &folder_a) &&
           stat_folder(b, size_b, &folder_b) &&
           same_inode(&folder_a, &folder_b);
}

bool
output_file_same(const char *a, const char *b)
{
    struct stat about_a, about_b;
    if (a == NULL || b == NULL) {
        return false;
    }
    bool there_a = stat(a, &about_a) == 0, there_b = stat(b, &about_b) == 0;
    if (!there_a && !there_b) {
        return same_new_name(a, b);
    }
    return there_a && there_b && S_ISREG(about_a.st_mode) &&
           same_inode(&about_a, &about_b);
}

bool
output_file_written(const char *path)
{
    struct stat file;
    return path != NULL && stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
           file.st_size > 0;
}

/* Begins to write and gives up. Not with a pipe, whose reader would see it
   end. */
static int
try_to_write(const char *path)
{
    struct sotto_output *output = NULL;
    struct sotto_error err = {0};
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) &&
        !S_ISDIR(about.st_mode)) {
        return CLI_EXIT_DONE;
    }
    if (sotto_output_new(path, 0600, false, &output, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_output_free(output);
    return CLI_EXIT_DONE;
}

int
output_file_check_option(const char *option, const char *path,
                         const char *const *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (output_file_same(path, inputs[i])) {
            return cli_bad("%s names an input itself ('%.240s'): choose "
                           "another name",
                           option, inputs[i]);
        }
    }
    return path != NULL ? try_to_write(path) : CLI_EXIT_DONE;
}

int
output_file_check(const char *path, const char *const *inputs, size_t count)
{
    return output_file_check_option("-o", path, inputs, count);
}

static ssize_t
pass_on(void *cookie, const char *data, size_t size)
{
    enum sotto_status status = sotto_output_write(cookie, data, size, NULL);
    return status == SOTTO_STATUS_OK ? (ssize_t)size : 0;
}

static bool
open_file(struct output_file *file, const char *path, unsigned mode)
{
    struct sotto_error err = {0};
    if (sotto_output_new(path, mode, false, &file->output, &err) !=
        SOTTO_STATUS_OK) {
        (void)cli_fail(&err);
        return false;
    }
    file->stream = fopencookie(file->output, "w",
                               (cookie_io_functions_t){.write = pass_on});
    if (file->stream == NULL) {
        sotto_output_free(file->output);
        cli_error("out of memory");
        return false;
    }
    return true;
}

bool
output_file_open(struct output_file *file, const char *path)
{
    return open_file(file, path, 0666);
}

bool
output_file_open_secret(struct output_file *file, const char *path)
{
    return open_file(file, path, 0600);
}

bool
output_file_commit(struct output_file *file)
{
    struct sotto_error err = {0};
    (void)fclose(file->stream);
    if (sotto_output_commit(file->output, &err) != SOTTO_STATUS_OK) {
        (void)cli_fail(&err);
        return false;
    }
    return true;
}

void
output_file_drop(struct output_file *file)
{
    (void)fclose(file->stream);
    sotto_output_free(file->output);
}
