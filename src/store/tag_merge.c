/*
 * tag_merge.c: writing runs of tags: several sources, in order, become one run
 * or two.
 *
 * Tags are read and written in their order, so that all of it goes through a
 * few pages of memory, however long it is. How much room a filter needs is
 * known before from how many tags the sources have.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"
#include "store/sql_file.h"
#include "store/tag_run.h"

#define FILTER_BITS_A_TAG 12u
#define CHUNK_PAGES ((size_t)64) /* read or written at once */
#define OUTPUTS 2u
#define SOURCES (TAG_MERGE_RUNS + 2u)

/* ---- Sources ------------------------------------------------------------- */

/* The tags of one campaign in one source, in order. */
struct source {
    const struct tag_run *run;      /* or ... */
    const struct window_tag *tag;   /* ... these, or ... */
    const struct tag_merge *stream; /* ... what that gives */
    const struct run_section *list; /* campaigns of a run or a stream */
    size_t sections;
    uint8_t given[TAG_SIZE];         /* by the stream */
    size_t section, first;           /* of which campaigns are behind us */
    uint64_t left;                   /* of this campaign, with this one */
    uint64_t page;                   /* the next one to be read */
    uint8_t *chunk;                  /* CHUNK_PAGES that were read */
    size_t at, tags_at, chunk_pages; /* page and tag in them */
    uint64_t lost;                   /* pages that are damaged */
    const uint8_t *now;              /* NULL: no more */
};

static bool
read_chunk(struct source *source)
{
    uint64_t pages = (source->left + RUN_PAGE_TAGS - 1) / RUN_PAGE_TAGS;
    source->chunk_pages = pages < CHUNK_PAGES ? (size_t)pages : CHUNK_PAGES;
    source->at = source->tags_at = 0;
    bool good =
        tag_run_read(source->run->fd, source->chunk,
                     source->chunk_pages * RUN_PAGE, source->page * RUN_PAGE);
    source->page += source->chunk_pages;
    return good;
}

/* Goes to the next page that is not damaged: tags that are out of order would
   spoil what is merged. */
static bool
find_sound_page(struct source *source)
{
    bool good = true;
    while (good && source->left > 0) {
        if (source->at == source->chunk_pages) {
            good = read_chunk(source);
            continue;
        }
        uint64_t number = source->page - source->chunk_pages + source->at;
        if (tag_run_page_sound(number, source->chunk + source->at * RUN_PAGE)) {
            break;
        }
        uint64_t tags =
            source->left < RUN_PAGE_TAGS ? source->left : RUN_PAGE_TAGS;
        source->left -= tags;
        source->lost++;
        source->at++;
    }
    return good;
}

/* Goes to the next tag of this campaign; false: errno. */
static bool
step_source(struct source *source)
{
    if (source->now != NULL) {
        source->left--;
    }
    source->now = NULL;
    if (source->left == 0) {
        return true;
    }
    if (source->tag != NULL) {
        source->now = source->tag[source->first++].tag;
        return true;
    }
    if (source->stream != NULL) {
        source->now = source->given;
        return source->stream->next(source->stream->context, source->given);
    }
    if (source->tags_at == RUN_PAGE_TAGS) {
        source->tags_at = 0;
        source->at++;
    }
    if (source->tags_at == 0 && !find_sound_page(source)) {
        return false;
    }
    if (source->left > 0) {
        source->now = source->chunk + source->at * RUN_PAGE +
                      source->tags_at++ * RUN_TAG_SIZE;
    }
    return true;
}

/* How many tags of a campaign it has, which is that of its next section. */
static uint64_t
count_of(const struct source *source, uint32_t campaign, size_t tags)
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

static bool
begin_source(struct source *source, uint32_t campaign, size_t tags)
{
    source->left = count_of(source, campaign, tags);
    source->now = NULL;
    source->at = source->chunk_pages = source->tags_at = 0;
    if (source->left > 0 && source->tag == NULL) {
        source->page = source->list[source->section++].tag_page;
    }
    return step_source(source);
}

