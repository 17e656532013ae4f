/*
 * gunzip.c: undoing gzip in memory, up to a ceiling; or bit by bit.
 *
 * A few kilobytes can claim to be gigabytes, so the output grows only as bytes
 * come out and never past the ceiling. What comes out are people's records:
 * every buffer they were in, zlib's window too, is wiped before it is freed.
 */
#include "table/gunzip.h"

#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>

#include "host/error.h"
#include "host/wipe.h"

#define GROWTH_MIN ((size_t)1 << 16)
#define CHUNK_MAX ((size_t)1 << 30) /* zlib counts in 32 bits */

struct gunzip {
    z_stream z;
    const char *name;
    const uint8_t *in;
    size_t in_size;
    size_t in_at;
    uint8_t *out;
    size_t out_size;
    size_t capacity;
    size_t limit;
};

bool
gunzip_detect(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Stands before what zlib is given: its size, to wipe it by. */
union before {
    size_t size;
    max_align_t align;
};

/* zlib's memory comes from our own calls, as any other's. It asks for a few
   small blocks, whose size cannot overflow. */
static voidpf
allocate(voidpf opaque, uInt count, uInt size)
{
    size_t whole = (size_t)count * size + sizeof(union before);
    union before *memory = calloc(1, whole);
    (void)opaque;
    if (memory == NULL) {
        return NULL;
    }
    memory->size = whole;
    return memory + 1;
}

static void
release(voidpf opaque, voidpf memory)
{
    (void)opaque;
    if (memory != NULL) {
        union before *whole = (union before *)memory - 1;
        host_wipe_free(whole, whole->size);
    }
}

/* Makes room for at least one more byte, up to one above the limit: that one
   tells a stream that is too long from one that just fits. */
static enum sotto_status
grow_gunzip(struct gunzip *g, struct sotto_error *err)
{
    if (g->out_size < g->capacity) {
        return SOTTO_STATUS_OK;
    }

    size_t most = g->limit < SIZE_MAX ? g->limit + 1 : SIZE_MAX;
    size_t wanted =
        g->capacity > most / 2 ? most : g->capacity * 2 + GROWTH_MIN;
    if (wanted > most) {
        wanted = most;
    }
    uint8_t *out = host_wipe_resize(g->out, g->out_size, wanted);
    if (out == NULL) {
        return host_fail_memory(err);
    }
    g->out = out;
    g->capacity = wanted;
    return SOTTO_STATUS_OK;
}

static uInt
chunk(size_t left)
{
    return (uInt)(left < CHUNK_MAX ? left : CHUNK_MAX);
}

/* One call of inflate; says what zlib said. */
static int
advance(struct gunzip *g)
{
    uInt in = chunk(g->in_size - g->in_at);
    uInt out = chunk(g->capacity - g->out_size);
    g->z.next_in = (z_const Bytef *)(uintptr_t)(g->in + g->in_at);
    g->z.avail_in = in;
    g->z.next_out = g->out + g->out_size;
    g->z.avail_out = out;

    int said = inflate(&g->z, Z_NO_FLUSH);
    g->in_at += in - g->z.avail_in;
    g->out_size += out - g->z.avail_out;
    return said;
}

/* A member has ended: another must follow, or nothing. */
static enum sotto_status
next_member(struct gunzip *g, struct sotto_error *err)
{
    if (g->in_at < g->in_size &&
        !gunzip_detect(g->in + g->in_at, g->in_size - g->in_at)) {
        return host_fail(err, SOTTO_STATUS_INPUT, g->in_at,
                         "%s: %zu bytes that are not gzip follow the gzip "
                         "data: make the file again",
                         g->name, g->in_size - g->in_at);
    }
    (void)inflateReset(&g->z);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fail_limit(const struct gunzip *g, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_LIMIT, g->in_at,
                     "%s: decompresses to more than %zu bytes, the most that "
                     "is read: split the file",
                     g->name, g->limit);
}

/* `at`: how many compressed bytes were used; `size`: of how many. */
static enum sotto_status
fail_inflate(const char *name, const z_stream *z, int said, size_t at,
             size_t size, struct sotto_error *err)
{
    if (said == Z_MEM_ERROR) {
        return host_fail_memory(err);
    }
    if (said == Z_BUF_ERROR) {
        return host_fail(err, SOTTO_STATUS_INPUT, at,
                         "%s: the gzip data is cut short after %zu bytes: "
                         "fetch or make the file again",
                         name, size);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, at,
                     "%s: the gzip data is corrupt (%s): fetch or make the "
                     "file again",
                     name, z->msg != NULL ? z->msg : "no detail");
}

static enum sotto_status
inflate_all(struct gunzip *g, struct sotto_error *err)
{
    bool ended = false;
    while (!ended || g->in_at < g->in_size) {
        enum sotto_status status = grow_gunzip(g, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }

        int said = advance(g);
        ended = said == Z_STREAM_END;
        if (g->out_size > g->limit) {
            status = fail_limit(g, err);
        } else if (ended) {
            status = next_member(g, err);
        } else if (said != Z_OK) {
            status =
                fail_inflate(g->name, &g->z, said, g->in_at, g->in_size, err);
        }
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
gunzip_bytes(const uint8_t *data, size_t size, size_t limit, const char *name,
             uint8_t **ret_data, size_t *ret_size, struct sotto_error *err)
{
    struct gunzip g = {
        .name = name, .in = data, .in_size = size, .limit = limit};
    g.z.zalloc = allocate;
    g.z.zfree = release;
    if (inflateInit2(&g.z, MAX_WBITS + 16) != Z_OK) {
        return host_fail_memory(err);
    }

    uint8_t *fitted = NULL;
    enum sotto_status status = inflate_all(&g, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }

    fitted = host_wipe_resize(g.out, g.out_size, g.out_size + 1);
    *ret_data = fitted != NULL ? fitted : g.out;
    *ret_size = g.out_size;
    g.out = NULL;
done:
    (void)inflateEnd(&g.z);
    host_wipe_free(g.out, g.out_size);
    return status;
}

/* ---- Bit by bit --------------------------------------------------------- */

struct gunzip_stream {
    z_stream z;
    const char *name;
    size_t in_at; /* compressed bytes used, ever */
    bool between; /* a member has ended, and no other has begun */
};

enum sotto_status
gunzip_stream_new(const char *name, struct gunzip_stream **ret_stream,
                  struct sotto_error *err)
{
    struct gunzip_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return host_fail_memory(err);
    }
    stream->name = name;
    stream->z.zalloc = allocate;
    stream->z.zfree = release;
    if (inflateInit2(&stream->z, MAX_WBITS + 16) != Z_OK) {
        free(stream);
        return host_fail_memory(err);
    }
    *ret_stream = stream;
    return SOTTO_STATUS_OK;
}

void
gunzip_stream_free(struct gunzip_stream *stream)
{
    if (stream != NULL) {
        (void)inflateEnd(&stream->z);
        free(stream);
    }
}

/* Begins another member, if gzip follows. */
static enum sotto_status
begin_member(struct gunzip_stream *stream, const uint8_t *in, size_t in_size,
             struct sotto_error *err)
{
    if (in_size >= 2 && !gunzip_detect(in, in_size)) {
        return host_fail(err, SOTTO_STATUS_INPUT, stream->in_at,
                         "%s: bytes that are not gzip follow the gzip data: "
                         "make the file again",
                         stream->name);
    }
    (void)inflateReset(&stream->z);
    stream->between = false;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_member(struct gunzip_stream *stream, size_t in_size, bool last,
           struct sotto_error *err)
{
    int said = inflate(&stream->z, Z_NO_FLUSH);
    stream->in_at += in_size - stream->z.avail_in;
    stream->between = said == Z_STREAM_END;
    if (said == Z_OK || said == Z_STREAM_END ||
        (said == Z_BUF_ERROR && !(in_size == 0 && last))) {
        return SOTTO_STATUS_OK;
    }
    return fail_inflate(stream->name, &stream->z, said, stream->in_at,
                        stream->in_at, err);
}

enum sotto_status
gunzip_stream_run(struct gunzip_stream *stream, const uint8_t *in,
                  size_t in_size, bool last, uint8_t *out, size_t out_size,
                  size_t *ret_used, size_t *ret_made, bool *ret_ended,
                  struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    stream->z.next_in = (z_const Bytef *)(uintptr_t)in;
    stream->z.avail_in = chunk(in_size);
    stream->z.next_out = out;
    stream->z.avail_out = chunk(out_size);
    if (stream->between && in_size > 0) {
        status = begin_member(stream, in, in_size, err);
    }
    if (status == SOTTO_STATUS_OK && !stream->between) {
        status = run_member(stream, chunk(in_size), last, err);
    }
    *ret_used = chunk(in_size) - stream->z.avail_in;
    *ret_made = chunk(out_size) - stream->z.avail_out;
    *ret_ended = stream->between && last && *ret_used == in_size;
    return status;
}
