/*
 * tag_run.c: opening runs of tags, and finding a tag in one.
 *
 * Tags are keyed hashes, so where one would be is told by its first bits:
 * almost every search reads two pages or three, however many there are. Almost
 * all that is new is known to be by the filter, and reads none.
 */
#include "store/tag_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"

#define GUESSES 8 /* by a tag's bits; then the range is halved */
#define AROUND 8  /* pages looked at in place of one that is damaged */

/* ---- Bytes --------------------------------------------------------------- */

static uint64_t
little_endian(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | from[i - 1];
    }
    return value;
}

/* floor(a b / 2^64) */
static uint64_t
high_product(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32;
    uint64_t b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (middle & UINT32_MAX);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

uint32_t
tag_run_page_sum(uint64_t number, const uint8_t *page)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
    return host_checksum(host_checksum(0, bytes, sizeof bytes), page, RUN_USED);
}

bool
tag_run_page_sound(uint64_t number, const uint8_t *page)
{
    return tag_run_page_sum(number, page) ==
           host_checksum_read(page + RUN_USED);
}

bool
tag_run_read(int fd, uint8_t *to, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t got = pread(fd, to, size, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            errno = got == 0 ? EIO : errno; /* it was cut */
            return false;
        }
        to += got;
        size -= (size_t)got;
        at += (uint64_t)got;
    }
    return true;
}

/* ---- Opening ------------------------------------------------------------- */

static enum sotto_status
fail_file(const char *path, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                     host_shown(path), strerror(errno));
}

static enum sotto_status
fail_damaged(const char *path, const char *why, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "'%s', which tells known reports from new ones, %s",
                     host_shown(path), why);
}

/* Whether a section lies where the file has pages, and fits its own numbers. */
static bool
section_is_right(const struct tag_run *run, const struct run_section *section,
                 uint64_t directory)
{
    uint64_t tags =
        section->count / RUN_PAGE_TAGS + (section->count % RUN_PAGE_TAGS != 0);
    uint64_t filters = section->filter_blocks / RUN_PAGE_BLOCKS +
                       (section->filter_blocks % RUN_PAGE_BLOCKS != 0);
    return section->campaign != 0 && section->count > 0 &&
           section->count <= run->count && filters > 0 &&
           section->filter_blocks <= UINT32_MAX && filters < run->pages &&
           tags < run->pages && section->filter_page >= directory &&
           section->filter_page <= run->pages - filters &&
           section->tag_page >= directory &&
           section->tag_page <= run->pages - tags;
}

static bool
take_rows(struct tag_run *run, const uint8_t *page, uint64_t directory,
          size_t first)
{
    for (size_t i = first; i < run->sections && i < first + RUN_PAGE_ROWS;
         i++) {
        const uint8_t *row = page + RUN_HEAD + (i - first) * RUN_ROW;
        run->section[i] = (struct run_section){
            (uint32_t)little_endian(row, 4), little_endian(row + 8, 8),
            little_endian(row + 16, 8), little_endian(row + 24, 8),
            little_endian(row + 32, 8)};
        if (!section_is_right(run, &run->section[i], directory) ||
            (i > 0 &&
             run->section[i - 1].campaign >= run->section[i].campaign)) {
            return false;
        }
    }
    return true;
}

