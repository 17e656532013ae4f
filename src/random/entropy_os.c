/*
 * entropy_os.c: sotto_entropy() on Linux: getrandom, buffered per thread.
 *
 * Not part of the trusted library: each platform brings its own. Bytes are
 * zeroed as they are handed out. The buffer lies in a page that the kernel
 * empties in a child process (MADV_WIPEONFORK), so a fork never repeats its
 * parent's noise; where that cannot be had, nothing is buffered. If the system
 * gives no entropy, neither do we (invariant 3). A virtual machine resumed
 * twice from one snapshot is beyond what user space can see: take snapshots
 * before the first report.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/types.h>

#include "sotto/client.h"

#define POOL_SIZE 16384u

/* Zero at birth and after a fork: then `left` is 0 and nothing is reused. */
struct pool {
    size_t left; /* unused bytes, at the end of `bytes` */
    uint8_t bytes[POOL_SIZE - sizeof(size_t)];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_made;

static void
pool_free(void *pool)
{
    explicit_bzero(pool, POOL_SIZE);
    (void)munmap(pool, POOL_SIZE);
}

static void
make_key(void)
{
    key_made = pthread_key_create(&key, pool_free) == 0;
}

/* This thread's pool, or NULL where one cannot be had safely. */
static struct pool *
pool_get(void)
{
    void *pool;
    (void)pthread_once(&once, make_key);
    if (!key_made) {
        return NULL;
    }
    pool = pthread_getspecific(key);
    if (pool != NULL) {
        return pool;
    }
    pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pool == MAP_FAILED) {
        return NULL;
    }
    if (madvise(pool, POOL_SIZE, MADV_WIPEONFORK) != 0 ||
        pthread_setspecific(key, pool) != 0) {
        (void)munmap(pool, POOL_SIZE);
        return NULL;
    }
    (void)madvise(pool, POOL_SIZE, MADV_DONTDUMP);
    return pool;
}

static int
from_system(uint8_t *buffer, size_t size)
{
    while (size > 0) {
        ssize_t got = getrandom(buffer, size, 0);
        if (got <= 0 && (got == 0 || errno != EINTR)) {
            return -1;
        }
        if (got > 0) {
            buffer += got;
            size -= (size_t)got;
        }
    }
    return 0;
}

int
sotto_entropy(void *buffer, size_t size)
{
    struct pool *pool = size < POOL_SIZE / 4 ? pool_get() : NULL;
    uint8_t *at;
    if (pool == NULL) {
        return from_system(buffer, size);
    }
    if (pool->left < size) {
        if (from_system(pool->bytes, sizeof pool->bytes) != 0) {
            return -1;
        }
        pool->left = sizeof pool->bytes;
    }
    at = pool->bytes + sizeof pool->bytes - pool->left;
    memcpy(buffer, at, size);
    explicit_bzero(at, size);
    pool->left -= size;
    return 0;
}
