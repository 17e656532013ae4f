/*
 * test_tag_run.c: runs of tags: what was merged is found, and nothing else is;
 * the same tags make the same bytes, whatever came first; and a damaged page is
 * told of, and costs itself.
 */
#include "bad_sector.h"
#include "fail_alloc.h"
#include "store/tag_run.h"
#include "store_fixture.h"

#include <math.h>
#include <pthread.h>

#define TAGS 60000u
#define SAME 3000u

static const uint8_t owner[RUN_OWNER_SIZE] = {1, 2, 3};
static struct window_tag tag[TAGS];

static struct window_tag
tag_of(uint32_t campaign, uint64_t number)
{
    struct window_tag one = {campaign, {0}};
    uint64_t half[2] = {mix(number), mix(number + ID_SECOND)};
    memcpy(one.tag, half, sizeof half);
    return one;
}

static struct tag_run *
open_run(const char *name)
{
    struct tag_run *run = NULL;
    MUST(tag_run_open(in_folder(name), owner, &run, &said));
    return run;
}

/* Reads the filters into memory. */
static void
load(struct tag_run *run)
{
    static const atomic_bool stop;
    assert_true(tag_filter_prepare(run));
    tag_filter_load(run, &stop);
    assert_true(tag_filter_is_whole(run));
}

static bool
has(const struct tag_run *run, const struct window_tag *one)
{
    enum tag_run_answer answer = tag_run_find(run, one->campaign, one->tag);
    assert_true(answer == TAG_RUN_YES || answer == TAG_RUN_NO);
    return answer == TAG_RUN_YES;
}

/* Merges tags `first` to `last` - 1 of `tag`, and up to two runs, into one. */
static void
merge(size_t first, size_t last, const char *a, const char *b, const char *to)
{
    char name[600];
    struct tag_run *run[2] = {a != NULL ? open_run(a) : NULL,
                              b != NULL ? open_run(b) : NULL};
    (void)snprintf(name, sizeof name, "%s", in_folder(to));
    qsort(tag + first, last - first, sizeof *tag, window_tags_compare);
    struct tag_merge all = {.owner = owner,
                            .run = {run[0], run[1]},
                            .tag = tag + first,
                            .tags = last - first,
                            .path = {name, NULL}};
    MUST(tag_merge(&all, &said));
    assert_int_equal(all.lost, 0);
    tag_merge_clear(&all);
    tag_run_close(run[0]);
    tag_run_close(run[1]);
}

/* Campaigns 1 and 3, in one run or in several. */
static void
test_found(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TAGS; i++) {
        tag[i] = tag_of(1 + i % 2 * 2, i);
    }
    merge(0, 1, NULL, NULL, "one");
    merge(1, 1000, "one", NULL, "few");
    merge(1000, TAGS, NULL, NULL, "many");
    merge(0, 0, "few", "many", "all");
    merge(0, 0, NULL, NULL, "none");
    struct tag_run *run = open_run("all"), *none = open_run("none");
    assert_int_equal(tag_run_count(run), TAGS);
    assert_int_equal(tag_run_check(run, 0, UINT64_MAX), 0);
    assert_int_equal(tag_run_count(none), 0);
    for (int filtered = 0; filtered < 2; filtered++) {
        for (uint32_t i = 0; i < 3 * TAGS; i++) {
            uint32_t campaign = 1 + i % TAGS % 2 * 2;
            struct window_tag mine = tag_of(campaign, i);
            struct window_tag other = tag_of(4 - campaign, i);
            struct window_tag no = tag_of(2, i);
            assert_int_equal(has(run, &mine), i < TAGS);
            assert_false(has(run, &other));
            assert_false(has(run, &no));
            assert_false(has(none, &mine));
        }
        load(run);
        load(none);
    }
    /* 10 bytes, 12 bits of a filter, and a little */
    assert_true(tag_run_pages(run) * RUN_PAGE < TAGS * 12 + 8 * RUN_PAGE);
    tag_run_close(run);
    tag_run_close(none);
}

