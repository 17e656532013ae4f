/*
 * routes.c: from a request's head to what is to be done.
 *
 * Headers that a device could be told by are not looked at; those that say that
 * it has something already (If-None-Match and its like) least of all.
 */
#include "collector/routes.h"

#include <string.h>
#include <strings.h>

#include "collector/pages.h"

#define PREFIX "/v1/campaigns/"
#define PREFIX_SIZE (sizeof PREFIX - 1)

/* Every sentence that is sent is a whole body: none is put together from what a
   client wrote. */
static const char bad_after[] =
    ROUTES_SENTENCE("'after' is the number of a batch: a whole number from 0");
static const char bad_length[] =
    ROUTES_SENTENCE("the Content-Length is no number of bytes");
static const char no_length[] =
    ROUTES_SENTENCE("send a Content-Length: a body in chunks is not taken");
static const char no_method[] =
    ROUTES_SENTENCE("this path takes another method: Allow says which");
static const char no_path[] = ROUTES_SENTENCE(
    "there is nothing here: the paths are /v1/campaigns/NAME/mechanism, "
    "mechanism.minisig, reports and batches, /healthz, /metrics and "
    "/v1/page, and the "
    "campaign may have ended");
static const char no_token[] = ROUTES_SENTENCE("this needs a token: send "
                                               "'Authorization: Bearer TOKEN'");
static const char other_type[] =
    ROUTES_SENTENCE("send reports as application/octet-stream or "
                    "application/x-ndjson, without compression");
static const char sick[] = ROUTES_SENTENCE(
    "reports are not being taken: the disk takes nothing; try again later");
static const char too_long[] =
    ROUTES_SENTENCE("the body is too long: send fewer reports at a time");
static const char twofold[] = ROUTES_SENTENCE(
    "two readers could take this request for two different ones: send each "
    "header once, on a line of its own that ends with CR LF, with no blank "
    "before its colon and no control character, and either a Content-Length "
    "or chunks");

struct routes_answer
routes_error(unsigned status, const char *sentence)
{
    return (struct routes_answer){.status = status,
                                  .type = ROUTES_JSON,
                                  .body = sentence,
                                  .size = strlen(sentence)};
}

