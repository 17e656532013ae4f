/*
 * report_stream.c: checking what a source gives.
 */
#include "mechanism/report_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/id_set.h"
#include "mechanism/report_json.h"

#define UNREAD_MOST 1000u /* batches in a row that cannot be read */

struct sotto_report_stream {
    const struct sotto_mechanism *mechanism;
    struct report_source source;
    void *own;
    struct id_set *ids; /* of files; else NULL */
    struct sotto_report_seen seen;
    size_t unread; /* batches, since the last one that could be read */
    bool done;
};

enum sotto_status
report_stream_new(const struct sotto_mechanism *mechanism,
                  const struct report_source *source, void *own,
                  struct sotto_report_stream **ret_stream,
                  struct sotto_error *err)
{
    struct sotto_report_stream *stream = calloc(1, sizeof *stream);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (stream == NULL) {
        source->close(own);
        return host_fail_memory(err);
    }
    stream->mechanism = mechanism;
    stream->source = *source;
    stream->own = own;
    if (source->files) {
        status = id_set_new(&stream->ids, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_report_stream_free(stream);
        return status;
    }
    *ret_stream = stream;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_report_stream_new(const struct sotto_mechanism *mechanism,
                        const char *const *path, size_t paths,
                        struct sotto_report_stream **ret_stream,
                        struct sotto_error *err)
{
    void *own = NULL;
    enum sotto_status status =
        report_blocks_open(mechanism, path, paths, &own, err);
    return HOST_THEN(status, report_stream_new(mechanism, &report_blocks, own,
                                               ret_stream, err));
}

void
sotto_report_stream_free(struct sotto_report_stream *stream)
{
    if (stream != NULL) {
        stream->source.close(stream->own);
        id_set_free(stream->ids);
        free(stream);
    }
}

/* ---- Files ----------------------------------------------------------------
 */

/* Whether a report of a file is to be given, in `ret_new`. Statuses: INPUT,
   MEMORY. */
static enum sotto_status
look_up(const struct sotto_report_stream *stream,
        const struct report_chunk *chunk, size_t i, bool *ret_new,
        struct sotto_error *err)
{
    const struct sotto_mechanism *mechanism = stream->mechanism;
    const struct report_origin origin = {mechanism, chunk->name};
    size_t each = mechanism->shape.report_size;
    const uint8_t *report = chunk->reports + i * each;
    enum id_answer answer = ID_NEW;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!chunk->lines) {
        status = report_check(&origin, report, chunk->from + i, err);
    }
    status =
        HOST_THEN(status, id_set_add(stream->ids, report, each, &answer, err));
    if (status == SOTTO_STATUS_OK && answer == ID_OTHER) {
        return host_fail(err, SOTTO_STATUS_INPUT, (chunk->from + i) * each,
                         "'%s': its report %zu has the id of an earlier report "
                         "but differs: either one device sent two reports "
                         "under one id, or files of different campaigns were "
                         "mixed; keep the one that belongs here and remove the "
                         "other",
                         host_shown(chunk->name), chunk->from + i + 1);
    }
    *ret_new = answer == ID_NEW;
    return status;
}

/* ---- Of a collector -------------------------------------------------------
 */

static enum sotto_status
check_kind(const struct sotto_report_stream *stream, const uint8_t *report,
           struct sotto_error *err)
{
    bool is = sotto_report_simulated(report);
    if (!stream->source.judged || is == stream->source.simulation) {
        return SOTTO_STATUS_OK;
    }
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     is ? "the collector is for simulation: its reports say "
                          "nothing of people; ask for simulation if that is "
                          "meant"
                        : "the collector has people's reports, and simulated "
                          "ones were asked for");
}

/* Fails if the batch's reports are another mechanism's, all of them: then it is
   no damage. */
static enum sotto_status
check_first(const struct sotto_report_stream *stream,
            const struct report_chunk *chunk, struct sotto_error *err)
{
    const struct report_plan *plan = stream->mechanism->device.report;
    struct sotto_error cause = {0};
    for (size_t i = 0; i < chunk->count; i++) {
        const uint8_t *report = chunk->reports + i * plan->size;
        if (memcmp(report + REPORT_MAGIC_SIZE, plan->hash, SOTTO_HASH_SIZE) ==
            0) {
            return SOTTO_STATUS_OK;
        }
    }
    if (chunk->count == 0) {
        return SOTTO_STATUS_OK;
    }
    return report_json_fail_hash(stream->mechanism,
                                 chunk->reports + REPORT_MAGIC_SIZE,
                                 &cause) == SOTTO_STATUS_MEMORY
               ? host_fail_memory(err)
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the first report of batch %" PRIu64 ": %s",
                           chunk->batch, cause.message);
}