/* Tags that begin alike are found, too, if less quickly. */
static void
test_crowded(void **state)
{
    static const uint8_t begins[3] = {0x00, 0x7f, 0xff};
    (void)state;
    for (uint32_t i = 0; i < SAME; i++) {
        tag[i] = tag_of(2, i);
        memset(tag[i].tag, begins[i % 3], 8);
        tag[i].tag[8] = (uint8_t)(i >> 8);
        tag[i].tag[9] = (uint8_t)i;
    }
    merge(0, SAME, NULL, NULL, "same");
    struct tag_run *run = open_run("same");
    for (uint32_t i = 0; i < SAME; i++) {
        struct window_tag near = tag[i];
        assert_true(has(run, &tag[i]));
        near.tag[8] ^= 0x80;
        assert_false(has(run, &near));
    }
    tag_run_close(run);
}

/* How often the filter lets something through: below 1.5%. */
static void
test_filter(void **state)
{
    size_t through = 0;
    (void)state;
    for (uint32_t i = 0; i < TAGS; i++) {
        tag[i] = tag_of(1, i);
    }
    merge(0, TAGS, NULL, NULL, "f");
    struct tag_run *run = open_run("f");
    load(run);
    for (uint32_t i = 0; i < TAGS; i++) {
        assert_true(tag_filter_may_have(run, 1, tag[i].tag));
    }
    for (uint32_t i = TAGS; i < 3 * TAGS; i++) {
        struct window_tag no = tag_of(1, i);
        through += tag_filter_may_have(run, 1, no.tag);
    }
    print_message("%.2f%% of new tags are looked for in vain\n",
                  100.0 * (double)through / (2 * TAGS));
    assert_true(through < 2 * TAGS * 15 / 1000);
    tag_run_close(run);
}

/* ---- What runs tell ------------------------------------------------------ */

static uint64_t
hash_file(const char *name)
{
    uint64_t sum = 0;
    int byte = 0;
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    while ((byte = getc(file)) != EOF) {
        sum = mix(sum ^ (uint64_t)byte);
    }
    (void)fclose(file);
    return sum;
}

/* Whatever came first, and in whatever windows: the same tags make the same
   bytes. */
static void
test_no_history(void **state)
{
    static const size_t window[] = {5000, 250, 1000, 731, 4999};
    uint64_t first = 0;
    (void)state;
    for (size_t trial = 0; trial < 5; trial++) {
        char from[16], to[16];
        for (uint32_t i = 0; i < 5000; i++) {
            uint32_t j = trial % 2 == 0 ? i : 4999 - i;
            tag[i] = tag_of(1 + j % 3, j);
        }
        (void)snprintf(to, sizeof to, "h%zu", trial);
        merge(0, 0, NULL, NULL, to);
        for (size_t i = 0; i < 5000; i += window[trial]) {
            size_t end = i + window[trial] < 5000 ? i + window[trial] : 5000;
            (void)snprintf(from, sizeof from, "g%zu", trial);
            assert_int_equal(rename(in_folder(to), in_folder(from)), 0);
            merge(i, end, from, NULL, to);
        }
        first = trial == 0 ? hash_file(to) : first;
        assert_true(hash_file(to) == first);
    }
}

/* By a coin: each half has about half of every window, and both have all. */
static void
test_coin(void **state)
{
    char name[2][600];
    double squares = 0;
    (void)state;
    for (uint32_t i = 0; i < TAGS; i++) {
        tag[i] = tag_of(1, i);
    }
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(name[i], sizeof name[i], "%s%zu", in_folder("coin"), i);
    }
    qsort(tag, TAGS, sizeof *tag, window_tags_compare);
    struct tag_merge all = {
        .owner = owner, .tag = tag, .tags = TAGS, .path = {name[0], name[1]}};
    MUST(tag_merge(&all, &said));
    assert_int_equal(all.count[0] + all.count[1], TAGS);
    tag_merge_clear(&all);
    struct tag_run *run[2] = {open_run("coin0"), open_run("coin1")};
    for (uint32_t window = 0; window < 60; window++) {
        double here = 0;
        for (uint32_t i = 0; i < TAGS / 60; i++) {
            struct window_tag one = tag_of(1, window * (TAGS / 60) + i);
            bool first = has(run[0], &one);
            assert_true(first != has(run[1], &one));
            here += first;
        }
        double z = (here - TAGS / 120.0) / sqrt(TAGS / 240.0);
        assert_true(fabs(z) < 5);
        squares += z * z;
    }
    /* chi-square of 60: below 20 or above 130 with probability below 10^-6 */
    assert_true(squares > 20 && squares < 130);
    tag_run_close(run[0]);
    tag_run_close(run[1]);
}

/* ---- Wrong --------------------------------------------------------------- */

