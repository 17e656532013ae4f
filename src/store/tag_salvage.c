/*
 * tag_salvage.c: saving what is sound of a run of tags that is damaged.
 *
 * Every page is looked at once, and then those of tags are streamed into a new
 * run, whose filters are made anew.
 */
#include "store/tag_salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checksum.h"
#include "host/error.h"

#define PARTS_MOST ((size_t)1024) /* whose campaign is not known */

/* Tags of one campaign, on pages that follow each other. */
struct part {
    uint32_t campaign; /* 0: it is not known */
    uint64_t first, pages;
    uint64_t stated; /* tags, as the directory has it; 0: it does not */
    uint64_t count;  /* on pages that are sound */
};

/* Where the tags of a part are read. */
struct cursor {
    const struct part *part;
    uint64_t page; /* the next one, of the part's */
    size_t at, count;
    uint8_t bytes[RUN_PAGE];
};

struct salvaging {
    struct tag_salvage *salvage;
    int fd;
    uint64_t pages;
    struct part *part;
    size_t parts;
    uint64_t directory; /* pages */
    bool listed;        /* the directory is whole */
    uint64_t unsound;   /* pages, of whatever they are */
    /* Of the new run: */
    struct run_section *section;
    size_t sections;
    struct cursor *cursor;
    size_t cursors;
    size_t now;    /* the section that is streamed */
    uint64_t left; /* tags of it */
};

static uint64_t
little_endian(const uint8_t *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | from[i - 1];
    }
    return value;
}

/* ---- Pages --------------------------------------------------------------- */

enum page { PAGE_SOUND, PAGE_MENDED, PAGE_BAD };

static enum page
read_page(const struct salvaging *s, uint64_t number, uint8_t *page)
{
    size_t at = 0;
    uint8_t mend = 0;
    if (number >= s->pages ||
        !tag_run_read(s->fd, page, RUN_PAGE, number * RUN_PAGE)) {
        return PAGE_BAD;
    }
    uint32_t change =
        tag_run_page_sum(number, page) ^ host_checksum_read(page + RUN_USED);
    if (change == 0) {
        return PAGE_SOUND;
    }
    if (!host_checksum_find(change, RUN_USED, &at, &mend)) {
        return PAGE_BAD;
    }
    page[at] ^= mend;
    return PAGE_MENDED;
}

/* How many tags a page has: in their order, with zeros behind them; 0: it is
   none of tags. */
static size_t
count_tags(const uint8_t *page)
{
    static const uint8_t none[RUN_PAGE];
    size_t count = 0;
    while (count < RUN_PAGE_TAGS &&
           memcmp(page + count * RUN_TAG_SIZE,
                  count == 0 ? none : page + (count - 1) * RUN_TAG_SIZE,
                  RUN_TAG_SIZE) > 0) {
        count++;
    }
    size_t end = count * RUN_TAG_SIZE;
    return memcmp(page + end, none, RUN_USED - end) == 0 ? count : 0;
}

/* Tags of page `i` of a part; SIZE_MAX: it is damaged. */
static size_t
read_part(const struct salvaging *s, const struct part *part, uint64_t i,
          uint8_t *page)
{
    enum page state = read_page(s, part->first + i, page);
    size_t count = state == PAGE_BAD ? 0 : count_tags(page);
    uint64_t left = part->stated - i * RUN_PAGE_TAGS;
    uint64_t wanted = left < RUN_PAGE_TAGS ? left : RUN_PAGE_TAGS;
    return count == 0 || (part->stated > 0 && count != wanted) ? SIZE_MAX
                                                               : count;
}

/* ---- The directory ------------------------------------------------------- */