static void
note_damage(struct sotto_report_seen *seen, uint64_t batch, uint64_t damaged)
{
    if (damaged == 0) {
        return;
    }
    if (seen->damaged_batches < SOTTO_STREAM_DAMAGED_MOST) {
        seen->damaged_batch[seen->damaged_batches] = batch;
    }
    seen->damaged_batches++;
    seen->damaged += damaged;
}

/* Counts a batch that was, or was not, read. Statuses: FORMAT. */
static enum sotto_status
note_batch(struct sotto_report_stream *stream, const struct report_chunk *chunk,
           struct sotto_error *err)
{
    struct sotto_report_seen *seen = &stream->seen;
    if (chunk->batch == 0) {
        return SOTTO_STATUS_OK;
    }
    seen->last_batch = chunk->batch;
    if (!chunk->unread) {
        seen->batches++;
        stream->unread = 0;
        return SOTTO_STATUS_OK;
    }
    if (seen->unread_batches < SOTTO_STREAM_DAMAGED_MOST) {
        seen->unread_batch[seen->unread_batches] = chunk->batch;
    }
    seen->unread_batches++;
    return ++stream->unread <= UNREAD_MOST
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the store is damaged: %u batches in a row, up to "
                           "number %" PRIu64 ", cannot be read",
                           UNREAD_MOST + 1, chunk->batch);
}

/* ---- Both -----------------------------------------------------------------
 */

/* Moves what is given to the front, and counts it. */
static enum sotto_status
sift(struct sotto_report_stream *stream, const struct report_chunk *chunk,
     struct sotto_report_block *ret_block, struct sotto_error *err)
{
    size_t each = stream->mechanism->shape.report_size, kept = 0;
    bool files = stream->source.files;
    uint64_t damaged = chunk->damaged;
    enum sotto_status status =
        files ? SOTTO_STATUS_OK : check_first(stream, chunk, err);
    for (size_t i = 0; i < chunk->count && status == SOTTO_STATUS_OK; i++) {
        uint8_t *report = chunk->reports + i * each;
        bool taken = false;
        if (files) {
            status = look_up(stream, chunk, i, &taken, err);
            stream->seen.repeated +=
                status == SOTTO_STATUS_OK && !taken ? 1 : 0;
        } else {
            taken = report_check_valid(stream->mechanism, report);
            damaged += taken ? 0 : 1;
            status = taken ? check_kind(stream, report, err) : status;
        }
        if (taken && status == SOTTO_STATUS_OK) {
            stream->seen.simulated += sotto_report_simulated(report) ? 1 : 0;
            if (kept < i) {
                memcpy(chunk->reports + kept * each, report, each);
            }
            kept++;
        }
    }
    stream->seen.reports += kept;
    note_damage(&stream->seen, chunk->batch, damaged);
    *ret_block =
        (struct sotto_report_block){chunk->reports, kept, chunk->batch};
    return status;
}

enum sotto_status
sotto_report_stream_next(struct sotto_report_stream *stream,
                         struct sotto_report_block *ret_block,
                         struct sotto_error *err)
{
    struct sotto_report_block block = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && !stream->done && block.count == 0) {
        struct report_chunk chunk = {0};
        status = stream->source.next(stream->own, &chunk, err);
        status = HOST_THEN(status, sift(stream, &chunk, &block, err));
        status = HOST_THEN(status, note_batch(stream, &chunk, err));
        stream->done = chunk.last || status != SOTTO_STATUS_OK;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_block = block;
    }
    return status;
}

void
sotto_report_stream_seen(const struct sotto_report_stream *stream,
                         struct sotto_report_seen *ret_seen)
{
    *ret_seen = stream->seen;
}

enum sotto_status
sotto_report_stream_collect(struct sotto_report_stream *stream, bool sorted,
                            struct sotto_report_reader **ret_reader,
                            struct sotto_error *err)
{
    return report_file_collect(stream, stream->mechanism->shape.report_size,
                               sorted, ret_reader, err);
}