static void
flip(const char *name, long at)
{
    FILE *file = fopen(in_folder(name), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    int byte = getc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_true(putc(byte ^ 0x10, file) != EOF);
    assert_int_equal(fclose(file), 0);
}

/* Every page's sum fits, or it is seen: at once where it is the directory. */
static void
test_every_page(void **state)
{
    struct tag_run *run = NULL;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        tag[i] = tag_of(1 + i % 2, i);
    }
    merge(0, 5000, NULL, NULL, "p");
    run = open_run("p");
    long pages = (long)tag_run_pages(run);
    tag_run_close(run);
    for (long at = 0; at < pages * (long)RUN_PAGE; at += 251) {
        flip("p", at);
        enum sotto_status status =
            tag_run_open(in_folder("p"), owner, &run, &said);
        assert_int_equal(status, at < (long)RUN_PAGE ? SOTTO_STATUS_FORMAT
                                                     : SOTTO_STATUS_OK);
        if (status == SOTTO_STATUS_OK) {
            assert_int_equal(tag_run_check(run, 0, UINT64_MAX), 1);
            assert_int_equal(tag_run_check(run, (uint64_t)at / RUN_PAGE, 1), 1);
            for (uint32_t i = 0; i < 10000; i += 7) { /* and nothing worse */
                struct window_tag one = tag_of(1 + i % 2, i);
                (void)tag_run_find(run, one.campaign, one.tag);
            }
            tag_run_close(run);
        }
        flip("p", at);
    }
}

/* A damaged page of tags is left out of what is merged, and counted. */
static void
test_page_is_lost(void **state)
{
    char name[600];
    size_t found = 0;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        tag[i] = tag_of(1, i);
    }
    merge(0, 5000, NULL, NULL, "l");
    struct tag_run *run = open_run("l");
    flip("l", (long)((run->section[0].tag_page + 3) * RUN_PAGE + 100));
    (void)snprintf(name, sizeof name, "%s", in_folder("l2"));
    struct tag_merge all = {
        .owner = owner, .run = {run, NULL}, .path = {name, NULL}};
    MUST(tag_merge(&all, &said));
    assert_int_equal(all.lost, 1);
    tag_merge_clear(&all);
    assert_int_equal(all.count[0], 5000 - RUN_PAGE_TAGS);
    tag_run_close(run);
    run = open_run("l2");
    assert_int_equal(tag_run_check(run, 0, UINT64_MAX), 0);
    for (uint32_t i = 0; i < 5000; i++) {
        struct window_tag one = tag_of(1, i);
        found += has(run, &one);
    }
    assert_int_equal(found, 5000 - RUN_PAGE_TAGS);
    tag_run_close(run);
}

/* ---- Bad sectors --------------------------------------------------------- */

#define LARGE 400000u

static struct window_tag large[LARGE];

static void
merge_large(size_t first, size_t last, const char *to)
{
    char name[600];
    (void)snprintf(name, sizeof name, "%s", in_folder(to));
    for (size_t i = first; i < last; i++) {
        large[i] = tag_of((uint32_t)(1 + i % 5 / 4),
                          i); /* four fifths are campaign 1's */
    }
    window_tags_sort(large + first, last - first);
    struct tag_merge all = {.owner = owner,
                            .tag = large + first,
                            .tags = last - first,
                            .path = {name, NULL}};
    MUST(tag_merge(&all, &said));
    tag_merge_clear(&all);
}

/* Page `page` becomes one that is damaged, or one that the disk does not
   give. */
static void
spoil(const char *name, uint64_t page, bool damaged)
{
    if (damaged) {
        flip(name, (long)(page * RUN_PAGE + 100));
    } else {
        bad_sector_reads(in_folder(name), (off_t)(page * RUN_PAGE), RUN_PAGE);
    }
}

/* Where pages of the filter are wrong, tags are looked for in pages. */
static void
test_filter_is_spoilt(void **state)
{
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        size_t vain = 0;
        for (uint32_t i = 0; i < TAGS; i++) {
            tag[i] = tag_of(1, i);
        }
        merge(0, TAGS, NULL, NULL, "s");
        struct tag_run *run = open_run("s");
        for (uint64_t p = 1; p < 4; p++) {
            spoil("s", run->section[0].filter_page + p, damaged);
        }
        load(run);
        for (uint32_t i = 0; i < 2 * TAGS; i++) {
            struct window_tag one = tag_of(1, i);
            assert_int_equal(has(run, &one), i < TAGS);
            vain += i >= TAGS && tag_filter_may_have(run, 1, one.tag);
        }
        assert_true(vain > TAGS / 10 && vain < TAGS / 5); /* 3 of 23 pages */
        tag_run_close(run);
        bad_sector_none();
    }
}

