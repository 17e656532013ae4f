/*
 * store_file.h: a store in a file of its own for every test, and the file's
 * bytes.
 */
#ifndef SOTTO_TESTS_STORE_FILE_H
#define SOTTO_TESTS_STORE_FILE_H

#include "store_fixture.h"

#include <sys/stat.h>

#define PAGE 4096u

static char url[600];

static inline const char *
new_path(void)
{
    static unsigned number;
    char name[32];
    (void)snprintf(name, sizeof name, "s%u", number++);
    (void)snprintf(url, sizeof url, "sqlite:%s", in_folder(name));
    return url + strlen("sqlite:");
}

struct bytes {
    uint8_t *data;
    size_t size;
};

/* A copy of a file as it is on disk: to open and close it here would lose
   SQLite its locks. */
static inline struct bytes
raw(const char *path, const char *suffix)
{
    char command[1400], copy[700];
    struct stat info;
    struct bytes bytes = {NULL, 0};
    (void)snprintf(copy, sizeof copy, "%s.copy", path);
    (void)snprintf(command, sizeof command, "cp '%s%s' '%s'", path, suffix,
                   copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(stat(copy, &info), 0);
    bytes.size = (size_t)info.st_size;
    bytes.data = calloc(1, bytes.size + 1);
    FILE *file = fopen(copy, "rb");
    assert_non_null(bytes.data);
    assert_non_null(file);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    (void)fclose(file);
    (void)unlink(copy);
    return bytes;
}

#endif
