/*
 * test_tag_salvage.c: whatever page of a run is damaged, its tags are lost and
 * no others; the directory's and the filters' cost nothing.
 */
#include "store/tag_salvage.h"

#include "fail_alloc.h"
#include "store_fixture.h"

#define TAGS 6000u
#define CAMPAIGNS 3u

static const uint8_t owner[RUN_OWNER_SIZE] = {1, 2, 3};
static const uint32_t campaigns[CAMPAIGNS] = {1, 2, 5};
static struct window_tag tag[TAGS];
static char from[600], to[600];
static uint8_t whole[1 << 20], bytes[1 << 20];
static size_t size;

/* A run of three campaigns, of very different sizes. */
static void
make_run(void)
{
    for (uint32_t i = 0; i < TAGS; i++) {
        uint64_t half[2] = {mix(i), mix(i + ID_SECOND)};
        tag[i].campaign = campaigns[i % 100 == 0 ? 1 : i % 3 == 0 ? 0 : 2];
        memcpy(tag[i].tag, half, sizeof half);
    }
    (void)snprintf(from, sizeof from, "%s", in_folder("from"));
    (void)snprintf(to, sizeof to, "%s", in_folder("to"));
    qsort(tag, TAGS, sizeof *tag, window_tags_compare);
    struct tag_merge merge = {
        .owner = owner, .tag = tag, .tags = TAGS, .path = {from, NULL}};
    MUST(tag_merge(&merge, &said));
    tag_merge_clear(&merge);
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    size = fread(whole, 1, sizeof whole, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size % RUN_PAGE == 0 && size / RUN_PAGE >= 15);
    memcpy(bytes, whole, size);
}

