/*
 * routes.c: from a request's head to what is to be done.
 *
 * Headers that a device could be told by are not looked at; those that say that
 * it has something already (If-None-Match and its like) least of all.
 */
#include "collector/routes.h"

#include <string.h>
#include <strings.h>

#define PREFIX "/v1/campaigns/"
#define PREFIX_SIZE (sizeof PREFIX - 1)

/* Every sentence that is sent: a body of its own, so that none is put together
   from what a client wrote. */
#define SENTENCE(text) "{\"error\":\"" text "\"}\n"

static const struct {
    unsigned status;
    const char *body;
} sentences[] = {
    {400, SENTENCE("the Content-Length is no number of bytes")},
    {401, SENTENCE("this needs the analyst's token: send "
                   "'Authorization: Bearer TOKEN'")},
    {404, SENTENCE("there is nothing here: the paths are "
                   "/v1/campaigns/NAME/mechanism, mechanism.minisig, reports "
                   "and batches, /healthz and /metrics, and the campaign may "
                   "have ended")},
    {405, SENTENCE("this path takes another method: Allow says which")},
    {411, SENTENCE("send a Content-Length: a body in chunks is not taken")},
    {413, SENTENCE("the body is too long: send fewer reports at a time")},
    {415, SENTENCE("send reports as application/octet-stream or "
                   "application/x-ndjson, without compression")},
    {422, SENTENCE("'after' is the number of a batch: a whole number from 0")},
    {503, SENTENCE("reports are not being taken: the disk takes nothing; try "
                   "again later")},
};

struct routes_answer
routes_error(unsigned status, const char *sentence)
{
    struct routes_answer answer = {.status = status, .type = ROUTES_JSON};
    answer.body = sentence;
    for (size_t i = 0; sentence == NULL && answer.body == NULL &&
                       i < sizeof sentences / sizeof *sentences;
         i++) {
        if (sentences[i].status == status) {
            answer.body = sentences[i].body;
        }
    }
    if (answer.body == NULL) {
        answer.body = SENTENCE("the request cannot be answered");
    }
    answer.size = strlen(answer.body);
    return answer;
}

static void
refuse(struct routes_plan *plan, unsigned status)
{
    plan->answer = routes_error(status, NULL);
}

/* 422 is only the sentence's key: what a client gets is 400. */
static void
refuse_after(struct routes_plan *plan)
{
    refuse(plan, 422);
    plan->answer.status = 400;
}

/* ---- Parts of a head ----------------------------------------------------- */

/* Decimal digits alone that fit. */
static bool
read_whole(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    bool good = *text != '\0';
    for (; good && *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(unsigned char)*text - '0';
        good = digit <= 9 && value <= (UINT64_MAX - digit) / 10;
        value = 10 * value + digit;
    }
    if (good) {
        *ret_value = value;
    }
    return good;
}

/* Whether a media type is this one, whatever parameters follow. */
static bool
is_type(const char *given, const char *type)
{
    size_t size = strlen(type);
    return strncasecmp(given, type, size) == 0 &&
           (given[size] == '\0' || given[size] == ';' || given[size] == ' ');
}

static bool
reads(const struct routes_head *head)
{
    return strcmp(head->method, "GET") == 0 ||
           strcmp(head->method, "HEAD") == 0;
}

static bool
check_reading(const struct routes_head *head, struct routes_plan *plan)
{
    if (!reads(head)) {
        refuse(plan, 405);
        plan->answer.allow = "GET, HEAD";
        return false;
    }
    return true;
}

/* Without a token there is no analyst's side at all. */
static bool
check_analyst(const struct routes_state *state, const struct routes_head *head,
              struct routes_plan *plan)
{
    if (!state->token->set) {
        refuse(plan, 404);
        return false;
    }
    if (!token_right(state->token, head->authorization)) {
        refuse(plan, 401);
        return false;
    }
    return true;
}

/* ---- The paths ----------------------------------------------------------- */

