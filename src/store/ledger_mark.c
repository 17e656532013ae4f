/*
 * ledger_mark.c: PATH.mark: how many charges a ledger had at least, beside the
 * secret, so that a ledger put back from a backup is told from the newest one.
 *
 *     slot: 8 bytes, the mark, its low byte first
 *           32 bytes, its keyed hash (ledger_secret.c)
 *     file: two slots; the mark is the greater of those that are whole
 *
 * The lower slot is written over, in place: a write that a loss of power tears
 * leaves the other one, which is a mark that was. A mark is never above the
 * ledger it is of: the charge is committed and flushed before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "store/ledger.h"

#define NUMBER_SIZE sizeof(uint64_t)
#define SLOT_SIZE (NUMBER_SIZE + LEDGER_CHECK_SIZE)

static void
write_slot(const uint8_t *secret, uint64_t mark, uint8_t ret_slot[SLOT_SIZE])
{
    bytes_store(ret_slot, NUMBER_SIZE, mark);
    ledger_secret_mark(secret, mark, ret_slot + NUMBER_SIZE);
}

/* Reads the mark of a slot; false: it is not whole, or another ledger's. */
static bool
read_slot(const uint8_t *secret, const uint8_t slot[SLOT_SIZE],
          uint64_t *ret_mark)
{
    uint8_t check[LEDGER_CHECK_SIZE];
    uint64_t mark = bytes_load(slot, NUMBER_SIZE);
    ledger_secret_mark(secret, mark, check);
    if (sodium_memcmp(check, slot + NUMBER_SIZE, sizeof check) != 0) {
        return false;
    }
    *ret_mark = mark;
    return true;
}

enum sotto_status
ledger_mark_create(const char *path, const uint8_t secret[LEDGER_SECRET_SIZE],
                   uint64_t mark, struct sotto_error *err)
{
    uint8_t slots[2 * SLOT_SIZE];
    char *name = host_text_path("%s.mark", path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    write_slot(secret, mark, slots);
    write_slot(secret, mark, slots + SLOT_SIZE);
    enum sotto_status status =
        access(name, F_OK) == 0
            ? SOTTO_STATUS_OK
            : host_file_write(name, 0600, true, slots, sizeof slots, err);
    if (status == SOTTO_STATUS_IO && access(name, F_OK) == 0) {
        status = SOTTO_STATUS_OK; /* another program was faster */
    }
    free(name);
    return status;
}

void
ledger_mark_remove(const char *path)
{
    char *name = host_text_path("%s.mark", path);
    if (name != NULL) {
        (void)unlink(name);
    }
    free(name);
}

/* Raises the mark in a file that is open and locked; returns errno. */
static int
raise_slot(int fd, const uint8_t *secret, uint64_t sequence, uint64_t *ret_mark)
{
    uint8_t slots[2 * SLOT_SIZE] = {0}, slot[SLOT_SIZE];
    uint64_t mark[2] = {0, 0};
    ssize_t size = pread(fd, slots, sizeof slots, 0);
    if (size < 0) {
        return errno;
    }
    bool whole[2] = {read_slot(secret, slots, &mark[0]),
                     read_slot(secret, slots + SLOT_SIZE, &mark[1])};
    size_t high = whole[1] && (!whole[0] || mark[1] > mark[0]);
    *ret_mark = whole[high] ? mark[high] : LEDGER_MARK_LOST;
    if (*ret_mark >= sequence) {
        return 0;
    }
    write_slot(secret, sequence, slot);
    errno = EIO; /* of a write that is too short */
    return pwrite(fd, slot, sizeof slot, high ? 0 : SLOT_SIZE) ==
                       (ssize_t)sizeof slot &&
                   fdatasync(fd) == 0
               ? 0
               : errno;
}

enum sotto_status
ledger_mark_raise(const char *path, const uint8_t secret[LEDGER_SECRET_SIZE],
                  uint64_t sequence, uint64_t *ret_mark,
                  struct sotto_error *err)
{
    uint64_t mark = LEDGER_MARK_LOST;
    char *name = host_text_path("%s.mark", path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int error = fd < 0 && errno != ENOENT ? errno : 0;
    if (fd >= 0) {
        error = flock(fd, LOCK_EX) != 0
                    ? errno
                    : raise_slot(fd, secret, sequence, &mark);
        (void)close(fd);
    }
    if (error == 0) {
        *ret_mark = mark;
    }
    free(name);
    return error == 0 ? SOTTO_STATUS_OK
                      : host_fail(err, SOTTO_STATUS_IO, 0,
                                  "cannot keep the mark in '%s.mark': %s",
                                  host_shown(path), strerror(error));
}
