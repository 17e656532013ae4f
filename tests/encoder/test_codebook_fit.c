/*
 * test_codebook_fit.c: the codebook as an encoder: with one that is given and
 * with one that it trains, whose settings it hands on; and what is refused
 * before anything is trained.
 */
#include "encoder/encoder.h"
#include "learnt_fixture.h"

static const struct sotto_setting own[] = {
    {"k", "4"}, {"channel", "subset"}, {"cells", "8"},  {"seed", "3"},
    {"d", "3"}, {"hidden", "8"},       {"epochs", "2"}, {"batch", "16"}};
#define OWN (sizeof own / sizeof *own)

static struct sotto_train_options
options_of(const struct sotto_setting *set, size_t sets)
{
    return (struct sotto_train_options){
        .eps = "2", .label = "kind", .threads = 1, .set = set, .sets = sets};
}

/* In one go, or the encoder first: the same files; its facts in both. */
static void
test_both_ways(void **state)
{
    struct sotto_table *table = people(200);
    struct sotto_train_options options = options_of(own + 3, 5);
    struct sotto_train_facts facts;
    char encoder[512];
    (void)state;
    (void)snprintf(encoder, sizeof encoder, "%s", in_folder("e.sotto"));
    must(sotto_train(table, "clm", &options, encoder, NULL, NULL, NULL, &err));
    const struct sotto_setting with[] = {
        own[0], own[1], own[2], own[3], {"encoder", encoder}};
    options = options_of(with, 5);
    must(sotto_train(table, "codebook", &options, in_folder("a.sotto"),
                     in_folder("a.analyst"), &facts, NULL, &err));
    assert_true(isnan(sotto_train_fact(&facts, "epochs")));
    assert_true(sotto_train_fact(&facts, "k") == 4);
    options = options_of(own, OWN);
    must(sotto_train(table, "codebook", &options, in_folder("b.sotto"),
                     in_folder("b.analyst"), &facts, NULL, &err));
    assert_true(sotto_train_fact(&facts, "epochs") == 2);
    assert_true(sotto_train_fact(&facts, "cells") == 8);
    assert_true(sotto_train_fact(&facts, "resumed") == 0);
    assert_non_null(strstr(facts.said, "Trained an encoder for 2 epochs"));
    assert_non_null(strstr(facts.said, "4 codes, from 8 cells of 200 records"));
    assert_true(same_files(in_folder("a.sotto"), in_folder("b.sotto")));
    assert_true(same_files(in_folder("a.analyst"), in_folder("b.analyst")));
    sotto_table_free(table);
}

/* Chooses three codes by flip, whatever is wanted, and says so. */
static enum sotto_status
choose_three(struct sotto_codebook *codebook,
             const struct sotto_codebook_wanted *wanted,
             struct sotto_codebook_choice *ret_choice, struct sotto_error *to)
{
    (void)codebook;
    (void)to;
    assert_int_equal(wanted->k, 0);
    assert_int_equal(wanted->people, 50);
    *ret_choice = (struct sotto_codebook_choice){.k = 3, .channel = "flip"};
    return SOTTO_STATUS_OK;
}

/* Where nobody says k and channel, the job's choice decides. */
static void
test_choice(void **state)
{
    static const struct sotto_setting set[] = {
        {"d", "3"}, {"hidden", "8"}, {"epochs", "1"}, {"people", "50"}};
    struct sotto_table *table = people(100);
    struct sotto_train_options options = options_of(set, 4);
    struct sotto_train_facts facts;
    (void)state;
    must(encoder_train(encoder_registry, "codebook",
                       (struct encoder_job){.table = table,
                                            .options = &options,
                                            .choose = choose_three,
                                            .facts = &facts},
                       &err));
    assert_true(sotto_train_fact(&facts, "k") == 3);
    assert_non_null(strstr(facts.said, "3 codes, from "));
    assert_non_null(strstr(facts.said, ", by flip."));
    sotto_table_free(table);
}

static void
refused(const char *subject, const char *said, struct sotto_setting first,
        struct sotto_setting second, const char *label)
{
    const struct sotto_setting set[] = {first, second};
    struct sotto_train_options options =
        options_of(set, second.name != NULL ? 2 : 1);
    options.label = label;
    must_fail(SOTTO_STATUS_USAGE, said,
              sotto_train_check("codebook", &options, &err));
    assert_string_equal(err.subject, subject);
}

static void
test_refused(void **state)
{
    const struct sotto_setting none = {NULL, NULL};
    const struct sotto_setting encoder = {"encoder", "e.sotto"};
    (void)state;
#define SET(name, value) ((struct sotto_setting){name, value})
    refused("k", "from 2 to 65536", SET("k", "1"), none, "kind");
    refused("rate", "is not a number", SET("rate", "99"), none, "kind");
    refused("lambda", "is not for codebook", SET("lambda", "0.5"), none,
            "kind");
    refused("epochs", "is for training an encoder", encoder, SET("epochs", "3"),
            "kind");
    refused("channel", "no channel for codes", SET("channel", "duchi"), none,
            "kind");
    refused("channel", "name a label", SET("channel", "signs"), none, NULL);
    refused("people", "needs a label", SET("people", "9"), none, NULL);
    refused("classes", "needs a label", SET("classes", "9"), none, NULL);
    refused("l", "eps-pre", SET("l", "3"), none, "kind"); /* its base's check */
#undef SET
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways),
        TEST(test_choice),
        TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
