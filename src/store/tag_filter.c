/*
 * tag_filter.c: the filters of runs in memory.
 *
 * They are memory of the program's own, and read: were they mapped files, a
 * sector that cannot be read would end it. Until a page is there, and where one
 * is damaged, a tag "may be there", and is looked for among tags: that is
 * slower, and as right.
 *
 * Who asks reads `from` before a page's bits and again behind them: a page that
 * was given back in between is zeros, and its answer is not taken.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/tag_run.h"

#define LOAD_PAGES ((uint64_t)64) /* read at once */

struct tag_filter *
tag_filter_new(const struct run_section *section, size_t sections, uint64_t end)
{
    struct tag_filter *filter = calloc(1, sizeof *filter);
    if (filter == NULL) {
        return NULL;
    }
    filter->sections = sections;
    filter->section = calloc(sections + 1, sizeof *section);
    filter->first = sections > 0 ? section[0].filter_page : end;
    filter->end = end;
    void *page = mmap(NULL, (size_t)end * RUN_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (filter->section == NULL || page == MAP_FAILED) {
        filter->page = page != MAP_FAILED ? page : NULL;
        tag_filter_free(filter);
        return NULL;
    }
    filter->page = page;
    for (size_t i = 0; i < sections; i++) {
        filter->section[i] = section[i];
    }
    atomic_init(&filter->from, filter->first);
    atomic_init(&filter->to, filter->first);
    return filter;
}

void
tag_filter_free(struct tag_filter *filter)
{
    if (filter == NULL) {
        return;
    }
    if (filter->page != NULL) {
        (void)munmap(filter->page, (size_t)filter->end * RUN_PAGE);
    }
    free(filter->section);
    free(filter);
}

/* ---- Loading ------------------------------------------------------------- */

/* Behind the last page of a filter. */
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

bool
tag_filter_prepare(struct tag_run *run)
{
    tag_filter_free(run->filter);
    run->filter = tag_filter_new(run->section, run->sections, filters_end(run));
    return run->filter != NULL;
}

bool
tag_filter_is_whole(const struct tag_run *run)
{
    const struct tag_filter *filter = run->filter;
    return filter != NULL && atomic_load(&filter->from) == filter->first &&
           atomic_load(&filter->to) == filter->end;
}

static void
load_pages(const struct tag_run *run, uint64_t first, uint64_t pages)
{
    uint8_t *to = run->filter->page + first * RUN_PAGE;
    bool all =
        tag_run_read(run->fd, to, (size_t)pages * RUN_PAGE, first * RUN_PAGE);
    for (uint64_t i = 0; i < pages; i++) {
        uint8_t *page = to + i * RUN_PAGE;
        bool good = all || tag_run_read(run->fd, page, RUN_PAGE,
                                        (first + i) * RUN_PAGE);
        if (!good || !tag_run_page_sound(first + i, page)) {
            memset(page, 0xff, RUN_PAGE);
        }
    }
}

void
tag_filter_load(const struct tag_run *run, const atomic_bool *stop)
{
    struct tag_filter *filter = run->filter;
    uint64_t page = atomic_load(&filter->to);
    while (page < filter->end && !atomic_load(stop)) {
        uint64_t left = filter->end - page;
        uint64_t pages = left < LOAD_PAGES ? left : LOAD_PAGES;
        if (page + pages > atomic_load(&filter->from)) {
            load_pages(run, page, pages);
        }
        page += pages;
        tag_filter_show(filter, page);
    }
}

/* ---- One follows another ------------------------------------------------- */

void
tag_filter_show(struct tag_filter *filter, uint64_t to)
{
    atomic_store_explicit(&filter->to, to, memory_order_release);
}

void
tag_filter_give_back(const struct tag_run *run, uint32_t campaign,
                     uint32_t first)
{
    struct tag_filter *filter = run->filter;
    const struct run_section *section =
        filter == NULL
            ? NULL
            : tag_run_section(filter->section, filter->sections, campaign);
    if (section == NULL) {
        return;
    }
    uint64_t from = atomic_load(&filter->from);
    uint64_t until =
        section->filter_page +
        tag_run_block(first, section->filter_blocks) / RUN_PAGE_BLOCKS;
    if (until > from) {
        atomic_store(&filter->from, until);
        (void)madvise(filter->page + from * RUN_PAGE,
                      (size_t)(until - from) * RUN_PAGE, MADV_DONTNEED);
    }
}

/* ---- Asking -------------------------------------------------------------- */

/* Where a tag's block is; NULL: not in memory. */
static const uint8_t *
find_block(const struct tag_filter *filter, uint32_t campaign,
           const uint8_t *tag, uint64_t *ret_page)
{
    const struct run_section *section =
        filter == NULL
            ? NULL
            : tag_run_section(filter->section, filter->sections, campaign);
    if (section == NULL) {
        return NULL;
    }
    uint64_t block = tag_run_block((uint32_t)(tag_run_number(tag) >> 32),
                                   section->filter_blocks);
    *ret_page = section->filter_page + block / RUN_PAGE_BLOCKS;
    return *ret_page < atomic_load_explicit(&filter->to,
                                            memory_order_acquire) &&
                   *ret_page >=
                       atomic_load_explicit(&filter->from, memory_order_relaxed)
               ? filter->page + *ret_page * RUN_PAGE +
                     block % RUN_PAGE_BLOCKS * RUN_BLOCK
               : NULL;
}

/* Whether a filter knows that it has not got a tag. */
static bool
has_not(const struct tag_filter *filter, uint32_t campaign, const uint8_t *tag)
{
    uint64_t page = 0;
    const uint8_t *bits = find_block(filter, campaign, tag, &page);
    if (bits == NULL) {
        return false;
    }
    uint64_t places = tag_run_places(tag);
    unsigned all = 1;
    for (unsigned i = 0; i < RUN_FILTER_BITS; i++, places >>= 9) {
        all &= (unsigned)bits[places / 8 % RUN_BLOCK] >> (places % 8);
    }
    atomic_thread_fence(memory_order_acquire);
    return (all & 1) == 0 &&
           page >= atomic_load_explicit(&filter->from, memory_order_relaxed);
}

static const struct tag_filter *
next_filter(const struct tag_run *run)
{
    return run->next == NULL
               ? NULL
               : atomic_load_explicit(run->next, memory_order_acquire);
}

bool
tag_filter_may_have(const struct tag_run *run, uint32_t campaign,
                    const uint8_t *tag)
{
    return !has_not(run->filter, campaign, tag) &&
           !has_not(next_filter(run), campaign, tag);
}

void
tag_run_prefetch(const struct tag_run *run, uint32_t campaign,
                 const uint8_t tag[TAG_SIZE])
{
    uint64_t page = 0;
    const uint8_t *bits = find_block(run->filter, campaign, tag, &page);
    bits = bits != NULL ? bits
                        : find_block(next_filter(run), campaign, tag, &page);
    if (bits != NULL) {
        __builtin_prefetch(bits);
    }
}
