/*
 * test_codebook_fit.c: the codebook as an encoder: with one that is given and
 * with one that it trains, whose settings it hands on; and what is refused
 * before anything is trained.
 */
#include <unistd.h>

#include "encoder/encoder.h"
#include "learnt_fixture.h"

static const struct sotto_setting own[] = {
    {"k", "4"},           {"channel", "subset"},
    {"cells", "8"},       {"seed", "3"},
    {"d", "3"},           {"hidden", "8"},
    {"epochs", "2"},      {"batch", "16"},
    {"candidates", "clm"}};
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
    assert_true(isnan(sotto_train_fact(&facts, "candidate_kept")));
    assert_true(sotto_train_fact(&facts, "epochs") == 2);
    assert_true(sotto_train_fact(&facts, "cells") == 8);
    assert_true(sotto_train_fact(&facts, "resumed") == 0);
    assert_non_null(strstr(facts.said, "Trained an encoder for 2 epochs"));
    assert_non_null(strstr(facts.said, "4 codes, from 8 cells of 200 records"));
    assert_true(same_files(in_folder("a.sotto"), in_folder("b.sotto")));
    assert_true(same_files(in_folder("a.analyst"), in_folder("b.analyst")));
    sotto_table_free(table);
}

/* Of several, the one with the best score is kept: the same file as from it
   alone, whatever the threads; scores are told, to the analyst as well, and no
   checkpoint stays. */
static void
test_candidates(void **state)
{
    struct sotto_table *table = people(200);
    struct sotto_setting set[] = {
        own[0],
        own[1],
        own[2],
        own[3],
        own[4],
        own[5],
        own[6],
        own[7],
        {"candidates", "pca:d=1,clm,vlm:d=2:hidden=6:epochs=2,clm:rate=9"}};
    struct sotto_train_options options = options_of(set, OWN);
    struct sotto_train_facts facts;
    char checkpoint[512], encoder[512], name[64] = "";
    size_t kept = 0;
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    options.checkpoint = checkpoint;
    must(sotto_train(table, "codebook", &options, in_folder("a.sotto"),
                     in_folder("a.analyst"), &facts, NULL, &err));
    assert_int_equal(access(checkpoint, F_OK), -1);
    assert_int_equal(access(in_folder("c.1"), F_OK), -1);
    for (size_t i = 0; i < facts.facts; i++) {
        const struct sotto_fact *fact = &facts.fact[i];
        if (strcmp(fact->name, "candidate_scores") == 0) {
            assert_int_equal(fact->numbers, 4);
            for (size_t j = 0; j < 4; j++) {
                assert_true(fact->number[j] >= 0 && fact->number[j] <= 1);
                kept = fact->number[j] > fact->number[kept] ? j : kept;
            }
        } else if (strcmp(fact->name, "candidate") == 0) {
            (void)snprintf(name, sizeof name, "%s", fact->text);
        }
    }
    assert_true(sotto_train_fact(&facts, "candidate_kept") == (double)kept);
    assert_non_null(strstr(facts.said, ", kept\n"));
    assert_non_null(strstr(facts.said, "  clm:rate=9 "));
    options.threads = 2;
    must(sotto_train(table, "codebook", &options, in_folder("b.sotto"),
                     in_folder("b.analyst"), NULL, NULL, &err));
    assert_true(same_files(in_folder("a.sotto"), in_folder("b.sotto")));
    assert_true(same_files(in_folder("a.analyst"), in_folder("b.analyst")));
    /* The same encoders from files: the same scores. */
    (void)snprintf(encoder, sizeof encoder, "%s", in_folder("a.sotto"));
    set[8].value = encoder;
    options.sets = 9;
    options.checkpoint = NULL;
    must(sotto_train(table, "codebook", &options, in_folder("d.sotto"),
                     in_folder("d.analyst"), &facts, NULL, &err));
    assert_true(isnan(sotto_train_fact(&facts, "epochs")));
    assert_true(name[0] != '\0');
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
    *ret_choice =
        (struct sotto_codebook_choice){.k = 3, .channel = "flip", .books = 1};
    return SOTTO_STATUS_OK;
}

