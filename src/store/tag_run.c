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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"

#define GUESSES 8 /* by a tag's bits; then the range is halved */
#define FILTER_AHEAD                                                           \
    ((size_t)256 << 20) /* bytes read before they are needed                   \
                         */

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

static uint64_t
big_endian(const uint8_t *from)
{
    uint64_t value = 0;
    for (size_t i = 0; i < 8; i++) {
        value = value << 8 | from[i];
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

uint64_t
tag_run_block(const uint8_t *tag, uint64_t blocks)
{
    return high_product(big_endian(tag), blocks);
}

uint64_t
tag_run_places(const uint8_t *tag)
{
    return big_endian(tag + RUN_TAG_SIZE - 8);
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
           filters < run->pages && tags < run->pages &&
           section->filter_page >= directory &&
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

static uint64_t
filters_end(const struct tag_run *run)
{
    uint64_t end = 1;
    for (size_t i = 0; i < run->sections; i++) {
        uint64_t blocks = run->section[i].filter_blocks;
        uint64_t behind = run->section[i].filter_page +
                          (blocks + RUN_PAGE_BLOCKS - 1) / RUN_PAGE_BLOCKS;
        end = behind > end ? behind : end;
    }
    return end;
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
    run->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (run->fd < 0) {
        status = errno == ENOENT ? fail_damaged(path, "is not there", err)
                                 : fail_file(path, err);
        goto done;
    }
    status = read_directory(run, path, owner, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    run->map_size = (size_t)filters_end(run) * RUN_PAGE;
    void *map = mmap(NULL, run->map_size, PROT_READ, MAP_SHARED, run->fd, 0);
    if (map == MAP_FAILED) {
        status = errno == ENOMEM ? host_fail_memory(err) : fail_file(path, err);
        goto done;
    }
    run->map = map;
    if (run->map_size <= FILTER_AHEAD) {
        (void)madvise(map, run->map_size, MADV_WILLNEED);
    }
done:
    if (status == SOTTO_STATUS_OK) {
        *ret_run = run;
    } else {
        tag_run_close(run);
    }
    return status;
}

void
tag_run_close(struct tag_run *run)
{
    if (run == NULL) {
        return;
    }
    if (run->map != NULL) {
        (void)munmap((void *)(uintptr_t)run->map, run->map_size);
    }
    if (run->fd >= 0) {
        (void)close(run->fd);
    }
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

static const struct run_section *
find_section(const struct tag_run *run, uint32_t campaign)
{
    size_t low = 0, high = run->sections;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->section[middle].campaign < campaign) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < run->sections && run->section[low].campaign == campaign
               ? &run->section[low]
               : NULL;
}

static bool
may_have(const struct tag_run *run, const struct run_section *section,
         const uint8_t *tag)
{
    uint64_t block = tag_run_block(tag, section->filter_blocks);
    uint64_t places = tag_run_places(tag);
    const uint8_t *bits =
        run->map + (section->filter_page + block / RUN_PAGE_BLOCKS) * RUN_PAGE +
        block % RUN_PAGE_BLOCKS * RUN_BLOCK;
    unsigned all = 1;
    for (unsigned i = 0; i < RUN_FILTER_BITS; i++, places >>= 9) {
        all &= (unsigned)bits[places / 8 % RUN_BLOCK] >> (places % 8);
    }
    return (all & 1) != 0;
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

static enum tag_run_answer
find_tag(const struct tag_run *run, const struct run_section *section,
         const uint8_t *tag)
{
    uint8_t page[RUN_PAGE];
    uint64_t key = big_endian(tag);
    uint64_t pages = (section->count + RUN_PAGE_TAGS - 1) / RUN_PAGE_TAGS;
    struct search search = {
        0, pages, high_product(key, section->count) / RUN_PAGE_TAGS, 0};
    bool sound = true;
    while (search.low < search.high) {
        uint64_t number = section->tag_page + search.next;
        uint64_t left = section->count - search.next * RUN_PAGE_TAGS;
        size_t count = left < RUN_PAGE_TAGS ? (size_t)left : RUN_PAGE_TAGS;
        const uint8_t *last = page + (count - 1) * RUN_TAG_SIZE;
        if (!tag_run_read(run->fd, page, sizeof page, number * RUN_PAGE)) {
            return TAG_RUN_FAILED;
        }
        sound = sound && tag_run_page_sound(number, page);
        bool before = memcmp(tag, page, RUN_TAG_SIZE) < 0;
        if (!before && memcmp(tag, last, RUN_TAG_SIZE) <= 0) {
            return page_has(page, count, tag) ? TAG_RUN_YES
                   : sound                    ? TAG_RUN_NO
                                              : TAG_RUN_DAMAGED;
        }
        uint64_t there = big_endian(before ? page : last);
        narrow_search(
            &search, before,
            high_product(before ? there - key : key - there, section->count));
    }
    return sound ? TAG_RUN_NO : TAG_RUN_DAMAGED;
}

enum tag_run_answer
tag_run_find(const struct tag_run *run, uint32_t campaign,
             const uint8_t tag[TAG_SIZE])
{
    const struct run_section *section = find_section(run, campaign);
    return section == NULL || !may_have(run, section, tag)
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
