/*
 * window_keys.c: the keys of windows, in a folder of the collector's own.
 *
 * A key is flushed, and its name in the folder with it, before anything that it
 * seals leaves this program: a row without its key would be a report that was
 * acknowledged and lost. A file that a kill left half written has sealed
 * nothing, so the next window_keys_destroy_others removes it like any other.
 */
#include "store/window_keys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "host/wipe.h"
#include "store/sql_file.h"

#define KEY_SIZE crypto_aead_xchacha20poly1305_ietf_KEYBYTES
#define NONCE_SIZE crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define CHECK_SIZE crypto_aead_xchacha20poly1305_ietf_ABYTES
#define NAME_SIZE 40u
#define KNOWN 4u /* keys in memory: two windows, what is held, and one more */
_Static_assert(NONCE_SIZE + CHECK_SIZE == 40, "what the header says");
_Static_assert(KEY_SIZE == 32, "likewise");

struct window_key {
    int64_t number; /* 0: none */
    uint8_t key[KEY_SIZE];
};

struct window_keys {
    char *folder;
    int dir, lock; /* descriptors; -1: not open */
    uint8_t collector[COLLECTOR_ID_SIZE];
    struct window_key known[KNOWN];
    unsigned next; /* of them to be forgotten */
};

static enum sotto_status
fail_file(const struct window_keys *keys, const char *name, const char *what,
          struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "'%s/%s' cannot be %s: %s",
                     host_shown(keys->folder), name, what, strerror(errno));
}

static void
name_key(int64_t number, char name[NAME_SIZE])
{
    (void)snprintf(name, NAME_SIZE, "%016" PRIx64 ".key", (uint64_t)number);
}

/* ---- Files --------------------------------------------------------------- */

/* All of `size` bytes, flushed. */
static bool
write_flushed(int fd, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t put = pwrite(fd, data + at, size - at, (off_t)at);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        at += put > 0 ? (size_t)put : 0;
    }
    return fsync(fd) == 0;
}

/* A file that is not there yet, whole on disk with its name. */
static enum sotto_status
make_file(const struct window_keys *keys, const char *name, const uint8_t *data,
          size_t size, struct sotto_error *err)
{
    int fd = openat(keys->dir, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return fail_file(keys, name, "made", err);
    }
    bool good = write_flushed(fd, data, size) && fsync(keys->dir) == 0;
    enum sotto_status status =
        good ? SOTTO_STATUS_OK : fail_file(keys, name, "written", err);
    (void)close(fd);
    if (!good) {
        (void)unlinkat(keys->dir, name, 0);
    }
    return status;
}

/* Just `size` bytes, to `data`; `ret_there` false: no such file. */
static enum sotto_status
read_file(const struct window_keys *keys, const char *name, uint8_t *data,
          size_t size, bool *ret_there, struct sotto_error *err)
{
    struct stat info;
    int fd = openat(keys->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *ret_there = fd >= 0 || errno != ENOENT;
    if (fd < 0) {
        return *ret_there ? fail_file(keys, name, "opened", err)
                          : SOTTO_STATUS_OK;
    }
    enum sotto_status status = SOTTO_STATUS_OK;
    if (fstat(fd, &info) != 0 || info.st_size != (off_t)size ||
        read(fd, data, size) != (ssize_t)size) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s/%s' is damaged: it does not have %zu bytes",
                           host_shown(keys->folder), name, size);
    }
    (void)close(fd);
    return status;
}

/* Zeros over it first: what is only unlinked stays on the disk. */
static enum sotto_status
destroy_file(const struct window_keys *keys, const char *name,
             struct sotto_error *err)
{
    static const uint8_t zeros[KEY_SIZE];
    int fd = openat(keys->dir, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    bool good = fd >= 0 && write_flushed(fd, zeros, sizeof zeros) &&
                unlinkat(keys->dir, name, 0) == 0;
    enum sotto_status status =
        good ? SOTTO_STATUS_OK : fail_file(keys, name, "destroyed", err);
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* ---- The folder ---------------------------------------------------------- */

static enum sotto_status
fail_folder(const char *folder, const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0,
                     "the folder '%s' cannot be %s: %s", host_shown(folder),
                     what, strerror(errno));
}

static enum sotto_status
check_mode(const char *folder, const struct stat *info, struct sotto_error *err)
{
    return (info->st_mode & (S_IRWXG | S_IRWXO)) == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the folder '%s' is open to others than its owner "
                           "(mode %04o), and what it holds opens what waits in "
                           "the store: chmod 700",
                           host_shown(folder), info->st_mode & 07777u);
}

