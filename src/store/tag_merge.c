/*
 * tag_merge.c: writing runs of tags: several sources, in order, become one run
 * or two.
 *
 * Tags are read and written in their order, so that all of it goes through a
 * few pages of memory, however long it is; but for the filters of what is
 * written, which whoever looks tags up next gets as they are. How much room a
 * filter needs is known before from how many tags the sources have.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"
#include "store/sql_file.h"
#include "store/tag_source.h"

#define FILTER_BITS_A_TAG 12u
#define CHUNK_PAGES ((size_t)64)    /* written at once */
#define EASE_PAGES ((uint64_t)2048) /* handed to the disk at once */
#define OUTPUTS 2u
#define LOTS 65536u /* of which a campaign's share are the first output's */

/* ---- Outputs ------------------------------------------------------------- */

struct output {
    int fd;
    struct run_section *section;
    size_t sections;
    uint64_t count;
    /* Tags. */
    uint8_t *chunk; /* CHUNK_PAGES of them */
    size_t chunk_pages;
    uint8_t *to;        /* where the next one belongs ... */
    size_t room;        /* ... and how many more do, in this page */
    uint64_t next_page; /* where the chunk belongs */
    uint64_t eased;     /* pages before this one were handed to the disk */
    /* Filters. */
    struct tag_filter *filter;
    uint64_t filter_written; /* pages before this one are */
    uint64_t block;          /* of the section, that is filled */
    uint64_t blocks;
    uint8_t *bits; /* of the block */
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

/* Gives pages their sums, and writes them. */
static bool
write_pages(const struct output *output, uint8_t *page, uint64_t number,
            uint64_t pages)
{
    for (uint64_t i = 0; i < pages; i++) {
        uint8_t *one = page + i * RUN_PAGE;
        host_checksum_write(tag_run_page_sum(number + i, one), one + RUN_USED);
    }
    return write_all(output->fd, page, (size_t)pages * RUN_PAGE,
                     number * RUN_PAGE);
}

/*
 * Hands what was written to the disk, some at a time, and waits for what was
 * handed before: a file that is flushed as a whole would keep the store's own
 * flushes waiting for as long. Nothing rests on it.
 */
static void
ease_disk(struct output *output)
{
    uint64_t pages = output->next_page - output->eased;
#ifdef SYNC_FILE_RANGE_WRITE
    if (pages < EASE_PAGES) {
        return;
    }
    if (output->eased >= EASE_PAGES) {
        (void)sync_file_range(
            output->fd, (off_t)((output->eased - EASE_PAGES) * RUN_PAGE),
            (off_t)(EASE_PAGES * RUN_PAGE),
            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                SYNC_FILE_RANGE_WAIT_AFTER);
    }
    (void)sync_file_range(output->fd, (off_t)(output->eased * RUN_PAGE),
                          (off_t)(pages * RUN_PAGE), SYNC_FILE_RANGE_WRITE);
#endif
    output->eased += pages;
}

static bool
write_chunk(struct output *output)
{
    bool good = true;
    if (output->chunk_pages > 0) {
        memset(output->to, 0, output->room * RUN_TAG_SIZE);
        good = write_pages(output, output->chunk, output->next_page,
                           output->chunk_pages);
    }
    output->next_page += output->chunk_pages;
    output->chunk_pages = 0;
    output->room = 0;
    ease_disk(output);
    return good;
}

static bool
turn_page(struct output *output)
{
    if (output->chunk_pages == CHUNK_PAGES && !write_chunk(output)) {
        return false;
    }
    output->to = output->chunk + output->chunk_pages++ * RUN_PAGE;
    output->room = RUN_PAGE_TAGS;
    return true;
}

/* Writes the filters' pages before this one, if they are many. */
static bool
write_filter(struct output *output, uint64_t until, uint64_t many)
{
    uint64_t first = output->filter_written;
    if (until - first < many) {
        return true;
    }
    output->filter_written = until;
    bool good = write_pages(output, output->filter->page + first * RUN_PAGE,
                            first, until - first);
    tag_filter_show(output->filter, until);
    return good;
}

static bool
turn_block(struct output *output, uint64_t block)
{
    const struct run_section *section = &output->section[output->sections - 1];
    uint64_t page = section->filter_page + block / RUN_PAGE_BLOCKS;
    output->block = block;
    output->bits = output->filter->page + page * RUN_PAGE +
                   block % RUN_PAGE_BLOCKS * RUN_BLOCK;
    return write_filter(output, page, CHUNK_PAGES);
}

/* A tag, as two numbers that are in its order. */
struct key {
    uint64_t high; /* eight bytes */
    uint32_t low;  /* two */
};

static inline void
set_bit(uint8_t *bits, uint64_t place)
{
    bits[place / 8 % RUN_BLOCK] |= (uint8_t)(1u << (place % 8));
}

_Static_assert(RUN_FILTER_BITS == 6, "as many as are written out here");

static bool
add_tag(struct output *output, struct key key)
{
    uint64_t block = tag_run_block((uint32_t)(key.high >> 32), output->blocks);
    uint64_t places = key.high << 16 | key.low;
    if ((block != output->block && !turn_block(output, block)) ||
        (output->room == 0 && !turn_page(output))) {
        return false;
    }
    set_bit(output->bits, places);
    set_bit(output->bits, places >> 9);
    set_bit(output->bits, places >> 18);
    set_bit(output->bits, places >> 27);
    set_bit(output->bits, places >> 36);
    set_bit(output->bits, places >> 45);
    uint64_t high = htobe64(key.high);
    uint16_t low = htobe16((uint16_t)key.low);
    memcpy(output->to, &high, sizeof high);
    memcpy(output->to + sizeof high, &low, sizeof low);
    output->to += RUN_TAG_SIZE;
    output->room--;
    output->count++;
    return true;
}

/* Begins a campaign, which has a filter of its own and begins a page. */
static bool
begin_section(struct output *output)
{
    if (output->section == NULL || output->filter == NULL ||
        !write_chunk(output)) {
        return false;
    }
    struct run_section *section = &output->section[output->sections++];
    section->tag_page = output->next_page;
    section->count = output->count; /* before it */
    output->blocks = section->filter_blocks;
    return turn_block(output, 0);
}

static void
end_section(struct output *output)
{
    struct run_section *section = &output->section[output->sections - 1];
    section->count = output->count - section->count;
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

static size_t
directory_pages(size_t sections)
{
    return sections == 0 ? 1 : (sections + RUN_PAGE_ROWS - 1) / RUN_PAGE_ROWS;
}

/* The directory has as many pages as `planned` sections need, though some may
   have got no tags: what is behind the last row is zeros. */
static bool
write_directory(struct output *output, const uint8_t *owner, size_t planned)
{
    uint8_t page[RUN_PAGE];
    bool good = true;
    drop_empty(output);
    for (size_t p = 0; p < directory_pages(planned) && good; p++) {
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
        good = write_pages(output, page, p, 1);
    }
    return good;
}

/* ---- Merging ------------------------------------------------------------- */

struct merging {
    struct tag_merge *merge;
    struct tag_source source[TAG_SOURCES];
    size_t sources;
    struct output output[OUTPUTS];
    size_t outputs;
    size_t planned; /* sections of an output, at most */
    uint8_t lot[512];
    size_t drawn; /* bits of it */
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

/* How many lots of a campaign with so many tags are the first output's. */
static uint32_t
share_of(const struct merging *merging, uint64_t count)
{
    uint64_t drawn = merging->merge->drawn;
    return merging->outputs == 1 || (drawn > 0 && count <= drawn) ? LOTS
           : drawn == 0                                           ? LOTS / 2
                        : (uint32_t)(drawn * LOTS / count) + 1; /* upwards */
}

/* Which of the outputs gets the next tag; OUTPUTS: there is no entropy. One bit
   decides between halves. */
static size_t
draw_lot(struct merging *merging, uint32_t share)
{
    size_t bits = share == LOTS / 2 ? 1 : 16;
    if (share >= LOTS) {
        return 0;
    }
    if (merging->drawn + bits > 8 * sizeof merging->lot) {
        if (sotto_entropy(merging->lot, sizeof merging->lot) != 0) {
            return OUTPUTS;
        }
        merging->drawn = 0;
    }
    size_t at = merging->drawn / 8, bit = merging->drawn % 8;
    merging->drawn += bits;
    return bits == 1 ? (unsigned)merging->lot[at] >> bit & 1
                     : ((uint32_t)merging->lot[at] << 8 |
                        (uint32_t)merging->lot[at + 1]) >= share;
}

/* The next tag of a source that has one. */
struct head {
    struct key key;
    struct tag_source *source;
};

static inline bool
is_before(const struct key *a, const struct key *b)
{
    return a->high < b->high || (a->high == b->high && a->low < b->low);
}

static inline void
read_key(struct head *head)
{
    const uint8_t *at = head->source->at;
    head->key.high = tag_run_number(at);
    head->key.low = (uint32_t)at[8] << 8 | at[9];
}

/* Goes to the head's next tag, or forgets it if there is none; false: errno. */
static bool
step_head(struct head *heads, size_t *count, struct head *head)
{
    struct tag_source *source = head->source;
    if (--source->here > 0) {
        source->at += source->stride;
    } else if (!tag_source_refill(source)) {
        return false;
    }
    if (source->here > 0) {
        read_key(head);
    } else {
        *head = heads[--*count];
    }
    return true;
}

static size_t
gather_heads(struct merging *merging, struct head *heads)
{
    size_t count = 0;
    for (size_t i = 0; i < merging->sources; i++) {
        if (merging->source[i].here > 0) {
            heads[count].source = &merging->source[i];
            read_key(&heads[count++]);
        }
    }
    return count;
}

/* What the new filter has from now on, those of the sources need not. */
static void
give_back(const struct merging *merging, uint32_t campaign, uint64_t page)
{
    const struct output *output = &merging->output[0];
    const struct run_section *section = &output->section[output->sections - 1];
    if (page <= section->filter_page) {
        return;
    }
    uint64_t blocks = (page - section->filter_page) * RUN_PAGE_BLOCKS;
    uint64_t first = (blocks << 32) / section->filter_blocks;
    for (size_t i = 0; i < merging->sources; i++) {
        if (merging->source[i].run != NULL) {
            tag_filter_give_back(merging->source[i].run, campaign,
                                 first < UINT32_MAX ? (uint32_t)first
                                                    : UINT32_MAX);
        }
    }
}

static enum sotto_status
fail_entropy(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                     "the system gave no entropy; tags stay where they are");
}

static enum sotto_status
merge_campaign(struct merging *merging, uint32_t campaign, uint32_t share,
               struct sotto_error *err)
{
    struct head heads[TAG_SOURCES];
    struct key last = {0, UINT32_MAX}; /* no tag is that */
    size_t count = gather_heads(merging, heads);
    uint64_t given_back = 0;
    bool kept = campaign != merging->merge->without;
    for (size_t steps = 1; count > 0; steps++) {
        struct head *least = &heads[0];
        for (size_t i = 1; i < count; i++) {
            least = is_before(&heads[i].key, &least->key) ? &heads[i] : least;
        }
        if (kept &&
            (least->key.high != last.high || least->key.low != last.low)) {
            size_t to = draw_lot(merging, share);
            last = least->key;
            if (to == OUTPUTS) {
                return fail_entropy(err);
            }
            if (!add_tag(&merging->output[to], last)) {
                return fail_write(merging, err);
            }
        }
        if (!step_head(heads, &count, least)) {
            return fail_write(merging, err);
        }
        if (steps % 4096 == 0 && is_stopped(merging)) {
            return host_fail(err, SOTTO_STATUS_IO, 0, "it was stopped");
        }
        if (merging->merge->moves && kept &&
            merging->output[0].filter_written > given_back) {
            given_back = merging->output[0].filter_written;
            give_back(merging, campaign, given_back);
        }
    }
    return SOTTO_STATUS_OK;
}

/* The tags of the next campaign in all sources. */
static uint64_t
count_campaign(const struct merging *merging, uint32_t campaign)
{
    uint64_t count = 0;
    for (size_t i = 0; i < merging->sources; i++) {
        count += tag_source_count(&merging->source[i], campaign,
                                  merging->merge->tags);
    }
    return count;
}

static enum sotto_status
merge_campaigns(struct merging *merging, struct sotto_error *err)
{
    struct tag_merge *merge = merging->merge;
    enum sotto_status status = SOTTO_STATUS_OK;
    uint32_t campaign = 0;
    while (status == SOTTO_STATUS_OK &&
           (campaign = tag_source_next(merging->source, merging->sources,
                                       merge->tags)) != 0) {
        bool kept = campaign != merge->without, good = true;
        uint32_t share = share_of(merging, count_campaign(merging, campaign));
        for (size_t i = 0; good && i < merging->sources; i++) {
            good = tag_source_begin(&merging->source[i], campaign, merge->tags);
        }
        for (size_t i = 0; good && kept && i < merging->outputs; i++) {
            good = begin_section(&merging->output[i]);
        }
        status = good ? merge_campaign(merging, campaign, share, err)
                      : fail_write(merging, err);
        for (size_t i = 0;
             status == SOTTO_STATUS_OK && kept && i < merging->outputs; i++) {
            end_section(&merging->output[i]);
        }
    }
    return status;
}

/* ---- Planning ------------------------------------------------------------ */

/* An output's share of the tags and some more, so that luck costs little. */
static uint64_t
expected_tags(const struct merging *merging, size_t which, uint64_t count)
{
    uint64_t share = share_of(merging, count);
    share = which == 0 ? share : LOTS - share;
    uint64_t mine = count / LOTS * share + count % LOTS * share / LOTS;
    return merging->outputs == 1 ? count : mine + mine / 128 + 64;
}

/* The tags of a campaign in all sources, which go behind it. */
static uint64_t
pass_campaign(struct tag_source *source, size_t sources, uint32_t campaign,
              size_t tags)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sources; i++) {
        uint64_t mine = tag_source_count(&source[i], campaign, tags);
        count += mine;
        if (source[i].tag == NULL) {
            source[i].section += mine > 0;
        } else {
            source[i].first += (size_t)mine;
        }
    }
    return count;
}