static enum sotto_status
add_part(struct salvaging *s, struct part part, struct sotto_error *err)
{
    struct part *more = realloc(s->part, (s->parts + 1) * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    s->part = more;
    more[s->parts++] = part;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fail_salvage(const struct salvaging *s, const char *why,
             struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0, "'%s' %s",
                     host_shown(s->salvage->path), why);
}

/* Takes the rows of one page of the directory that lie in the file. */
static enum sotto_status
take_rows(struct salvaging *s, const uint8_t *page, size_t rows,
          struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < rows; i++) {
        const uint8_t *row = page + RUN_HEAD + i * RUN_ROW;
        struct part part = {.campaign = (uint32_t)little_endian(row, 4),
                            .first = little_endian(row + 32, 8),
                            .stated = little_endian(row + 8, 8)};
        part.pages =
            part.stated / RUN_PAGE_TAGS + (part.stated % RUN_PAGE_TAGS != 0);
        uint64_t there = part.first < s->pages ? s->pages - part.first : 0;
        s->salvage->lost += part.pages > there ? part.pages - there : 0;
        part.pages = part.pages < there ? part.pages : there;
        if (part.campaign != 0 && part.stated > 0) {
            status = add_part(s, part, err);
        }
    }
    return status;
}

/* Every page of the directory says how many rows there are in all. */
static enum sotto_status
read_directory(struct salvaging *s, struct sotto_error *err)
{
    uint8_t page[RUN_PAGE];
    uint64_t sections = 0, pages = 1;
    enum sotto_status status = SOTTO_STATUS_OK;
    bool whole = true;
    for (uint64_t i = 0; status == SOTTO_STATUS_OK && i < pages; i++) {
        enum page state = read_page(s, i, page);
        bool mine = state != PAGE_BAD &&
                    memcmp(page, RUN_MAGIC, RUN_MAGIC_SIZE) == 0 &&
                    little_endian(page + 8, 4) == RUN_VERSION;
        whole = whole && mine;
        s->directory = mine || i == 0 ? i + 1 : s->directory;
        if (!mine) {
            pages = i == 0 ? 2 : pages; /* the next one may say, too */
            continue;
        }
        if (memcmp(page + 32, s->salvage->owner, RUN_OWNER_SIZE) != 0) {
            return fail_salvage(s, "belongs to another store", err);
        }
        sections = little_endian(page + 12, 4);
        pages = sections / RUN_PAGE_ROWS + (sections % RUN_PAGE_ROWS != 0);
        pages = pages > s->pages ? s->pages : pages;
        uint64_t rows = sections - i * RUN_PAGE_ROWS;
        rows = i * RUN_PAGE_ROWS > sections ? 0 : rows;
        status = take_rows(
            s, page, (size_t)(rows < RUN_PAGE_ROWS ? rows : RUN_PAGE_ROWS),
            err);
    }
    s->listed = whole && s->parts == sections;
    return status;
}

/* ---- Finding ------------------------------------------------------------- */

static bool
is_listed(const struct salvaging *s, size_t parts, uint64_t number)
{
    for (size_t i = 0; i < parts; i++) {
        if (number >= s->part[i].first &&
            number - s->part[i].first < s->part[i].pages) {
            return true;
        }
    }
    return false;
}

/* Finds the parts that the directory does not list: a page belongs to the one
   before it if its tags go on there. */
static enum sotto_status
find_parts(struct salvaging *s, struct sotto_error *err)
{
    uint8_t page[RUN_PAGE], last[RUN_TAG_SIZE];
    size_t listed = s->parts, count = 0;
    bool open = false;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint64_t i = s->directory; status == SOTTO_STATUS_OK && i < s->pages;
         i++) {
        bool skipped = is_listed(s, listed, i);
        enum page state = skipped ? PAGE_BAD : read_page(s, i, page);
        open = open && !skipped;
        count = state == PAGE_BAD ? 0 : count_tags(page);
        if (state == PAGE_BAD || count == 0) {
            open = open && state == PAGE_BAD;
            continue;
        }
        if (open && s->part != NULL && memcmp(page, last, sizeof last) > 0) {
            struct part *part = &s->part[s->parts - 1];
            part->pages = i + 1 - part->first;
        } else if (s->parts - listed == PARTS_MOST) {
            status =
                fail_salvage(s, "is damaged beyond what can be saved", err);
        } else {
            status = add_part(s, (struct part){.first = i, .pages = 1}, err);
        }
        memcpy(last, page + (count - 1) * RUN_TAG_SIZE, sizeof last);
        open = count == RUN_PAGE_TAGS;
    }
    return status;
}

