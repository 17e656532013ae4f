/*
 * test_minisign.c: signing and verifying. Known answers are minisign 0.11's;
 * test_minisign_stock.c runs the program itself.
 */
#include "minisign_fixture.h"

#include <sodium.h>

#include "fail_alloc.h"
#include "mechanism/key.h"
#include "mechanism/minisign.h"

#define TRUSTED_MAX ((size_t)(8192 - sizeof "trusted comment: "))

/* ---- Helpers ------------------------------------------------------------ */

static enum sotto_status
verify(const char *data, const char *signature, size_t signature_size,
       const char *pub)
{
    return minisign_verify((const uint8_t *)data, strlen(data), signature,
                           signature_size, pub, strlen(pub), NULL, &err);
}

static struct key_secret *
stock_key(void)
{
    struct key_secret *key = NULL;
    assert_int_equal(
        key_secret_parse(STOCK_KEY, strlen(STOCK_KEY), NULL, &key, &err),
        SOTTO_STATUS_OK);
    return key;
}

/*
 * A signature of STOCK_DATA with nothing wrong but what is asked for: any
 * algorithm bytes, any untrusted and trusted comment. The caller frees it.
 */
static char *
forge(const char *algorithm, const char *untrusted, const char *comment)
{
    struct key_secret *key = stock_key();
    uint8_t hash[64], line[74], global[64];
    char first[101], second[89];
    size_t size = strlen(comment);
    uint8_t *covered = malloc(64 + size);
    char *text = malloc(strlen(untrusted) + size + 300);
    assert_non_null(covered);
    assert_non_null(text);
    crypto_generichash(hash, sizeof hash, (const uint8_t *)STOCK_DATA,
                       strlen(STOCK_DATA), NULL, 0);
    memcpy(line, algorithm, 2);
    memcpy(line + 2, key->id, 8);
    crypto_sign_ed25519_detached(line + 10, NULL, hash, sizeof hash,
                                 key->seed_and_point);
    memcpy(covered, line + 10, 64);
    memcpy(covered + 64, comment, size);
    crypto_sign_ed25519_detached(global, NULL, covered, 64 + size,
                                 key->seed_and_point);
    sodium_bin2base64(first, sizeof first, line, sizeof line,
                      sodium_base64_VARIANT_ORIGINAL);
    sodium_bin2base64(second, sizeof second, global, sizeof global,
                      sodium_base64_VARIANT_ORIGINAL);
    (void)sprintf(text, "untrusted comment: %s\n%s\ntrusted comment: %s\n%s\n",
                  untrusted, first, comment, second);
    free(covered);
    key_secret_free(key);
    return text;
}

/* Whether a trusted comment that is validly signed is accepted. */
static bool
accepts_comment(const char *comment)
{
    char *text = forge("ED", "u", comment);
    enum sotto_status status =
        verify(STOCK_DATA, text, strlen(text), STOCK_PUB);
    free(text);
    if (status != SOTTO_STATUS_OK) {
        assert_error(status, SOTTO_STATUS_SIGNATURE, "comment");
    }
    return status == SOTTO_STATUS_OK;
}

/* ---- On memory ---------------------------------------------------------- */

static void
test_known_answer(void **state)
{
    char *comment = NULL;
    (void)state;
    assert_int_equal(minisign_verify((const uint8_t *)STOCK_DATA,
                                     strlen(STOCK_DATA), STOCK_SIGNATURE,
                                     strlen(STOCK_SIGNATURE), STOCK_PUB,
                                     strlen(STOCK_PUB), &comment, &err),
                     SOTTO_STATUS_OK);
    assert_string_equal(comment, STOCK_COMMENT);
    free(comment);
}

