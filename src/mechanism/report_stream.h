/*
 * report_stream.h: reports block by block, from wherever they are.
 *
 *     source (files, a store, HTTP) -> checked -> not yet seen -> block
 *
 * A source gives reports as they lie there; the stream checks each, leaves out
 * what a collector's store has damaged, and what came before in files. A batch
 * that cannot be read at all is counted, and the next one is asked for; a store
 * of which too many in a row are like that has lost more than batches.
 */
#ifndef SOTTO_MECHANISM_REPORT_STREAM_H
#define SOTTO_MECHANISM_REPORT_STREAM_H

#include "mechanism/report_check.h"

/* What a source has read; the stream moves reports within it. */
struct report_chunk {
    uint8_t *reports; /* the source's, until its next call */
    size_t count;
    uint64_t batch;   /* 0: of a file */
    uint64_t damaged; /* reports of the batch that its store has left out */
    bool unread;      /* it cannot be read at all, and has no reports here */
    size_t from;      /* files: which report of `name` the first is, from 0 */
    const char *name; /* files: for messages */
    bool lines;       /* they were checked when they were read */
    bool last;        /* nothing comes behind it; it may be empty */
};

/* Where reports are from. */
struct report_source {
    /* The next ones. Statuses: the stream's. */
    enum sotto_status (*next)(void *own, struct report_chunk *ret_chunk,
                              struct sotto_error *err);
    void (*close)(void *own);
    bool files;  /* what no device can send is an error, and copies are left
                    out; else it is damaged, and there are none */
    bool judged; /* whether reports are simulated is compared with: */
    bool simulation;
};

/* Takes `own` over, also on failure. The mechanism and the source must outlive
   it. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
report_stream_new(const struct sotto_mechanism *mechanism,
                  const struct report_source *source, void *own,
                  struct sotto_report_stream **ret_stream,
                  struct sotto_error *err);

/* report_blocks.c: some files as a source; see sotto_report_stream_new. */
extern const struct report_source report_blocks;
SOTTO_CHECKED enum sotto_status
report_blocks_open(const struct sotto_mechanism *mechanism,
                   const char *const *path, size_t paths, void **ret_own,
                   struct sotto_error *err);

/* report_file.c: sotto_report_writer_new, in the form that is said. */
SOTTO_CHECKED enum sotto_status
report_file_write(const struct sotto_mechanism *mechanism, const char *path,
                  bool lines, struct sotto_report_writer **ret_writer,
                  struct sotto_error *err);
/* Likewise: sotto_report_stream_collect. */
SOTTO_CHECKED enum sotto_status
report_file_collect(struct sotto_report_stream *stream, size_t report_size,
                    bool sorted, struct sotto_report_reader **ret_reader,
                    struct sotto_error *err);

#endif
