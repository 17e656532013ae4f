/*
 * fuzz_head_bytes.c: head_bytes_plain on any bytes. The input is a head as the
 * server leaves it, with NULs for what it took apart. What is plain has no
 * other bytes than it may have, ends where it ends, and is not plain without
 * its last byte.
 */
#include "collector/head_bytes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_plain(const char *head, size_t size, size_t version, size_t target)
{
    size_t nuls = 0;
    require(size > version + 11 && target < version);
    require(memcmp(head + size - 4, "\0\0\0\0", 4) == 0);
    for (size_t i = version; i < size; i++) {
        unsigned char c = (unsigned char)head[i];
        nuls = c == 0 ? nuls + 1 : 0;
        require(nuls <= 5);
        require(c == 0 || c == '\t' || (c >= ' ' && c != 0x7f));
    }
    require(!head_bytes_plain(head, size - 1, version, target));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *head = malloc(size + 1), *own;
    size_t method, version, target;
    if (head == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(head, data, size);
    }
    head[size] = '\0';
    method = strlen(head);
    target = method < size ? strlen(head + method + 1) : 0;
    version = method + target + 2;
    (void)head_bytes_target(head);
    own = malloc(size > 0 ? size : 1); /* without the NUL behind it */
    if (own != NULL && size > 0) {
        memcpy(own, data, size);
        if (head_bytes_plain(own, size, version, target)) {
            check_plain(own, size, version, target);
        }
    }
    free(own);
    free(head);
    return 0;
}