/* The smallest campaign that a source has next; 0: none. */
static uint32_t
next_campaign(const struct source *source, size_t sources, size_t tags)
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

/* ---- Outputs ------------------------------------------------------------- */

struct output {
    int fd;
    uint8_t *chunk; /* CHUNK_PAGES of tags */
    size_t chunk_pages, page_tags;
    uint64_t next_page; /* where the chunk belongs */
    uint8_t filter[RUN_PAGE];
    uint64_t filter_now; /* the filter's page that is filled */
    struct run_section *section;
    size_t sections;
    uint64_t filter_end, count;
};

static bool
write_all(int fd, const uint8_t *data, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t put = pwrite(fd, data, size, (off_t)at);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        data += put;
        size -= (size_t)put;
        at += (uint64_t)put;
    }
    return true;
}

/* Gives a page its sum. */
static void
seal_page(uint8_t *page, uint64_t number)
{
    host_checksum_write(tag_run_page_sum(number, page), page + RUN_USED);
}

static bool
write_chunk(struct output *output)
{
    for (size_t i = 0; i < output->chunk_pages; i++) {
        seal_page(output->chunk + i * RUN_PAGE, output->next_page + i);
    }
    bool good =
        write_all(output->fd, output->chunk, output->chunk_pages * RUN_PAGE,
                  output->next_page * RUN_PAGE);
    output->next_page += output->chunk_pages;
    output->chunk_pages = 0;
    memset(output->chunk, 0, CHUNK_PAGES * RUN_PAGE);
    return good;
}

/* A page of a filter is full, or is the section's last. */
static bool
write_filter(struct output *output)
{
    seal_page(output->filter, output->filter_now);
    bool good = write_all(output->fd, output->filter, RUN_PAGE,
                          output->filter_now * RUN_PAGE);
    output->filter_now++;
    memset(output->filter, 0, RUN_PAGE);
    return good;
}

/* Writes pages of the filter up to that which has the block. */
static bool
turn_filter(struct output *output, uint64_t page)
{
    bool good = true;
    while (good && output->filter_now < page) {
        good = write_filter(output);
    }
    return good;
}

static bool
add_tag(struct output *output, const uint8_t *tag)
{
    struct run_section *section = &output->section[output->sections - 1];
    uint64_t block = tag_run_block(tag, section->filter_blocks);
    uint64_t places = tag_run_places(tag);
    if (!turn_filter(output, section->filter_page + block / RUN_PAGE_BLOCKS)) {
        return false;
    }
    uint8_t *bits = output->filter + block % RUN_PAGE_BLOCKS * RUN_BLOCK;
    for (unsigned i = 0; i < RUN_FILTER_BITS; i++, places >>= 9) {
        bits[places / 8 % RUN_BLOCK] |= (uint8_t)(1u << (places % 8));
    }
    if (output->page_tags == RUN_PAGE_TAGS || output->chunk_pages == 0) {
        if (output->chunk_pages == CHUNK_PAGES && !write_chunk(output)) {
            return false;
        }
        output->chunk_pages++;
        output->page_tags = 0;
    }
    memcpy(output->chunk + (output->chunk_pages - 1) * RUN_PAGE +
               output->page_tags++ * RUN_TAG_SIZE,
           tag, RUN_TAG_SIZE);
    section->count++;
    return true;
}

/* Begins a campaign, which has a filter of its own and begins a page. */
static bool
begin_section(struct output *output)
{
    if (output->section == NULL ||
        (output->chunk_pages > 0 && !write_chunk(output))) {
        return false;
    }
    struct run_section *section = &output->section[output->sections++];
    output->page_tags = RUN_PAGE_TAGS;
    output->filter_now = section->filter_page;
    section->tag_page = output->next_page;
    return true;
}

