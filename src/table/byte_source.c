/*
 * byte_source.c: the bytes of a file from its beginning to its end.
 *
 *     file --read--> in --inflate--> slot 0..3 --copy--> who reads
 *                    (the thread)    a ring: `made` and `taken` count slots
 *
 * A slot belongs to the thread while made - taken < SLOTS, and to the reader
 * otherwise; the last slot is not full. What comes out are people's records:
 * every buffer they were in is wiped before it is freed.
 */
#include "table/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "host/wipe.h"
#include "table/gunzip.h"

#define IN_SIZE ((size_t)1 << 18)
#define SLOT_SIZE ((size_t)1 << 19)
#define SLOTS ((size_t)4)

struct slot {
    uint8_t *data;
    size_t size;
};

struct byte_source {
    int fd;
    char *path;
    uint8_t *in; /* read and not used yet: [in_at, in_size) */
    size_t in_at, in_size;
    bool in_ended;
    struct gunzip_stream *gunzip; /* NULL: the bytes are plain */

    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct slot slot[SLOTS];
    size_t made, taken; /* slots, ever */
    size_t slot_at;     /* bytes of the slot being read that are gone */
    bool stop;          /* nobody reads any more */
    bool ended;         /* nothing is made any more */
    enum sotto_status status;
    struct sotto_error err;
};

/* ---- Reading the file ---------------------------------------------------- */

static enum sotto_status
fail_read(const struct byte_source *source, int error, struct sotto_error *err)
{
    (void)host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                    host_shown(source->path), strerror(error));
    return host_about(SOTTO_STATUS_IO, err, SOTTO_ABOUT_FILE, source->path);
}

/* Reads until `size` bytes are there or the file has ended. */
static enum sotto_status
read_file(const struct byte_source *source, uint8_t *data, size_t size,
          size_t *ret_got, struct sotto_error *err)
{
    size_t got = 0;
    while (got < size) {
        ssize_t more = read(source->fd, data + got, size - got);
        if (more == 0) {
            break;
        }
        if (more < 0 && errno != EINTR) {
            return fail_read(source, errno, err);
        }
        got += more > 0 ? (size_t)more : 0;
    }
    *ret_got = got;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_in(struct byte_source *source, struct sotto_error *err)
{
    source->in_at = 0;
    enum sotto_status status =
        read_file(source, source->in, IN_SIZE, &source->in_size, err);
    source->in_ended = source->in_size < IN_SIZE;
    return status;
}

/* ---- Undoing gzip, in a thread ------------------------------------------- */

/* Fills a slot; one that is not full is the last. */
static enum sotto_status
inflate_slot(struct byte_source *source, struct slot *slot)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool ended = false;
    slot->size = 0;
    while (status == SOTTO_STATUS_OK && slot->size < SLOT_SIZE && !ended) {
        size_t used = 0, made = 0;
        if (source->in_at == source->in_size && !source->in_ended) {
            status = fill_in(source, &source->err);
        }
        status = HOST_THEN(
            status,
            gunzip_stream_run(source->gunzip, source->in + source->in_at,
                              source->in_size - source->in_at, source->in_ended,
                              slot->data + slot->size, SLOT_SIZE - slot->size,
                              &used, &made, &ended, &source->err));
        source->in_at += used;
        slot->size += made;
    }
    return status;
}

/* A slot to fill; NULL: nobody reads any more. */
static struct slot *
wait_for_slot(struct byte_source *source)
{
    (void)pthread_mutex_lock(&source->lock);
    while (!source->stop && source->made - source->taken == SLOTS) {
        (void)pthread_cond_wait(&source->changed, &source->lock);
    }
    struct slot *slot =
        source->stop ? NULL : &source->slot[source->made % SLOTS];
    (void)pthread_mutex_unlock(&source->lock);
    return slot;
}

static void *
inflate_all(void *context)
{
    struct byte_source *source = context;
    struct slot *slot = wait_for_slot(source);
    while (slot != NULL) {
        enum sotto_status status = inflate_slot(source, slot);
        bool last = status != SOTTO_STATUS_OK || slot->size < SLOT_SIZE;
        (void)pthread_mutex_lock(&source->lock);
        source->made++;
        source->status = status;
        source->ended = last;
        (void)pthread_cond_signal(&source->changed);
        (void)pthread_mutex_unlock(&source->lock);
        slot = last ? NULL : wait_for_slot(source);
    }
    return NULL;
}

/* Waits for the slot to read next; false: there is none any more. */
static bool
wait_for_bytes(struct byte_source *source)
{
    (void)pthread_mutex_lock(&source->lock);
    while (source->made == source->taken && !source->ended) {
        (void)pthread_cond_wait(&source->changed, &source->lock);
    }
    bool any = source->made > source->taken;
    (void)pthread_mutex_unlock(&source->lock);
    return any;
}

