/*
 * tag_source.c: reading runs from their first tag to their last, a chunk of
 * pages at a time.
 *
 * A page that is damaged, or that the medium does not give, is left out and
 * counted: one bad sector must not keep runs from being merged for ever. If it
 * is the whole medium that is gone, writing fails, too, and nothing was lost.
 */
#include "store/tag_source.h"

#include <errno.h>
#include <stdlib.h>

#include "host/checksum.h"
#include "host/error.h"

#define CHUNK_PAGES ((size_t)64) /* read at once */

enum sotto_status
tag_source_open(struct tag_merge *merge, struct tag_source *source,
                size_t *ret_count, struct sotto_error *err)
{
    *ret_count = 0;
    for (size_t i = 0; i < TAG_MERGE_RUNS; i++) {
        const struct tag_run *run = merge->run[i];
        if (run != NULL) {
            uint8_t *chunk = malloc(CHUNK_PAGES * RUN_PAGE);
            if (chunk == NULL) {
                return host_fail_memory(err);
            }
            source[(*ret_count)++] =
                (struct tag_source){.run = run,
                                    .list = run->section,
                                    .sections = run->sections,
                                    .chunk = chunk,
                                    .stride = RUN_TAG_SIZE};
        }
    }
    if (merge->tags > 0) {
        source[(*ret_count)++] = (struct tag_source){
            .tag = merge->tag, .stride = sizeof *merge->tag};
    }
    if (merge->streams > 0) {
        source[(*ret_count)++] = (struct tag_source){.stream = merge,
                                                     .list = merge->streamed,
                                                     .sections = merge->streams,
                                                     .stride = TAG_SIZE};
    }
    return SOTTO_STATUS_OK;
}

void
tag_source_close(struct tag_source *source)
{
    free(source->chunk);
    source->chunk = NULL;
}

/* ---- Campaigns ----------------------------------------------------------- */

uint64_t
tag_source_count(const struct tag_source *source, uint32_t campaign,
                 size_t tags)
{
    if (source->tag == NULL) {
        return source->section < source->sections &&
                       source->list[source->section].campaign == campaign
                   ? source->list[source->section].count
                   : 0;
    }
    uint64_t count = 0;
    while (source->first + count < tags &&
           source->tag[source->first + count].campaign == campaign) {
        count++;
    }
    return count;
}

uint32_t
tag_source_next(const struct tag_source *source, size_t sources, size_t tags)
{
    uint32_t least = 0;
    for (size_t i = 0; i < sources; i++) {
        uint32_t mine = 0;
        if (source[i].tag == NULL) {
            mine = source[i].section < source[i].sections
                       ? source[i].list[source[i].section].campaign
                       : 0;
        } else if (source[i].first < tags) {
            mine = source[i].tag[source[i].first].campaign;
        }
        least = mine != 0 && (least == 0 || mine < least) ? mine : least;
    }
    return least;
}

/* ---- Tags ---------------------------------------------------------------- */

/* Reads pages; false: another failure than that of the medium. One that it does
   not give is made one that is damaged. */
static bool
read_chunk(struct tag_source *source)
{
    uint64_t pages = (source->left + RUN_PAGE_TAGS - 1) / RUN_PAGE_TAGS;
    int fd = source->run->fd;
    source->chunk_pages = pages < CHUNK_PAGES ? (size_t)pages : CHUNK_PAGES;
    source->chunk_at = 0;
    bool all = tag_run_read(fd, source->chunk, source->chunk_pages * RUN_PAGE,
                            source->page * RUN_PAGE);
    bool good = all || errno == EIO;
    for (size_t i = 0; !all && good && i < source->chunk_pages; i++) {
        uint8_t *page = source->chunk + i * RUN_PAGE;
        if (!tag_run_read(fd, page, RUN_PAGE, (source->page + i) * RUN_PAGE)) {
            good = errno == EIO;
            host_checksum_write(~tag_run_page_sum(source->page + i, page),
                                page + RUN_USED);
        }
    }
    source->page += source->chunk_pages;
    return good;
}

/* Goes to the next page that is not damaged: tags that are out of order would
   spoil what is merged. */
static bool
turn_page(struct tag_source *source)
{
    while (source->left > 0) {
        if (source->chunk_at == source->chunk_pages && !read_chunk(source)) {
            return false;
        }
        const uint8_t *page = source->chunk + source->chunk_at * RUN_PAGE;
        uint64_t number = source->page - source->chunk_pages + source->chunk_at;
        uint64_t tags =
            source->left < RUN_PAGE_TAGS ? source->left : RUN_PAGE_TAGS;
        source->left -= tags;
        source->chunk_at++;
        if (tag_run_page_sound(number, page)) {
            source->at = page;
            source->here = (size_t)tags;
            return true;
        }
        source->lost++;
    }
    return true;
}

bool
tag_source_refill(struct tag_source *source)
{
    if (source->left == 0) {
        return true;
    }
    if (source->run != NULL) {
        return turn_page(source);
    }
    if (source->tag != NULL) {
        source->at = source->tag[source->first].tag;
        source->here = (size_t)source->left;
        source->first += source->here;
        source->left = 0;
        return true;
    }
    source->at = source->given;
    source->here = 1;
    source->left--;
    return source->stream->next(source->stream->context, source->given);
}

bool
tag_source_begin(struct tag_source *source, uint32_t campaign, size_t tags)
{
    source->left = tag_source_count(source, campaign, tags);
    source->here = 0;
    source->chunk_at = source->chunk_pages = 0;
    if (source->left > 0 && source->tag == NULL) {
        source->page = source->list[source->section++].tag_page;
    }
    return tag_source_refill(source);
}
