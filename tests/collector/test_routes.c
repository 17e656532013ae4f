/*
 * test_routes.c: from a request's head to what is to be done.
 */
#include "../mechanism/mechanism_fixture.h"

#include "collector/routes.h"
#include "host/file.h"
#include "scratch.h"

static struct campaigns *campaigns;
static const struct tokens tokens = {.reports = {.set = true}};

static int
set_up(void **state)
{
    (void)state;
    return campaigns_from("m", fixture_open(&fixture_plain), "signature\n",
                          &campaigns, NULL) == SOTTO_STATUS_OK
               ? 0
               : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    campaigns_release(campaigns);
    return 0;
}

static struct routes_plan
plan(struct routes_head head)
{
    const struct routes_state state = {.campaigns = campaigns,
                                       .tokens = &tokens,
                                       .body_most = 1000,
                                       .healthy = true,
                                       .behind = false};
    struct routes_plan made;
    memset(&made, 0xa5, sizeof made);
    routes_plan(&state, &head, &made);
    return made;
}

#define REPORTS "/v1/campaigns/m/reports"

static void
test_reports(void **state)
{
    static const struct {
        const char *length, *type, *coding, *transfer;
        unsigned status; /* 0: the body is taken */
        bool cut;
    } cases[] = {
        {"57", ROUTES_BINARY, NULL, NULL, 0, false},
        {"0", ROUTES_BINARY, NULL, NULL, 0, false},
        {"1000", ROUTES_LINES, "identity", NULL, 0, false},
        {"57", "APPLICATION/X-NDJSON;charset=utf-8", NULL, NULL, 0, false},
        {NULL, ROUTES_BINARY, NULL, NULL, 411, true},
        {NULL, ROUTES_BINARY, NULL, "chunked", 411, true},
        {"5", ROUTES_BINARY, NULL, "chunked", 400, true},
        {"1001", ROUTES_BINARY, NULL, NULL, 413, true},
        {"18446744073709551616", ROUTES_BINARY, NULL, NULL, 400, true},
        {"", ROUTES_BINARY, NULL, NULL, 400, true},
        {"-1", ROUTES_BINARY, NULL, NULL, 400, true},
        {"5 5", ROUTES_BINARY, NULL, NULL, 400, true},
        {"57", NULL, NULL, NULL, 415, false},
        {"57", "application/octet-streams", NULL, NULL, 415, false},
        {"57", "application/json", NULL, NULL, 415, false},
        {"57", ROUTES_BINARY, "gzip", NULL, 415, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct routes_plan made =
            plan((struct routes_head){.method = "POST",
                                      .path = REPORTS,
                                      .length = cases[i].length,
                                      .type = cases[i].type,
                                      .coding = cases[i].coding,
                                      .transfer = cases[i].transfer});
        assert_int_equal(made.task,
                         cases[i].status == 0 ? ROUTES_BODY : ROUTES_ANSWER);
        assert_int_equal(made.cut, cases[i].cut);
        if (cases[i].status != 0) {
            assert_int_equal(made.answer.status, cases[i].status);
        } else {
            assert_ptr_equal(made.campaign, campaigns->campaign);
            assert_int_equal(made.form, i < 2 ? JUDGE_BINARY : JUDGE_LINES);
        }
    }
}

static void
test_paths(void **state)
{
    static const struct {
        const char *method, *path;
        unsigned status;
    } cases[] = {
        {"GET", "/healthz", 200},
        {"HEAD", "/healthz", 200},
        {"POST", "/healthz", 405},
        {"GET", REPORTS, 405},
        {"HEAD", REPORTS, 405},
        {"get", "/healthz", 405},
        {"GET", "/v1/campaigns/m/mechanism", 200},
        {"GET", "/v1/campaigns/m/mechanism.minisig", 200},
        {"GET", "/v1/campaigns/m/mechanism/", 404},
        {"GET", "/v1/campaigns/m/", 404},
        {"GET", "/v1/campaigns/m", 404},
        {"GET", "/v1/campaigns//mechanism", 404},
        {"GET", "/v1/campaigns/mm/mechanism", 404},
        {"GET", "/v1/campaigns/M/mechanism", 404},
        {"GET", "/v1/campaigns", 404},
        {"GET", "", 404},
        {"GET", "*", 404},
        {"GET", "/v1/campaigns/m/batches", 401},
        {"GET", "/metrics", 401},
        {"POST", "/metrics", 401},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct routes_plan made = plan((struct routes_head){
            .method = cases[i].method, .path = cases[i].path});
        assert_int_equal(made.task, ROUTES_ANSWER);
        assert_int_equal(made.answer.status, cases[i].status);
        assert_true((made.answer.status == 405) == (made.answer.allow != NULL));
        assert_int_equal(made.answer.size > 0, true);
        if (cases[i].status >= 400) {
            assert_memory_equal(made.answer.body, "{\"error\":\"", 10);
            assert_string_equal(made.answer.type, ROUTES_JSON);
        }
    }
    struct routes_plan made = plan((struct routes_head){
        .method = "GET", .path = "/v1/campaigns/m/mechanism"});
    assert_ptr_equal(made.answer.body, campaigns->campaign->mechanism->data);
    assert_int_equal(made.answer.size, campaigns->campaign->mechanism->size);
}

static void
test_unhealthy(void **state)
{
    const struct routes_state sick = {.campaigns = campaigns,
                                      .tokens = &tokens,
                                      .body_most = 1000,
                                      .healthy = false,
                                      .behind = true};
    const struct routes_state behind = {.campaigns = campaigns,
                                        .tokens = &tokens,
                                        .body_most = 1000,
                                        .healthy = true,
                                        .behind = true};
    const struct routes_head head = {.method = "GET", .path = "/healthz"};
    struct routes_plan made;
    (void)state;
    routes_plan(&sick, &head, &made);
    assert_int_equal(made.answer.status, 503);
    /* Reports are taken: whoever looks at the status alone sends them. */
    routes_plan(&behind, &head, &made);
    assert_int_equal(made.answer.status, 200);
    assert_memory_equal(made.answer.body, "ok, but ", 8);
}

/* Without a token the analyst's paths are not there at all. */
static void
test_no_token(void **state)
{
    static const struct tokens none = {.reports = {.set = false}};
    const struct routes_state open = {.campaigns = campaigns,
                                      .tokens = &none,
                                      .body_most = 1000,
                                      .healthy = true};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct routes_head head = {
            .method = "GET",
            .path = i == 0 ? "/metrics" : "/v1/campaigns/m/batches",
            .authorization = "Bearer "};
        struct routes_plan made;
        routes_plan(&open, &head, &made);
        assert_int_equal(made.task, ROUTES_ANSWER);
        assert_int_equal(made.answer.status, 404);
    }
}

