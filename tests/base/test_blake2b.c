/*
 * test_blake2b.c: BLAKE2b-256 against libsodium, and one known answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/blake2b.h"

/* BLAKE2b-256 of "abc", as `b2sum -l 256` prints it. */
static void
test_known_answer(void **state)
{
    char text[65];
    uint8_t digest[32];
    (void)state;
    blake2b_256((const uint8_t *)"abc", 3, digest);
    sodium_bin2hex(text, sizeof text, digest, sizeof digest);
    assert_string_equal(text, "bddd813c634239723171ef3fee98579b"
                              "94964e3bb1cb3e427262c8c068d52319");
}

static void
test_agrees_with_libsodium_at_every_length(void **state)
{
    uint8_t data[1100], ours[32], theirs[32];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 131 + i / 256);
    }
    for (size_t size = 0; size <= sizeof data; size++) {
        blake2b_256(data, size, ours);
        crypto_generichash(theirs, sizeof theirs, data, size, NULL, 0);
        assert_memory_equal(ours, theirs, sizeof ours);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answer),
        cmocka_unit_test(test_agrees_with_libsodium_at_every_length),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
