/*
 * sqlite_batch.c: a batch's bytes, and which of them are damaged.
 *
 * The sum of a batch says quickly that all is well. Where it does not fit, the
 * payloads' own sums say which reports are damaged, and the others are as good
 * as ever: a report's key means nothing, so damage in it harms nothing.
 */
#include <string.h>

#include "base/checked.h"
#include "store/sqlite/sqlite_store.h"

size_t
sqlite_batch_size(size_t payload_size, size_t count)
{
    uint64_t size = count > UINT32_MAX
                        ? CHECKED_OVERFLOW
                        : checked_multiply(TAG_SIZE + payload_size + SUM_SIZE,
                                           (uint32_t)count);
    return size >= SIZE_MAX - SUM_SIZE ? 0 : (size_t)size + SUM_SIZE;
}

static uint32_t
sum_all(const struct sqlite_batch *batch, const uint8_t *data, size_t size)
{
    uint8_t number[8];
    for (unsigned i = 0; i < sizeof number; i++) {
        number[i] = (uint8_t)(batch->number >> 8 * i);
    }
    uint32_t sum = host_checksum(0, batch->hash, SOTTO_HASH_SIZE);
    sum = host_checksum(sum, number, sizeof number);
    return host_checksum(sum, data, size);
}

/* Where a payload was damaged while it waited, the sum of all must not fit. */
void
sqlite_batch_seal(const struct sqlite_batch *batch, uint8_t *data, size_t count)
{
    struct sqlite_batch all = *batch;
    bool sound = true;
    all.data = data;
    all.record = TAG_SIZE + batch->payload_size + SUM_SIZE;
    all.summed = true;
    for (size_t i = 0; i < count && sound; i++) {
        sound = sqlite_batch_sound(&all, i);
    }
    uint32_t sum = sum_all(batch, data, count * all.record);
    host_checksum_write(sound ? sum : ~sum, data + count * all.record);
}

/* Takes the bytes for `count` records with sums. */
static void
take_summed(struct sqlite_batch *batch, const uint8_t *data, size_t size)
{
    batch->record = TAG_SIZE + batch->payload_size + SUM_SIZE;
    batch->count = (size - SUM_SIZE) / batch->record;
    batch->summed = true;
    batch->fits = host_checksum_read(data + size - SUM_SIZE) ==
                  sum_all(batch, data, size - SUM_SIZE);
}

/* The number of records says of which version they are: the same bytes may be
   as long as more records without sums. A number that fits neither is damaged,
   and the sum decides. */
bool
sqlite_batch_parse(struct sqlite_batch *batch, const uint8_t *data, size_t size,
                   uint64_t count)
{
    size_t bare = TAG_SIZE + batch->payload_size, whole = bare + SUM_SIZE;
    bool may_be_summed = size > SUM_SIZE && (size - SUM_SIZE) % whole == 0;
    batch->data = data;
    batch->whole = true;
    if (data == NULL || size == 0) {
        return false;
    }
    if (may_be_summed) {
        take_summed(batch, data, size);
        if (batch->count == count) {
            return true;
        }
    }
    if (size % bare == 0 && size / bare == count) {
        batch->record = bare;
        batch->count = (size_t)count;
        batch->summed = false;
        batch->fits = true;
        return true;
    }
    batch->whole = false;
    return may_be_summed && batch->fits;
}

bool
sqlite_batch_sound(const struct sqlite_batch *batch, size_t i)
{
    const uint8_t *payload = batch->data + i * batch->record + TAG_SIZE;
    return !batch->summed ||
           host_checksum(0, payload, batch->payload_size) ==
               host_checksum_read(payload + batch->payload_size);
}

void
sqlite_batch_sum(uint8_t *payload, size_t payload_size)
{
    host_checksum_write(host_checksum(0, payload, payload_size),
                        payload + payload_size);
}
