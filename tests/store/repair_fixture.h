/*
 * repair_fixture.h: a small store with something in every table, its bytes, and
 * what must be left of it after damage and repair.
 *
 * Reports of campaign 1 have numbers below BASE, those of campaign 2 from there
 * on, so that a report that comes out in another campaign is seen.
 */
#ifndef SOTTO_TESTS_REPAIR_FIXTURE_H
#define SOTTO_TESTS_REPAIR_FIXTURE_H

#include "store_file.h"

#include <dirent.h>
#include <stdlib.h>

#define BASE 2000u
#define NUMBERS (2 * BASE)
#define FILES_MOST 8u

/* A store as it is on the disk. */
struct image {
    struct bytes file, log; /* no log: NULL */
    struct {
        char name[64];
        struct bytes bytes;
    } run[FILES_MOST];
    size_t runs;
    bool put[NUMBERS];
    uint32_t page[NUMBERS]; /* that a report's payload is on; 0: it is in the
                               log */
    size_t offset[NUMBERS]; /* where it is in the file */
};

static inline bool
is_full(void)
{
    const char *full = getenv("SOTTO_FULL");
    return full != NULL && strcmp(full, "1") == 0;
}

static inline uint8_t
mechanism_of(uint64_t number)
{
    return number < BASE ? 1 : 2;
}

/* Puts reports `first` to `first` + `count` - 1, `group` a commit. */
static inline void
put_numbers(struct image *image, struct store *store, uint64_t first,
            size_t count, size_t group)
{
    uint32_t c = campaign_of(store, mechanism_of(first));
    for (size_t i = 0; i < count; i++) {
        if (i % group == 0) {
            MUST(store_begin(store, &said));
        }
        assert_int_equal(put(store, c, mechanism_of(first), first + i),
                         STORE_ACCEPTED);
        image->put[first + i] = true;
        if (i % group == group - 1 || i == count - 1) {
            MUST(store_commit(store, &said));
        }
    }
}

static inline void
spill_bytes(const char *path, const char *suffix, const struct bytes *bytes)
{
    char name[800];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
}

/* Where every payload is. */
static inline void
find_payloads(struct image *image)
{
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint64_t check = mix(i ^ 0x5a5a5a5a);
        const uint8_t *at = image->put[i] ? memmem(image->file.data,
                                                   image->file.size, &check, 8)
                                          : NULL;
        image->offset[i] =
            at != NULL ? (size_t)(at - image->file.data) - 16 : 0;
        image->page[i] =
            at != NULL ? (uint32_t)(image->offset[i] / PAGE) + 1 : 0;
    }
}

static inline void
take_image(struct image *image, const char *path, bool log)
{
    char folder_name[700];
    image->file = raw(path, "");
    image->log = log ? raw(path, "-wal") : (struct bytes){NULL, 0};
    (void)snprintf(folder_name, sizeof folder_name, "%s-tags", path);
    DIR *all = opendir(folder_name);
    assert_non_null(all);
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all)) {
        if (e->d_name[0] != '.') {
            char *name = image->run[image->runs].name;
            assert_true(image->runs < FILES_MOST && strlen(e->d_name) < 40);
            (void)snprintf(name, sizeof image->run[0].name, "-tags/%.40s",
                           e->d_name);
            image->run[image->runs++].bytes = raw(path, name);
        }
    }
    (void)closedir(all);
    find_payloads(image);
}

static inline void
free_image(struct image *image)
{
    free(image->file.data);
    free(image->log.data);
    for (size_t i = 0; i < image->runs; i++) {
        free(image->run[i].bytes.data);
    }
    free(image);
}

/* Removes a store and all that repairs left of it. */
static inline void
remove_store(const char *path)
{
    static const char *const suffix[] = {
        "",          "-wal",  "-shm",     ".lock",
        ".repaired", ".copy", ".damaged", ".damaged-wal",
    };
    char name[800];
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        (void)unlink(name);
    }
    (void)snprintf(name, sizeof name, "%s-tags", path);
    DIR *all = opendir(name);
    for (const struct dirent *e = all != NULL ? readdir(all) : NULL; e != NULL;
         e = readdir(all)) {
        (void)snprintf(name, sizeof name, "%s-tags/%.40s", path, e->d_name);
        (void)unlink(name);
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    (void)snprintf(name, sizeof name, "%s-tags", path);
    (void)rmdir(name);
}

/* Writes the image to a path where there is nothing. */
static inline void
spill_image(const struct image *image, const char *path)
{
    char name[700];
    (void)snprintf(name, sizeof name, "%s-tags", path);
    assert_int_equal(mkdir(name, 0700), 0);
    spill_bytes(path, "", &image->file);
    if (image->log.data != NULL) {
        spill_bytes(path, "-wal", &image->log);
    }
    for (size_t i = 0; i < image->runs; i++) {
        spill_bytes(path, image->run[i].name, &image->run[i].bytes);
    }
}

