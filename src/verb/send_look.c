/*
 * send_look.c: sotto send --dry-run: the next request, byte for byte.
 */
#include "verb/send_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/error.h"

/* A report of nobody: a record of which everything is missing. The record
   itself would be a report that nobody is charged for. */
static enum sotto_status
make_blank(struct sotto_mechanism *mechanism,
           const struct sotto_mechanism_info *info, uint8_t **ret_report,
           struct sotto_error *err)
{
    struct sotto_value *values = calloc(info->columns + 1, sizeof *values);
    uint8_t *report = malloc(info->report_size);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    if (values != NULL && report != NULL) {
        status =
            sotto_client_privatise(sotto_mechanism_client(mechanism), values,
                                   info->columns, report, info->report_size);
    }
    free(values);
    if (status == SOTTO_STATUS_OK) {
        *ret_report = report;
    } else {
        free(report);
        err->status = status;
        (void)snprintf(err->message, sizeof err->message,
                       "no report could be made: %s",
                       sotto_status_message(status));
    }
    return status;
}

/* What the next request is made of; nothing queued: a blank report. */
struct view {
    uint8_t *reports;
    struct sotto_queued queued;
    size_t size, count;
    bool blank, other; /* other: of another mechanism than M */
    char *text;
};

static void
show_json(const struct view *view)
{
    json_begin(stdout);
    json_bool(stdout, "dry_run", true);
    json_size(stdout, "waiting", view->queued.waiting);
    json_size(stdout, "marked", view->queued.refused);
    json_size(stdout, "ended", view->queued.ended);
    json_size(stdout, "shown", view->blank ? 0 : view->count);
    json_bool(stdout, "blank", view->blank);
    json_bool(stdout, "other_mechanism", view->other);
    json_text(stdout, "request", view->text);
    json_end(stdout);
}

static void
show_text(const struct view *view)
{
    if (view->blank) {
        (void)printf("Nothing waits in the queue for this campaign. This is "
                     "what a request would be, with the\nreport of a record of "
                     "which everything is missing.");
    } else {
        (void)printf("In the queue: %zu report%s. The next request holds %zu "
                     "of them%s; this is all of it.",
                     view->queued.waiting, view->queued.waiting == 1 ? "" : "s",
                     view->count, view->other ? ", of another mechanism" : "");
    }
    if (view->queued.ended > 0) {
        (void)printf(" Held back for good, since\ntheir mechanism has expired: "
                     "%zu report%s.",
                     view->queued.ended, view->queued.ended == 1 ? "" : "s");
    }
    (void)printf(" Nothing is sent,\nread or charged now. A run first asks "
                 "for mechanism.minisig (and, without M, for the\nmechanism), "
                 "and the reports of new people in F are shuffled in.\n\n");
    (void)fputs(view->text, stdout);
}

static enum sotto_status
take_view(struct sotto_sender *sender, struct sotto_mechanism *mechanism,
          struct view *view, struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    enum sotto_status status = sotto_sender_count(sender, &view->queued, err);
    status =
        HOST_THEN(status, sotto_sender_next(sender, mechanism, &view->reports,
                                            &view->size, &view->count, err));
    if (status == SOTTO_STATUS_OK && view->count == 0) {
        view->blank = true;
        view->count = 1;
        sotto_mechanism_info(mechanism, &info);
        view->size = info.report_size;
        status = make_blank(mechanism, &info, &view->reports, err);
    }
    if (status == SOTTO_STATUS_OK) {
        /* The hash stands before the id (docs/format.md). */
        view->other =
            memcmp(sotto_report_id(view->reports) - SOTTO_HASH_SIZE,
                   sotto_client_hash(sotto_mechanism_client(mechanism)),
                   SOTTO_HASH_SIZE) != 0;
        status =
            sotto_sender_explain(sender, mechanism, view->reports, view->size,
                                 view->count, &view->text, err);
    }
    return status;
}

int
send_look(bool json, struct sotto_sender *sender,
          struct sotto_mechanism *mechanism)
{
    struct sotto_error err = {0};
    struct view view = {0};
    enum sotto_status status = take_view(sender, mechanism, &view, &err);
    if (status == SOTTO_STATUS_OK && json) {
        show_json(&view);
    } else if (status == SOTTO_STATUS_OK) {
        show_text(&view);
    }
    free(view.text);
    free(view.reports);
    return cli_exit(status, &err);
}
