/*
 * device.h: an opened mechanism: reading a hostile file, and privatising.
 *
 *     values --encode/--> z, symbols --report/--> report
 *
 * A struct sotto_client lies at the start of the caller's workspace; all it
 * points to lies in the workspace or in the caller's mechanism file. Only this
 * folder includes this file (scripts/layers): others have opened.h.
 */
#ifndef SOTTO_CLIENT_DEVICE_H
#define SOTTO_CLIENT_DEVICE_H

#include "client/opened.h"
#include "client/reader.h"
#include "encode/layer.h"
#include "random/random.h"

#define DEVICE_PARTS_MAX 4096u
#define DEVICE_OWN_MAX (1u << 24)    /* bytes of channels' own parameters */
#define DEVICE_DRAWN_MAX (1u << 26)  /* bytes of entropy that a report draws */
#define DEVICE_FLOATS_MAX (1u << 24) /* of the forward pass: 64 MiB */
#define DEVICE_WORK_MAX                                                        \
    (UINT64_C(1) << 32) /* multiply-adds of a record,                          \
                           whoever asks for more */
#define DEVICE_KERNEL_MAX 31u
#define DEVICE_STRIDE_MAX 16u
#define DEVICE_HEADER_MAX (1u << 24) /* bytes of JSON */
#define DEVICE_ENTROPY_MAX 4096u     /* bytes fetched at a time */
#define DEVICE_STACK_MAX (1u << 14)  /* bytes that a report uses; then wiped */

/* Before a function: it leaves zeros in the registers that it may change. */
#if defined(__has_attribute)
#if __has_attribute(zero_call_used_regs) && !defined(__wasm__)
#define DEVICE_CLEARS_REGISTERS                                                \
    __attribute__((noinline, zero_call_used_regs("all")))
#endif
#endif
#if !defined(DEVICE_CLEARS_REGISTERS)
#define DEVICE_CLEARS_REGISTERS
#endif

/* What the workspace must hold; known after a first reading. */
struct device_sizes {
    uint32_t columns, layers, parts;
    uint32_t inputs;   /* entries of x */
    uint32_t width;    /* widest of x and all layers */
    uint32_t q;        /* entries of the largest q */
    uint64_t channels; /* bytes of the channels' own parameters */
    uint64_t floats;   /* of the forward pass: a width for each buffer */
    uint64_t work;     /* multiply-adds of one record */
};

struct sotto_client {
    const uint8_t *mechanism;
    size_t mechanism_size;
    size_t workspace_size;
    struct device_sizes sizes;
    struct device_terms terms;
    uint8_t *channels; /* used from the front */

    struct encode_plan encoder;
    struct report_plan report;
    struct entropy entropy;
    uint8_t entropy_buffer[DEVICE_ENTROPY_MAX];
};

/* manifest.c: reads the whole header, whose parts may name these channels.
   Without a client only the sizes are gathered; with one, `sizes` are those
   gathered before, and it is filled. */
void manifest_read(struct reader *reader, const struct channel *const *channels,
                   struct device_sizes *sizes, struct sotto_client *client);

/* layer_read.c: reads layer `at`; of version 1 or 2. What it takes is not
   looked at. */
struct layer layer_read(struct reader *reader, uint32_t version, uint32_t at);

/* bundle.c: checks the layout of tensors against the manifest and points the
   client at them. */
void bundle_bind(struct reader *reader, struct sotto_client *client);

#endif