/* Writes the image where there is nothing. */
static inline const char *
spill_anew(const struct image *image)
{
    static const char *path;
    if (path != NULL) {
        remove_store(path);
    } else {
        path = new_path();
    }
    (void)snprintf(url, sizeof url, "sqlite:%s", path);
    spill_image(image, path);
    return path;
}

/* Reports released in several batches, held, and of an open window, of two
   campaigns; of a third one that was forgotten nothing. */
static inline void
fill_store(struct image *image, struct store *store)
{
    struct store_counts counts;
    uint32_t third = campaign_of(store, 3);
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < 200; i++) {
        (void)put(store, third, 3, NUMBERS + i);
    }
    MUST(store_commit(store, &said));
    put_numbers(image, store, 0, 250, 100);
    put_numbers(image, store, BASE, 120, 50);
    move_window(store, ALL, 100);
    MUST(store_forget(store, hash_of(3), &counts, &said));
    put_numbers(image, store, 250, 130, 40);
    put_numbers(image, store, BASE + 120, 95, 95);
    move_window(store, ALL, 100);
    put_numbers(image, store, 380, 120, 30);
    put_numbers(image, store, BASE + 215, 20, 7);
    move_window(store, ALL, 125);
    put_numbers(image, store, 500, 60, 20);
    put_numbers(image, store, BASE + 235, 25, 9);
}

/* What fill_store puts, where another process has called it. */
static inline void
note_put(struct image *image)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        image->put[i] = i % BASE < (i < BASE ? 560 : 260);
    }
}

static inline struct image *
make_image(void)
{
    struct image *image = calloc(1, sizeof *image);
    const char *path = new_path();
    assert_non_null(image);
    struct store *store = open_store(url);
    fill_store(image, store);
    store_free(store);
    take_image(image, path, false);
    return image;
}

/* ---- What is left -------------------------------------------------------- */

/* How often each report comes out of the store. */
static inline void
read_numbers(unsigned *times)
{
    memset(times, 0, NUMBERS * sizeof *times);
    for (uint8_t mechanism = 1; mechanism <= 3; mechanism++) {
        struct store_reader *reader = NULL;
        struct store_batch batch = {0};
        MUST(store_reader_open(url, &reader, NULL, &said));
        do {
            MUST(store_reader_next(reader, hash_of(mechanism), batch.number,
                                   &batch, &said));
            assert_int_equal(batch.damaged, 0);
            for (size_t i = 0; i < batch.count; i++) {
                uint64_t number = payload_number(
                    batch.reports + i * REPORT_SIZE + REPORT_HEADER_SIZE);
                assert_true(number < NUMBERS);
                assert_int_equal(mechanism_of(number), mechanism);
                times[number]++;
            }
            free(batch.reports);
        } while (batch.number != 0);
        store_reader_free(reader);
    }
}

/* What repair said, the last time. */
static struct store_repaired repaired;

/*
 * Repairs, looks, opens, moves on and reads all. Every report that was put
 * comes out once, but for those whose `may_lose` says so; what is known stays
 * known, and what is put again is there then. Returns how many are missing.
 */
static inline size_t
repair_and_count(const struct image *image, const bool *may_lose,
                 bool tags_lost)
{
    static unsigned times[NUMBERS];
    size_t missing = 0, again = 0;
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_false(repaired.sound);
    struct store_damage damage = look_at_all(url);
    assert_int_equal(damage.reports, 0);
    assert_int_equal(damage.places, damage.gone);
    assert_true(tags_lost || damage.places == 0);
    struct store *store = open_store(url);
    uint32_t c[2] = {campaign_of(store, 1), campaign_of(store, 2)};
    struct store_counts counts[2] = {counts_of(store, c[0]),
                                     counts_of(store, c[1])};
    assert_int_equal(counts[0].released + counts[1].released,
                     repaired.released);
    assert_int_equal(counts[0].waiting + counts[1].waiting, repaired.waiting);
    move_window(store, ALL, 2);
    scrub(store);
    read_numbers(times);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        assert_true(times[i] <= image->put[i]);
        if (image->put[i] && times[i] == 0) {
            assert_true(may_lose[i]);
            missing++;
        }
    }
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < NUMBERS; i++) {
        enum store_answer answer =
            image->put[i]
                ? put(store, c[mechanism_of(i) - 1], mechanism_of(i), i)
                : STORE_DUPLICATE;
        /* of what waited in a damaged page the tag may be damaged, too */
        assert_true(answer == STORE_DUPLICATE || may_lose[i] || tags_lost);
        again += answer == STORE_ACCEPTED && !may_lose[i];
    }
    MUST(store_commit(store, &said));
    store_free(store);
    assert_true(again == 0 || tags_lost);
    return missing;
}

/* Which reports are on a page. */
static inline size_t
find_on_page(const struct image *image, uint32_t page, bool *ret_on)
{
    size_t count = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        bool on = image->put[i] && image->page[i] == page;
        ret_on[i] = ret_on[i] || on;
        count += on;
    }
    return count;
}

#endif
