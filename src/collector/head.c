/*
 * head.c: what of a request's head decides, as the server has it.
 *
 * The server takes the first of two headers and ends texts at a NUL; something
 * in front of it may do otherwise, and then the two would not agree where a
 * request ends and what it asks. Such heads are marked.
 */
#include <string.h>
#include <strings.h>

#include "collector/collector.h"

#define HEAD_MOST ((uintptr_t)65536) /* bytes of a head, and more */

/* ---- NULs ---------------------------------------------------------------- */

/* Whether there is more than blanks between where a text ends and the next one
   begins. The server keeps a head in one piece and ends its texts with NULs: so
   there is if a NUL came with it, or if a header went over several lines, which
   need not be taken either. Where it does not look like one piece nothing is
   said. */
static bool
holds_more(const char *end, const char *next)
{
    uintptr_t from = (uintptr_t)end, to = (uintptr_t)next;
    if (to < from || to - from > HEAD_MOST) {
        return false;
    }
    for (; end < next; end++) {
        if (*end != '\0' && strchr(" \t\r\n", *end) == NULL) {
            return true;
        }
    }
    return false;
}

/* ---- Headers ------------------------------------------------------------- */

struct looking {
    unsigned seen; /* a bit for each name */
    bool twofold;
    const char *end; /* of the last value; NULL: there was none */
};

/* One header: whether it is there twice though it decides, and whether the one
   before it had a NUL. */
static enum MHD_Result
look_at(void *context, enum MHD_ValueKind kind, const char *name,
        size_t name_size, const char *value, size_t value_size)
{
    static const char *const once[] = {
        MHD_HTTP_HEADER_HOST,
        MHD_HTTP_HEADER_CONTENT_LENGTH,
        MHD_HTTP_HEADER_TRANSFER_ENCODING,
        MHD_HTTP_HEADER_CONTENT_TYPE,
        MHD_HTTP_HEADER_CONTENT_ENCODING,
        MHD_HTTP_HEADER_AUTHORIZATION,
    };
    struct looking *looking = context;
    size_t whole = value != NULL ? strnlen(value, value_size) : 0;
    (void)kind;
    for (unsigned i = 0; i < sizeof once / sizeof *once; i++) {
        if (strcasecmp(name, once[i]) == 0) {
            looking->twofold = looking->twofold || (looking->seen >> i & 1) > 0;
            looking->seen |= 1u << i;
        }
    }
    if (strlen(name) != name_size || whole != value_size ||
        (looking->end != NULL && holds_more(looking->end, name))) {
        looking->twofold = true;
    }
    looking->end = value != NULL ? value + whole : name + name_size;
    return MHD_YES;
}

static bool
is_twofold(struct MHD_Connection *connection, const char *method,
           const char *line_end, const char *version)
{
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct looking looking = {.twofold = holds_more(line_end, version)};
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look_at,
                                      &looking);
    return looking.twofold ||
           (size != NULL && looking.end != NULL &&
            holds_more(looking.end, method + size->header_size));
}

static const char *
find_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

void
head_read(struct MHD_Connection *connection, const char *line_end,
          const char *version, struct routes_head *head)
{
    head->after =
        MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after");
    head->type = find_header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    head->coding = find_header(connection, MHD_HTTP_HEADER_CONTENT_ENCODING);
    head->length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    head->transfer = find_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    head->authorization =
        find_header(connection, MHD_HTTP_HEADER_AUTHORIZATION);
    head->twofold = is_twofold(connection, head->method, line_end, version);
}
