/*
 * keeping.c: looking after a store, for whoever is not its collector.
 */
#include <string.h>

#include "host/error.h"
#include "mechanism/mechanism.h"
#include "store/store.h"

enum sotto_status
sotto_store_check(const char *url, const char *window_keys,
                  void (*tell)(void *context, const char *text), void *context,
                  struct sotto_store_damage *ret_damage,
                  struct sotto_error *err)
{
    struct store_checker *checker = NULL;
    struct store_damage damage = {0};
    bool done = false;
    enum sotto_status status = store_checker_open_with_keys(
        url, window_keys, tell, context, &checker, err);
    status = HOST_THEN(
        status, store_checker_step(checker, SIZE_MAX, &damage, &done, err));
    store_checker_free(checker);
    if (status == SOTTO_STATUS_OK) {
        *ret_damage = (struct sotto_store_damage){damage.reports, damage.places,
                                                  damage.sealed};
    }
    return status;
}

enum sotto_status
sotto_store_repair(const char *url,
                   void (*tell)(void *context, const char *text), void *context,
                   struct sotto_store_repaired *ret_repaired,
                   struct sotto_error *err)
{
    struct store_repaired repaired = {0};
    enum sotto_status status = store_repair(url, tell, context, &repaired, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_repaired = (struct sotto_store_repaired){
            repaired.sound,  repaired.released, repaired.waiting, repaired.lost,
            repaired.mended, repaired.damaged,  repaired.tags};
    }
    return status;
}

/* The 64 hexadecimal digits of a hash; false: they are none. */
static bool
read_hash(const char *text, uint8_t hash[SOTTO_HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * (size_t)SOTTO_HASH_SIZE ||
        strspn(text, digits) != 2 * (size_t)SOTTO_HASH_SIZE) {
        return false;
    }
    for (size_t i = 0; i < SOTTO_HASH_SIZE; i++) {
        size_t high = (size_t)(strchr(digits, text[2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, text[2 * i + 1]) - digits);
        hash[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum sotto_status
find_hash(const char *text, uint8_t hash[SOTTO_HASH_SIZE],
          struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    if (read_hash(text, hash)) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sotto_mechanism_read(text, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        memcpy(hash, mechanism->shape.hash, SOTTO_HASH_SIZE);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

enum sotto_status
sotto_store_forget(const char *url, const char *which,
                   struct sotto_store_forgotten *ret_forgotten,
                   struct sotto_error *err)
{
    struct store_counts counts = {0};
    uint8_t hash[SOTTO_HASH_SIZE];
    enum sotto_status status = find_hash(which, hash, err);
    status = HOST_THEN(status, store_forget_at(url, hash, &counts, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_forgotten = (struct sotto_store_forgotten){
            counts.released, counts.batches, counts.waiting};
    }
    return status;
}

enum sotto_status
sotto_store_backup(const char *url, const char *to, struct sotto_error *err)
{
    return store_backup(url, to, err);
}
