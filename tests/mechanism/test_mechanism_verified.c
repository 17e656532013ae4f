/*
 * test_mechanism_verified.c: signing what was opened, and opening what was
 * verified: the same bytes, whatever happens to the file meanwhile.
 */
#include "mechanism_fixture.h"
#include "minisign_fixture.h"

#include <sys/wait.h>

#include "fail_alloc.h"

static struct sotto_mechanism *plain;

static int
setup_plain(void **state)
{
    fail_alloc_at(0);
    plain = fixture_open(&fixture_plain);
    return setup(state);
}

static int
teardown_plain(void **state)
{
    sotto_mechanism_free(plain);
    return teardown(state);
}

static void
put_bytes(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* FOLDER/m, FOLDER/m.minisig, and the keys FOLDER/k.key and k.pub. */
static void
put_signed(void)
{
    put(in_folder("k.key"), STOCK_KEY);
    put(in_folder("k.pub"), STOCK_PUB);
    put_bytes(in_folder("m"), plain->data, plain->size);
    assert_int_equal(sotto_mechanism_sign(plain, in_folder("m"),
                                          in_folder("k.key"), NULL, &err),
                     SOTTO_STATUS_OK);
}

/* Reads FOLDER/m and expects failure, with nothing handed out. */
static void
assert_refused(const char *pub, enum sotto_status status, const char *message)
{
    char mark, *comment = &mark;
    struct sotto_mechanism *read = plain;
    assert_error(sotto_mechanism_read_verified(in_folder("m"), in_folder(pub),
                                               &comment, &read, &err),
                 status, message);
    assert_ptr_equal(comment, &mark);
    assert_ptr_equal(read, plain);
    assert_int_equal(sotto_mechanism_read_verified(
                         in_folder("m"), in_folder(pub), NULL, &read, NULL),
                     status);
    assert_ptr_equal(read, plain);
}

static void
test_right(void **state)
{
    struct sotto_mechanism *read = NULL;
    char *comment = NULL;
    (void)state;
    put_signed();
    assert_int_equal(
        sotto_verify_file(in_folder("m"), in_folder("k.pub"), NULL, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_mechanism_read_verified(in_folder("m"),
                                                   in_folder("k.pub"), &comment,
                                                   &read, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(read->device.report->hash, plain->device.report->hash,
                        SOTTO_HASH_SIZE);
    fixture_in(comment, "\tfile:m\thashed");
    free(comment);
    sotto_mechanism_free(read);
    assert_int_equal(sotto_mechanism_read_verified(
                         in_folder("m"), in_folder("k.pub"), NULL, &read, NULL),
                     SOTTO_STATUS_OK);
    sotto_mechanism_free(read);
}

static void
test_wrong(void **state)
{
    (void)state;
    put_signed();
    put(in_folder("bad.pub"), "not a key\n");
    assert_refused("bad.pub", SOTTO_STATUS_FORMAT, "/bad.pub'");
    assert_refused("none.pub", SOTTO_STATUS_IO, "/none.pub'");
    plain->data[plain->size - 1] ^= 1;
    put_bytes(in_folder("m"), plain->data, plain->size);
    plain->data[plain->size - 1] ^= 1;
    assert_refused("k.pub", SOTTO_STATUS_SIGNATURE, "was changed");
    put_bytes(in_folder("m"), plain->data, plain->size);
    assert_int_equal(sotto_key_generate(in_folder("other"), NULL, &err),
                     SOTTO_STATUS_OK);
    assert_refused("other.pub", SOTTO_STATUS_SIGNATURE, "was expected");
    assert_int_equal(unlink(in_folder("m.minisig")), 0);
    assert_refused("k.pub", SOTTO_STATUS_SIGNATURE, "no signature");
    assert_int_equal(unlink(in_folder("m")), 0);
    assert_refused("k.pub", SOTTO_STATUS_IO, "/m': No such file");
}

/* A right signature does not make a mechanism. */
static void
test_no_mechanism(void **state)
{
    (void)state;
    put_signed();
    put(in_folder("m"), STOCK_DATA);
    put(in_folder("m.minisig"), STOCK_SIGNATURE);
    assert_refused("k.pub", SOTTO_STATUS_REFUSED,
                   "/m' is not a usable mechanism");
    put_bytes(in_folder("m"), plain->data, plain->size - 1);
    assert_int_equal(
        sotto_sign_file(in_folder("m"), in_folder("k.key"), NULL, &err),
        SOTTO_STATUS_OK);
    assert_refused("k.pub", SOTTO_STATUS_REFUSED, "not a usable mechanism");
}

/* The opened bytes are signed, not those that took their place. */
static void
test_sign_opened(void **state)
{
    (void)state;
    put_signed();
    put(in_folder("m"), "another");
    assert_int_equal(sotto_mechanism_sign(plain, in_folder("m"),
                                          in_folder("k.key"), NULL, &err),
                     SOTTO_STATUS_OK);
    assert_refused("k.pub", SOTTO_STATUS_SIGNATURE, "was changed");
    put_bytes(in_folder("m"), plain->data, plain->size);
    assert_int_equal(
        sotto_verify_file(in_folder("m"), in_folder("k.pub"), NULL, &err),
        SOTTO_STATUS_OK);
}

/* A pipe gives its bytes once: a second reading would wait for ever. */
static void
test_read_once(void **state)
{
    struct sotto_mechanism *read = NULL;
    (void)state;
    put_signed();
    assert_int_equal(unlink(in_folder("m")), 0);
    assert_int_equal(mkfifo(in_folder("m"), 0600), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FILE *file = fopen(in_folder("m"), "wb");
        _exit(file == NULL ||
              fwrite(plain->data, 1, plain->size, file) != plain->size ||
              fclose(file) != 0);
    }
    (void)alarm(60);
    assert_int_equal(sotto_mechanism_read_verified(
                         in_folder("m"), in_folder("k.pub"), NULL, &read, &err),
                     SOTTO_STATUS_OK);
    (void)alarm(0);
    assert_memory_equal(read->device.report->hash, plain->device.report->hash,
                        SOTTO_HASH_SIZE);
    assert_int_equal(waitpid(child, NULL, 0), child);
    sotto_mechanism_free(read);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    put_signed();
    do {
        struct sotto_mechanism *read = NULL;
        char *comment = NULL;
        fail_alloc_at(++n);
        status = sotto_mechanism_read_verified(
            in_folder("m"), in_folder("k.pub"), &comment, &read, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_int_equal(status == SOTTO_STATUS_OK, read != NULL);
        assert_int_equal(status == SOTTO_STATUS_OK, comment != NULL);
        free(comment);
        sotto_mechanism_free(read);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 5);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup_plain, teardown_plain)
    const struct CMUnitTest tests[] = {
        TEST(test_right),       TEST(test_wrong),     TEST(test_no_mechanism),
        TEST(test_sign_opened), TEST(test_read_once), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
