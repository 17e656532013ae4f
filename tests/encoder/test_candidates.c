/*
 * test_candidates.c: lists of encoders, read and chosen from.
 */
#include "encoder/candidates.h"

#include "fail_alloc.h"
#include "learnt_fixture.h"

static const struct setting theirs[] = {
    SETTING("k", WHOLE, 0, 2, 9, NULL, NULL, "codes"), SETTING_END};

static enum sotto_status
read_list(struct candidates *candidates, const char *list)
{
    return candidates_init(candidates, list, theirs, 7, &err);
}

static void
test_list(void **state)
{
    struct candidates list;
    (void)state;
    must(
        read_list(&list, "pca:d=8:whiten,clm,e.sotto,vlm:epochs=3,clm:seed=4"));
    assert_int_equal(list.count, 5);
    assert_string_equal(list.candidate[0].name, "pca:d=8:whiten");
    assert_string_equal(list.candidate[0].kind, "pca");
    assert_int_equal(list.candidate[0].sets, 2);
    assert_string_equal(list.candidate[0].set[0].name, "d");
    assert_string_equal(list.candidate[0].set[0].value, "8");
    assert_string_equal(list.candidate[0].set[1].name, "whiten");
    assert_string_equal(list.candidate[0].set[1].value, "");
    assert_null(list.candidate[2].kind);
    assert_string_equal(list.candidate[2].name, "e.sotto");
    assert_int_equal(list.candidate[1].again, 0);
    assert_int_equal(list.candidate[4].again, 1);
    assert_int_equal(list.candidate[1].place, 0);
    assert_int_equal(list.candidate[3].place, 1);
    assert_int_equal(list.candidate[4].place, 2);
    candidates_clear(&list);
    assert_null(list.text);
    must(read_list(&list, CANDIDATES_TABLE));
    assert_true(list.count > 1);
    candidates_clear(&list);
    must(read_list(&list, CANDIDATES_IMAGES));
    assert_true(list.count > 1);
    candidates_clear(&list);
}

static void
test_refused(void **state)
{
    static const char *const wrong[] = {
        "", "clm,", ",clm", "pcaa", "codebook", "direct", "clm,,clm", ".sotto"};
    struct candidates list;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        must_fail(SOTTO_STATUS_USAGE, "is neither a kind of encoder",
                  read_list(&list, wrong[i]));
        candidates_clear(&list);
    }
    must_fail(SOTTO_STATUS_USAGE, "more than 16",
              read_list(&list, "pca,pca,pca,pca,pca,pca,pca,pca,pca,pca,pca,"
                               "pca,pca,pca,pca,pca,pca"));
    candidates_clear(&list);
    must_fail(SOTTO_STATUS_USAGE, "settings of its own",
              read_list(&list, "clm:a:b:c:d:e:f:g:h:i"));
    candidates_clear(&list);
    fail_alloc_at(1);
    must_fail(SOTTO_STATUS_MEMORY, "memory", read_list(&list, "clm"));
    fail_alloc_at(0);
    candidates_clear(&list);
}

/* Settings are checked by the candidate's own kind; those of the codebook's
   options are the base's alone, and the candidate's own count more. */
static void
test_check(void **state)
{
    const struct sotto_setting set[] = {{"k", "4"}, {"epochs", "0"}};
    struct sotto_train_options options = {
        .eps = "2", .label = "kind", .set = set, .sets = 2};
    struct candidates list;
    (void)state;
    must(read_list(&list, "pca:d=2,vlm,e.sotto,clm:epochs=2"));
    must(candidates_check(&list, &options, &err));
    candidates_clear(&list);
    must(read_list(&list, "clm"));
    must_fail(SOTTO_STATUS_USAGE, "epochs",
              candidates_check(&list, &options, &err));
    candidates_clear(&list);
    must(read_list(&list, "pca:epochs=3"));
    must_fail(SOTTO_STATUS_USAGE, "is not for pca",
              candidates_check(&list, &options, &err));
    candidates_clear(&list);
}

/* Only checkpoints are removed: a candidate that has none names no file. */
static void
test_forget(void **state)
{
    struct candidates list;
    char checkpoint[512];
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    must(host_file_write(checkpoint, 0600, false, "a", 1, &err));
    must(host_file_write(in_folder("c.1"), 0600, false, "b", 1, &err));
    must(host_file_write(in_folder("c.2"), 0600, false, "c", 1, &err));
    must(read_list(&list, "clm,e.sotto,clm,pca:d=4,pca:d=16"));
    candidates_forget(&list, NULL);
    assert_int_equal(access(checkpoint, F_OK), 0);
    candidates_forget(&list, checkpoint);
    assert_int_equal(access(checkpoint, F_OK), -1);
    assert_int_equal(access(in_folder("c.1"), F_OK), -1);
    assert_int_equal(access(in_folder("c.2"), F_OK), 0);
    candidates_clear(&list);
}

/* Ones that the table does not allow are left out, if that is allowed. */
static void
test_left_out(void **state)
{
    struct sotto_table *table = people(60);
    const struct sotto_setting set[] = {
        {"epochs", "1"}, {"hidden", "4"}, {"batch", "16"}};
    struct sotto_train_options options = {
        .eps = "2", .label = "kind", .set = set, .sets = 3, .threads = 1};
    struct encoder_job job = {.table = table, .options = &options};
    struct sotto_train_facts facts = {.facts = 0};
    struct candidates list;
    (void)state;
    assert_string_equal(candidates_for(table, &options), CANDIDATES_TABLE);
    must(read_list(&list, "pca:d=4000,pca:d=2,clm:d=2"));
    must_fail(SOTTO_STATUS_LIMIT, "4000",
              candidates_train(&list, &job, false, &err));
    candidates_clear(&list);
    must(read_list(&list, "pca:d=4000,pca:d=2,clm:d=2"));
    must(candidates_train(&list, &job, true, &err));
    assert_null(list.candidate[0].encoder);
    assert_non_null(list.candidate[1].encoder);
    assert_int_equal(list.kept, 1);
    assert_true(isnan(list.candidate[1].epochs));
    assert_true(list.candidate[2].epochs == 1);
    for (size_t i = 1; i < 3; i++) {
        struct sight *sight = &list.candidate[i].sight;
        sight->n = 4;
        sight->cells = sight->parts = 2;
        sight->halves = i == 2 ? 0.9 : 0.5;
        sight->cell = calloc(4, sizeof *sight->cell);
        sight->part = calloc(4, sizeof *sight->part);
        assert_true(sight->cell != NULL && sight->part != NULL);
        sight->cell[0] = sight->cell[1] = sight->part[0] = sight->part[1] = 1;
    }
    must(candidates_choose(&list, &err));
    assert_int_equal(list.kept, 2);
    assert_true(isnan(list.candidate[0].marks.score));
    assert_true(list.candidate[2].marks.score > list.candidate[1].marks.score);
    candidates_tell(&list, &facts);
    assert_non_null(strstr(facts.said, "left out"));
    assert_true(sotto_train_fact(&facts, "candidate_kept") == 2);
    json_t *json = candidates_json(&list);
    assert_int_equal(json_array_size(json), 3);
    assert_true(
        json_is_null(json_object_get(json_array_get(json, 0), "score")));
    json_decref(json);
    candidates_clear(&list);
    must(read_list(&list, "pca:d=4000"));
    must_fail(SOTTO_STATUS_LIMIT, "4000",
              candidates_train(&list, &job, true, &err));
    candidates_clear(&list);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_list),   TEST(test_refused),  TEST(test_check),
        TEST(test_forget), TEST(test_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