static enum sotto_status
open_folder(struct window_keys *keys, struct sotto_error *err)
{
    struct stat info;
    enum sotto_status status = host_folder_make(keys->folder, 0700, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    keys->dir = open(keys->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return keys->dir < 0 || fstat(keys->dir, &info) != 0
               ? fail_folder(keys->folder, "opened", err)
               : check_mode(keys->folder, &info, err);
}

/* Whether a folder that is not there could be made. */
static enum sotto_status
try_parent(const char *folder, struct sotto_error *err)
{
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/') {
        size--;
    }
    while (size > 0 && folder[size - 1] != '/') {
        size--;
    }
    char *parent =
        size > 0 ? host_text_copy(folder, size) : host_text_copy(".", 1);
    enum sotto_status status = parent == NULL ? host_fail_memory(err)
                               : access(parent, W_OK | X_OK) == 0
                                   ? SOTTO_STATUS_OK
                                   : fail_folder(folder, "made", err);
    free(parent);
    return status;
}

enum sotto_status
window_keys_try(const char *folder, bool *ret_there, struct sotto_error *err)
{
    struct stat info;
    *ret_there = false;
    if (stat(folder, &info) != 0) {
        return errno == ENOENT ? try_parent(folder, err)
                               : fail_folder(folder, "opened", err);
    }
    if (access(folder, R_OK | W_OK | X_OK) != 0) {
        return fail_folder(folder, "written to", err);
    }
    char *name = host_text_path("%s/collector", folder);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    *ret_there = access(name, R_OK) == 0;
    free(name);
    return check_mode(folder, &info, err);
}

static enum sotto_status
lock_folder(struct window_keys *keys, struct sotto_error *err)
{
    char *name = host_text_path("%s/collector", keys->folder);
    enum sotto_status status =
        name == NULL
            ? host_fail_memory(err)
            : sql_file_lock(name, "a writer has the keys",
                            " already; end it "
                            "first, or give this collector a folder of its own",
                            &keys->lock, err);
    free(name);
    return status;
}

static enum sotto_status
read_collector(struct window_keys *keys, struct sotto_error *err)
{
    bool there = false;
    enum sotto_status status = read_file(keys, "collector", keys->collector,
                                         COLLECTOR_ID_SIZE, &there, err);
    if (status != SOTTO_STATUS_OK || there) {
        return status;
    }
    if (sotto_entropy(keys->collector, COLLECTOR_ID_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; no folder of keys was "
                         "made");
    }
    return make_file(keys, "collector", keys->collector, COLLECTOR_ID_SIZE,
                     err);
}

enum sotto_status
window_keys_open(const char *folder, struct window_keys **ret_keys,
                 struct sotto_error *err)
{
    struct window_keys *keys = calloc(1, sizeof *keys);
    if (keys == NULL) {
        return host_fail_memory(err);
    }
    keys->dir = keys->lock = -1;
    keys->folder = host_text_copy(folder, strlen(folder));
    enum sotto_status status =
        keys->folder == NULL ? host_fail_memory(err) : open_folder(keys, err);
    status = HOST_THEN(status, lock_folder(keys, err));
    status = HOST_THEN(status, read_collector(keys, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_keys = keys;
    } else {
        window_keys_free(keys);
    }
    return status;
}

void
window_keys_free(struct window_keys *keys)
{
    if (keys == NULL) {
        return;
    }
    if (keys->lock >= 0) {
        (void)close(keys->lock);
    }
    if (keys->dir >= 0) {
        (void)close(keys->dir);
    }
    free(keys->folder);
    host_wipe_free(keys, sizeof *keys);
}

const uint8_t *
window_keys_collector(const struct window_keys *keys)
{
    return keys->collector;
}

const char *
window_keys_folder(const struct window_keys *keys)
{
    return keys->folder;
}

/* ---- Keys ---------------------------------------------------------------- */

/* Takes the place of the key that has been known longest. */
static struct window_key *
remember_key(struct window_keys *keys, int64_t number, const uint8_t *key)
{
    struct window_key *known = &keys->known[keys->next];
    keys->next = (keys->next + 1) % KNOWN;
    known->number = number;
    memcpy(known->key, key, KEY_SIZE);
    return known;
}

enum sotto_status
window_keys_make(struct window_keys *keys, int64_t *ret_number,
                 struct sotto_error *err)
{
    uint8_t key[KEY_SIZE];
    uint64_t number = 0;
    char name[NAME_SIZE];
    if (sotto_entropy(key, sizeof key) != 0 ||
        sotto_entropy((uint8_t *)&number, sizeof number) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; a window has no key");
    }
    number = number >> 1 | 1;
    name_key((int64_t)number, name);
    enum sotto_status status = make_file(keys, name, key, sizeof key, err);
    if (status == SOTTO_STATUS_OK) {
        (void)remember_key(keys, (int64_t)number, key);
        *ret_number = (int64_t)number;
    }
    sodium_memzero(key, sizeof key);
    return status;
}

static enum sotto_status
find_key(struct window_keys *keys, int64_t number,
         const struct window_key **ret_key, struct sotto_error *err)
{
    uint8_t key[KEY_SIZE];
    char name[NAME_SIZE];
    bool there = false;
    for (size_t i = 0; i < KNOWN; i++) {
        if (keys->known[i].number == number) {
            *ret_key = &keys->known[i];
            return SOTTO_STATUS_OK;
        }
    }
    name_key(number, name);
    enum sotto_status status =
        read_file(keys, name, key, sizeof key, &there, err);
    if (status == SOTTO_STATUS_OK &&
        (!there || sodium_is_zero(key, KEY_SIZE))) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the key '%s/%s' is gone, and reports that wait in "
                         "the store cannot be read without it: put it back, or "
                         "give those reports up (docs/postgres.md)",
                         host_shown(keys->folder), name);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_key = remember_key(keys, number, key);
    }
    sodium_memzero(key, sizeof key);
    return status;
}