/* Goes through all campaigns once, and lays out the filters of an output behind
   page `ret_end`, if it has sections; else it just counts them. */
static size_t
plan_sections(const struct merging *merging, size_t which, uint64_t *ret_end)
{
    struct tag_source source[TAG_SOURCES];
    struct run_section *section = merging->output[which].section;
    size_t tags = merging->merge->tags, sections = 0;
    uint32_t campaign = 0;
    memcpy(source, merging->source, sizeof source);
    while ((campaign = tag_source_next(source, merging->sources, tags)) != 0) {
        uint64_t count =
            pass_campaign(source, merging->sources, campaign, tags);
        if (campaign == merging->merge->without) {
            continue;
        }
        if (section != NULL) {
            uint64_t blocks = expected_tags(merging, which, count) *
                                  FILTER_BITS_A_TAG /
                                  ((uint64_t)8 * RUN_BLOCK) +
                              1;
            section[sections] =
                (struct run_section){campaign, 0, *ret_end, blocks, 0};
            *ret_end += (blocks + RUN_PAGE_BLOCKS - 1) / RUN_PAGE_BLOCKS;
        }
        sections++;
    }
    return sections;
}

static enum sotto_status
open_output(struct merging *merging, size_t which, struct sotto_error *err)
{
    struct output *output = &merging->output[which];
    uint64_t end = directory_pages(merging->planned);
    output->filter_written = end;
    output->fd =
        open(merging->merge->path[which],
             O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (output->fd < 0) {
        return fail_write(merging, err);
    }
    output->chunk = calloc(CHUNK_PAGES, RUN_PAGE);
    output->section = calloc(merging->planned + 1, sizeof *output->section);
    if (output->chunk == NULL || output->section == NULL) {
        return host_fail_memory(err);
    }
    (void)plan_sections(merging, which, &end);
    output->next_page = output->eased = end;
    output->filter = tag_filter_new(output->section, merging->planned, end);
    if (output->filter == NULL) {
        return host_fail_memory(err);
    }
    atomic_store_explicit(&merging->merge->filter[which], output->filter,
                          memory_order_release);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
begin_merge(struct merging *merging, struct sotto_error *err)
{
    uint64_t end = 0;
    enum sotto_status status = tag_source_open(merging->merge, merging->source,
                                               &merging->sources, err);
    if (status == SOTTO_STATUS_OK) {
        merging->planned = plan_sections(merging, 0, &end);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < merging->outputs; i++) {
        status = open_output(merging, i, err);
    }
    return status;
}

static enum sotto_status
finish_output(struct merging *merging, size_t which, struct sotto_error *err)
{
    struct output *output = &merging->output[which];
    bool good =
        write_chunk(output) && write_filter(output, output->filter->end, 0) &&
        write_directory(output, merging->merge->owner, merging->planned) &&
        fsync(output->fd) == 0;
    int fd = output->fd;
    output->fd = -1;
    good = close(fd) == 0 && good;
    merging->merge->count[which] = output->count;
    return good ? SOTTO_STATUS_OK : fail_write(merging, err);
}

void
tag_merge_clear(struct tag_merge *merge)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        tag_filter_free(atomic_exchange(&merge->filter[i], NULL));
    }
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
    merging->drawn = 8 * sizeof merging->lot;
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
        tag_source_close(&merging->source[i]);
    }
    free(merging);
    return status;
}
