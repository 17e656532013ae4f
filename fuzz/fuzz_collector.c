/*
 * fuzz_collector.c: a whole request without a socket: its head is routed, its
 * body judged, the pending reports settled as a store would, and the answer
 * written. The input is
 *
 *     METHOD \n PATH \n AFTER \n TYPE \n CODING \n LENGTH \n TRANSFER \n
 *     AUTHORIZATION \n BODY
 *
 * where an empty field is a header that is not there.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/decimal.h"
#include "collector/routes.h"
#include "mechanism/compose.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELDS 8u
#define REPORTS_MOST ((size_t)100)

/* ---- A campaign whose bytes depend on nothing but this file -------------- */

static const char *const colours[] = {"blue", "green", "red"};
static const struct schema_column column[] = {
    {"age", SOTTO_COLUMN_NUMBER, 1, NULL, false, 50, 0.02},
    {"colour", SOTTO_COLUMN_CATEGORY, 4, colours, false, 0, 0},
};
static const struct compose_part part[] = {
    {.covers = "features",
     .channel = "laplace",
     .eps = DECIMAL_UNIT,
     .blocks = 1,
     .d = 1,
     .l = 64},
    {.covers = "label",
     .channel = "subset",
     .eps = DECIMAL_UNIT / 10,
     .blocks = 1,
     .factor = {{true, 1, 0}},
     .factors = 1},
};
static const struct compose_spec spec = {.name = "fuzz",
                                         .campaign = "fuzz",
                                         .auxiliary = "not used",
                                         .eps = 2 * DECIMAL_UNIT,
                                         .column = column,
                                         .columns = 2,
                                         .part = part,
                                         .parts = 2};

static struct campaigns *
make_campaigns(void)
{
    struct sotto_mechanism *mechanism = NULL;
    struct campaigns *campaigns = NULL;
    require(compose_open(&spec, &mechanism, NULL) == SOTTO_STATUS_OK);
    require(campaigns_from("m", mechanism, "signature\n", &campaigns, NULL) ==
            SOTTO_STATUS_OK);
    return campaigns;
}

/* ---- One body ------------------------------------------------------------ */

/* The first half is new to the store, the rest it knows; what is pending is
   a report that every channel's functions can be given. */
static void
settle(struct judge *judge, const struct sotto_mechanism *mechanism)
{
    size_t pending = judge->found[JUDGE_PENDING], done = 0;
    const uint8_t *report = NULL;
    for (size_t at = 0, slot = 0; judge_next(judge, &at, &slot, &report);) {
        require(report_valid(mechanism->device.report, report,
                             mechanism->shape.report_size));
        judge_settle(judge, at, done++ >= pending / 2);
    }
    require(done == pending && judge->found[JUDGE_PENDING] == 0);
}

/* The answer is JSON, and its numbers are the body's. */
static void
check_answer(const struct judge *judge)
{
    struct host_text text;
    json_t *answer;
    size_t accepted, duplicate, refused;
    host_text_init(&text, (size_t)1 << 24);
    judge_write(judge, &text);
    require(!text.failed);
    answer = json_loadb(text.data, text.size, 0, NULL);
    require(answer != NULL);
    accepted = (size_t)json_integer_value(json_object_get(answer, "accepted"));
    duplicate =
        (size_t)json_integer_value(json_object_get(answer, "duplicate"));
    refused = (size_t)json_integer_value(json_object_get(answer, "refused"));
    require(accepted + duplicate + refused == judge->count);
    require(json_array_size(json_object_get(answer, "duplicates")) ==
            duplicate);
    require(json_array_size(json_object_get(answer, "refusals")) == refused);
    json_decref(answer);
    host_text_clear(&text);
}

static void
check_body(const struct routes_plan *plan, const uint8_t *body, size_t size)
{
    const struct sotto_mechanism *mechanism = plan->campaign->mechanism;
    for (int simulation = 0; simulation < 2; simulation++) {
        struct sotto_error err = {.status = SOTTO_STATUS_OK};
        struct judge judge;
        enum sotto_status status =
            judge_body(&judge, mechanism, plan->form, simulation == 1, body,
                       size, REPORTS_MOST, &err);
        require(status == err.status);
        if (status == SOTTO_STATUS_OK) {
            require(judge.count >= 1 && judge.count <= REPORTS_MOST);
            settle(&judge, mechanism);
            check_answer(&judge);
            judge_unsettle(&judge);
            settle(&judge, mechanism);
            check_answer(&judge);
        } else {
            require(status == SOTTO_STATUS_INPUT ||
                    status == SOTTO_STATUS_LIMIT);
            require(strpbrk(err.message, "\"\\\n") == NULL);
        }
        judge_clear(&judge);
    }
}

static void
check_plan(const struct routes_plan *plan)
{
    const struct routes_answer *answer = &plan->answer;
    if (plan->task == ROUTES_BODY) {
        require(plan->campaign != NULL && plan->length <= 4096);
    } else if (plan->task == ROUTES_ANSWER) {
        require(answer->status == 200 ||
                (answer->status >= 400 && answer->status < 500));
        require(answer->size > 0 && answer->body != NULL);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct campaigns *campaigns;
    static const struct tokens tokens = {.reports = {.set = true}};
    struct routes_plan plan;
    char *text = malloc(size + 1), *field[FIELDS], *at = text;
    size_t left = size;
    if (campaigns == NULL) {
        campaigns = make_campaigns();
    }
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < FIELDS; i++) {
        char *end = memchr(at, '\n', left);
        if (end == NULL) {
            free(text);
            return 0;
        }
        *end = '\0';
        field[i] = *at != '\0' || i < 2 ? at : NULL;
        left -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    const struct routes_head head = {field[0], field[1], field[2], field[3],
                                     field[4], field[5], field[6], field[7]};
    const struct routes_state state = {.campaigns = campaigns,
                                       .tokens = &tokens,
                                       .body_most = 4096,
                                       .healthy = true,
                                       .basic = true};
    routes_plan(&state, &head, &plan);
    check_plan(&plan);
    if (plan.task == ROUTES_BODY) {
        check_body(&plan, (const uint8_t *)at, left);
    }
    free(text);
    return 0;
}
