/*
 * test_key.c: making keys, and reading whole, damaged and encrypted ones.
 */
#include "minisign_fixture.h"

#include <sodium.h>

#include "fail_alloc.h"
#include "mechanism/key.h"

#define KEY_SIZE 158u

/* ---- Helpers ------------------------------------------------------------ */

static enum sotto_status
parse(const char *text, size_t size, const char *password)
{
    struct key_secret *key = NULL;
    enum sotto_status status =
        key_secret_parse(text, size, password, &key, &err);
    assert_true((status == SOTTO_STATUS_OK) == (key != NULL));
    key_secret_free(key);
    return status;
}

static enum sotto_status
parse_public(const char *text, size_t size)
{
    struct key_public key;
    return key_public_parse(text, size, &key, &err);
}

/* STOCK_KEY's bytes. */
static void
stock_bytes(uint8_t bytes[KEY_SIZE])
{
    const char *line = strchr(STOCK_KEY, '\n') + 1;
    size_t got = 0;
    assert_int_equal(sodium_base642bin(bytes, KEY_SIZE, line, strlen(line) - 1,
                                       NULL, &got, NULL,
                                       sodium_base64_VARIANT_ORIGINAL),
                     0);
    assert_int_equal(got, KEY_SIZE);
}

static const char *
key_text(const uint8_t bytes[KEY_SIZE])
{
    static char text[300] = "untrusted comment: x\n";
    char *line = strchr(text, '\n') + 1;
    sodium_bin2base64(line, 213, bytes, KEY_SIZE,
                      sodium_base64_VARIANT_ORIGINAL);
    (void)strcat(line, "\n");
    return text;
}

/* STOCK_KEY, encrypted with limits low enough for a test. */
static void
encrypt(uint8_t bytes[KEY_SIZE], const char *password)
{
    uint8_t stream[104];
    crypto_generichash_state state;
    stock_bytes(bytes);
    crypto_generichash_init(&state, NULL, 0, 32);
    crypto_generichash_update(&state, bytes, 2);
    crypto_generichash_update(&state, bytes + 54, 72);
    crypto_generichash_final(&state, bytes + 126, 32);
    memcpy(bytes + 2, "Sc", 2);
    memset(bytes + 6, 7, 32);
    bytes[39] = 0x80; /* opslimit 32768 */
    bytes[49] = 1;    /* memlimit 16 MiB */
    assert_int_equal(crypto_pwhash_scryptsalsa208sha256(
                         stream, sizeof stream, password, strlen(password),
                         bytes + 6, 32768, 1 << 24),
                     0);
    for (size_t i = 0; i < sizeof stream; i++) {
        bytes[54 + i] ^= stream[i];
    }
}

static enum sotto_status
generate(const char *name, const char *password)
{
    return sotto_key_generate(in_folder(name), password, &err);
}

/* ---- Public keys -------------------------------------------------------- */

/* As minisign writes it, and as mail programs and editors leave it. */
static void
test_public(void **state)
{
    static const char crlf[] =
        "untrusted comment: minisign public key 4892130F31F6B9DF\r\n"
        "RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7\r\n";
    struct key_public key;
    (void)state;
    assert_int_equal(key_public_parse(STOCK_PUB, strlen(STOCK_PUB), &key, &err),
                     SOTTO_STATUS_OK);
    assert_true(key_id_number(key.id) == 0x4892130F31F6B9DFu);
    assert_int_equal(key.point[0], 0xee);
    assert_int_equal(parse_public(STOCK_PUB, strlen(STOCK_PUB) - 1),
                     SOTTO_STATUS_OK);
    assert_int_equal(parse_public(crlf, strlen(crlf)), SOTTO_STATUS_OK);
    assert_int_equal(parse_public(crlf, strlen(crlf) - 1), SOTTO_STATUS_OK);
}

static void
test_public_failures(void **state)
{
    static const char *const bad[] = {
        "",
        "\n",
        "untrusted comment: x",
        "untrusted comment: x\n",
        "untrusted comment: x\n\n",
        STOCK_PUB "\n",
        STOCK_PUB "more",
        "RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7\n",
        "untrusted comment: x\n"
        "RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c\n",
        "untrusted comment: x\n"
        "RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7AAAA\n",
        "untrusted comment: x\n"
        " RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7\n",
        STOCK_KEY,
        STOCK_SIGNATURE,
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_error(parse_public(bad[i], strlen(bad[i])), SOTTO_STATUS_FORMAT,
                     "not a public key; give the .pub file");
    }
    static const char other[] =
        "untrusted comment: x\n"
        "RUTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7\n";
    assert_error(parse_public(other, strlen(other)), SOTTO_STATUS_FORMAT,
                 "another kind than Ed25519");
    for (size_t i = 0; i < strlen(STOCK_PUB) - 1; i++) {
        assert_error(parse_public(STOCK_PUB, i), SOTTO_STATUS_FORMAT,
                     "not a public key");
    }
}

