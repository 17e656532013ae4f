/*
 * replay.c: runs a fuzz target on files instead of searching, so that its
 * corpus is an ordinary test. Arguments are files, or directories whose files
 * are taken; finding no input at all is a failure.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
complain(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    return -1;
}

/* The input is copied to memory of exactly its size, so that a sanitizer or
 * valgrind sees a read beyond it. */
static int
run_file(const char *path, size_t size)
{
    int status = -1;
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
        complain(path);
        goto done;
    }
    printf("%s\n", path);
    fflush(stdout);
    (void)LLVMFuzzerTestOneInput(data, size);
    status = 0;
done:
    free(data);
    if (file != NULL)
        fclose(file);
    return status;
}

static int run_path(const char *path, long *count);

static int
run_directory(const char *path, long *count)
{
    int status = 0;
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        return complain(path);
    for (int i = 0; i < n; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && run_path(inner, count) != 0)
            status = -1;
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int
run_path(const char *path, long *count)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return complain(path);
    if (S_ISDIR(about.st_mode))
        return run_directory(path, count);
    *count += 1;
    return run_file(path, (size_t)about.st_size);
}

int
main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    long count = 0;
    for (int i = 1; i < argc; i++) {
        if (run_path(argv[i], &count) != 0)
            status = EXIT_FAILURE;
    }
    printf("%ld inputs\n", count);
    return count > 0 ? status : EXIT_FAILURE;
}