/* What is where: operations have a place of their own, or none. */
static void
test_operations(void **state)
{
    static const struct tokens both = {.reports = {.set = true},
                                       .metrics = {.set = true}};
    static const struct {
        const char *method, *path;
        unsigned together, apart, there; /* statuses; 0: a body is taken */
    } cases[] = {
        {"GET", "/healthz", 200, 200, 200},
        {"GET", "/metrics", 401, 404, 401},
        {"GET", "/v1/campaigns/m/mechanism", 200, 200, 404},
        {"POST", REPORTS, 0, 0, 404},
        {"GET", "/v1/campaigns/m/batches", 401, 401, 401},
        {"GET", "/nowhere", 404, 404, 404},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct routes_head head = {.method = cases[i].method,
                                         .path = cases[i].path,
                                         .length = "57",
                                         .type = ROUTES_BINARY};
        const unsigned wanted[] = {cases[i].together, cases[i].apart,
                                   cases[i].there};
        for (unsigned where = 0; where < 3; where++) {
            const struct routes_state at = {.campaigns = campaigns,
                                            .tokens = &both,
                                            .body_most = 1000,
                                            .healthy = true,
                                            .apart = where > 0,
                                            .operations = where == 2};
            struct routes_plan made;
            routes_plan(&at, &head, &made);
            assert_int_equal(made.task == ROUTES_BODY ? 0 : made.answer.status,
                             wanted[where]);
        }
    }
}