static bool
end_section(struct output *output)
{
    if (output->section == NULL || output->sections == 0) {
        return false;
    }
    struct run_section *section = &output->section[output->sections - 1];
    uint64_t end =
        section->filter_page +
        (section->filter_blocks + RUN_PAGE_BLOCKS - 1) / RUN_PAGE_BLOCKS;
    output->count += section->count;
    return turn_filter(output, end);
}

static void
put_number(uint8_t *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Sections that got no tag are left out. */
static void
drop_empty(struct output *output)
{
    size_t kept = 0;
    for (size_t i = 0; i < output->sections; i++) {
        if (output->section[i].count > 0) {
            output->section[kept++] = output->section[i];
        }
    }
    output->sections = kept;
}

/* The directory has as many pages as `planned` sections need, though some may
   have got no tags: what is behind the last row is zeros. */
static bool
write_directory(struct output *output, const uint8_t *owner, size_t planned)
{
    uint8_t page[RUN_PAGE];
    size_t pages =
        planned == 0 ? 1 : (planned + RUN_PAGE_ROWS - 1) / RUN_PAGE_ROWS;
    bool good = output->chunk_pages == 0 || write_chunk(output);
    drop_empty(output);
    for (size_t p = 0; p < pages && good; p++) {
        memset(page, 0, sizeof page);
        for (size_t i = 0; i < RUN_MAGIC_SIZE; i++) {
            page[i] = (uint8_t)RUN_MAGIC[i];
        }
        put_number(page + 8, RUN_VERSION, 4);
        put_number(page + 12, output->sections, 4);
        put_number(page + 16, output->count, 8);
        put_number(page + 24, output->next_page, 8);
        memcpy(page + 32, owner, RUN_OWNER_SIZE);
        for (size_t i = p * RUN_PAGE_ROWS;
             i < output->sections && i < (p + 1) * RUN_PAGE_ROWS; i++) {
            uint8_t *row = page + RUN_HEAD + (i - p * RUN_PAGE_ROWS) * RUN_ROW;
            put_number(row, output->section[i].campaign, 4);
            put_number(row + 8, output->section[i].count, 8);
            put_number(row + 16, output->section[i].filter_page, 8);
            put_number(row + 24, output->section[i].filter_blocks, 8);
            put_number(row + 32, output->section[i].tag_page, 8);
        }
        seal_page(page, p);
        good = write_all(output->fd, page, sizeof page, p * RUN_PAGE);
    }
    return good;
}

/* ---- Merging ------------------------------------------------------------- */

struct merging {
    struct tag_merge *merge;
    struct source source[SOURCES];
    size_t sources;
    struct output output[OUTPUTS];
    size_t outputs;
    size_t planned; /* sections of an output, at most */
    uint8_t coin[64];
    size_t tossed; /* bits of it */
};

static enum sotto_status
fail_write(const struct merging *merging, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s",
                     host_shown(merging->merge->path[0]), strerror(errno));
}

static bool
is_stopped(const struct merging *merging)
{
    return merging->merge->stop != NULL &&
           atomic_load_explicit(merging->merge->stop, memory_order_relaxed);
}

/* Which of the outputs gets the next tag; OUTPUTS: there is no entropy. */
static size_t
toss(struct merging *merging)
{
    if (merging->outputs == 1) {
        return 0;
    }
    if (merging->tossed == 8 * sizeof merging->coin) {
        if (sotto_entropy(merging->coin, sizeof merging->coin) != 0) {
            return OUTPUTS;
        }
        merging->tossed = 0;
    }
    size_t bit = merging->tossed++;
    return merging->coin[bit / 8] >> bit % 8 & 1;
}

/* The smallest tag that a source has; NULL: none has any. */
static const uint8_t *
least_tag(const struct merging *merging)
{
    const uint8_t *least = NULL;
    for (size_t i = 0; i < merging->sources; i++) {
        const uint8_t *now = merging->source[i].now;
        if (now != NULL &&
            (least == NULL || memcmp(now, least, RUN_TAG_SIZE) < 0)) {
            least = now;
        }
    }
    return least;
}