/* ---- Looking ------------------------------------------------------------- */

/* Looks at every page, and counts the tags of each part. */
static void
look_at_pages(struct salvaging *s)
{
    uint8_t page[RUN_PAGE];
    for (uint64_t i = 0; i < s->pages; i++) {
        enum page state = read_page(s, i, page);
        s->unsound += state != PAGE_SOUND;
        s->salvage->mended += state == PAGE_MENDED;
    }
    for (size_t i = 0; i < s->parts; i++) {
        struct part *part = &s->part[i];
        for (uint64_t j = 0; j < part->pages; j++) {
            size_t count = read_part(s, part, j, page);
            part->count += count == SIZE_MAX ? 0 : count;
            s->salvage->lost += count == SIZE_MAX;
        }
    }
}

/* Whether the directory says which part is a campaign's. */
static bool
has_part(const struct salvaging *s, uint32_t campaign)
{
    for (size_t i = 0; i < s->parts; i++) {
        if (s->part[i].campaign == campaign) {
            return true;
        }
    }
    return false;
}

/* ---- Streaming ----------------------------------------------------------- */

/* Reads on until there is a tag, or the part is over. */
static void
fill_cursor(const struct salvaging *s, struct cursor *cursor)
{
    while (cursor->at == cursor->count && cursor->page < cursor->part->pages) {
        size_t count =
            read_part(s, cursor->part, cursor->page++, cursor->bytes);
        cursor->at = 0;
        cursor->count = count == SIZE_MAX ? 0 : count;
    }
}

static void
begin_section(struct salvaging *s)
{
    const struct run_section *section = &s->section[s->now];
    uint32_t mine = has_part(s, section->campaign) ? section->campaign : 0;
    s->left = section->count;
    s->cursors = 0;
    for (size_t i = 0; i < s->parts; i++) {
        if (s->part[i].campaign == mine) {
            struct cursor *cursor = &s->cursor[s->cursors++];
            cursor->part = &s->part[i];
            cursor->page = 0;
            cursor->at = cursor->count = 0;
            fill_cursor(s, cursor);
        }
    }
}

/* The smallest tag that a cursor is at. */
static bool
give_tag(void *context, uint8_t tag[TAG_SIZE])
{
    struct salvaging *s = context;
    struct cursor *least = NULL;
    while (s->left == 0 && s->now + 1 < s->sections) {
        s->now++;
        begin_section(s);
    }
    for (size_t i = 0; i < s->cursors; i++) {
        struct cursor *cursor = &s->cursor[i];
        if (cursor->at < cursor->count &&
            (least == NULL || memcmp(cursor->bytes + cursor->at * RUN_TAG_SIZE,
                                     least->bytes + least->at * RUN_TAG_SIZE,
                                     RUN_TAG_SIZE) < 0)) {
            least = cursor;
        }
    }
    if (least == NULL) { /* what was there is not there any more */
        errno = EIO;
        return false;
    }
    memset(tag, 0, TAG_SIZE);
    memcpy(tag, least->bytes + least->at++ * RUN_TAG_SIZE, RUN_TAG_SIZE);
    fill_cursor(s, least);
    s->left--;
    return true;
}

/* ---- Campaigns ----------------------------------------------------------- */

/* Gives the parts that are left to the campaigns that are left, if there are as
   many. */
