/*
 * explain.c: every byte that a request would be, with what it says.
 *
 * The head comes from transport_head, which tests hold against what a server
 * received; the reports are shown in hexadecimal, in order and without a gap,
 * cut where docs/format.md cuts them.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "mechanism/mechanism.h"
#include "report/report.h"
#include "sender/sender.h"

#define TEXT_MOST ((size_t)1 << 30)
#define LINE_BYTES ((size_t)16)
#define HEX_COLUMNS 49 /* of LINE_BYTES bytes, and a blank */
#define VALUES_SHOWN ((size_t)16)
#define NAME_SHOWN ((size_t)40)

/* ---- Bytes -------------------------------------------------------------- */

/* `size` bytes at `from` of a report, 16 a line; `meaning` stands behind the
   first line. */
static void
put_bytes(struct host_text *text, const uint8_t *report, size_t from,
          size_t size, const char *meaning)
{
    for (size_t at = 0; at < size; at += LINE_BYTES) {
        size_t here = size - at < LINE_BYTES ? size - at : LINE_BYTES;
        host_text_print(text, "  %06zx  ", from + at);
        for (size_t i = 0; i < here; i++) {
            host_text_print(text, "%02x ", (unsigned)report[from + at + i]);
        }
        if (at == 0) {
            host_text_print(text, "%*s%s", HEX_COLUMNS - 3 * (int)here, "",
                            meaning);
        }
        host_text_add(text, "\n", 1);
    }
}

/* ---- The head ----------------------------------------------------------- */

static const char *
meaning_of(const char *line)
{
    static const char *const meanings[][2] = {
        {"POST ", "the campaign: the same for all who take part in it"},
        {"Host: ", "the collector: the same for all"},
        {"User-Agent: ", "the same for all, in every version"},
        {"Content-Type: ", "the same for all"},
        {"Content-Length: ",
         "how many reports: all of a mechanism are as long"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strncmp(line, meanings[i][0], strlen(meanings[i][0])) == 0) {
            return meanings[i][1];
        }
    }
    return "an empty line ends the head";
}

static void
put_head(struct host_text *text, const struct sotto_sender *sender, size_t size)
{
    struct host_text head;
    host_text_init(&head, TEXT_MOST);
    transport_head(&sender->address, size, &head);
    if (head.failed) {
        text->failed = true;
    }
    host_text_print(text,
                    "Head, %zu bytes; every line ends with the bytes 0d 0a:\n",
                    head.size);
    for (size_t at = 0; !head.failed && at < head.size;) {
        size_t length = strcspn(head.data + at, "\r");
        host_text_print(text, "  %-55.*s  %s\n", (int)length, head.data + at,
                        meaning_of(head.data + at));
        at += length + 2;
    }
    host_text_clear(&head);
}

/* ---- Reports ------------------------------------------------------------ */

/* What a block of a part says: its channel, its column, the values in it. */
static void
put_block_meaning(struct host_text *text,
                  const struct sotto_mechanism *mechanism,
                  const uint8_t *report, size_t part, size_t block)
{
    struct sotto_part_info info;
    struct sotto_column_info about;
    sotto_mechanism_part(mechanism, part, &info);
    size_t column = sotto_mechanism_part_column(mechanism, part, block);
    int64_t *value = calloc(info.values > 0 ? info.values : 1, sizeof *value);
    if (value == NULL) {
        text->failed = true;
        return;
    }
    host_text_print(text, "part %zu, block %zu", part + 1, block + 1);
    if (column != SIZE_MAX) {
        sotto_mechanism_column(mechanism, column, &about);
        host_text_print(text, ", \"");
        host_printable_add(text, about.name, NAME_SHOWN);
        host_text_print(text, "\"");
    }
    host_text_print(text, ": %s with epsilon %g:", info.channel, info.eps);
    sotto_report_values(mechanism, report, part, block, value);
    for (size_t i = 0; i < info.values && i < VALUES_SHOWN; i++) {
        host_text_print(text, " %lld", (long long)value[i]);
    }
    host_text_print(text, "%s", info.values > VALUES_SHOWN ? " ..." : "");
    free(value);
}

static void
put_block(struct host_text *text, const struct sotto_mechanism *mechanism,
          const uint8_t *report, size_t part, size_t block, size_t size)
{
    struct host_text meaning;
    host_text_init(&meaning, TEXT_MOST);
    put_block_meaning(&meaning, mechanism, report, part, block);
    text->failed = text->failed || meaning.failed;
    if (!meaning.failed) {
        put_bytes(text, report, shape_offset(&mechanism->shape, part, block),
                  size, meaning.data);
    }
    host_text_clear(&meaning);
}

static void
put_payload(struct host_text *text, const struct sotto_mechanism *mechanism,
            const uint8_t *report)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (info.books > 1) {
        put_bytes(text, report, REPORT_HEADER_SIZE, 1,
                  "which codebook was asked: drawn at random before the record "
                  "was read");
    }
    for (size_t part = 0; part < info.parts; part++) {
        struct sotto_part_info about;
        sotto_mechanism_part(mechanism, part, &about);
        for (size_t block = 0; block < about.blocks && !text->failed; block++) {
            put_block(text, mechanism, report, part, block, about.wire_size);
        }
    }
}

static void
put_report(struct host_text *text, const struct sotto_mechanism *mechanism,
           const uint8_t *report, size_t size)
{
    bool known = memcmp(report + REPORT_MAGIC_SIZE, mechanism->shape.hash,
                        SOTTO_HASH_SIZE) == 0;
    bool simulated = sotto_report_simulated(report);
    put_bytes(text, report, 0, REPORT_MAGIC_SIZE,
              simulated ? "SIM1: simulated, not private"
                        : "STO1: a report; its noise is of the system's "
                          "entropy");
    put_bytes(text, report, REPORT_MAGIC_SIZE, SOTTO_HASH_SIZE,
              known ? "the mechanism's hash: the same for all"
                    : "another mechanism's hash");
    put_bytes(text, report, REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE, SOTTO_ID_SIZE,
              "id, drawn at random for this report alone: so that one that "
              "is sent twice counts once");
    if (known) {
        put_payload(text, mechanism, report);
    } else {
        put_bytes(text, report, REPORT_HEADER_SIZE, size - REPORT_HEADER_SIZE,
                  "what that mechanism says");
    }
}

enum sotto_status
sotto_sender_explain(const struct sotto_sender *sender,
                     const struct sotto_mechanism *mechanism,
                     const uint8_t *reports, size_t size, size_t count,
                     char **ret_text, struct sotto_error *err)
{
    struct host_text text;
    host_text_init(&text, TEXT_MOST);
    host_text_print(&text, "To %s, %s\n", sender->address.url,
                    sender->address.tls
                        ? "inside TLS, which anybody on the way sees the "
                          "length and the time of:"
                        : "without TLS, since it does not leave this machine:");
    put_head(&text, sender, count * size);
    host_text_print(&text, "Body, %zu bytes: %zu report%s of %zu bytes each.\n",
                    count * size, count, count == 1 ? "" : "s", size);
    for (size_t i = 0; i < count && !text.failed; i++) {
        host_text_print(&text, "Report %zu:\n", i + 1);
        put_report(&text, mechanism, reports + i * size, size);
    }
    if (text.failed) {
        host_text_clear(&text);
        return host_fail_memory(err);
    }
    *ret_text = text.data;
    return SOTTO_STATUS_OK;
}