/* Whoever is not let in learns nothing of what is wrong besides. */
static void
test_any_length(void **state)
{
    struct routes_plan made = plan((struct routes_head){
        .method = "GET", .path = "/nowhere", .length = "1001"});
    (void)state;
    assert_int_equal(made.answer.status, 404);
    assert_true(made.cut);
    made = plan((struct routes_head){
        .method = "GET", .path = "/nowhere", .length = "1000"});
    assert_false(made.cut);
}

/* What two readers could read in two ways is 400 wherever it goes, and the end
   of the connection; so is what comes in chunks, whatever it is answered. */
static void
test_twofold(void **state)
{
    static const char *const paths[] = {"/healthz",
                                        "/metrics",
                                        "/nowhere",
                                        REPORTS,
                                        "/v1/campaigns/m/batches",
                                        "/v1/campaigns/m/mechanism"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct routes_plan made = plan((struct routes_head){
            .method = "GET", .path = paths[i], .twofold = true});
        assert_int_equal(made.task, ROUTES_ANSWER);
        assert_int_equal(made.answer.status, 400);
        assert_true(made.cut);
        made = plan((struct routes_head){.method = "GET",
                                         .path = paths[i],
                                         .length = "0",
                                         .transfer = "chunked"});
        assert_int_equal(made.answer.status, 400);
        assert_true(made.cut);
        made = plan((struct routes_head){
            .method = "GET", .path = paths[i], .transfer = "chunked"});
        assert_int_not_equal(made.answer.status, 400);
        assert_true(made.cut);
    }
}