/* Where nobody says k and channel, the job's choice decides. */
static void
test_choice(void **state)
{
    static const struct sotto_setting set[] = {{"d", "3"},
                                               {"hidden", "8"},
                                               {"epochs", "1"},
                                               {"people", "50"},
                                               {"candidates", "pca:d=2,clm"}};
    struct sotto_table *table = people(100);
    struct sotto_train_options options = options_of(set, 5);
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
    assert_true(sotto_train_fact(&facts, "books") == 1);
    assert_null(strstr(facts.said, "books"));
    sotto_table_free(table);
}

/* The books are told, in words and by name. */
static void
test_books(void **state)
{
    struct sotto_table *table = people(200);
    const struct sotto_setting set[] = {
        own[0], own[1], own[2], {"candidates", "pca:d=2"}, {"books", "3"}};
    struct sotto_train_options options = options_of(set, 5);
    struct sotto_train_facts facts;
    (void)state;
    must(sotto_train(table, "codebook", &options, NULL, NULL, &facts, NULL,
                     &err));
    assert_true(sotto_train_fact(&facts, "books") == 3);
    assert_non_null(strstr(facts.said, "3 books of 4 codes, from 8 cells"));
    sotto_table_free(table);
}

/* Says whether cells, or pairs, or records decided. */
static enum sotto_status
choose_short(struct sotto_codebook *codebook,
             const struct sotto_codebook_wanted *wanted,
             struct sotto_codebook_choice *ret_choice, struct sotto_error *to)
{
    (void)codebook;
    (void)to;
    *ret_choice = (struct sotto_codebook_choice){
        .k = 3,
        .channel = "flip",
        .bound = (enum sotto_codebook_bound)wanted->people,
        .people = 70,
        .informed = 9,
        .least = wanted->classes};
    return SOTTO_STATUS_OK;
}

static void
test_bounds(void **state)
{
    static const struct {
        const char *bound, *classes, *said;
    } row[] = {
        {"3", "2", "As many as 100 auxiliary records allow: reports of 70"},
        {"3", "4",
         "100 auxiliary records are too few for these classes: they allow 3 "
         "codes, and\nthe classes need 4. Take more auxiliary records.\n"},
        {"4", "2",
         "As many as 8 cells allow: reports of 70 people\ncan tell 9 "
         "apart at this epsilon.\n"},
        {"4", "4", "the classes need 4. Ask for more cells.\n"},
        {"5", "2", "at most 65536 pairs.\n"}};
    struct sotto_table *table = people(100);
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct sotto_setting set[] = {own[2],
                                            {"candidates", "pca:d=2"},
                                            {"people", row[i].bound},
                                            {"classes", row[i].classes}};
        struct sotto_train_options options = options_of(set, 4);
        struct sotto_train_facts facts;
        must(encoder_train(encoder_registry, "codebook",
                           (struct encoder_job){.table = table,
                                                .options = &options,
                                                .choose = choose_short,
                                                .facts = &facts},
                           &err));
        assert_non_null(strstr(facts.said, row[i].said));
    }
    sotto_table_free(table);
}

/* Records that are too few to compare encoders by are told before one is
   trained; without a list, there is only one. */
static void
test_few(void **state)
{
    struct sotto_table *table = people(3);
    const struct sotto_setting set[] = {{"k", "2"},
                                        {"channel", "subset"},
                                        {"epochs", "1"},
                                        {"candidates", "clm,clm"}};
    struct sotto_train_options options = options_of(set, 4);
    struct sotto_train_facts facts;
    char checkpoint[512];
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    options.checkpoint = checkpoint;
    must_fail(
        SOTTO_STATUS_USAGE, "4 records at least, and there are 3",
        sotto_train(table, "codebook", &options, NULL, NULL, NULL, NULL, &err));
    assert_string_equal(err.subject, "candidates");
    assert_int_equal(access(checkpoint, F_OK), -1);
    options.sets = 3;
    must(sotto_train(table, "codebook", &options, NULL, NULL, &facts, NULL,
                     &err));
    assert_true(isnan(sotto_train_fact(&facts, "candidate_kept")));
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
    refused("candidates", "is for training an encoder", encoder,
            SET("candidates", "pca"), "kind");
    refused("candidates", "neither a kind", SET("candidates", "pca,direct"),
            none, "kind");
    refused("whiten", "is not for vlm", SET("candidates", "vlm:whiten"), none,
            "kind");
#undef SET
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways), TEST(test_candidates), TEST(test_choice),
        TEST(test_books),     TEST(test_bounds),     TEST(test_few),
        TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