/* Where pages of tags are wrong, those in all others are found, and of those
   that would be there nobody says that they are not. */
static void
test_tags_are_spoilt(void **state)
{
    static const uint64_t pages[] = {3, 4, 5, 40, 80, 0, 146};
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        size_t lost = 0, doubtful = 0;
        for (uint32_t i = 0; i < TAGS; i++) {
            tag[i] = tag_of(1, i);
        }
        merge(0, TAGS, NULL, NULL, "t");
        struct tag_run *run = open_run("t");
        for (size_t p = 0; p < sizeof pages / sizeof *pages; p++) {
            spoil("t", run->section[0].tag_page + pages[p], damaged);
        }
        for (uint32_t i = 0; i < 2 * TAGS; i++) {
            struct window_tag one = tag_of(1, i);
            enum tag_run_answer answer = tag_run_find(run, 1, one.tag);
            assert_true(answer != TAG_RUN_FAILED);
            assert_true(i < TAGS ? answer != TAG_RUN_NO
                                 : answer != TAG_RUN_YES);
            lost += i < TAGS && answer == TAG_RUN_DAMAGED;
            doubtful += i >= TAGS && answer == TAG_RUN_DAMAGED;
        }
        /* the last one is page 146 */
        assert_int_equal(lost, 6 * RUN_PAGE_TAGS + TAGS % RUN_PAGE_TAGS);
        assert_true(doubtful > 6 * RUN_PAGE_TAGS &&
                    doubtful < 9 * RUN_PAGE_TAGS);
        assert_int_equal(tag_run_check(run, 0, UINT64_MAX), 7);
        tag_run_close(run);
        bad_sector_none();
    }
}

/* A sector of a source that cannot be read costs its tags, and no more; one
   that cannot be written costs nothing. */
static void
test_sector_is_lost(void **state)
{
    char name[600];
    struct tag_merge all = {.owner = owner, .path = {name, NULL}};
    (void)state;
    merge_large(0, LARGE, "n");
    (void)snprintf(name, sizeof name, "%s", in_folder("n2"));
    struct tag_run *run = open_run("n");
    all.run[0] = run;
    bad_sector_reads(in_folder("n"),
                     (off_t)((run->section[0].tag_page + 70) * RUN_PAGE) + 512,
                     512);
    bad_sector_writes();
    assert_int_equal(tag_merge(&all, &said), SOTTO_STATUS_IO);
    assert_int_equal(access(name, F_OK), -1);
    tag_merge_clear(&all);
    bad_sector_none();
    bad_sector_reads(in_folder("n"),
                     (off_t)((run->section[0].tag_page + 70) * RUN_PAGE) + 512,
                     512);
    all.lost = 0;
    MUST(tag_merge(&all, &said));
    tag_merge_clear(&all);
    bad_sector_none();
    assert_int_equal(all.lost, 1);
    assert_int_equal(all.count[0], LARGE - RUN_PAGE_TAGS);
    struct tag_run *less = open_run("n2");
    assert_int_equal(tag_run_check(less, 0, UINT64_MAX), 0);
    size_t found = 0;
    for (uint32_t i = 0; i < LARGE; i += 3) {
        found += has(less, &large[i]);
        assert_true(has(run, &large[i]));
    }
    assert_true(found + RUN_PAGE_TAGS / 3 + 1 >= (LARGE + 2) / 3);
    tag_run_close(run);
    tag_run_close(less);
}

/* ---- One filter follows another ------------------------------------------ */

struct following {
    struct tag_merge merge;
    atomic_bool done;
};

static void *
merge_beside(void *context)
{
    struct following *following = context;
    MUST(tag_merge(&following->merge, &said));
    atomic_store(&following->done, true);
    return NULL;
}

/* While two runs are merged, what they have is found and what they have not is
   not; their filters shrink as that of the third grows, and it is as if it had
   been read. */
