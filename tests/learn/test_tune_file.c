/*
 * test_tune_file.c: a plan comes back as it was written, at every stage; and
 * what is no plan does not.
 */
#include "learn_fixture.h"

#include <sys/stat.h>

#include "fail_alloc.h"
#include "learn/tune.h"

static struct sotto_tune *
make(void)
{
    static const struct sotto_setting grid[] = {{"epochs", "10,20,40"}};
    static const char *const path[] = {"one.sotto"};
    struct sotto_mechanism *mechanism = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_tune *tune = NULL;
    must(sotto_tune_new(&(struct sotto_tune_options){.mechanism = &mechanism,
                                                     .path = path,
                                                     .mechanisms = 1,
                                                     .grid = grid,
                                                     .grids = 1,
                                                     .learner = "lattice",
                                                     .eps = "0.5",
                                                     .train = 0.6,
                                                     .final = 0.1},
                        &tune, &err));
    sotto_mechanism_free(mechanism);
    return tune;
}

static void
check_same(const struct sotto_tune *a, const struct sotto_tune *b)
{
    assert_memory_equal(a->key, b->key, TUNE_KEY_SIZE);
    assert_string_equal(a->eps, b->eps);
    assert_string_equal(a->campaign, b->campaign);
    assert_string_equal(a->learner, b->learner);
    assert_true(a->train == b->train && a->final == b->final);
    assert_int_equal(a->stage, b->stage);
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->left, b->left);
    assert_int_equal(a->candidates, b->candidates);
    assert_memory_equal(a->order, b->order, sizeof a->order);
    assert_string_equal(a->mechanism[0].path, b->mechanism[0].path);
    assert_string_equal(a->mechanism[0].hash, b->mechanism[0].hash);
    assert_int_equal(a->mechanism[0].reports, b->mechanism[0].reports);
    for (size_t i = 0; i < a->candidates; i++) {
        assert_string_equal(a->candidate[i].set[0].value,
                            b->candidate[i].set[0].value);
        assert_int_equal(a->candidate[i].before, b->candidate[i].before);
        assert_memory_equal(&a->candidate[i].right, &b->candidate[i].right,
                            sizeof a->candidate[i].right);
    }
    assert_memory_equal(&a->right, &b->right, sizeof a->right);
}

static void
test_stages(void **state)
{
    const char *path = in_folder("tune.json");
    struct sotto_tune *tune = make();
    struct stat about;
    (void)state;
    for (;;) {
        const struct sotto_right right = {.reports = 7 + tune->round,
                                          .yes = 5,
                                          .share = 1.0 / 3 +
                                                   0.1 * (double)tune->round,
                                          .error = 0.2,
                                          .low = 0,
                                          .high = 0.9};
        struct sotto_tune *again = NULL;
        must(sotto_tune_write(tune, path, &err));
        must(sotto_tune_read(path, &again, &err));
        check_same(tune, again);
        sotto_tune_free(again);
        if (tune->stage == SOTTO_TUNE_DONE) {
            break;
        }
        sotto_tune_learnt(tune, 0, 3);
        for (size_t i = 0; i < 3; i++) {
            sotto_tune_answered(tune, i, &right);
        }
        must(sotto_tune_next(tune, &err));
    }
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    sotto_tune_free(tune);
}

/* Every byte of a plan replaced by another: it reads as a plan or not at all,
   and one that reads has places in range. */
static void
test_damage(void **state)
{
    const char *path = in_folder("tune.json");
    struct sotto_tune *tune = make();
    char text[8192];
    size_t size;
    FILE *file;
    (void)state;
    must(sotto_tune_write(tune, path, &err));
    file = fopen(path, "r");
    assert_non_null(file);
    size = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    assert_true(size > 100 && size < sizeof text);
    for (size_t i = 0; i < size; i++) {
        static const char others[] = "9-}\"";
        char was = text[i];
        struct sotto_tune *again = NULL;
        text[i] = others[i % 4];
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, size, file), size);
        (void)fclose(file);
        text[i] = was;
        if (sotto_tune_read(path, &again, &err) == SOTTO_STATUS_OK) {
            struct sotto_tune_info info;
            sotto_tune_info(again, &info);
            size_t place = sotto_tune_place(again, "ann", 3);
            assert_true(place == SIZE_MAX || place < info.questions);
        } else {
            assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
        }
        sotto_tune_free(again);
    }
    assert_int_equal(sotto_tune_read(in_folder("none"), &tune, &err),
                     SOTTO_STATUS_IO);
    sotto_tune_free(tune);
}

/* What is printed as it is, and numbers that no answers give. */
static void
test_hostile(void **state)
{
    static const char *const change[][2] = {
        {"\"eps\": \"2\"", "\"eps\": \"1,\\\"x\\\":2\""},
        {"\"eps\": \"2\"", "\"eps\": \"33\""},
        {"\"epochs\"", "\"\\u001b[2J\""},
        {"\"epochs\"", "\"e\\\":1\""},
        {"\"low\": 0.0", "\"low\": 0.5"},
        {"\"high\": 0.0", "\"high\": 1.5"},
        {"\"error\": 0.0", "\"error\": -1.0"},
        {"\"before\": 0", "\"before\": 1"},
    };
    const char *path = in_folder("tune.json");
    struct sotto_tune *tune = make(), *again = NULL;
    char text[8192];
    (void)state;
    must(sotto_tune_write(tune, path, &err));
    sotto_tune_free(tune);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        const char *at = strstr(text, change[i][0]);
        assert_non_null(at);
        file = fopen(path, "w");
        assert_non_null(file);
        (void)fprintf(file, "%.*s%s%s", (int)(at - text), text, change[i][1],
                      at + strlen(change[i][0]));
        (void)fclose(file);
        assert_int_equal(sotto_tune_read(path, &again, &err),
                         SOTTO_STATUS_FORMAT);
    }
    assert_null(again);
}

static void
test_memory(void **state)
{
    const char *path = in_folder("tune.json");
    struct sotto_tune *tune = make();
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    must(sotto_tune_write(tune, path, &err));
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        struct sotto_tune *again = NULL;
        assert_true(n < 5000);
        fail_alloc_at(n);
        status = sotto_tune_read(path, &again, &err);
        fail_alloc_at(0);
        sotto_tune_free(again);
    }
    for (long n = 1; n < 100; n++) {
        fail_alloc_at(n);
        status = sotto_tune_write(tune, path, &err);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) { /* whatever failed, it is whole */
            struct sotto_tune *again = NULL;
            must(sotto_tune_read(path, &again, &err));
            sotto_tune_free(again);
        }
    }
    sotto_tune_free(tune);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
