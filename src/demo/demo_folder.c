/*
 * demo_folder.c: the folder the demo may write in, and its files. Their names
 * are fixed, so it never goes where files of others are.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "demo/demo.h"

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
    uint8_t buffer[4096];
    const struct demo_data *data = &demo_data[0];
    size_t at = 0, got;
    (void)snprintf(path, sizeof path, "%s/%s", folder, data->name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        if (got > data->size - at ||
            memcmp(buffer, data->bytes + at, got) != 0) {
            break;
        }
        at += got;
    }
    bool same = at == data->size && feof(file) != 0;
    (void)fclose(file);
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
    if (mkdir(demo_place(demo, name, path), 0777) == 0) {
        return CLI_EXIT_DONE;
    }
    DIR *folder = errno == EEXIST ? opendir(path) : NULL;
    if (folder == NULL) {
        cli_error("cannot make the folder '%.240s': %s", path, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    clear_folder(folder, path, prefix);
    (void)closedir(folder);
    return CLI_EXIT_DONE;
}

/* ---- The digits ---------------------------------------------------------- */

static int
write_file(const struct demo *demo, const struct demo_data *data)
{
    char path[DEMO_PATH_SIZE];
    struct sotto_output *output = NULL;
    struct sotto_error err = {0};
    enum sotto_status status = sotto_output_new(
        demo_place(demo, data->name, path), 0666, false, &output, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_output_write(output, data->bytes, data->size, &err);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_output_commit(output, &err);
        } else {
            sotto_output_free(output);
        }
    }
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

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
        status = write_file(demo, &demo_data[i]);
    }
    if (status == CLI_EXIT_DONE) {
        status = read_digits(story, "train", &story->auxiliary);
    }
    if (status == CLI_EXIT_DONE) {
        status = read_digits(story, "people", &story->people);
    }
    if (status == CLI_EXIT_DONE) {
        status = read_digits(story, "test", &story->test);
    }
    if (status == CLI_EXIT_DONE) {
        demo->auxiliary = sotto_table_rows(story->auxiliary);
        demo->people = sotto_table_rows(story->people);
        demo->test = sotto_table_rows(story->test);
    }
    return status;
}

/* ---- The list ------------------------------------------------------------ */

/* Size and SHA-256 of a file, as `sha256sum` says it. */
static bool
hash_file(const char *path, struct demo_file *file)
{
    crypto_hash_sha256_state state;
    unsigned char buffer[4096], hash[crypto_hash_sha256_BYTES];
    size_t got;
    FILE *from = fopen(path, "rb");
    if (from == NULL) {
        return false;
    }
    (void)crypto_hash_sha256_init(&state);
    while ((got = fread(buffer, 1, sizeof buffer, from)) > 0) {
        (void)crypto_hash_sha256_update(&state, buffer, got);
        file->size += got;
    }
    bool good = ferror(from) == 0;
    (void)fclose(from);
    (void)crypto_hash_sha256_final(&state, hash);
    (void)sodium_bin2hex(file->hash, sizeof file->hash, hash, sizeof hash);
    return good;
}

int
demo_list(struct demo *demo, const char *name, const char *what)
{
    char path[DEMO_PATH_SIZE];
    struct demo_file *file = &demo->file[demo->files];
    if (demo->files == DEMO_FILES_MAX) {
        return CLI_EXIT_DONE;
    }
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    file->what = what;
    if (!hash_file(demo_place(demo, name, path), file)) {
        cli_error("cannot read '%.240s' back: %s", path, strerror(errno));
        return CLI_EXIT_FAILED;
    }
    demo->files++;
    return CLI_EXIT_DONE;
}
