/*
 * output_file.c: a stream into a sotto_output, which keeps the first failure
 * and tells it at commit.
 */
#include "cli/output_file.h"

#include <sys/stat.h>

#include "cli/cli.h"

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
output_file_check(const char *path, const char *const *inputs, size_t count)
{
    struct stat output, input;
    bool there = path != NULL && stat(path, &output) == 0;
    for (size_t i = 0; i < count && there && S_ISREG(output.st_mode); i++) {
        if (inputs[i] != NULL && stat(inputs[i], &input) == 0 &&
            input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
            return cli_bad("-o names an input itself ('%.240s'): choose "
                           "another name",
                           inputs[i]);
        }
    }
    return path != NULL ? try_to_write(path) : CLI_EXIT_DONE;
}

static ssize_t
pass_on(void *cookie, const char *data, size_t size)
{
    enum sotto_status status = sotto_output_write(cookie, data, size, NULL);
    return status == SOTTO_STATUS_OK ? (ssize_t)size : 0;
}

bool
output_file_open(struct output_file *file, const char *path)
{
    struct sotto_error err = {0};
    if (sotto_output_new(path, 0666, false, &file->output, &err) !=
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
