/*
 * head.c: what of a request's head decides, as the server has it.
 *
 * The server keeps a head in one piece, as it came but for NULs, so it can be
 * looked at again; one that two readers could read in two ways is marked.
 */
#include <string.h>
#include <strings.h>

#include "collector/collector.h"
#include "collector/head_bytes.h"
#include "collector/proxy_header.h"

#define HEAD_MOST ((size_t)65536) /* bytes of a head, and more */

static bool
is_twofold(struct MHD_Connection *connection, const struct head_line *line,
           const char *method, const char *version)
{
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    size_t from = (size_t)((uintptr_t)version - (uintptr_t)method);
    return !line->plain || size == NULL || size->header_size > HEAD_MOST ||
           !head_bytes_plain(method, size->header_size, from, line->size);
}

void
head_line(const char *target, struct head_line *ret_line)
{
    ret_line->plain = head_bytes_target(target);
    ret_line->size = strlen(target);
}

static const char *
find_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

void
head_read(struct MHD_Connection *connection, const struct head_line *line,
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
    head->twofold = is_twofold(connection, line, head->method, version);
}

/* ---- Who asks, behind a proxy -------------------------------------------- */

struct looking {
    const char *name, *value;
};

static enum MHD_Result
look_at(void *context, enum MHD_ValueKind kind, const char *name,
        const char *value)
{
    struct looking *looking = context;
    (void)kind;
    if (strcasecmp(name, looking->name) == 0) {
        looking->value = value;
    }
    return MHD_YES;
}

bool
head_client(struct MHD_Connection *connection, const char *name,
            union proxy_address *ret_address)
{
    struct looking looking = {name, NULL};
    const char *last;
    size_t size;
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at,
                                    &looking);
    if (looking.value == NULL) {
        return false;
    }
    last = strrchr(looking.value, ',');
    last = last != NULL ? last + 1 : looking.value;
    last += strspn(last, " \t");
    size = strcspn(last, " \t");
    return last[size + strspn(last + size, " \t")] == '\0' &&
           proxy_address_read(last, size, ret_address);
}
