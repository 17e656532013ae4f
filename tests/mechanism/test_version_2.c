/*
 * test_version_2.c: mechanisms that need version 2 of the format: written when
 * something needs it and only then, taken apart and put together again, shown,
 * and refused once they have expired.
 */
#include "mechanism_fixture.h"

#include <time.h>

#include "mechanism/compose.h"
#include "mechanism/decompose.h"

static struct sotto_error err;
static const char *const values[] = {"a", "b", "(missing)"};
static const float weight[64] = {1, -0.5f, 0.25f, 2, -1};
static const struct schema_column columns[] = {
    {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 10, 0.125},
    {"c", SOTTO_COLUMN_CATEGORY, 4, values, true, 0, 1},
    {"label", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1}};
static const uint16_t half[64] = {0x3f80, 0, 0xbf00, 0x3e80};
static const struct layer layers[] = {{5, 3, ACTIVATION_RELU, weight, weight},
                                      {3, 3, ACTIVATION_NONE, weight, weight},
                                      {3, 3, ACTIVATION_TANH, weight, weight}};
static const struct compose_part parts[] = {
    SYMBOL_PART("both", "flip", DECIMAL_UNIT, 1, {.k = 3})};

/* A spec to change, and what it points to. */
struct draft {
    struct schema_column column[3];
    struct layer layer[3];
    struct compose_part part;
    struct compose_spec spec;
};

static void
draft_make(struct draft *draft)
{
    memcpy(draft->column, columns, sizeof columns);
    memcpy(draft->layer, layers, sizeof layers);
    draft->part = parts[0];
    draft->spec = (struct compose_spec){.name = "two",
                                        .campaign = "c",
                                        .auxiliary = "a",
                                        .eps = DECIMAL_UNIT,
                                        .column = draft->column,
                                        .columns = 3,
                                        .layer = draft->layer,
                                        .layers = 3,
                                        .part = &draft->part,
                                        .parts = 1};
}

static struct sotto_mechanism *
open_draft(const struct draft *draft)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = compose_open(&draft->spec, &mechanism, &err);
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return mechanism;
}

/* Takes it apart, puts it together, and finds the same bytes; its version. */
static uint32_t
check_again(const struct draft *draft)
{
    struct sotto_mechanism *mechanism = open_draft(draft), *again = NULL;
    struct decompose copy;
    uint32_t version = mechanism->device.terms->version;
    assert_int_equal(decompose_init(&copy, mechanism, &err), SOTTO_STATUS_OK);
    assert_int_equal(compose_open(&copy.spec, &again, &err), SOTTO_STATUS_OK);
    assert_int_equal(again->size, mechanism->size);
    assert_memory_equal(again->data, mechanism->data, mechanism->size);
    decompose_clear(&copy);
    sotto_mechanism_free(again);
    sotto_mechanism_free(mechanism);
    return version;
}

static void
test_versions(void **state)
{
    struct draft draft;
    (void)state;
    draft_make(&draft);
    draft.column[1].input = true;
    assert_int_equal(check_again(&draft), 1);
#define NEEDS_2(change)                                                        \
    do {                                                                       \
        draft_make(&draft);                                                    \
        change;                                                                \
        assert_int_equal(check_again(&draft), 2);                              \
    } while (0)
    NEEDS_2(draft.layer[2].from[1] = 1);
    NEEDS_2((draft.layer[2].from[0] = 2, draft.layer[2].from[1] = 1));
    NEEDS_2((draft.layer[1].bf16 = true, draft.layer[1].half = half));
    NEEDS_2((draft.column[0].missing = true, draft.layer[0].in = 6));
    NEEDS_2(draft.column[1].missing = true);
    NEEDS_2(draft.column[0].clip = true);
    NEEDS_2(draft.column[0].log = true);
    NEEDS_2(
        (draft.part.factor[0].equal = true, draft.part.factor[0].column = 2));
    NEEDS_2(draft.spec.expires = 1);
    NEEDS_2(draft.spec.label_only = true);
    NEEDS_2((draft.spec.central_eps = (struct reader_word){"3", 1}));
#undef NEEDS_2
}