static void
test_followed(void **state)
{
    char name[600];
    struct following following = {
        .merge = {.owner = owner, .path = {name, NULL}, .moves = true}};
    struct tag_run *run[2];
    pthread_t thread;
    (void)state;
    (void)snprintf(name, sizeof name, "%s", in_folder("f3"));
    merge_large(0, LARGE / 4, "f1");
    merge_large(LARGE / 4, LARGE, "f2");
    for (size_t i = 0; i < 2; i++) {
        run[i] = open_run(i == 0 ? "f1" : "f2");
        load(run[i]);
        following.merge.run[i] = run[i];
        run[i]->next = &following.merge.filter[0];
    }
    assert_int_equal(pthread_create(&thread, NULL, merge_beside, &following),
                     0);
    uint32_t asked = 0, vain = 0;
    bool done = false;
    for (uint32_t i = 0; !done || asked < 100000; i = (i + 7919) % LARGE) {
        uint32_t campaign = 1 + i % 5 / 4;
        struct window_tag one = tag_of(campaign, i);
        struct window_tag no = tag_of(campaign, i + LARGE);
        tag_run_prefetch(run[0], campaign, no.tag);
        assert_int_equal(has(run[0], &one), i < LARGE / 4);
        assert_int_equal(has(run[1], &one), i >= LARGE / 4);
        assert_false(has(run[0], &no));
        vain += tag_filter_may_have(run[1], campaign, no.tag);
        done = atomic_load(&following.done);
        asked++;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(vain < asked / 10);
    struct tag_filter *filter = following.merge.filter[0];
    for (size_t i = 0; i < 2; i++) {
        const struct tag_filter *old = run[i]->filter;
        assert_true(old->from > old->first + (old->end - old->first) / 3);
        assert_false(tag_filter_is_whole(run[i]));
        run[i]->next = NULL;
        assert_true(has(run[1], &large[LARGE - 1]) ||
                    has(run[0], &large[LARGE - 1]));
        load(run[i]);
        tag_run_close(run[i]);
    }
    struct tag_run *third = open_run("f3");
    load(third);
    assert_int_equal(third->filter->end, filter->end);
    assert_memory_equal(third->filter->page + filter->first * RUN_PAGE,
                        filter->page + filter->first * RUN_PAGE,
                        (filter->end - filter->first) * RUN_PAGE);
    tag_run_close(third);
    tag_merge_clear(&following.merge);
}

#define STOPS 40u

struct stopping {
    struct tag_run *run[2];
    uint32_t stops;
    uint32_t between; /* stops at which part of the new filter is there */
};

/* Gives tags that stand at equal distances, and looks at what is known when
   the merge comes to each. */
static bool
stop_and_ask(void *context, uint8_t to[TAG_SIZE])
{
    struct stopping *stopping = context;
    const struct tag_filter *old = stopping->run[1]->filter;
    for (uint32_t i = stopping->stops; i < LARGE; i += 97) {
        struct window_tag one = tag_of(1 + i % 5 / 4, i);
        const struct tag_run *run = stopping->run[i >= LARGE / 4];
        assert_int_equal(tag_run_find(run, one.campaign, one.tag), TAG_RUN_YES);
    }
    stopping->between += old->from > old->first;
    memset(to, 0, TAG_SIZE);
    to[0] = (uint8_t)(256 / STOPS * stopping->stops++);
    return true;
}

/* At any moment of a merge all is known. */
static void
test_known_meanwhile(void **state)
{
    char name[600];
    struct stopping stopping = {.stops = 0};
    const struct run_section section = {.campaign = 1, .count = STOPS};
    struct tag_merge all = {.owner = owner,
                            .path = {name, NULL},
                            .streamed = &section,
                            .streams = 1,
                            .next = stop_and_ask,
                            .context = &stopping,
                            .moves = true};
    (void)state;
    (void)snprintf(name, sizeof name, "%s", in_folder("k3"));
    merge_large(0, LARGE / 4, "k1");
    merge_large(LARGE / 4, LARGE, "k2");
    for (size_t i = 0; i < 2; i++) {
        stopping.run[i] = open_run(i == 0 ? "k1" : "k2");
        load(stopping.run[i]);
        all.run[i] = stopping.run[i];
        stopping.run[i]->next = &all.filter[0];
    }
    MUST(tag_merge(&all, &said));
    assert_int_equal(stopping.stops, STOPS);
    assert_true(stopping.between > STOPS / 4);
    tag_merge_clear(&all);
    tag_run_close(stopping.run[0]);
    tag_run_close(stopping.run[1]);
}

/* About 5,000 tags of each campaign by lot, or all it has. */
static void
test_drawn(void **state)
{
    char name[2][600];
    size_t few = 0;
    (void)state;
    for (uint32_t i = 0; i < TAGS; i++) {
        tag[i] = tag_of(i % 20 == 0 ? 2 : 1, i);
    }
    window_tags_sort(tag, TAGS);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(name[i], sizeof name[i], "%s%zu", in_folder("drawn"), i);
    }
    struct tag_merge all = {.owner = owner,
                            .tag = tag,
                            .tags = TAGS,
                            .drawn = 5000,
                            .path = {name[0], name[1]}};
    MUST(tag_merge(&all, &said));
    tag_merge_clear(&all);
    assert_int_equal(all.count[0] + all.count[1], TAGS);
    /* 3,000 of campaign 2; six deviations of 68 of campaign 1 */
    assert_true(all.count[0] > 8000 - 410 && all.count[0] < 8000 + 410);
    struct tag_run *run = open_run("drawn0"), *rest = open_run("drawn1");
    load(run);
    load(rest);
    for (uint32_t i = 0; i < TAGS; i++) {
        assert_true(has(run, &tag[i]) != has(rest, &tag[i]));
        few += tag[i].campaign == 2 && has(run, &tag[i]);
    }
    assert_int_equal(few, TAGS / 20);
    tag_run_close(run);
    tag_run_close(rest);
}

