/*
 * entropy_os.c: sotto_entropy() on Linux: getrandom, buffered per thread.
 *
 * Not part of the trusted library: each platform brings its own. Bytes are
 * zeroed as they are handed out. The buffer lies in a page that the kernel
 * empties in a child process (MADV_WIPEONFORK), so a fork never repeats its
 * parent's noise; where that cannot be had, nothing is buffered. If the system
 * gives no entropy, neither do we (invariant 3). A virtual machine resumed
 * twice from one snapshot is beyond what user space can see: take snapshots
 * before the first report. A signal handler may fork or draw in the middle of
 * a draw: the child sees that its pool was emptied, the handler that it is
 * busy.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/types.h>

#include "sotto/client.h"

#define POOL_SIZE 16384u

/* All zero at birth, and again in a child after a fork. */
struct pool {
    volatile size_t alive; /* 1 once filled; 0 tells that it was emptied */
    volatile size_t busy;  /* a draw is under way in this thread */
    volatile size_t left;  /* unused bytes, at the front of `bytes` */
    uint8_t bytes[POOL_SIZE - 3 * sizeof(size_t)];
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

/* Takes the last unused bytes, and zeroes them. */
static int
from_pool(struct pool *pool, void *buffer, size_t size)
{
    size_t left = pool->left;
    if (!pool->alive || left < size) {
        left = sizeof pool->bytes;
        if (from_system(pool->bytes, left) != 0) {
            pool->left = 0;
            return -1;
        }
        pool->alive = 1;
    }
    left -= size;
    pool->left = left;
    memcpy(buffer, pool->bytes + left, size);
    explicit_bzero(pool->bytes + left, size);
    return 0;
}

int
sotto_entropy(void *buffer, size_t size)
{
    struct pool *pool = size < POOL_SIZE / 4 ? pool_get() : NULL;
    int result;
    if (pool == NULL || pool->busy) {
        return from_system(buffer, size);
    }
    pool->busy = 1;
    result = from_pool(pool, buffer, size);
    if (!pool->busy) { /* a fork emptied the pool meanwhile */
        pool->alive = 0;
        result = from_system(buffer, size);
    }
    pool->busy = 0;
    return result;
}