static enum sotto_status
read_directory(struct tag_run *run, const char *path, const uint8_t *owner,
               struct sotto_error *err)
{
    uint8_t page[RUN_PAGE];
    struct stat info;
    if (fstat(run->fd, &info) != 0 ||
        (info.st_size >= (off_t)RUN_PAGE &&
         !tag_run_read(run->fd, page, sizeof page, 0))) {
        return fail_file(path, err);
    }
    if (info.st_size < (off_t)RUN_PAGE || !tag_run_page_sound(0, page) ||
        memcmp(page, RUN_MAGIC, RUN_MAGIC_SIZE) != 0 ||
        little_endian(page + 8, 4) != RUN_VERSION) {
        return fail_damaged(path, "is damaged at its beginning", err);
    }
    if (memcmp(page + 32, owner, RUN_OWNER_SIZE) != 0) {
        return fail_damaged(path, "belongs to another store", err);
    }
    run->sections = (size_t)little_endian(page + 12, 4);
    run->count = little_endian(page + 16, 8);
    run->pages = little_endian(page + 24, 8);
    uint64_t directory =
        run->sections == 0
            ? 1
            : (run->sections + RUN_PAGE_ROWS - 1) / RUN_PAGE_ROWS;
    if (run->pages != (uint64_t)info.st_size / RUN_PAGE ||
        info.st_size % (off_t)RUN_PAGE != 0 || directory > run->pages) {
        return fail_damaged(path, "was cut", err);
    }
    run->section = calloc(run->sections + 1, sizeof *run->section);
    if (run->section == NULL) {
        return host_fail_memory(err);
    }
    for (uint64_t i = 0; i < directory; i++) {
        if (!tag_run_read(run->fd, page, sizeof page, i * RUN_PAGE)) {
            return fail_file(path, err);
        }
        if (!tag_run_page_sound(i, page) ||
            !take_rows(run, page, directory, (size_t)i * RUN_PAGE_ROWS)) {
            return fail_damaged(path, "is damaged at its beginning", err);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
tag_run_open(const char *path, const uint8_t *owner, struct tag_run **ret_run,
             struct sotto_error *err)
{
    struct tag_run *run = calloc(1, sizeof *run);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (run == NULL) {
        return host_fail_memory(err);
    }
    atomic_init(&run->holders, 1);
    run->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (run->fd < 0) {
        status = errno == ENOENT ? fail_damaged(path, "is not there", err)
                                 : fail_file(path, err);
        goto done;
    }
    status = read_directory(run, path, owner, err);
done:
    if (status == SOTTO_STATUS_OK) {
        *ret_run = run;
    } else {
        tag_run_close(run);
    }
    return status;
}

struct tag_run *
tag_run_hold(struct tag_run *run)
{
    atomic_fetch_add(&run->holders, 1);
    return run;
}

void
tag_run_close(struct tag_run *run)
{
    if (run == NULL || atomic_fetch_sub(&run->holders, 1) > 1) {
        return;
    }
    if (run->fd >= 0) {
        (void)close(run->fd);
    }
    tag_filter_free(run->filter);
    free(run->section);
    free(run);
}

uint64_t
tag_run_count(const struct tag_run *run)
{
    return run->count;
}

uint64_t
tag_run_pages(const struct tag_run *run)
{
    return run->pages;
}

/* ---- Finding ------------------------------------------------------------- */

const struct run_section *
tag_run_section(const struct run_section *section, size_t sections,
                uint32_t campaign)
{
    size_t low = 0, high = sections;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (section[middle].campaign < campaign) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < sections && section[low].campaign == campaign ? &section[low]
                                                               : NULL;
}

/* Whether the tag is among `count` in order. */
static bool
page_has(const uint8_t *page, size_t count, const uint8_t *tag)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(page + middle * RUN_TAG_SIZE, tag, RUN_TAG_SIZE);
        if (order == 0) {
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* Pages of a section that may have a tag: `low` to `high` - 1, and the next one
   to be looked at. */
struct search {
    uint64_t low, high, next;
    int guesses;
};

/* The tag is before this page, or behind it: `distance` tags or so. */
static void
narrow_search(struct search *search, bool before, uint64_t distance)
{
    uint64_t pages = distance / RUN_PAGE_TAGS + 1;
    if (before) {
        search->high = search->next;
        search->next = search->next - search->low < pages
                           ? search->low
                           : search->next - pages;
    } else {
        search->low = search->next + 1;
        search->next = search->high - search->low < pages
                           ? (search->high > 0 ? search->high - 1 : 0)
                           : search->next + pages;
    }
    if (search->guesses++ >= GUESSES) {
        search->next = search->low + (search->high - search->low) / 2;
    }
}

/* A page of a section, in memory. */
struct looking {
    const struct tag_run *run;
    const struct run_section *section;
    const uint8_t *tag;
    uint8_t page[RUN_PAGE];
    size_t count; /* of tags in it */
    bool failed;  /* the file cannot be read, for no fault of the page */
};

/* Reads a page; false: it is damaged or cannot be read. */
static bool
look_at_page(struct looking *looking, uint64_t number)
{
    uint64_t left = looking->section->count - number * RUN_PAGE_TAGS;
    uint64_t place = looking->section->tag_page + number;
    looking->count = left < RUN_PAGE_TAGS ? (size_t)left : RUN_PAGE_TAGS;
    bool read = tag_run_read(looking->run->fd, looking->page,
                             sizeof looking->page, place * RUN_PAGE);
    looking->failed = looking->failed || (!read && errno != EIO);
    return read && tag_run_page_sound(place, looking->page);
}

/* Whether the tag belongs before the page (-1), into it (0) or behind it. */
static int
compare_page(const struct looking *looking)
{
    const uint8_t *last = looking->page + (looking->count - 1) * RUN_TAG_SIZE;
    return memcmp(looking->tag, looking->page, RUN_TAG_SIZE) < 0 ? -1
           : memcmp(looking->tag, last, RUN_TAG_SIZE) > 0        ? 1
                                                                 : 0;
}

/*
 * The next page is damaged: looks at its neighbours, so that a tag is found
 * wherever it is in a page that is not. False: it would be between those that
 * are; or too many are damaged side by side.
 */
static bool
go_around(struct looking *looking, struct search *search)
{
    uint64_t at = search->next;
    for (uint64_t i = 1; i <= AROUND && at - search->low >= i; i++) {
        if (look_at_page(looking, at - i)) {
            if (compare_page(looking) <= 0) {
                search->high = at - i + 1;
                search->next = at - i;
                return true;
            }
            break;
        }
    }
    for (uint64_t i = 1; i <= AROUND && search->high - at > i; i++) {
        if (look_at_page(looking, at + i)) {
            search->low = at + i;
            search->next = at + i;
            return compare_page(looking) >= 0;
        }
    }
    return false;
}

static enum tag_run_answer
find_tag(const struct tag_run *run, const struct run_section *section,
         const uint8_t *tag)
{
    struct looking looking = {.run = run, .section = section, .tag = tag};
    uint64_t key = tag_run_number(tag);
    uint64_t pages = (section->count + RUN_PAGE_TAGS - 1) / RUN_PAGE_TAGS;
    struct search search = {
        0, pages, high_product(key, section->count) / RUN_PAGE_TAGS, 0};
    while (search.low < search.high) {
        if (!look_at_page(&looking, search.next)) {
            if (!go_around(&looking, &search)) {
                return looking.failed ? TAG_RUN_FAILED : TAG_RUN_DAMAGED;
            }
            continue;
        }
        int order = compare_page(&looking);
        if (order == 0) {
            return page_has(looking.page, looking.count, tag) ? TAG_RUN_YES
                                                              : TAG_RUN_NO;
        }
        const uint8_t *last = looking.page + (looking.count - 1) * RUN_TAG_SIZE;
        uint64_t there = tag_run_number(order < 0 ? looking.page : last);
        narrow_search(&search, order < 0,
                      high_product(order < 0 ? there - key : key - there,
                                   section->count));
    }
    return TAG_RUN_NO;
}

enum tag_run_answer
tag_run_find(const struct tag_run *run, uint32_t campaign,
             const uint8_t tag[TAG_SIZE])
{
    const struct run_section *section =
        tag_run_section(run->section, run->sections, campaign);
    return section == NULL || !tag_filter_may_have(run, campaign, tag)
               ? TAG_RUN_NO
               : find_tag(run, section, tag);
}

/* ---- Checking ------------------------------------------------------------ */

size_t
tag_run_check(const struct tag_run *run, uint64_t first, uint64_t pages)
{
    uint8_t page[RUN_PAGE];
    size_t damaged = 0;
    for (uint64_t i = first; i < run->pages && i - first < pages; i++) {
        damaged += !tag_run_read(run->fd, page, sizeof page, i * RUN_PAGE) ||
                   !tag_run_page_sound(i, page);
    }
    return damaged;
}