static void
name_parts(struct salvaging *s)
{
    size_t parts = 0, campaigns = 0, at = 0;
    for (size_t i = 0; i < s->parts; i++) {
        parts += s->part[i].campaign == 0;
    }
    for (size_t i = 0; i < s->salvage->campaigns; i++) {
        campaigns += !has_part(s, s->salvage->campaign[i]);
    }
    for (size_t i = 0; parts == campaigns && i < s->parts; i++) {
        if (s->part[i].campaign == 0) {
            while (has_part(s, s->salvage->campaign[at])) {
                at++;
            }
            s->part[i].campaign = s->salvage->campaign[at];
        }
    }
}

/* What the new run will have, in the order of campaigns. */
static enum sotto_status
plan_sections(struct salvaging *s, struct sotto_error *err)
{
    s->section = calloc(s->salvage->campaigns + 1, sizeof *s->section);
    s->cursor = calloc(s->parts + 1, sizeof *s->cursor);
    if (s->section == NULL || s->cursor == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < s->salvage->campaigns; i++) {
        struct run_section *section = &s->section[s->sections];
        section->campaign = s->salvage->campaign[i];
        uint32_t mine = has_part(s, section->campaign) ? section->campaign : 0;
        for (size_t j = 0; j < s->parts; j++) {
            section->count +=
                s->part[j].campaign == mine ? s->part[j].count : 0;
        }
        s->sections += section->count > 0;
    }
    return s->sections > 0
               ? SOTTO_STATUS_OK
               : fail_salvage(s, "is damaged, and no tag of it is left", err);
}

static enum sotto_status
write_run(struct salvaging *s, struct sotto_error *err)
{
    struct tag_merge merge = {.owner = s->salvage->owner,
                              .streamed = s->section,
                              .streams = s->sections,
                              .next = give_tag,
                              .context = s,
                              .path = {s->salvage->to, NULL}};
    begin_section(s);
    enum sotto_status status = tag_merge(&merge, err);
    s->salvage->count = merge.count[0];
    tag_merge_clear(&merge);
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

static bool
is_wanted(const struct salvaging *s, uint32_t campaign)
{
    bool wanted = false;
    for (size_t i = 0; i < s->salvage->campaigns; i++) {
        wanted = wanted || s->salvage->campaign[i] == campaign;
    }
    return wanted;
}

static enum sotto_status
save(struct salvaging *s, struct sotto_error *err)
{
    enum sotto_status status = read_directory(s, err);
    if (status == SOTTO_STATUS_OK && !s->listed) {
        status = find_parts(s, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    name_parts(s);
    look_at_pages(s);
    s->salvage->sound = s->listed && s->unsound == 0 && s->salvage->lost == 0;
    for (size_t i = 0; i < s->parts; i++) {
        s->salvage->count += s->part[i].count;
        s->salvage->sound =
            s->salvage->sound && is_wanted(s, s->part[i].campaign);
    }
    status = s->salvage->sound ? status : plan_sections(s, err);
    return s->salvage->sound ? status : HOST_THEN(status, write_run(s, err));
}

enum sotto_status
tag_salvage(struct tag_salvage *salvage, struct sotto_error *err)
{
    struct salvaging s = {.salvage = salvage};
    struct stat info;
    salvage->count = salvage->lost = salvage->mended = 0;
    salvage->sound = false;
    s.fd = open(salvage->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (s.fd < 0 || fstat(s.fd, &info) != 0) {
        enum sotto_status status =
            s.fd < 0 && errno == ENOENT
                ? fail_salvage(&s, "is not there", err)
                : host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                            host_shown(salvage->path), strerror(errno));
        if (s.fd >= 0) {
            (void)close(s.fd);
        }
        return status;
    }
    s.pages = (uint64_t)info.st_size / RUN_PAGE;
    enum sotto_status status = save(&s, err);
    (void)close(s.fd);
    free(s.part);
    free(s.section);
    free(s.cursor);
    return status;
}
