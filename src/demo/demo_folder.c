/*
 * demo_folder.c: the folder the demo may write in, and its files. Their names
 * are fixed, so it never goes where files of others are.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "demo/demo.h"
#include "host/file.h"

#define FILE_MOST (1u << 30) /* far more than a demo makes */

const char *
demo_place(const struct demo *demo, const char *name, char path[DEMO_PATH_SIZE])
{
    (void)snprintf(path, DEMO_PATH_SIZE, "%s/%s", demo->folder, name);
    return path;
}

const char *
demo_name(const char *kind, const struct demo_budget *budget,
          const char *ending, char name[DEMO_NAME_SIZE])
{
    (void)snprintf(name, DEMO_NAME_SIZE, "%s-%s.%s", kind, budget->text,
                   ending);
    return name;
}

const char *
demo_campaign(const struct demo_budget *budget, char name[DEMO_NAME_SIZE])
{
    (void)snprintf(name, DEMO_NAME_SIZE, "%s-%s",
                   demo_kind_name[DEMO_KIND_CODES], budget->text);
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '.') {
            *at = '_';
        }
    }
    return name;
}

int
demo_write(const struct demo *demo, const char *name, const void *data,
           size_t size)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_error err = {0};
    return cli_exit(host_file_write(demo_place(demo, name, path), 0666, false,
                                    data, size, &err),
                    &err);
}

/* ---- The folder ---------------------------------------------------------- */

/* Whether there is nothing but what a program that was killed may leave of a
   file: sotto_output's temporary. */
static bool
is_empty(DIR *folder)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0 &&
            strncmp(entry->d_name, ".sotto-", 7) != 0) {
            return false;
        }
    }
    return true;
}

/* Whether the folder has the first file that a demo writes, byte for byte. */
static bool
is_begun(const char *folder)
{
    char path[DEMO_PATH_SIZE];
    const struct embedded *data = &demo_data[0];
    uint8_t *bytes = NULL;
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/%s", folder, data->name);
    bool same = host_file_read(path, data->size, &bytes, &size, NULL) ==
                    SOTTO_STATUS_OK &&
                size == data->size && memcmp(bytes, data->bytes, size) == 0;
    free(bytes);
    return same;
}

/* Whether the folder's encoder.sotto was made by a demo. */
static bool
is_demo(const char *folder)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)snprintf(path, sizeof path, "%s/encoder.sotto", folder);
    if (sotto_mechanism_read(path, &mechanism, NULL) != SOTTO_STATUS_OK) {
        return false;
    }
    sotto_mechanism_info(mechanism, &info);
    bool same = strcmp(info.name, DEMO_MECHANISM) == 0;
    sotto_mechanism_free(mechanism);
    return same;
}

/* Makes a folder, or opens the one that is there, which the caller closes.
   Returns the exit status, the message printed. */
static int
make_folder(const char *path, DIR **ret_there)
{
    if (mkdir(path, 0777) == 0) {
        return CLI_EXIT_DONE;
    }
    *ret_there = errno == EEXIST ? opendir(path) : NULL;
    if (*ret_there == NULL) {
        cli_error("cannot make the folder '%.240s': %s; choose another place "
                  "with -o",
                  path, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}

int
demo_folder_make(const char *path)
{
    DIR *folder = NULL;
    int status = make_folder(path, &folder);
    if (folder == NULL) {
        return status;
    }
    bool empty = is_empty(folder);
    (void)closedir(folder);
    if (!empty && !is_begun(path) && !is_demo(path)) {
        return cli_bad("the folder '%.240s' holds other files: choose an empty "
                       "or new one with -o",
                       path);
    }
    return CLI_EXIT_DONE;
}

static void
clear_folder(DIR *folder, const char *path, const char *prefix)
{
    char file[DEMO_PATH_SIZE];
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name) <
                (int)sizeof file) {
            (void)unlink(file);
        }
    }
}

int
demo_folder_clear(const struct demo *demo, const char *name, const char *prefix)
{
    char path[DEMO_PATH_SIZE];
    DIR *folder = NULL;
    int status = make_folder(demo_place(demo, name, path), &folder);
    if (folder != NULL) {
        clear_folder(folder, path, prefix);
        (void)closedir(folder);
    }
    return status;
}

/* ---- The digits ---------------------------------------------------------- */

static int
read_digits(const struct demo_story *story, const char *which,
            struct sotto_table **ret_table)
{
    char name[64], images[DEMO_PATH_SIZE], labels[DEMO_PATH_SIZE];
    (void)snprintf(name, sizeof name, "%s-images.idx.gz", which);
    (void)demo_place(&story->demo, name, images);
    (void)snprintf(name, sizeof name, "%s-labels.idx.gz", which);
    (void)demo_place(&story->demo, name, labels);
    return records_read(story->args, images, labels, ret_table);
}

int
demo_unpack(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; i < demo_data_count && status == CLI_EXIT_DONE; i++) {
        status = demo_write(demo, demo_data[i].name, demo_data[i].bytes,
                            demo_data[i].size);
    }
    status = CLI_THEN(status, read_digits(story, "train", &story->auxiliary));
    status = CLI_THEN(status, read_digits(story, "people", &story->people));
    status = CLI_THEN(status, read_digits(story, "test", &story->test));
    if (status == CLI_EXIT_DONE) {
        demo->auxiliary = sotto_table_rows(story->auxiliary);
        demo->people = sotto_table_rows(story->people);
        demo->test = sotto_table_rows(story->test);
    }
    return status;
}

/* ---- The list ------------------------------------------------------------ */

int
demo_list(struct demo *demo, const char *name, const char *what)
{
    char path[DEMO_PATH_SIZE];
    unsigned char hash[crypto_hash_sha256_BYTES];
    struct demo_file *file = &demo->file[demo->files];
    struct sotto_error err = {0};
    uint8_t *data = NULL;
    if (demo->files == DEMO_FILES_MAX) {
        return CLI_EXIT_DONE;
    }
    if (host_file_read(demo_place(demo, name, path), FILE_MOST, &data,
                       &file->size, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    (void)crypto_hash_sha256(hash, data, file->size);
    (void)sodium_bin2hex(file->hash, sizeof file->hash, hash, sizeof hash);
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    file->what = what;
    demo->files++;
    free(data);
    return CLI_EXIT_DONE;
}
