/*
 * test_row_store.c: rows that stay whole whatever happens to their writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/row_store.h"
#include "fail_alloc.h"
#include "scratch.h"

static struct sotto_error err;

static const struct row_key first = {.experiment = "e",
                                     .mechanism = "m",
                                     .level = "latent",
                                     .aux_share = 0.75,
                                     .eps = 0.1,
                                     .trial = 1,
                                     .draw = 2,
                                     .seed = UINT64_MAX,
                                     .setting = "a=1, \"b\"=2",
                                     .data = "00ff",
                                     .version = "0.1.0"};

static struct row_store *
open_store(void)
{
    struct row_store *store = NULL;
    assert_int_equal(row_store_open(folder, "rows", "accuracy", &store, &err),
                     SOTTO_STATUS_OK);
    return store;
}

static void
add(struct row_store *store, const struct row_key *key, double accuracy)
{
    struct row_value value = {accuracy, 1.5, "sotto, \"x\"\n--y", "c0ffee",
                              "k=10, subset"};
    assert_int_equal(row_store_add(store, key, &value, NULL, &err),
                     SOTTO_STATUS_OK);
}

static off_t
size_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static void
append(const char *text)
{
    FILE *file = fopen(in_folder("rows.csv"), "a");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- What is kept ------------------------------------------------------- */

static void
test_kept(void **state)
{
    struct row_store *store = open_store();
    (void)state;
    assert_null(row_store_find(store, &first));
    add(store, &first, 0.8336);
    for (int i = 0; i < 2; i++) {
        const struct row_value *value = row_store_find(store, &first);
        assert_non_null(value);
        assert_true(value->measured == 0.8336 && value->seconds == 1.5);
        assert_string_equal(value->command, "sotto, \"x\" --y");
        assert_string_equal(value->commit, "c0ffee");
        assert_string_equal(value->note, "k=10, subset");
        row_store_close(store);
        store = open_store(); /* the same from the file */
    }
    row_store_close(store);
}

/* A file from before there were notes goes on with empty ones; half a line at
   its end is cut off as ever. */
static void
test_before_notes(void **state)
{
    struct row_store *store;
    (void)state;
    append("experiment,mechanism,level,aux_share,eps,trial,draw,seed,setting,"
           "data,version,accuracy,seconds,command,commit\n"
           "e,m,latent,0.75,0.1,1,2,18446744073709551615,"
           "\"a=1, \"\"b\"\"=2\",00ff,0.1.0,0.5,2,c,\"d, e\"\n"
           "e,m,latent,0.75,0.1,1,3");
    for (int i = 0; i < 2; i++) {
        store = open_store();
        const struct row_value *value = row_store_find(store, &first);
        assert_non_null(value);
        assert_true(value->measured == 0.5 && value->seconds == 2);
        assert_string_equal(value->commit, "d, e");
        assert_string_equal(value->note, "");
        if (i == 0) {
            struct row_key other = first;
            other.draw = 3;
            add(store, &other, 0.25);
        }
        row_store_close(store);
    }
    store = open_store();
    struct row_key other = first;
    other.draw = 3;
    assert_string_equal(row_store_find(store, &other)->note, "k=10, subset");
    row_store_close(store);
    /* one that holds something else stays as it is */
    assert_int_equal(unlink(in_folder("rows.csv")), 0);
    append("experiment,mechanism,level,aux_share,eps,trial,draw,seed,setting,"
           "data,version,accuracy,seconds,command,commit\nsomething else\n");
    off_t size = size_of(in_folder("rows.csv"));
    store = NULL;
    assert_int_equal(row_store_open(folder, "rows", "accuracy", &store, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "rows.csv', line 2"));
    assert_int_equal(size_of(in_folder("rows.csv")), size);
}

/* Whatever decides a row is in its key. */
static void
test_key(void **state)
{
    struct row_store *store = open_store();
    struct row_key key[11];
    (void)state;
    for (size_t i = 0; i < 11; i++) {
        key[i] = first;
    }
    key[0].experiment = "f";
    key[1].mechanism = "n";
    key[2].level = "feature";
    key[3].aux_share = 0.5;
    key[4].eps = INFINITY;
    key[5].trial = 2;
    key[6].draw = 1;
    key[7].seed = 0;
    key[8].setting = "a=1, \"b\"=3";
    key[9].data = "00fe";
    key[10].version = "0.1.1";
    add(store, &first, 0.5);
    for (size_t i = 0; i < 11; i++) {
        assert_null(row_store_find(store, &key[i]));
    }
    for (size_t i = 0; i < 11; i++) {
        add(store, &key[i], (double)i / 16);
    }
    row_store_close(store);
    store = open_store();
    for (size_t i = 0; i < 11; i++) {
        assert_true(row_store_find(store, &key[i])->measured == (double)i / 16);
    }
    assert_true(row_store_find(store, &first)->measured == 0.5);
    row_store_close(store);
}

/* ---- What is mended ----------------------------------------------------- */

