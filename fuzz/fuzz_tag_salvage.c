/*
 * fuzz_tag_salvage.c: tag_salvage.c and tag_run.c on a file that is no run, or
 * one that is damaged. With an odd first byte the sums of its pages are put
 * right first. What is saved must be a sound run with as many tags as were
 * counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/checksum.h"
#include "require.h"
#include "store/tag_salvage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t owner[RUN_OWNER_SIZE] = {1, 2, 3};
static const uint32_t campaigns[] = {1, 2, 5};
static char folder[] = "/dev/shm/sotto-fuzz-XXXXXX";
static char from[64], to[64];

static void
remove_folder(void)
{
    (void)unlink(from);
    (void)unlink(to);
    (void)rmdir(folder);
}

static bool
make_folder(void)
{
    if (from[0] == '\0' && mkdtemp(folder) != NULL) {
        (void)snprintf(from, sizeof from, "%s/from", folder);
        (void)snprintf(to, sizeof to, "%s/to", folder);
        (void)atexit(remove_folder);
    }
    return from[0] != '\0';
}

static bool
write_run(const uint8_t *bytes, size_t size)
{
    int fd = open(from, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    return (fd < 0 || close(fd) == 0) && good;
}

static void
put_sums(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size / RUN_PAGE; i++) {
        uint8_t *page = bytes + i * RUN_PAGE;
        host_checksum_write(tag_run_page_sum(i, page), page + RUN_USED);
    }
}

/* Asks whatever opens as a run for some tags. */
static void
ask_run(const char *path, const uint8_t *bytes, size_t size)
{
    static const atomic_bool never = false;
    struct tag_run *run = NULL;
    struct sotto_error err;
    uint8_t tag[TAG_SIZE] = {0};
    if (tag_run_open(path, owner, &run, &err) != SOTTO_STATUS_OK) {
        return;
    }
    for (size_t at = 0; at + RUN_TAG_SIZE < size; at += size / 8 + 1) {
        memcpy(tag, bytes + at, RUN_TAG_SIZE);
        (void)tag_run_find(run, campaigns[at % 3], tag);
    }
    (void)tag_run_check(run, 0, UINT64_MAX);
    if (tag_filter_prepare(run)) {
        tag_filter_load(run, &never);
        (void)tag_run_find(run, campaigns[0], tag);
    }
    tag_run_close(run);
}

static struct tag_salvage
salvage_of(const char *path)
{
    return (struct tag_salvage){.path = path,
                                .owner = owner,
                                .campaign = campaigns,
                                .campaigns =
                                    sizeof campaigns / sizeof *campaigns,
                                .to = to};
}

static void
save_run(void)
{
    struct sotto_error err;
    struct tag_salvage salvage = salvage_of(from);
    (void)unlink(to);
    if (tag_salvage(&salvage, &err) != SOTTO_STATUS_OK) {
        require(err.status == SOTTO_STATUS_FORMAT ||
                err.status == SOTTO_STATUS_MEMORY ||
                err.status == SOTTO_STATUS_IO);
        return;
    }
    if (!salvage.sound) {
        struct tag_run *run = NULL;
        require(tag_run_open(to, owner, &run, &err) == SOTTO_STATUS_OK);
        require(tag_run_check(run, 0, UINT64_MAX) == 0);
        require(tag_run_count(run) == salvage.count);
        tag_run_close(run);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    if (size < 1 || bytes == NULL || !make_folder()) {
        free(bytes);
        return 0;
    }
    size -= 1;
    memcpy(bytes, data + 1, size);
    if (data[0] % 2 == 1) {
        put_sums(bytes, size);
    }
    if (write_run(bytes, size)) {
        ask_run(from, bytes, size);
        save_run();
    }
    free(bytes);
    return 0;
}
