/*
 * test_campaigns.c: reading the signed mechanisms of a collector.
 */
#include "../mechanism/mechanism_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/campaigns.h"
#include "compose_bytes.h"
#include "fail_alloc.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/minisign.h"
#include "scratch.h"

static struct sotto_error err;
static char pub[512], mechanisms[512];

/* Puts NAME.sotto, signed, into the folder of mechanisms. */
static void
put(const struct compose_spec *spec, const char *name)
{
    uint8_t *data = NULL;
    size_t size = 0;
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s.sotto", mechanisms, name);
    assert_int_equal(compose_bytes(spec, &data, &size, &err), SOTTO_STATUS_OK);
    assert_int_equal(host_file_write(path, 0644, false, data, size, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_sign_file(path, in_folder("k.key"), NULL, &err),
                     SOTTO_STATUS_OK);
    free(data);
}

static int
set_up(void **state)
{
    (void)state;
    if (scratch_make() != 0) {
        return -1;
    }
    (void)snprintf(pub, sizeof pub, "%s", in_folder("k.pub"));
    (void)snprintf(mechanisms, sizeof mechanisms, "%s", in_folder("m"));
    return mkdir(mechanisms, 0700) == 0 &&
                   sotto_key_generate(in_folder("k"), NULL, &err) ==
                       SOTTO_STATUS_OK
               ? 0
               : -1;
}

static void
expect_fail(const char *path, enum sotto_status wanted, const char *says)
{
    struct campaigns *none = NULL;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(campaigns_read(path, pub, &none, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_null(none);
    assert_non_null(strstr(err.message, says));
}

static void
test_folder(void **state)
{
    struct campaigns *read = NULL;
    (void)state;
    expect_fail(mechanisms, SOTTO_STATUS_INPUT, "holds no mechanism");
    expect_fail(in_folder("none"), SOTTO_STATUS_IO, "none");
    put(&fixture_plain, "zebra");
    put(&fixture_encoded, "an-ape_2");
    assert_int_equal(campaigns_read(mechanisms, pub, &read, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(read->count, 2);
    assert_string_equal(read->campaign[0].name, "an-ape_2");
    assert_ptr_equal(campaigns_find(read, "zebra/x", 5), &read->campaign[1]);
    assert_null(campaigns_find(read, "zebra", 4));
    assert_null(campaigns_find(read, "", 0));
    assert_memory_equal(read->campaign[1].signature, "untrusted comment", 17);
    assert_ptr_equal(campaigns_hold(read), read);
    campaigns_release(read);
    campaigns_release(read);
}

static void
test_file(void **state)
{
    struct campaigns *read = NULL;
    char path[600];
    (void)state;
    put(&fixture_plain, "one");
    (void)snprintf(path, sizeof path, "%s/one.sotto", mechanisms);
    assert_int_equal(campaigns_read(path, pub, &read, &err), SOTTO_STATUS_OK);
    assert_int_equal(read->count, 1);
    assert_string_equal(read->campaign[0].name, "one");
    campaigns_release(read);
    expect_fail(pub, SOTTO_STATUS_INPUT, "names no campaign");
}

static void
test_bad(void **state)
{
    char path[600];
    (void)state;
    put(&fixture_plain, "one");
    put(&fixture_plain, "two");
    expect_fail(mechanisms, SOTTO_STATUS_INPUT, "two names");
    (void)snprintf(path, sizeof path, "%s/two.sotto.minisig", mechanisms);
    assert_int_equal(unlink(path), 0);
    expect_fail(mechanisms, SOTTO_STATUS_SIGNATURE, "two.sotto");
    path[strlen(path) - 8] = '\0';
    assert_int_equal(unlink(path), 0);
    put(&fixture_encoded, "a name");
    expect_fail(mechanisms, SOTTO_STATUS_INPUT, "names no campaign");
}

/* A collector takes no reports of a label alone: it would shuffle them. */
static void
test_label_only(void **state)
{
    struct compose_spec spec = fixture_plain;
    struct campaigns *none = NULL;
    (void)state;
    spec.label_only = true;
    put(&spec, "one");
    expect_fail(mechanisms, SOTTO_STATUS_REFUSED, "for the label only");
    assert_int_equal(
        campaigns_from("one", fixture_open(&spec), "", &none, &err),
        SOTTO_STATUS_REFUSED);
    assert_null(none);
}

/* One name, one mechanism, for as long as the collector runs. */
static void
test_next(void **state)
{
    struct campaigns *now = NULL, *next = NULL;
    (void)state;
    put(&fixture_plain, "one");
    assert_int_equal(campaigns_read(mechanisms, pub, &now, &err),
                     SOTTO_STATUS_OK);
    put(&fixture_encoded, "two");
    assert_int_equal(campaigns_read(mechanisms, pub, &next, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(campaigns_follow(now, next, &err), SOTTO_STATUS_OK);
    assert_int_equal(campaigns_follow(next, now, &err), SOTTO_STATUS_OK);
    campaigns_release(next);
    put(&fixture_plain, "two");
    put(&fixture_encoded, "one");
    assert_int_equal(campaigns_read(mechanisms, pub, &next, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(campaigns_follow(now, next, &err), SOTTO_STATUS_REFUSED);
    campaigns_release(next);
    campaigns_release(now);
}

static void
take_away(const char *name)
{
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s.sotto", mechanisms, name);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/%s.sotto.minisig", mechanisms, name);
    assert_int_equal(unlink(path), 0);
}

/* Reads what is there behind `now`, which is let go of. */
static struct campaigns *
read_next(struct campaigns *now, enum sotto_status wanted)
{
    struct campaigns *next = NULL;
    assert_int_equal(campaigns_read(mechanisms, pub, &next, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(campaigns_follow(now, next, &err), wanted);
    if (wanted != SOTTO_STATUS_OK) {
        campaigns_release(next);
        return now;
    }
    campaigns_release(now);
    return next;
}

/* A name that was taken away comes back as what it was, or not at all. */
static void
test_past(void **state)
{
    struct campaigns *now = NULL;
    uint8_t first[SOTTO_HASH_SIZE];
    (void)state;
    put(&fixture_plain, "one");
    assert_int_equal(campaigns_read(mechanisms, pub, &now, &err),
                     SOTTO_STATUS_OK);
    memcpy(first, campaigns_find_hash(now, "one", 3), sizeof first);
    take_away("one");
    put(&fixture_encoded, "two");
    now = read_next(now, SOTTO_STATUS_OK);
    now = read_next(now, SOTTO_STATUS_OK);
    assert_null(campaigns_find(now, "one", 3));
    assert_memory_equal(campaigns_find_hash(now, "one", 3), first,
                        sizeof first);
    assert_null(campaigns_find_hash(now, "one", 2));
    assert_null(campaigns_find_hash(now, "none", 4));
    assert_int_equal(now->pasts, 2);
    take_away("two");
    put(&fixture_encoded, "one");
    now = read_next(now, SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(err.message, "a name of its own"));
    put(&fixture_plain, "one");
    now = read_next(now, SOTTO_STATUS_OK);
    assert_memory_equal(campaigns_find_hash(now, "one", 3), first,
                        sizeof first);
    assert_int_equal(now->pasts, 2);
    fail_alloc_at(1);
    assert_int_equal(campaigns_follow(now, now, &err), SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(now->pasts, 2);
    campaigns_release(now);
}

/* Only channels that devices can run: a mechanism with another one, however
   well it is signed, is neither served nor used by a device, which reads
   mechanisms with the second function. `sotto sign` would not have signed it.
 */
static void
test_channel(void **state)
{
    static const char from[] = "channel\\\":\\\"laplace\\\"";
    static const char to[] = "channel\\\":\\\"perfect\\\"";
    struct sotto_mechanism *opened = NULL;
    uint8_t *data = NULL, *at;
    size_t size = 0;
    char path[600];
    (void)state;
    assert_int_equal(compose_bytes(&fixture_plain, &data, &size, &err),
                     SOTTO_STATUS_OK);
    (void)snprintf(path, sizeof path, "%s/one.sotto", mechanisms);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host_file_write(path, 0644, false, data, size, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(minisign_sign_bytes(path, data, size,
                                             in_folder("k.key"), NULL, &err),
                         SOTTO_STATUS_OK);
        enum sotto_status status =
            sotto_mechanism_read_verified(path, pub, NULL, &opened, &err);
        if (i == 0) {
            assert_int_equal(status, SOTTO_STATUS_OK);
            sotto_mechanism_free(opened);
            opened = NULL;
        } else {
            assert_int_not_equal(status, SOTTO_STATUS_OK);
            assert_null(opened);
            assert_non_null(strstr(err.message, "does not know"));
            expect_fail(path, status, "does not know");
            expect_fail(mechanisms, status, "does not know");
        }
        at = memmem(data, size, from, sizeof from - 1);
        if (at != NULL) {
            memcpy(at, to, sizeof to - 1);
        }
    }
    free(data);
}

/* What a signature's file, a pipe, gives at the first and at the second
   reading. */
struct pipe {
    const char *path;
    const char *text[2];
};

static void *
feed(void *context)
{
    const struct pipe *pipe = context;
    for (int i = 0; i < 2; i++) {
        int fd = open(pipe->path, O_WRONLY);
        size_t size = strlen(pipe->text[i]);
        if (fd < 0 || write(fd, pipe->text[i], size) != (ssize_t)size) {
            break;
        }
        (void)close(fd);
        (void)usleep(200000); /* until the reader has seen the end */
    }
    return NULL;
}

/* The signature that is served is verified, not one that was there before. */
static void
test_signature_changes(void **state)
{
    char path[600];
    uint8_t *good = NULL;
    char *text, *bad;
    size_t size = 0;
    pthread_t feeder;
    (void)state;
    put(&fixture_plain, "one");
    (void)snprintf(path, sizeof path, "%s/one.sotto.minisig", mechanisms);
    assert_int_equal(host_file_read(path, 4096, &good, &size, &err),
                     SOTTO_STATUS_OK);
    text = host_text_copy(good, size);
    bad = host_text_copy(good, size);
    assert_true(text != NULL && bad != NULL);
    bad[strcspn(bad, "\n") + 20] ^= 1;
    for (int i = 0; i < 2; i++) {
        struct pipe pipe = {path, {text, i == 0 ? bad : text}};
        struct campaigns *read = NULL;
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_int_equal(pthread_create(&feeder, NULL, feed, &pipe), 0);
        assert_int_equal(campaigns_read(mechanisms, pub, &read, &err),
                         i == 0 ? SOTTO_STATUS_SIGNATURE : SOTTO_STATUS_OK);
        assert_int_equal(pthread_join(feeder, NULL), 0);
        campaigns_release(read);
    }
    free(bad);
    free(text);
    free(good);
}

static void
test_memory(void **state)
{
    (void)state;
    put(&fixture_plain, "one");
    put(&fixture_encoded, "two");
    for (long n = 1;; n++) {
        struct campaigns *read = NULL;
        fail_alloc_at(n);
        enum sotto_status status = campaigns_read(mechanisms, pub, &read, &err);
        long count = fail_alloc_count();
        fail_alloc_at(0);
        campaigns_release(read);
        if (count < n) {
            assert_int_equal(status, SOTTO_STATUS_OK);
            break;
        }
        /* The system's own reading of a folder may fail for lack of it. */
        assert_true(status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_IO);
        assert_null(read);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folder, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_file, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_bad, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_label_only, set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_next, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_past, set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_channel, set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_signature_changes, set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
