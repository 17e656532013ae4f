/*
 * wipe.c: memory that held people's records, given back empty.
 */
#include "host/wipe.h"

#include <stdlib.h>
#include <string.h>

void
host_wipe_free(void *data, size_t size)
{
    if (data != NULL) {
        explicit_bzero(data, size);
        free(data);
    }
}

void *
host_wipe_resize(void *data, size_t used, size_t wanted)
{
    void *moved = malloc(wanted);
    if (moved == NULL) {
        return NULL;
    }
    if (used > 0) {
        memcpy(moved, data, used < wanted ? used : wanted);
    }
    host_wipe_free(data, used);
    return moved;
}