/* ---- Secret keys -------------------------------------------------------- */

/* A changed key is refused, or the change was where nothing is read. */
static void
test_every_bit(void **state)
{
    struct key_secret *whole = NULL;
    (void)state;
    assert_int_equal(generate("k", NULL), SOTTO_STATUS_OK);
    char *text = get(in_folder("k.key"));
    size_t size = strlen(text);
    assert_int_equal(key_secret_parse(text, size, NULL, &whole, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < 8 * size; i++) {
        struct key_secret *key = NULL;
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
        enum sotto_status status =
            key_secret_parse(text, size, NULL, &key, &err);
        if (status == SOTTO_STATUS_OK) {
            assert_memory_equal(key, whole, sizeof *key);
        } else {
            assert_error(status, SOTTO_STATUS_FORMAT, "secret key");
        }
        key_secret_free(key);
        text[i / 8] = (char)(text[i / 8] ^ 1 << i % 8);
    }
    for (size_t i = 0; i < size - 1; i++) {
        assert_error(parse(text, i, NULL), SOTTO_STATUS_FORMAT,
                     "not a secret key");
    }
    key_secret_free(whole);
    free(text);
}

/* minisign's plain keys have no checksum: the halves must still agree. */
static void
test_halves(void **state)
{
    uint8_t bytes[KEY_SIZE];
    (void)state;
    for (size_t i = 62; i < 126; i++) {
        stock_bytes(bytes);
        bytes[i] ^= 1;
        const char *text = key_text(bytes);
        assert_error(parse(text, strlen(text), NULL), SOTTO_STATUS_FORMAT,
                     "the secret key is damaged");
    }
}

static void
test_kinds(void **state)
{
    uint8_t bytes[KEY_SIZE];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        stock_bytes(bytes);
        bytes[i] = 'X';
        const char *text = key_text(bytes);
        assert_error(parse(text, strlen(text), NULL), SOTTO_STATUS_FORMAT,
                     "a kind this version does not know");
    }
}

static void
test_encrypted(void **state)
{
    uint8_t bytes[KEY_SIZE];
    bool encrypted = false;
    (void)state;
    encrypt(bytes, "secret");
    const char *text = key_text(bytes);
    size_t size = strlen(text);
    assert_int_equal(parse(text, size, "secret"), SOTTO_STATUS_OK);
    assert_error(parse(text, size, "Secret"), SOTTO_STATUS_SIGNATURE,
                 "wrong password");
    assert_error(parse(text, size, ""), SOTTO_STATUS_SIGNATURE,
                 "wrong password");
    assert_error(parse(text, size, NULL), SOTTO_STATUS_SIGNATURE,
                 "is encrypted; give its password");
    put(in_folder("k"), text);
    assert_int_equal(sotto_key_encrypted(in_folder("k"), &encrypted, &err),
                     SOTTO_STATUS_OK);
    assert_true(encrypted);
    put(in_folder("data"), "x");
    assert_error(sotto_sign_file(in_folder("data"), in_folder("k"), "no", &err),
                 SOTTO_STATUS_SIGNATURE, "/k': wrong password");
    assert_false(exists(in_folder("data.minisig")));
    assert_int_equal(
        sotto_sign_file(in_folder("data"), in_folder("k"), "secret", &err),
        SOTTO_STATUS_OK);
    put(in_folder("pub"), STOCK_PUB);
    assert_int_equal(
        sotto_verify_file(in_folder("data"), in_folder("pub"), NULL, &err),
        SOTTO_STATUS_OK);
}

/* A file cannot make us spend more than minisign's own keys do. */
static void
test_scrypt_limits(void **state)
{
    uint8_t bytes[KEY_SIZE];
    (void)state;
    for (size_t at = 38; at < 54; at += 8) {
        encrypt(bytes, "secret");
        bytes[at + 5] = 1;
        const char *text = key_text(bytes);
        assert_error(parse(text, strlen(text), "secret"), SOTTO_STATUS_FORMAT,
                     "asks for more work");
    }
}