/* Ed25519 has no randomness: we must write minisign's very signature. */
static void
test_sign_known_answer(void **state)
{
    struct key_secret *key = stock_key();
    char *text = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(minisign_sign((const uint8_t *)STOCK_DATA,
                                   strlen(STOCK_DATA), key, STOCK_COMMENT,
                                   &text, &size, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(size, strlen(text));
    assert_string_equal(strchr(text, '\n'), strchr(STOCK_SIGNATURE, '\n'));
    assert_memory_equal(text, "untrusted comment: signature from sotto", 39);
    free(text);
    key_secret_free(key);
}

/* Only the untrusted comment's text may change. */
static void
test_every_bit(void **state)
{
    char text[] = STOCK_SIGNATURE;
    size_t size = strlen(text);
    size_t free_from = strlen("untrusted comment: ");
    size_t free_to = (size_t)(strchr(text, '\n') - text);
    (void)state;
    for (size_t i = 0; i < 8 * size; i++) {
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        enum sotto_status status = verify(STOCK_DATA, text, size, STOCK_PUB);
        if (status == SOTTO_STATUS_OK) {
            assert_in_range(i / 8, free_from, free_to - 1);
        } else {
            assert_error(status, SOTTO_STATUS_SIGNATURE, "sign");
        }
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
    }
    assert_int_equal(verify(STOCK_DATA, text, size, STOCK_PUB),
                     SOTTO_STATUS_OK);
}

/* Each length is copied, so that a read beyond its end is seen. */
static void
test_every_truncation(void **state)
{
    size_t size = strlen(STOCK_SIGNATURE);
    (void)state;
    for (size_t i = 0; i < size; i++) {
        char *part = malloc(i + 1);
        assert_non_null(part);
        char *exact = part + 1;
        memcpy(exact, STOCK_SIGNATURE, i);
        assert_error(verify(STOCK_DATA, exact, i, STOCK_PUB),
                     SOTTO_STATUS_SIGNATURE, "not a minisign signature");
        free(part);
    }
}

static void
test_trailing_bytes(void **state)
{
    static const char after[] = "\nx \0\r";
    char text[sizeof STOCK_SIGNATURE] = STOCK_SIGNATURE;
    (void)state;
    for (size_t i = 0; i < sizeof after; i++) {
        text[sizeof text - 1] = after[i];
        assert_error(verify(STOCK_DATA, text, sizeof text, STOCK_PUB),
                     SOTTO_STATUS_SIGNATURE, "not a minisign signature");
    }
}

static void
test_every_bit_of_data(void **state)
{
    char data[] = STOCK_DATA;
    (void)state;
    for (size_t i = 0; i < 8 * strlen(STOCK_DATA); i++) {
        data[i / 8] = (char)(data[i / 8] ^ 1 << i % 8);
        assert_error(minisign_verify((const uint8_t *)data, strlen(STOCK_DATA),
                                     STOCK_SIGNATURE, strlen(STOCK_SIGNATURE),
                                     STOCK_PUB, strlen(STOCK_PUB), NULL, &err),
                     SOTTO_STATUS_SIGNATURE, "not of this content");
        data[i / 8] = (char)(data[i / 8] ^ 1 << i % 8);
    }
    assert_error(
        verify("", STOCK_SIGNATURE, strlen(STOCK_SIGNATURE), STOCK_PUB),
        SOTTO_STATUS_SIGNATURE, "not of this content");
    assert_error(verify(STOCK_DATA "x", STOCK_SIGNATURE,
                        strlen(STOCK_SIGNATURE), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "not of this content");
}

/* Both halves valid, but not together. */
static void
test_moved_comment(void **state)
{
    char *other = forge("ED", "u", "another comment");
    char *mixed = forge("ED", "u", STOCK_COMMENT);
    char *end = strstr(mixed, "trusted comment: a");
    (void)state;
    assert_non_null(end);
    /* Another data's comment and global signature after our signature. */
    (void)strcpy(end, strstr(other, "trusted comment: another"));
    assert_int_equal(verify(STOCK_DATA, mixed, strlen(mixed), STOCK_PUB),
                     SOTTO_STATUS_OK); /* same data: the same signature */
    struct key_secret *key = stock_key();
    char *foreign = NULL;
    size_t size = 0;
    assert_int_equal(minisign_sign((const uint8_t *)"x", 1, key, STOCK_COMMENT,
                                   &foreign, &size, &err),
                     SOTTO_STATUS_OK);
    (void)strcpy(end, strstr(foreign, "trusted comment: a"));
    assert_error(verify(STOCK_DATA, mixed, strlen(mixed), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "trusted comment was changed");
    key_secret_free(key);
    free(foreign);
    free(mixed);
    free(other);
}

static void
test_kinds(void **state)
{
    char *legacy = forge("Ed", "u", "c");
    char *unknown = forge("EX", "u", "c");
    (void)state;
    assert_error(verify(STOCK_DATA, legacy, strlen(legacy), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "a legacy signature, not prehashed");
    assert_error(verify(STOCK_DATA, unknown, strlen(unknown), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "a kind this version does not know");
    free(legacy);
    free(unknown);
}

static void
test_comments(void **state)
{
    (void)state;
    assert_true(accepts_comment(""));
    assert_true(accepts_comment("timestamp:1\tfile:caf\xc3\xa9\thashed"));
    assert_true(accepts_comment("\xe2\x82\xac \xf0\x9f\x8e\xb5 \xc2\xa0~"));
    assert_false(accepts_comment("\x1b[31mred"));
    assert_false(accepts_comment("bell\a"));
    assert_false(accepts_comment("delete\x7f"));
    assert_false(accepts_comment("return\r"));
    assert_false(accepts_comment("c1 control \xc2\x9b"));
    assert_false(accepts_comment("right to left \xe2\x80\xae"));
    assert_false(accepts_comment("line separator \xe2\x80\xa8"));
    assert_false(accepts_comment("latin-1 \xe9"));
    assert_false(accepts_comment("cut \xe2\x82"));
    assert_false(accepts_comment("overlong \xc0\xaf"));
    assert_false(accepts_comment("overlong \xe0\x82\xaf"));
    assert_false(accepts_comment("surrogate \xed\xa0\x80"));
    assert_false(accepts_comment("beyond \xf4\x90\x80\x80"));
    assert_false(accepts_comment("lone \x80"));
    assert_false(accepts_comment("five \xf8\x88\x80\x80\x80"));
}

/* The longest lines minisign reads are accepted, longer ones are not. */
static void
test_line_lengths(void **state)
{
    static char long_text[9000];
    size_t size;
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[TRUSTED_MAX] = '\0';
    assert_true(accepts_comment(long_text));
    long_text[TRUSTED_MAX] = 'x';
    long_text[TRUSTED_MAX + 1] = '\0';
    char *text = forge("ED", "u", long_text);
    assert_error(verify(STOCK_DATA, text, strlen(text), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "not a minisign signature");
    free(text);
    struct key_secret *key = stock_key();
    assert_error(minisign_sign((const uint8_t *)"", 0, key, long_text, &text,
                               &size, &err),
                 SOTTO_STATUS_USAGE, "at most 8174 bytes");
    assert_error(minisign_sign((const uint8_t *)"", 0, key, "two\nlines", &text,
                               &size, &err),
                 SOTTO_STATUS_USAGE, "one line of printable");
    key_secret_free(key);
    size_t most = 1024 - sizeof "untrusted comment: ";
    long_text[most] = '\0';
    text = forge("ED", long_text, "c");
    assert_int_equal(verify(STOCK_DATA, text, strlen(text), STOCK_PUB),
                     SOTTO_STATUS_OK);
    free(text);
    long_text[most] = 'x';
    long_text[most + 1] = '\0';
    text = forge("ED", long_text, "c");
    assert_error(verify(STOCK_DATA, text, strlen(text), STOCK_PUB),
                 SOTTO_STATUS_SIGNATURE, "not a minisign signature");
    free(text);
}

/* Where the signature is wrong is said. */
static void
test_positions(void **state)
{
    static const char bad[] = "untrusted comment: x\nbase65\n";
    (void)state;
    (void)verify(STOCK_DATA, bad, strlen(bad), STOCK_PUB);
    assert_int_equal(err.status, SOTTO_STATUS_SIGNATURE);
    assert_int_equal(err.position, 21);
    char *text = forge("ED", "u", "ab\x1b");
    (void)verify(STOCK_DATA, text, strlen(text), STOCK_PUB);
    assert_int_equal(err.position, strchr(text, '\x1b') - text);
    free(text);
}

/* ---- On files ----------------------------------------------------------- */

static enum sotto_status
verify_file(const char *name, const char *pub)
{
    return sotto_verify_file(in_folder(name), in_folder(pub), NULL, &err);
}

static enum sotto_status
sign_file(const char *name, const char *key)
{
    return sotto_sign_file(in_folder(name), in_folder(key), NULL, &err);
}

static void
make_files(void)
{
    put(in_folder("data"), STOCK_DATA);
    put(in_folder("stock.key"), STOCK_KEY);
    put(in_folder("stock.pub"), STOCK_PUB);
}

static void
test_files(void **state)
{
    char *comment = NULL;
    (void)state;
    make_files();
    put(in_folder("data.minisig"), STOCK_SIGNATURE);
    assert_int_equal(verify_file("data", "stock.pub"), SOTTO_STATUS_OK);
    assert_int_equal(sign_file("data", "stock.key"), SOTTO_STATUS_OK);
    assert_int_equal(sotto_verify_file(in_folder("data"),
                                       in_folder("stock.pub"), &comment, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(comment, "timestamp:1", 11);
    assert_non_null(strstr(comment, "\tfile:data\thashed"));
    free(comment);
    put(in_folder("data"), STOCK_DATA "more");
    assert_error(verify_file("data", "stock.pub"), SOTTO_STATUS_SIGNATURE,
                 "/data.minisig': the signature is not of this content");
}

/* Names that cannot stand in a comment do not stop a file from being signed. */
static void
test_file_names(void **state)
{
    static const char *const names[][2] = {
        {"caf\xc3\xa9", "\tfile:caf\xc3\xa9\thashed"},
        {"a\tb\x1b[c", "\tfile:a?b?[c\thashed"},
        {"latin-\xe9\xe9", "\tfile:latin-??\thashed"},
        {"-", "\tfile:-\thashed"},
    };
    (void)state;
    make_files();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *comment = NULL;
        put(in_folder(names[i][0]), "");
        assert_int_equal(sign_file(names[i][0], "stock.key"), SOTTO_STATUS_OK);
        assert_int_equal(sotto_verify_file(in_folder(names[i][0]),
                                           in_folder("stock.pub"), &comment,
                                           &err),
                         SOTTO_STATUS_OK);
        assert_non_null(strstr(comment, names[i][1]));
        free(comment);
    }
}

static void
test_other_key(void **state)
{
    char expected[64];
    (void)state;
    make_files();
    assert_int_equal(sotto_key_generate(in_folder("other"), NULL, &err),
                     SOTTO_STATUS_OK);
    char *pub = get(in_folder("other.pub"));
    char *id = strstr(pub, "key ") + 4;
    (void)snprintf(expected, sizeof expected, "but key %.16s was expected", id);
    assert_int_equal(sign_file("data", "stock.key"), SOTTO_STATUS_OK);
    enum sotto_status status = verify_file("data", "other.pub");
    assert_non_null(strstr(err.message, "signed with key 4892130F31F6B9DF"));
    assert_error(status, SOTTO_STATUS_SIGNATURE, expected);
    free(pub);
    /* Another point under the same id. */
    put(in_folder("same.pub"),
        "untrusted comment: x\n"
        "RWTfufYxDxOSSB4i9eZkEOC+9eZqrA2wDC2aq0cyhYFCKa3UzyeWXeCf\n");
    assert_error(verify_file("data", "same.pub"), SOTTO_STATUS_SIGNATURE,
                 "not of this content");
}

static void
test_file_failures(void **state)
{
    char *large = malloc(20000);
    (void)state;
    assert_non_null(large);
    memset(large, 'x', 19999);
    large[19999] = '\0';
    make_files();
    put(in_folder("garbage"), "what?\n");
    assert_error(verify_file("data", "stock.pub"), SOTTO_STATUS_SIGNATURE,
                 "sign the mechanism first (sotto sign)");
    put(in_folder("data.minisig"), "what?\n");
    assert_error(verify_file("data", "stock.pub"), SOTTO_STATUS_SIGNATURE,
                 "/data.minisig': not a minisign signature");
    put(in_folder("data.minisig"), large);
    assert_error(verify_file("data", "stock.pub"), SOTTO_STATUS_SIGNATURE,
                 "no signature: '");
    put(in_folder("data.minisig"), STOCK_SIGNATURE);
    assert_error(verify_file("none", "stock.pub"), SOTTO_STATUS_IO, "/none'");
    assert_error(verify_file("data", "none.pub"), SOTTO_STATUS_IO,
                 "/none.pub'");
    assert_error(verify_file("data", "garbage"), SOTTO_STATUS_FORMAT,
                 "/garbage': not a public key");
    assert_error(verify_file("data", "stock.key"), SOTTO_STATUS_FORMAT,
                 "/stock.key': not a public key");
    assert_error(sign_file("none", "stock.key"), SOTTO_STATUS_IO, "/none'");
    assert_error(sign_file("data", "none.key"), SOTTO_STATUS_IO, "/none.key'");
    assert_error(sign_file("data", "stock.pub"), SOTTO_STATUS_FORMAT,
                 "/stock.pub': not a secret key");
    put(in_folder("large"), large);
    assert_error(sign_file("data", "large"), SOTTO_STATUS_FORMAT,
                 "/large' is too large to be a key");
    assert_int_equal(
        sotto_verify_file(in_folder("data"), in_folder("garbage"), NULL, NULL),
        SOTTO_STATUS_FORMAT);
    free(large);
}

/* ---- Lack of memory and entropy ----------------------------------------- */

static void
test_memory(void **state)
{
    long n;
    (void)state;
    make_files();
    for (n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status = sign_file("data", "stock.key");
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            break;
        }
        assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
        assert_false(exists(in_folder("data.minisig")));
    }
    assert_true(n > 5);
    for (n = 1;; n++) {
        char *comment = NULL;
        fail_alloc_at(n);
        enum sotto_status status = sotto_verify_file(
            in_folder("data"), in_folder("stock.pub"), &comment, &err);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            free(comment);
            break;
        }
        assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
        assert_null(comment);
    }
    assert_true(n > 5);
}

static void
test_entropy(void **state)
{
    (void)state;
    make_files();
    entropy_fails_at = 1;
    assert_error(sign_file("data", "stock.key"), SOTTO_STATUS_ENTROPY,
                 "no entropy");
    assert_false(exists(in_folder("data.minisig")));
    put(in_folder("data.minisig"), STOCK_SIGNATURE);
    entropy_fails_at = 1;
    assert_error(verify_file("data", "stock.pub"), SOTTO_STATUS_ENTROPY,
                 "no entropy");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_known_answer),   TEST(test_sign_known_answer),
        TEST(test_every_bit),      TEST(test_every_truncation),
        TEST(test_trailing_bytes), TEST(test_every_bit_of_data),
        TEST(test_moved_comment),  TEST(test_kinds),
        TEST(test_comments),       TEST(test_line_lengths),
        TEST(test_positions),      TEST(test_files),
        TEST(test_file_names),     TEST(test_other_key),
        TEST(test_file_failures),  TEST(test_memory),
        TEST(test_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