static void
test_not_ours(void **state)
{
    static const uint8_t other[RUN_OWNER_SIZE] = {9};
    struct tag_run *run = NULL;
    (void)state;
    tag[0] = tag_of(1, 1);
    merge(0, 1, NULL, NULL, "o");
    assert_int_equal(tag_run_open(in_folder("o"), other, &run, &said),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "another store"));
    assert_int_equal(truncate(in_folder("o"), 5000), 0);
    assert_int_equal(tag_run_open(in_folder("o"), owner, &run, &said),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "was cut"));
    assert_int_equal(truncate(in_folder("o"), 10), 0);
    assert_int_equal(tag_run_open(in_folder("o"), owner, &run, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(tag_run_open(in_folder("gone"), owner, &run, &said),
                     SOTTO_STATUS_FORMAT);
    assert_null(run);
    tag_run_close(NULL);
}

/* One campaign is left out. */
static void
test_without(void **state)
{
    char name[600];
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        tag[i] = tag_of(1 + i % 3, i);
    }
    merge(0, 3000, NULL, NULL, "w");
    struct tag_run *run = open_run("w");
    (void)snprintf(name, sizeof name, "%s", in_folder("w2"));
    struct tag_merge all = {
        .owner = owner, .run = {run, NULL}, .without = 2, .path = {name, NULL}};
    MUST(tag_merge(&all, &said));
    tag_merge_clear(&all);
    tag_run_close(run);
    run = open_run("w2");
    assert_int_equal(tag_run_count(run), 2000);
    for (uint32_t i = 0; i < 3000; i++) {
        struct window_tag one = tag_of(1 + i % 3, i);
        assert_int_equal(has(run, &one), i % 3 != 1);
    }
    tag_run_close(run);
}

static void
test_no_memory(void **state)
{
    char name[600];
    struct tag_run *run = NULL;
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    (void)snprintf(name, sizeof name, "%s", in_folder("m"));
    tag[0] = tag_of(1, 1);
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        struct tag_merge all = {
            .owner = owner, .tag = tag, .tags = 1, .path = {name, NULL}};
        fail_alloc_at(n);
        status = tag_merge(&all, &said);
        tag_merge_clear(&all);
        if (status == SOTTO_STATUS_OK) {
            status = tag_run_open(name, owner, &run, &said);
        } else {
            assert_int_equal(access(name, F_OK), -1);
        }
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(n < 50);
    }
    tag_run_close(run);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_no_history),
        cmocka_unit_test(test_coin),
        cmocka_unit_test(test_every_page),
        cmocka_unit_test(test_page_is_lost),
        cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_without),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_filter_is_spoilt),
        cmocka_unit_test(test_tags_are_spoilt),
        cmocka_unit_test(test_sector_is_lost),
        cmocka_unit_test(test_followed),
        cmocka_unit_test(test_drawn),
        cmocka_unit_test(test_known_meanwhile),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