static void
test_is_encrypted(void **state)
{
    bool encrypted = true;
    (void)state;
    put(in_folder("k"), STOCK_KEY);
    put(in_folder("p"), STOCK_PUB);
    assert_int_equal(sotto_key_encrypted(in_folder("k"), &encrypted, &err),
                     SOTTO_STATUS_OK);
    assert_false(encrypted);
    assert_error(sotto_key_encrypted(in_folder("none"), &encrypted, &err),
                 SOTTO_STATUS_IO, "/none'");
    assert_error(sotto_key_encrypted(in_folder("p"), &encrypted, &err),
                 SOTTO_STATUS_FORMAT, "/p': not a secret key");
    assert_error(sotto_key_encrypted("/dev/zero", &encrypted, &err),
                 SOTTO_STATUS_FORMAT, "too large to be a key");
}

/* ---- Making keys -------------------------------------------------------- */

static void
test_generate(void **state)
{
    struct stat info;
    bool encrypted = true;
    (void)state;
    assert_int_equal(generate("k", NULL), SOTTO_STATUS_OK);
    assert_int_equal(stat(in_folder("k.key"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(sotto_key_encrypted(in_folder("k.key"), &encrypted, &err),
                     SOTTO_STATUS_OK);
    assert_false(encrypted);
    put(in_folder("data"), "hello");
    assert_int_equal(
        sotto_sign_file(in_folder("data"), in_folder("k.key"), NULL, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_verify_file(in_folder("data"), in_folder("k.pub"), NULL, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(generate("l", NULL), SOTTO_STATUS_OK);
    char *k = get(in_folder("k.key"));
    char *l = get(in_folder("l.key"));
    assert_string_not_equal(k, l);
    free(k);
    free(l);
}

/* Neither file is overwritten, and neither is made without the other. */
static void
test_generate_refuses(void **state)
{
    (void)state;
    put(in_folder("a.key"), "mine");
    assert_error(generate("a", NULL), SOTTO_STATUS_IO, "/a.key': File exists");
    assert_false(exists(in_folder("a.pub")));
    put(in_folder("b.pub"), "mine");
    assert_error(generate("b", NULL), SOTTO_STATUS_IO, "/b.pub': File exists");
    assert_false(exists(in_folder("b.key")));
    assert_error(generate("none/c", NULL), SOTTO_STATUS_IO,
                 "/none/c.key': No such file or directory; make the folder");
    char *text = get(in_folder("a.key"));
    assert_string_equal(text, "mine");
    free(text);
}

static void
test_passwords(void **state)
{
    char large[1024];
    (void)state;
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_error(generate("k", ""), SOTTO_STATUS_USAGE, "password is empty");
    assert_error(generate("k", "a\nb"), SOTTO_STATUS_USAGE, "one line");
    assert_error(generate("k", large), SOTTO_STATUS_USAGE, "at most 1022");
    assert_false(exists(in_folder("k.key")));
    assert_false(exists(in_folder("k.pub")));
}

/* Every draw of entropy and every allocation failing in turn: no key. */
static void
test_generate_fails(void **state)
{
    long n;
    (void)state;
    for (n = 1;; n++) {
        entropy_fails_at = n;
        enum sotto_status status = generate("e", NULL);
        if (status == SOTTO_STATUS_OK) {
            break;
        }
        assert_error(status, SOTTO_STATUS_ENTROPY, "gave no entropy");
        assert_false(exists(in_folder("e.key")));
        assert_false(exists(in_folder("e.pub")));
    }
    assert_int_equal(n, 4);
    entropy_fails_at = 0;
    for (n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status = generate("m", NULL);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            break;
        }
        assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
        assert_false(exists(in_folder("m.key")));
        assert_false(exists(in_folder("m.pub")));
    }
    assert_true(n > 8);
}

static int
start(void **state)
{
    (void)state;
    return sodium_init() < 0 ? -1 : 0;
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_public),        TEST(test_public_failures),
        TEST(test_every_bit),     TEST(test_halves),
        TEST(test_kinds),         TEST(test_encrypted),
        TEST(test_scrypt_limits), TEST(test_is_encrypted),
        TEST(test_generate),      TEST(test_generate_refuses),
        TEST(test_passwords),     TEST(test_generate_fails),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