static enum sotto_status
merge_campaign(struct merging *merging, bool kept, struct sotto_error *err)
{
    uint8_t tag[RUN_TAG_SIZE];
    const uint8_t *least = NULL;
    size_t until_look = 0;
    while ((least = least_tag(merging)) != NULL) {
        size_t to = kept ? toss(merging) : 0;
        memcpy(tag, least, sizeof tag);
        if (to == OUTPUTS) {
            return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                             "the system gave no entropy; tags stay where "
                             "they are");
        }
        if (kept && !add_tag(&merging->output[to], tag)) {
            return fail_write(merging, err);
        }
        for (size_t i = 0; i < merging->sources; i++) {
            struct source *source = &merging->source[i];
            while (source->now != NULL &&
                   memcmp(source->now, tag, sizeof tag) == 0) {
                if (!step_source(source)) {
                    return fail_write(merging, err);
                }
            }
        }
        if (until_look++ % 4096 == 0 && is_stopped(merging)) {
            return host_fail(err, SOTTO_STATUS_IO, 0, "it was stopped");
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
merge_campaigns(struct merging *merging, struct sotto_error *err)
{
    struct tag_merge *merge = merging->merge;
    enum sotto_status status = SOTTO_STATUS_OK;
    uint32_t campaign = 0;
    while (status == SOTTO_STATUS_OK &&
           (campaign = next_campaign(merging->source, merging->sources,
                                     merge->tags)) != 0) {
        bool kept = campaign != merge->without, good = true;
        for (size_t i = 0; good && i < merging->sources; i++) {
            good = begin_source(&merging->source[i], campaign, merge->tags);
        }
        for (size_t i = 0; good && kept && i < merging->outputs; i++) {
            good = begin_section(&merging->output[i]);
        }
        status = good ? merge_campaign(merging, kept, err)
                      : fail_write(merging, err);
        for (size_t i = 0;
             status == SOTTO_STATUS_OK && kept && i < merging->outputs; i++) {
            status = end_section(&merging->output[i])
                         ? SOTTO_STATUS_OK
                         : fail_write(merging, err);
        }
    }
    return status;
}

/* ---- Planning ------------------------------------------------------------ */

/* Half of the tags and some more, so that a coin's luck costs little. */
static uint64_t
expected_tags(const struct merging *merging, uint64_t count)
{
    return merging->outputs == 1 ? count : count / 2 + count / 256 + 64;
}

/* Goes through all campaigns once, and lays out filters; `section` may be NULL
   to count them. */
static size_t
plan_sections(struct merging *merging, uint64_t *ret_end)
{
    struct source source[SOURCES];
    size_t tags = merging->merge->tags, sections = 0;
    uint32_t campaign = 0;
    memcpy(source, merging->source, sizeof source);
    while ((campaign = next_campaign(source, merging->sources, tags)) != 0) {
        uint64_t count = 0, blocks = 0;
        for (size_t i = 0; i < merging->sources; i++) {
            uint64_t mine = count_of(&source[i], campaign, tags);
            count += mine;
            if (source[i].tag == NULL) {
                source[i].section += mine > 0;
            } else {
                source[i].first += (size_t)mine;
            }
        }
        if (campaign == merging->merge->without) {
            continue;
        }
        blocks = expected_tags(merging, count) * FILTER_BITS_A_TAG /
                     ((uint64_t)8 * RUN_BLOCK) +
                 1;
        for (size_t i = 0; i < merging->outputs; i++) {
            struct run_section *section = merging->output[i].section;
            if (section != NULL) {
                section[sections] =
                    (struct run_section){campaign, 0, *ret_end, blocks, 0};
            }
        }
        *ret_end += (blocks + RUN_PAGE_BLOCKS - 1) / RUN_PAGE_BLOCKS;
        sections++;
    }
    return sections;
}

static enum sotto_status
open_output(struct merging *merging, size_t which, struct sotto_error *err)
{
    struct output *output = &merging->output[which];
    output->fd =
        open(merging->merge->path[which],
             O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (output->fd < 0) {
        return fail_write(merging, err);
    }
    output->chunk = calloc(CHUNK_PAGES, RUN_PAGE);
    output->section = calloc(merging->planned + 1, sizeof *output->section);
    return output->chunk != NULL && output->section != NULL
               ? SOTTO_STATUS_OK
               : host_fail_memory(err);
}

static enum sotto_status
plan_outputs(struct merging *merging, struct sotto_error *err)
{
    uint64_t end = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    merging->planned = plan_sections(merging, &end);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < merging->outputs; i++) {
        status = open_output(merging, i, err);
    }
    end = merging->planned == 0
              ? 1
              : (merging->planned + RUN_PAGE_ROWS - 1) / RUN_PAGE_ROWS;
    if (status == SOTTO_STATUS_OK) {
        (void)plan_sections(merging, &end);
    }
    for (size_t i = 0; i < merging->outputs; i++) {
        merging->output[i].next_page = end;
    }
    return status;
}

static enum sotto_status
begin_merge(struct merging *merging, struct sotto_error *err)
{
    struct tag_merge *merge = merging->merge;
    for (size_t i = 0; i < TAG_MERGE_RUNS; i++) {
        if (merge->run[i] != NULL) {
            struct source *source = &merging->source[merging->sources++];
            source->run = merge->run[i];
            source->list = merge->run[i]->section;
            source->sections = merge->run[i]->sections;
            source->chunk = malloc(CHUNK_PAGES * RUN_PAGE);
            if (source->chunk == NULL) {
                return host_fail_memory(err);
            }
        }
    }
    if (merge->tags > 0) {
        merging->source[merging->sources++].tag = merge->tag;
    }
    if (merge->streams > 0) {
        struct source *source = &merging->source[merging->sources++];
        source->stream = merge;
        source->list = merge->streamed;
        source->sections = merge->streams;
    }
    return plan_outputs(merging, err);
}

static enum sotto_status
finish_output(struct merging *merging, size_t which, struct sotto_error *err)
{
    struct output *output = &merging->output[which];
    bool good =
        write_directory(output, merging->merge->owner, merging->planned) &&
        fsync(output->fd) == 0;
    int fd = output->fd;
    output->fd = -1;
    good = close(fd) == 0 && good;
    merging->merge->count[which] = output->count;
    return good ? SOTTO_STATUS_OK : fail_write(merging, err);
}

enum sotto_status
tag_merge(struct tag_merge *merge, struct sotto_error *err)
{
    struct merging *merging = calloc(1, sizeof *merging);
    if (merging == NULL) {
        return host_fail_memory(err);
    }
    merging->merge = merge;
    merging->outputs = merge->path[1] != NULL ? 2 : 1;
    merging->tossed = 8 * sizeof merging->coin;
    merging->output[0].fd = merging->output[1].fd = -1;
    enum sotto_status status = begin_merge(merging, err);
    status = HOST_THEN(status, merge_campaigns(merging, err));
    for (size_t i = 0; i < merging->outputs; i++) {
        status = HOST_THEN(status, finish_output(merging, i, err));
    }
    status = HOST_THEN(status, sql_file_settle(merge->path[0], err));
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (merging->output[i].fd >= 0) {
            (void)close(merging->output[i].fd);
        }
        if (status != SOTTO_STATUS_OK && merge->path[i] != NULL) {
            (void)unlink(merge->path[i]);
        }
        free(merging->output[i].chunk);
        free(merging->output[i].section);
    }
    for (size_t i = 0; i < merging->sources; i++) {
        merge->lost += merging->source[i].lost;
        free(merging->source[i].chunk);
    }
    free(merging);
    return status;
}