/* Cut anywhere, the file has its whole rows and takes new ones. */
static void
test_torn(void **state)
{
    struct row_key second = first;
    struct row_store *store = open_store();
    off_t one, two;
    (void)state;
    second.draw = 3;
    add(store, &first, 0.25);
    one = size_of(in_folder("rows.csv"));
    add(store, &second, 0.5);
    two = size_of(in_folder("rows.csv"));
    row_store_close(store);
    for (off_t cut = two - 1; cut >= 0; cut -= 7) {
        assert_int_equal(truncate(in_folder("rows.csv"), cut), 0);
        store = open_store();
        assert_null(row_store_find(store, &second));
        assert_int_equal(row_store_find(store, &first) != NULL, cut >= one);
        if (cut < one) {
            add(store, &first, 0.25);
        }
        add(store, &second, 0.5);
        row_store_close(store);
        assert_int_equal(size_of(in_folder("rows.csv")), two);
    }
}

/* Whole lines that are no rows are somebody's: nothing is overwritten. */
static void
test_strange(void **state)
{
    static const char *const lines[] = {
        "\n",
        "e,m,latent,0.75,1,1,1,0,s,d,v,0.5,1,c,k\n",
        "e,m,latent,0.75,1,1,1,0,s,d,v,0.5,1,c,k,n,more\n",
        "e,m,latent,0.75,1,1,1,0,s,d,v,half,1,c,k,n\n",
        "e,m,latent,0.75,1,1,1,0,s,d,v,,1,c,k,n\n",
        "e,m,latent,0.75,1,1,1,0,s,d,v,nan,1,c,k,n\n",
        "e,m,latent,0.75,1,1,1,0,\"s,d,v,0.5,1,c,k,n\n",
        "e,m,latent,0.75,1,1,1,0,\"s\"x,d,v,0.5,1,c,k,n\n",
    };
    struct row_store *store = open_store();
    (void)state;
    add(store, &first, 0.25);
    row_store_close(store);
    off_t size = size_of(in_folder("rows.csv"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        append(lines[i]);
        off_t with = size_of(in_folder("rows.csv"));
        store = NULL;
        memset(&err, 0x55, sizeof err);
        assert_int_equal(
            row_store_open(folder, "rows", "accuracy", &store, &err),
            SOTTO_STATUS_INPUT);
        assert_null(store);
        assert_int_equal(err.position, size);
        assert_non_null(strstr(err.message, "rows.csv', line 3"));
        assert_int_equal(size_of(in_folder("rows.csv")), with);
        assert_int_equal(truncate(in_folder("rows.csv"), size), 0);
    }
    append("");
    store = open_store();
    assert_non_null(row_store_find(store, &first));
    row_store_close(store);
}

/* Another program's file. */
static void
test_foreign(void **state)
{
    struct row_store *store = NULL;
    (void)state;
    append("name,accuracy\nx,1\n");
    assert_int_equal(row_store_open(folder, "rows", "accuracy", &store, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "line 1"));
    assert_int_equal(size_of(in_folder("rows.csv")), 18);
    assert_int_equal(
        row_store_open("/nowhere", "rows", "accuracy", &store, &err),
        SOTTO_STATUS_IO);
}

static void
test_no_accuracy(void **state)
{
    struct row_store *store = open_store();
    struct row_value value = {NAN, 1, "", "", ""};
    off_t size = size_of(in_folder("rows.csv"));
    (void)state;
    assert_int_equal(row_store_add(store, &first, &value, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(size_of(in_folder("rows.csv")), size);
    row_store_close(store);
}

/* What is measured has its own column: rows of a loss are none of an accuracy.
 */
static void
test_measure(void **state)
{
    struct row_store *store = NULL;
    (void)state;
    assert_int_equal(row_store_open(folder, "loss", "loss", &store, &err),
                     SOTTO_STATUS_OK);
    add(store, &first, 0.25);
    row_store_close(store);
    store = NULL;
    assert_int_equal(row_store_open(folder, "loss", "accuracy", &store, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(row_store_open(folder, "loss", "loss", &store, &err),
                     SOTTO_STATUS_OK);
    assert_true(row_store_find(store, &first)->measured == 0.25);
    row_store_close(store);
}

static void
test_no_memory(void **state)
{
    struct row_store *store = open_store();
    enum sotto_status status;
    long n = 0;
    (void)state;
    add(store, &first, 0.25);
    row_store_close(store);
    do {
        struct row_key other = first;
        struct row_value value = {0.5, 1, "c", "k", "n"};
        store = NULL;
        other.trial = (uint32_t)n + 10;
        fail_alloc_at(++n);
        status = row_store_open(folder, "rows", "accuracy", &store, &err);
        if (status == SOTTO_STATUS_OK) {
            status = row_store_add(store, &other, &value, NULL, &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
        }
        row_store_close(store);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_measure, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_kept, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_before_notes, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_key, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_torn, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_strange, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_foreign, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_no_accuracy, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