static void
forget_key(struct window_keys *keys, int64_t number)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (keys->known[i].number == number) {
            sodium_memzero(&keys->known[i], sizeof keys->known[i]);
        }
    }
}

/* ---- Destroying ---------------------------------------------------------- */

/* The number in a key's name; 0: it is no key. */
static int64_t
number_of(const char *name)
{
    char again[NAME_SIZE];
    uint64_t number = strtoull(name, NULL, 16);
    if (number == 0 || number > INT64_MAX) {
        return 0;
    }
    name_key((int64_t)number, again);
    return strcmp(name, again) == 0 ? (int64_t)number : 0;
}

static bool
is_kept(int64_t number, const int64_t *kept, size_t count)
{
    size_t i = 0;
    while (i < count && kept[i] != number) {
        i++;
    }
    return i < count;
}

enum sotto_status
window_keys_destroy_others(struct window_keys *keys, const int64_t *kept,
                           size_t count, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    DIR *dir = opendir(keys->folder);
    bool any = false;
    if (dir == NULL) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "the folder '%s' cannot be read: %s",
                         host_shown(keys->folder), strerror(errno));
    }
    for (struct dirent *entry = readdir(dir);
         entry != NULL && status == SOTTO_STATUS_OK; entry = readdir(dir)) {
        int64_t number = number_of(entry->d_name);
        if (number != 0 && !is_kept(number, kept, count)) {
            forget_key(keys, number);
            status = destroy_file(keys, entry->d_name, err);
            any = true;
        }
    }
    (void)closedir(dir);
    if (any && fsync(keys->dir) != 0) {
        status = HOST_THEN(status, fail_file(keys, ".", "flushed", err));
    }
    return status;
}

/* ---- Sealing ------------------------------------------------------------- */

#define ABOUT_SIZE (1u + 4u + COLLECTOR_ID_SIZE)

/* What a sealed text is bound to. */
static void
write_about(const struct window_keys *keys, const struct window_seal *seal,
            uint8_t about[ABOUT_SIZE])
{
    about[0] = seal->purpose;
    for (unsigned i = 0; i < 4; i++) {
        about[1 + i] = (uint8_t)(seal->campaign >> 8 * i);
    }
    memcpy(about + 5, keys->collector, COLLECTOR_ID_SIZE);
}

enum sotto_status
window_keys_seal(struct window_keys *keys, const struct window_seal *seal,
                 const uint8_t *plain, size_t size, uint8_t *to,
                 struct sotto_error *err)
{
    const struct window_key *key = NULL;
    uint8_t about[ABOUT_SIZE];
    enum sotto_status status = find_key(keys, seal->number, &key, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (sotto_entropy(to, NONCE_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; nothing was stored");
    }
    write_about(keys, seal, about);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(
        to + NONCE_SIZE, NULL, plain, size, about, sizeof about, NULL, to,
        key->key);
    return SOTTO_STATUS_OK;
}

enum sotto_status
window_keys_unseal(struct window_keys *keys, const struct window_seal *seal,
                   const uint8_t *sealed, size_t size, uint8_t *to,
                   struct sotto_error *err)
{
    const struct window_key *key = NULL;
    uint8_t about[ABOUT_SIZE];
    enum sotto_status status = find_key(keys, seal->number, &key, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    write_about(keys, seal, about);
    return size >= WINDOW_SEAL_EXTRA &&
                   crypto_aead_xchacha20poly1305_ietf_decrypt(
                       to, NULL, NULL, sealed + NONCE_SIZE, size - NONCE_SIZE,
                       about, sizeof about, sealed, key->key) == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "what waits of campaign %u under the key "
                           "%016" PRIx64 " is damaged, or another collector's",
                           seal->campaign, (uint64_t)seal->number);
}