static void
plan_reports(const struct routes_state *state, const struct routes_head *head,
             struct routes_plan *plan)
{
    uint64_t length = 0;
    if (strcmp(head->method, "POST") != 0) {
        refuse(plan, 405);
        plan->answer.allow = "POST";
    } else if (head->length == NULL || head->transfer != NULL) {
        refuse(plan, 411);
        plan->cut = true;
    } else if (!read_whole(head->length, &length)) {
        refuse(plan, 400);
    } else if (length > state->body_most) {
        refuse(plan, 413);
    } else if (head->type == NULL ||
               (!is_type(head->type, ROUTES_BINARY) &&
                !is_type(head->type, ROUTES_LINES)) ||
               (head->coding != NULL &&
                strcasecmp(head->coding, "identity") != 0)) {
        refuse(plan, 415);
    } else {
        plan->task = ROUTES_BODY;
        plan->length = (size_t)length;
        plan->form =
            is_type(head->type, ROUTES_BINARY) ? JUDGE_BINARY : JUDGE_LINES;
    }
}

static void
plan_batches(const struct routes_state *state, const struct routes_head *head,
             struct routes_plan *plan)
{
    if (!check_analyst(state, head, plan) || !check_reading(head, plan)) {
        return;
    }
    if (head->after != NULL && !read_whole(head->after, &plan->after)) {
        refuse_after(plan);
        return;
    }
    plan->task = ROUTES_BATCH;
}

static void
serve(const struct routes_head *head, struct routes_plan *plan,
      const char *type, const void *body, size_t size)
{
    if (check_reading(head, plan)) {
        plan->answer = (struct routes_answer){
            .status = 200, .type = type, .body = body, .size = size};
    }
}

static void
plan_campaign(const struct routes_state *state, const struct routes_head *head,
              struct routes_plan *plan)
{
    const char *name = head->path + PREFIX_SIZE, *what = strchr(name, '/');
    struct campaign *campaign =
        what != NULL
            ? campaigns_find(state->campaigns, name, (size_t)(what - name))
            : NULL;
    plan->campaign = campaign;
    if (campaign == NULL) {
        return;
    }
    if (strcmp(what, "/reports") == 0) {
        plan_reports(state, head, plan);
    } else if (strcmp(what, "/mechanism") == 0) {
        serve(head, plan, ROUTES_BINARY, campaign->mechanism->data,
              campaign->mechanism->size);
    } else if (strcmp(what, "/mechanism.minisig") == 0) {
        serve(head, plan, "text/plain; charset=utf-8", campaign->signature,
              campaign->signature_size);
    } else if (strcmp(what, "/batches") == 0) {
        plan_batches(state, head, plan);
    }
}

/* Reports are taken also while windows are not moved on: 200. */
static void
plan_health(const struct routes_state *state, const struct routes_head *head,
            struct routes_plan *plan)
{
    static const char good[] = "ok\n";
    static const char behind[] = "ok, but reports of past windows are still "
                                 "where they came: the log says why\n";
    serve(head, plan, "text/plain; charset=utf-8",
          state->behind ? behind : good,
          state->behind ? sizeof behind - 1 : sizeof good - 1);
    if (plan->answer.status == 200 && !state->healthy) {
        refuse(plan, 503);
    }
}

void
routes_plan(const struct routes_state *state, const struct routes_head *head,
            struct routes_plan *ret_plan)
{
    struct routes_plan plan = {.task = ROUTES_ANSWER};
    uint64_t length = 0;
    refuse(&plan, 404);
    plan.cut = head->length != NULL && (!read_whole(head->length, &length) ||
                                        length > state->body_most);
    if (strncmp(head->path, PREFIX, PREFIX_SIZE) == 0) {
        plan_campaign(state, head, &plan);
    } else if (strcmp(head->path, "/healthz") == 0) {
        plan_health(state, head, &plan);
    } else if (strcmp(head->path, "/metrics") == 0 &&
               check_analyst(state, head, &plan) &&
               check_reading(head, &plan)) {
        plan.task = ROUTES_METRICS;
    }
    *ret_plan = plan;
}