static void
write_bytes(size_t count)
{
    FILE *file = fopen(from, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static struct tag_salvage
salvage_of(size_t count)
{
    (void)unlink(to);
    return (struct tag_salvage){.path = from,
                                .owner = owner,
                                .campaign = campaigns,
                                .campaigns = count,
                                .to = to};
}

/* How many tags the new run has not; it has no other's, if `exact`. */
static size_t
count_missing(bool exact)
{
    struct tag_run *run = NULL;
    size_t missing = 0;
    MUST(tag_run_open(to, owner, &run, &said));
    assert_int_equal(tag_run_check(run, 0, UINT64_MAX), 0);
    for (size_t i = 0; i < TAGS; i++) {
        for (size_t j = 0; j < CAMPAIGNS; j++) {
            bool mine = campaigns[j] == tag[i].campaign;
            enum tag_run_answer answer =
                tag_run_find(run, campaigns[j], tag[i].tag);
            missing += mine && answer == TAG_RUN_NO;
            assert_true(mine || !exact || answer == TAG_RUN_NO);
        }
    }
    tag_run_close(run);
    return missing;
}

static bool
is_page_of_tags(size_t page)
{
    struct tag_run *run = NULL;
    bool found = false;
    memcpy(bytes, whole, size);
    write_bytes(size);
    MUST(tag_run_open(from, owner, &run, &said));
    for (size_t i = 0; i < CAMPAIGNS; i++) {
        found = found ||
                (page >= run->section[i].tag_page &&
                 page < run->section[i].tag_page +
                            (run->section[i].count - 1) / RUN_PAGE_TAGS + 1);
    }
    tag_run_close(run);
    return found;
}

static void
test_sound(void **state)
{
    (void)state;
    make_run();
    struct tag_salvage salvage = salvage_of(CAMPAIGNS);
    MUST(tag_salvage(&salvage, &said));
    assert_true(salvage.sound && salvage.count == TAGS && salvage.lost == 0);
    assert_int_not_equal(access(to, F_OK), 0);
    /* but for a campaign that was forgotten */
    salvage = salvage_of(2);
    MUST(tag_salvage(&salvage, &said));
    assert_true(!salvage.sound && salvage.lost == 0);
    assert_true(count_missing(true) > TAGS / 2);
}

/* One byte, anywhere, is put right. */
static void
test_byte(void **state)
{
    (void)state;
    make_run();
    for (size_t at = 0; at < size; at += 377) {
        bytes[at] ^= (uint8_t)(1 + at % 255);
        write_bytes(size);
        bytes[at] = whole[at];
        struct tag_salvage salvage = salvage_of(CAMPAIGNS);
        MUST(tag_salvage(&salvage, &said));
        assert_true(!salvage.sound && salvage.mended == 1);
        assert_int_equal(salvage.lost, 0);
        assert_int_equal(salvage.count, TAGS);
        assert_int_equal(count_missing(true), 0);
    }
}

/* A page that is gone, zeros or noise. */
static void
test_page(void **state)
{
    (void)state;
    make_run();
    for (size_t i = 0; i < 2 * size / RUN_PAGE; i++) {
        size_t page = i / 2;
        bool tags = is_page_of_tags(page);
        for (size_t j = 0; j < RUN_PAGE; j++) {
            bytes[page * RUN_PAGE + j] = i % 2 == 0 ? 0 : (uint8_t)mix(i + j);
        }
        write_bytes(size);
        struct tag_salvage salvage = salvage_of(CAMPAIGNS);
        MUST(tag_salvage(&salvage, &said));
        assert_int_equal(salvage.lost, tags);
        size_t missing = count_missing(true);
        assert_true(tags ? missing > 0 && missing <= RUN_PAGE_TAGS
                         : missing == 0);
        assert_true(!salvage.sound && salvage.count == TAGS - missing);
    }
}

/* Without a directory, and with campaigns that had no tags there: each of them
   knows all tags. */
static void
test_guess(void **state)
{
    static const uint32_t more[] = {1, 2, 3, 5, 8};
    (void)state;
    make_run();
    memset(bytes, 0, RUN_PAGE);
    write_bytes(size);
    struct tag_salvage salvage = salvage_of(CAMPAIGNS);
    salvage.campaign = more;
    salvage.campaigns = 5;
    MUST(tag_salvage(&salvage, &said));
    assert_int_equal(count_missing(false), 0);
    assert_int_equal(salvage.lost, 0);
}

/* Cut: what is before the cut is there. */
static void
test_cut(void **state)
{
    (void)state;
    make_run();
    for (size_t pages = 1; pages < size / RUN_PAGE; pages++) {
        write_bytes(pages * RUN_PAGE - pages % 2 * 100);
        struct tag_salvage salvage = salvage_of(CAMPAIGNS);
        enum sotto_status status = tag_salvage(&salvage, &said);
        if (status == SOTTO_STATUS_OK) {
            assert_int_equal(count_missing(true), TAGS - salvage.count);
            assert_true(salvage.lost > 0 && !salvage.sound);
        } else {
            assert_int_equal(status, SOTTO_STATUS_FORMAT);
        }
    }
}

static void
test_others(void **state)
{
    static const uint8_t other[RUN_OWNER_SIZE] = {3, 2, 1};
    (void)state;
    make_run();
    struct tag_salvage salvage = salvage_of(CAMPAIGNS);
    salvage.owner = other;
    assert_int_equal(tag_salvage(&salvage, &said), SOTTO_STATUS_FORMAT);
    salvage = salvage_of(CAMPAIGNS);
    salvage.path = in_folder("none");
    assert_int_equal(tag_salvage(&salvage, &said), SOTTO_STATUS_FORMAT);
}

static void
test_memory(void **state)
{
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    long n = 0;
    (void)state;
    make_run();
    memset(bytes, 0, RUN_PAGE);
    write_bytes(size);
    while (status != SOTTO_STATUS_OK) {
        struct tag_salvage salvage = salvage_of(CAMPAIGNS);
        fail_alloc_at(++n);
        status = tag_salvage(&salvage, &said);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    }
    assert_true(n > 5);
    assert_int_equal(count_missing(true), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),  cmocka_unit_test(test_byte),
        cmocka_unit_test(test_page),   cmocka_unit_test(test_guess),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_others),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