/* Copies what the slot has, and gives it back once it is empty. */
static size_t
take_bytes(struct byte_source *source, uint8_t *data, size_t size)
{
    struct slot *slot = &source->slot[source->taken % SLOTS];
    size_t left = slot->size - source->slot_at;
    size_t take = left < size ? left : size;
    memcpy(data, slot->data + source->slot_at, take);
    source->slot_at += take;
    if (source->slot_at == slot->size) {
        source->slot_at = 0;
        (void)pthread_mutex_lock(&source->lock);
        source->taken++;
        (void)pthread_cond_signal(&source->changed);
        (void)pthread_mutex_unlock(&source->lock);
    }
    return take;
}

static enum sotto_status
read_slots(struct byte_source *source, uint8_t *data, size_t size,
           size_t *ret_got, struct sotto_error *err)
{
    size_t got = 0;
    while (got < size && wait_for_bytes(source)) {
        got += take_bytes(source, data + got, size - got);
    }
    *ret_got = got;
    if (got == size || source->status == SOTTO_STATUS_OK) {
        return SOTTO_STATUS_OK;
    }
    if (err != NULL) {
        *err = source->err;
    }
    return source->status;
}

/* ---- Opening and closing ------------------------------------------------- */

static enum sotto_status
start_thread(struct byte_source *source, struct sotto_error *err)
{
    enum sotto_status status =
        gunzip_stream_new(host_shown(source->path), &source->gunzip, err);
    for (size_t i = 0; i < SLOTS && status == SOTTO_STATUS_OK; i++) {
        source->slot[i].data = malloc(SLOT_SIZE);
        if (source->slot[i].data == NULL) {
            status = host_fail_memory(err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        source->started =
            pthread_create(&source->thread, NULL, inflate_all, source) == 0;
        if (!source->started) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "the system gave no thread to undo gzip");
        }
    }
    return status;
}

static enum sotto_status
open_file(struct byte_source *source, struct sotto_error *err)
{
    source->fd = strcmp(source->path, "-") == 0
                     ? host_file_open("/dev/stdin", O_RDONLY)
                     : host_file_open(source->path, O_RDONLY);
    if (source->fd < 0) {
        return fail_read(source, errno, err);
    }
    enum sotto_status status = fill_in(source, err);
    if (status == SOTTO_STATUS_OK &&
        gunzip_detect(source->in, source->in_size)) {
        status = start_thread(source, err);
    }
    return status;
}

enum sotto_status
byte_source_open(const char *path, struct byte_source **ret_source,
                 struct sotto_error *err)
{
    struct byte_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        return host_fail_memory(err);
    }
    source->fd = -1;
    (void)pthread_mutex_init(&source->lock, NULL);
    (void)pthread_cond_init(&source->changed, NULL);
    source->path = strdup(path);
    source->in = malloc(IN_SIZE);
    enum sotto_status status = source->path != NULL && source->in != NULL
                                   ? open_file(source, err)
                                   : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        *ret_source = source;
    } else {
        byte_source_close(source);
    }
    return status;
}

/* What was read to look at it, then the file itself. */
static enum sotto_status
read_plain(struct byte_source *source, uint8_t *data, size_t size,
           size_t *ret_got, struct sotto_error *err)
{
    size_t left = source->in_size - source->in_at;
    size_t take = left < size ? left : size, more = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    memcpy(data, source->in + source->in_at, take);
    source->in_at += take;
    if (take < size && !source->in_ended) {
        status = read_file(source, data + take, size - take, &more, err);
    }
    *ret_got = take + more;
    return status;
}

enum sotto_status
byte_source_read(struct byte_source *source, uint8_t *data, size_t size,
                 size_t *ret_got, struct sotto_error *err)
{
    return source->gunzip != NULL
               ? read_slots(source, data, size, ret_got, err)
               : read_plain(source, data, size, ret_got, err);
}

bool
byte_source_packed(const struct byte_source *source)
{
    return source->gunzip != NULL;
}

static void
stop_thread(struct byte_source *source)
{
    (void)pthread_mutex_lock(&source->lock);
    source->stop = true;
    (void)pthread_cond_signal(&source->changed);
    (void)pthread_mutex_unlock(&source->lock);
    (void)pthread_join(source->thread, NULL);
}

void
byte_source_close(struct byte_source *source)
{
    if (source == NULL) {
        return;
    }
    if (source->started) {
        stop_thread(source);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        host_wipe_free(source->slot[i].data, SLOT_SIZE);
    }
    gunzip_stream_free(source->gunzip);
    host_wipe_free(source->in, IN_SIZE);
    if (source->fd >= 0) {
        (void)close(source->fd);
    }
    (void)pthread_cond_destroy(&source->changed);
    (void)pthread_mutex_destroy(&source->lock);
    free(source->path);
    free(source);
}
