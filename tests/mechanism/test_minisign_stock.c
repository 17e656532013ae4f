/*
 * test_minisign_stock.c: interoperation with the stock minisign program, both
 * ways; skipped (77) where it is not installed.
 */
#include "minisign_fixture.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#define MINISIGN "/usr/bin/minisign"
#define PASSWORD "correct horse"

extern char **environ;

/*
 * Runs minisign with up to 8 arguments and this on its standard input, from
 * which it reads passwords if it is no terminal; returns its exit status.
 */
static int
minisign(const char *input, const char *const arguments[8])
{
    char program[] = MINISIGN;
    char *argv[10] = {program};
    char copies[8][256];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    for (size_t i = 0; i < 8 && arguments[i] != NULL; i++) {
        (void)snprintf(copies[i], sizeof copies[i], "%s", arguments[i]);
        argv[i + 1] = copies[i];
    }
    put(in_folder("input"), input);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    posix_spawn_file_actions_addopen(&actions, 0, in_folder("input"), O_RDONLY,
                                     0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    assert_int_equal(
        posix_spawn(&child, MINISIGN, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int
stock_generate(const char *name, bool encrypted)
{
    char key[64], pub[64];
    (void)snprintf(key, sizeof key, "%s.key", name);
    (void)snprintf(pub, sizeof pub, "%s.pub", name);
    const char *const arguments[8] = {"-G",           "-s",
                                      in_folder(key), "-p",
                                      in_folder(pub), encrypted ? NULL : "-W"};
    return minisign(encrypted ? PASSWORD "\n" PASSWORD "\n" : "", arguments);
}

static int
stock_sign(const char *name, const char *key, const char *option,
           const char *input)
{
    const char *const arguments[8] = {
        "-S", "-s", in_folder(key), "-m", in_folder(name), option};
    return minisign(input, arguments);
}

static int
stock_verify(const char *name, const char *pub)
{
    const char *const arguments[8] = {"-V", "-p", in_folder(pub), "-m",
                                      in_folder(name)};
    return minisign("", arguments);
}

static enum sotto_status
our_sign(const char *name, const char *key, const char *password)
{
    return sotto_sign_file(in_folder(name), in_folder(key), password, &err);
}

static enum sotto_status
our_verify(const char *name, const char *pub)
{
    return sotto_verify_file(in_folder(name), in_folder(pub), NULL, &err);
}

/* Signs with the key of `name` by both, and verifies each by both. */
static void
check_pair(const char *name, const char *password)
{
    char key[64], pub[64], input[64];
    (void)snprintf(key, sizeof key, "%s.key", name);
    (void)snprintf(pub, sizeof pub, "%s.pub", name);
    (void)snprintf(input, sizeof input, "%s\n",
                   password == NULL ? "" : password);
    put(in_folder("data"), "some data");
    assert_int_equal(our_sign("data", key, password), SOTTO_STATUS_OK);
    assert_int_equal(stock_verify("data", pub), 0);
    assert_int_equal(our_verify("data", pub), SOTTO_STATUS_OK);
    put(in_folder("data"), "other data");
    assert_int_not_equal(stock_verify("data", pub), 0);
    assert_error(our_verify("data", pub), SOTTO_STATUS_SIGNATURE,
                 "not of this content");
    assert_int_equal(stock_sign("data", key, NULL, input), 0);
    assert_int_equal(stock_verify("data", pub), 0);
    assert_int_equal(our_verify("data", pub), SOTTO_STATUS_OK);
}

static void
test_stock_key(void **state)
{
    (void)state;
    assert_int_equal(stock_generate("k", false), 0);
    check_pair("k", NULL);
}

static void
test_our_key(void **state)
{
    (void)state;
    assert_int_equal(sotto_key_generate(in_folder("k"), NULL, &err),
                     SOTTO_STATUS_OK);
    check_pair("k", NULL);
}

static void
test_stock_encrypted_key(void **state)
{
    (void)state;
    assert_int_equal(stock_generate("k", true), 0);
    check_pair("k", PASSWORD);
}

static void
test_our_encrypted_key(void **state)
{
    bool encrypted = false;
    (void)state;
    assert_int_equal(sotto_key_generate(in_folder("k"), PASSWORD, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_key_encrypted(in_folder("k.key"), &encrypted, &err),
                     SOTTO_STATUS_OK);
    assert_true(encrypted);
    check_pair("k", PASSWORD);
    assert_error(our_sign("data", "k.key", "wrong"), SOTTO_STATUS_SIGNATURE,
                 "wrong password");
}

/* What minisign still accepts and we do not. */
static void
test_legacy(void **state)
{
    (void)state;
    put(in_folder("data"), "some data");
    assert_int_equal(stock_generate("k", false), 0);
    assert_int_equal(stock_sign("data", "k.key", "-l", ""), 0);
    assert_int_equal(stock_verify("data", "k.pub"), 0);
    assert_error(our_verify("data", "k.pub"), SOTTO_STATUS_SIGNATURE,
                 "legacy signature");
}

static void
test_names_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(stock_generate("k", false), 0);
    put(in_folder("caf\xc3\xa9"), "");
    assert_int_equal(our_sign("caf\xc3\xa9", "k.key", NULL), SOTTO_STATUS_OK);
    assert_int_equal(stock_verify("caf\xc3\xa9", "k.pub"), 0);
    assert_int_equal(stock_sign("caf\xc3\xa9", "k.key", NULL, ""), 0);
    assert_int_equal(our_verify("caf\xc3\xa9", "k.pub"), SOTTO_STATUS_OK);
    put(in_folder("large"), "");
    assert_int_equal(truncate(in_folder("large"), 5000001), 0);
    assert_int_equal(our_sign("large", "k.key", NULL), SOTTO_STATUS_OK);
    assert_int_equal(stock_verify("large", "k.pub"), 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_stock_key),
        TEST(test_our_key),
        TEST(test_stock_encrypted_key),
        TEST(test_our_encrypted_key),
        TEST(test_legacy),
        TEST(test_names_and_sizes),
    };
    if (access(MINISIGN, X_OK) != 0) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