static void
refuse_plan(struct routes_plan *plan, unsigned status, const char *sentence)
{
    plan->answer = routes_error(status, sentence);
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
is_reading(const struct routes_head *head)
{
    return strcmp(head->method, "GET") == 0 ||
           strcmp(head->method, "HEAD") == 0;
}

static bool
check_reading(const struct routes_head *head, struct routes_plan *plan)
{
    if (!is_reading(head)) {
        refuse_plan(plan, 405, no_method);
        plan->answer.allow = "GET, HEAD";
        return false;
    }
    return true;
}

/* Without its token a path is not there at all. */
static bool
check_token(const struct token *token, const struct routes_head *head,
            struct routes_plan *plan)
{
    if (!token->set) {
        refuse_plan(plan, 404, no_path);
        return false;
    }
    if (!token_right(token, head->authorization)) {
        refuse_plan(plan, 401, no_token);
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
        refuse_plan(plan, 405, no_method);
        plan->answer.allow = "POST";
    } else if (head->length == NULL) {
        refuse_plan(plan, 411, no_length);
        plan->cut = true;
    } else if (!read_whole(head->length, &length)) {
        refuse_plan(plan, 400, bad_length);
    } else if (length > state->body_most) {
        refuse_plan(plan, 413, too_long);
    } else if (head->type == NULL ||
               (!is_type(head->type, ROUTES_BINARY) &&
                !is_type(head->type, ROUTES_LINES)) ||
               (head->coding != NULL &&
                strcasecmp(head->coding, "identity") != 0)) {
        refuse_plan(plan, 415, other_type);
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
    if (!check_token(&state->tokens->reports, head, plan) ||
        !check_reading(head, plan)) {
        return;
    }
    if (head->after != NULL && !read_whole(head->after, &plan->after)) {
        refuse_plan(plan, 400, bad_after);
        return;
    }
    plan->task = ROUTES_BATCH;
}

static void
serve_body(const struct routes_head *head, struct routes_plan *plan,
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
    struct campaign *campaign;
    size_t size;
    if (what == NULL) {
        return;
    }
    size = (size_t)(what - name);
    campaign = campaigns_find(state->campaigns, name, size);
    plan->campaign = campaign;
    plan->hash = campaigns_find_hash(state->campaigns, name, size);
    if (plan->hash != NULL && strcmp(what, "/batches") == 0) {
        /* Those of one that has ended, too. */
        plan_batches(state, head, plan);
    } else if (campaign == NULL || state->operations) {
        return;
    } else if (strcmp(what, "/reports") == 0) {
        plan_reports(state, head, plan);
    } else if (strcmp(what, "/mechanism") == 0) {
        serve_body(head, plan, ROUTES_BINARY, campaign->mechanism->data,
                   campaign->mechanism->size);
    } else if (strcmp(what, "/mechanism.minisig") == 0) {
        serve_body(head, plan, "text/plain; charset=utf-8", campaign->signature,
                   campaign->signature_size);
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
    static const char damaged[] = "ok, but something in the store is damaged: "
                                  "the log, and sotto store check, say what\n";
    const char *text = state->behind ? behind : state->damaged ? damaged : good;
    serve_body(head, plan, "text/plain; charset=utf-8", text, strlen(text));
    if (plan->answer.status == 200 && !state->healthy) {
        refuse_plan(plan, 503, sick);
    }
}

/* ---- Operations ---------------------------------------------------------- */

/* The page of all campaigns, or of one. A browser has no way to send a Bearer
   token, but asks a person for a password where that is offered. */
static void
plan_page(const struct routes_state *state, const struct routes_head *head,
          struct routes_plan *plan)
{
    const struct token *token = &state->tokens->reports;
    const char *rest = head->path + sizeof PAGES_PATH - 1;
    if (*rest != '\0' && *rest != '/') {
        return;
    }
    if (!(state->basic && token_right_basic(token, head->authorization)) &&
        !check_token(token, head, plan)) {
        plan->answer.basic = state->basic;
        return;
    }
    if (check_reading(head, plan)) {
        plan->task = ROUTES_PAGE;
        plan->page = *rest == '/' ? rest + 1 : rest;
    }
}

/* The token for reports is that for metrics, too, where it is alone. */
static void
plan_operation(const struct routes_state *state, const struct routes_head *head,
               struct routes_plan *plan)
{
    const struct tokens *tokens = state->tokens;
    if (strncmp(head->path, PAGES_PATH, sizeof PAGES_PATH - 1) == 0) {
        plan_page(state, head, plan);
    } else if (strcmp(head->path, "/metrics") == 0 &&
               check_token(tokens->metrics.set ? &tokens->metrics
                                               : &tokens->reports,
                           head, plan) &&
               check_reading(head, plan)) {
        plan->task = ROUTES_METRICS;
    }
}

/* Whether somebody in front of us may see another request in these bytes. */
static bool
is_twofold(const struct routes_head *head)
{
    return head->twofold || (head->length != NULL && head->transfer != NULL);
}

void
routes_plan(const struct routes_state *state, const struct routes_head *head,
            struct routes_plan *ret_plan)
{
    struct routes_plan plan = {.task = ROUTES_ANSWER};
    uint64_t length = 0;
    refuse_plan(&plan, 404, no_path);
    plan.cut = head->transfer != NULL ||
               (head->length != NULL && (!read_whole(head->length, &length) ||
                                         length > state->body_most));
    if (is_twofold(head)) {
        refuse_plan(&plan, 400, twofold);
        plan.twofold = plan.cut = true;
    } else if (strncmp(head->path, PREFIX, PREFIX_SIZE) == 0) {
        plan_campaign(state, head, &plan);
    } else if (strcmp(head->path, "/healthz") == 0) {
        plan_health(state, head, &plan);
    } else if (state->operations || !state->apart) {
        plan_operation(state, head, &plan);
    }
    *ret_plan = plan;
}