/* Each blank or end of a line, or several, to one blank. */
static void
squeeze(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        bool blank = *at == ' ' || *at == '\n';
        if (!blank || (to > text && to[-1] != ' ')) {
            *to++ = blank ? ' ' : *at;
        }
    }
    *to = '\0';
}

static void
test_shown(void **state)
{
    struct draft draft;
    char *page = NULL, *line = NULL;
    (void)state;
    draft_make(&draft);
    draft.column[0].missing = true;
    draft.column[1].missing = true;
    draft.layer[0].in = 6;
    draft.layer[2].from[0] = 2;
    draft.layer[2].from[1] = 1;
    draft.part.factor[0].equal = true;
    draft.part.factor[0].column = 2;
    draft.spec.expires = 1893456000;
    draft.spec.central_eps = (struct reader_word){"3", 1};
    draft.spec.central_delta = (struct reader_word){"0.00001", 7};
    struct sotto_mechanism *mechanism = open_draft(&draft);
    assert_int_equal(sotto_mechanism_describe(mechanism, false, &page, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_mechanism_describe(mechanism, true, &line, &err),
                     SOTTO_STATUS_OK);
    squeeze(page);
    assert_non_null(strstr(page, "From 2030-01-01 00:00:00 UTC on no report"));
    assert_non_null(strstr(page, "epsilon 3 and delta 0.00001"));
    assert_non_null(strstr(page, "whether label is what the encoder chose"));
    assert_non_null(strstr(page, "a missing one is told apart, as (missing), "
                                 "and anything else counts as (other)"));
    assert_non_null(strstr(page, "; a missing one is told apart -"));
    assert_non_null(strstr(line, "\"central_eps\":\"3\""));
    assert_non_null(strstr(line, "\"expires\":1893456000"));
    assert_non_null(strstr(line, "\"takes\":[1,2]"));
    free(page);
    free(line);
    sotto_mechanism_free(mechanism);
}

/* The mark stands behind the end, and is told first of all. */
static void
test_label_only(void **state)
{
    struct draft draft;
    struct sotto_mechanism_info info;
    char *page = NULL, *line = NULL;
    (void)state;
    for (int only = 0; only < 2; only++) {
        draft_make(&draft);
        draft.spec.expires = 1893456000;
        draft.spec.label_only = only != 0;
        struct sotto_mechanism *mechanism = open_draft(&draft);
        sotto_mechanism_info(mechanism, &info);
        assert_int_equal(info.label_only, only);
        assert_int_equal(sotto_mechanism_check_sent(mechanism, &err),
                         only != 0 ? SOTTO_STATUS_REFUSED : SOTTO_STATUS_OK);
        assert_int_equal(
            sotto_mechanism_describe(mechanism, false, &page, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(sotto_mechanism_describe(mechanism, true, &line, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(
            strncmp(page, "The record is not protected. ", 29) == 0, only);
        assert_int_equal(strstr(line, "\"label_only\":true") != NULL, only);
        free(page);
        free(line);
        sotto_mechanism_free(mechanism);
    }
    assert_non_null(strstr(err.message, "neither sent nor collected"));
}

static void
test_expiry(void **state)
{
    struct draft draft;
    uint64_t now = (uint64_t)time(NULL);
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        draft_make(&draft);
        draft.spec.expires = i == 0 ? 0 : i == 1 ? now : now + 3600;
        struct sotto_mechanism *mechanism = open_draft(&draft);
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(sotto_mechanism_check(mechanism, &err),
                         i == 1 ? SOTTO_STATUS_REFUSED : SOTTO_STATUS_OK);
        if (i == 1) {
            assert_int_equal(err.status, SOTTO_STATUS_REFUSED);
            assert_non_null(strstr(err.message, "has expired"));
        }
        sotto_mechanism_free(mechanism);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_label_only),
        cmocka_unit_test(test_expiry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
