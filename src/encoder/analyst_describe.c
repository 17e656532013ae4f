/*
 * analyst_describe.c: what an analyst file says of itself: how its mechanism
 * was made, and, where that was for one task, what is kept of each column.
 *
 * All of it is the file's own word. Names are made printable.
 */
#include <stdlib.h>
#include <string.h>

#include "encoder/analyst.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

#define NAME_SHOWN 30
#define PAGE_MOST ((size_t)1 << 24)

/* The kind, and of a task what the facts say; NULL where they do not. */
struct told {
    const char *kind, *task;
    const json_t *columns;
    double loss, without;
};

static struct told
read_facts(const struct sotto_analyst *analyst)
{
    const json_t *metadata = analyst_metadata(analyst);
    const json_t *facts = json_object_get(metadata, "facts");
    struct told told = {
        .kind = json_string_value(json_object_get(metadata, "kind")),
        .task = json_string_value(json_object_get(facts, "task")),
        .columns = json_object_get(facts, "columns"),
        .loss = json_number_value(json_object_get(facts, "loss")),
        .without = json_number_value(json_object_get(facts, "without"))};
    told.kind = told.kind != NULL ? told.kind : "";
    return told;
}

static void
write_columns(const json_t *columns, bool codes, struct host_text *page)
{
    if (json_array_size(columns) == 0) {
        return;
    }
    host_text_print(page,
                    "\nOf a column's variance the %s explain, and no report "
                    "tells the rest:\n\n",
                    codes ? "codes" : "kept directions");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        double kept = json_number_value(json_object_get(column, "kept"));
        host_text_print(page, "  %5.1f%%  ", 100 * kept);
        host_printable_add(page, name != NULL ? name : "", NAME_SHOWN);
        host_text_print(page, "\n");
    }
}

static void
write_page(const struct sotto_analyst *analyst, struct host_text *page)
{
    struct told told = read_facts(analyst);
    bool codes = json_object_get(analyst_metadata(analyst), "codebook") != NULL;
    host_text_print(page, "An analyst file of the kind ");
    host_printable_add(page, told.kind, NAME_SHOWN);
    host_text_print(page,
                    ": decoder and prior, %zu auxiliary records.\nIt tells of "
                    "them one by one: for you alone, never for devices.\n",
                    sotto_analyst_points(analyst));
    if (told.task == NULL) {
        return;
    }
    host_text_print(page, "\nThe mechanism was made for ");
    host_printable_add(page, told.task, 120);
    if (codes) {
        host_text_print(page, ": a report names one of %zu codes.",
                        sotto_analyst_z_width(analyst));
    } else {
        host_text_print(page, ": a report keeps %zu number%s.",
                        sotto_analyst_width(analyst),
                        sotto_analyst_width(analyst) == 1 ? "" : "s");
    }
    host_text_print(page,
                    "\nThe task's loss for one report is %.4g; without reports "
                    "it is %.4g.\n",
                    told.loss, told.without);
    write_columns(told.columns, codes, page);
}

/* NULL: no memory. */
static json_t *
pack_page(const struct sotto_analyst *analyst)
{
    const json_t *metadata = analyst_metadata(analyst);
    return json_pack("{s:s, s:I, s:I, s:O}", "kind", read_facts(analyst).kind,
                     "points", (json_int_t)sotto_analyst_points(analyst), "d",
                     (json_int_t)sotto_analyst_width(analyst), "facts",
                     json_object_get(metadata, "facts"));
}

enum sotto_status
sotto_analyst_describe(const struct sotto_analyst *analyst, bool json,
                       char **ret_text, struct sotto_error *err)
{
    struct host_text page;
    json_t *packed = json ? pack_page(analyst) : NULL;
    host_text_init(&page, PAGE_MOST);
    if (json) {
        char *text = packed != NULL ? json_dumps(packed, 0) : NULL;
        host_text_print(&page, "%s\n", text != NULL ? text : "");
        page.failed = page.failed || text == NULL;
        free(text);
        json_decref(packed);
    } else {
        write_page(analyst, &page);
    }
    if (page.failed || page.data == NULL) {
        host_text_clear(&page);
        return host_fail_memory(err);
    }
    *ret_text = page.data;
    return SOTTO_STATUS_OK;
}