/* The analyst's side, with the token: also of a campaign that has ended. */
static void
test_analyst(void **state)
{
    static const struct {
        const char *method, *path, *after;
        unsigned status; /* 0: a batch is read */
    } cases[] = {
        {"GET", "/v1/campaigns/m/batches", NULL, 0},
        {"HEAD", "/v1/campaigns/m/batches", "7", 0},
        {"GET", "/v1/campaigns/m/batches", "x", 400},
        {"POST", "/v1/campaigns/m/batches", NULL, 405},
        {"DELETE", "/v1/campaigns/m/batches", NULL, 405},
        {"GET", "/v1/campaigns/ended/batches", NULL, 0},
        {"POST", "/v1/campaigns/ended/batches", NULL, 405},
        {"GET", "/v1/campaigns/ended/mechanism", NULL, 404},
        {"POST", "/v1/campaigns/ended/reports", NULL, 404},
        {"GET", "/v1/campaigns/never/batches", NULL, 404},
        {"POST", "/metrics", NULL, 405},
    };
    struct campaigns *ended = NULL;
    const char *file;
    struct tokens right;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    file = in_folder("token");
    assert_int_equal(
        host_file_write(file, 0600, false, "0123456789abcdef", 16, NULL),
        SOTTO_STATUS_OK);
    assert_int_equal(tokens_read(file, NULL, &right, NULL), SOTTO_STATUS_OK);
    assert_int_equal(scratch_remove(), 0);
    assert_int_equal(campaigns_from("ended", fixture_open(&fixture_encoded),
                                    "signature\n", &ended, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(campaigns_follow(ended, campaigns, NULL), SOTTO_STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct routes_state open = {.campaigns = campaigns,
                                          .tokens = &right,
                                          .body_most = 1000,
                                          .healthy = true};
        const struct routes_head head = {.method = cases[i].method,
                                         .path = cases[i].path,
                                         .after = cases[i].after,
                                         .authorization =
                                             "Bearer 0123456789abcdef"};
        bool of_ended = strstr(cases[i].path, "ended") != NULL;
        struct routes_plan made;
        routes_plan(&open, &head, &made);
        assert_int_equal(made.task,
                         cases[i].status == 0 ? ROUTES_BATCH : ROUTES_ANSWER);
        if (cases[i].status != 0) {
            assert_int_equal(made.answer.status, cases[i].status);
        } else {
            assert_memory_equal(made.hash,
                                (of_ended ? ended : campaigns)
                                    ->campaign->mechanism->device.report->hash,
                                SOTTO_HASH_SIZE);
            assert_int_equal(made.after, cases[i].after != NULL ? 7 : 0);
        }
    }
    assert_int_equal(
        plan((struct routes_head){.method = "GET",
                                  .path = "/v1/campaigns/ended/batches"})
            .answer.status,
        401);
    campaigns_release(ended);
}

/* Who gets a page, and who is offered to give a password. */
static void
test_pages(void **state)
{
    static const char code[] = "Basic OjAxMjM0NTY3ODlhYmNkZWY="; /* :012... */
    static const char bearer[] = "Bearer 0123456789abcdef";
    static const struct {
        const char *method, *path, *authorization;
        bool basic;      /* nobody reads along */
        unsigned status; /* 0: a page, of `page` */
        const char *page;
    } cases[] = {
        {"GET", "/v1/page", bearer, false, 0, ""},
        {"HEAD", "/v1/page", bearer, true, 0, ""},
        {"GET", "/v1/page", code, true, 0, ""},
        {"GET", "/v1/page/", code, true, 0, ""},
        {"GET", "/v1/page/m", code, true, 0, "m"},
        {"GET", "/v1/page/../m", code, true, 0, "../m"}, /* compared, no more */
        {"GET", "/v1/page", code, false, 401, NULL},
        {"GET", "/v1/page", NULL, true, 401, NULL},
        {"POST", "/v1/page", NULL, true, 401, NULL},
        {"POST", "/v1/page", code, true, 405, NULL},
        {"GET", "/v1/pages", code, true, 404, NULL},
        {"GET", "/metrics", code, true, 401, NULL},
        {"GET", "/v1/campaigns/m/batches", code, true, 401, NULL},
    };
    const char *file;
    struct tokens right;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    file = in_folder("token");
    assert_int_equal(
        host_file_write(file, 0600, false, "0123456789abcdef", 16, NULL),
        SOTTO_STATUS_OK);
    assert_int_equal(tokens_read(file, NULL, &right, NULL), SOTTO_STATUS_OK);
    assert_int_equal(scratch_remove(), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct routes_state open = {.campaigns = campaigns,
                                          .tokens = &right,
                                          .body_most = 1000,
                                          .healthy = true,
                                          .basic = cases[i].basic};
        const struct routes_head head = {.method = cases[i].method,
                                         .path = cases[i].path,
                                         .authorization =
                                             cases[i].authorization};
        bool page = strcmp(cases[i].path, "/metrics") != 0 &&
                    strstr(cases[i].path, "batches") == NULL;
        struct routes_plan made;
        routes_plan(&open, &head, &made);
        if (cases[i].status == 0) {
            assert_int_equal(made.task, ROUTES_PAGE);
            assert_string_equal(made.page, cases[i].page);
        } else {
            assert_int_equal(made.task, ROUTES_ANSWER);
            assert_int_equal(made.answer.status, cases[i].status);
            assert_true(made.answer.basic ==
                        (cases[i].status == 401 && cases[i].basic && page));
        }
    }
    /* Without a token there is no page. */
    const struct tokens none = {.reports = {.set = false}};
    struct routes_state closed = {.campaigns = campaigns,
                                  .tokens = &none,
                                  .body_most = 1000,
                                  .healthy = true,
                                  .basic = true};
    const struct routes_head head = {
        .method = "GET", .path = "/v1/page", .authorization = code};
    struct routes_plan made;
    routes_plan(&closed, &head, &made);
    assert_int_equal(made.answer.status, 404);
    /* Where operations have a place of their own, it is there and nowhere else.
     */
    closed.tokens = &right;
    closed.apart = true;
    routes_plan(&closed, &head, &made);
    assert_int_equal(made.answer.status, 404);
    closed.operations = true;
    routes_plan(&closed, &head, &made);
    assert_int_equal(made.task, ROUTES_PAGE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports),    cmocka_unit_test(test_paths),
        cmocka_unit_test(test_unhealthy),  cmocka_unit_test(test_no_token),
        cmocka_unit_test(test_operations), cmocka_unit_test(test_any_length),
        cmocka_unit_test(test_twofold),    cmocka_unit_test(test_analyst),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
