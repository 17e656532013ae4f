/*
 * fuzz_decimal.c: decimal_read on any bytes. What it accepts must be written
 * and read back as the same number; what decimal_read_eps accepts it must
 * accept too, as the same number.
 */
#include <stdlib.h>

#include "host/amount.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
insist(int holds)
{
    if (!holds) {
        abort();
    }
}

static void
check_round_trip(uint64_t units)
{
    char text[DECIMAL_TEXT_SIZE];
    uint64_t back = ~units;
    size_t size = amount_write(units, text);
    insist(size < DECIMAL_TEXT_SIZE && text[size] == '\0');
    insist(decimal_read(text, size, &back, NULL) == SOTTO_STATUS_OK);
    insist(back == units);
}

/* The whole part, read once more by a plain loop: nothing wrapped round. */
static void
check_whole(const uint8_t *data, size_t size, uint64_t units)
{
    uint64_t whole = 0;
    for (size_t i = 0; i < size && data[i] != '.'; i++) {
        whole = 10 * whole + (uint64_t)(data[i] - '0');
    }
    insist(units / DECIMAL_UNIT == whole);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct sotto_error err;
    uint64_t units = 0, eps = 0;
    enum sotto_status status = decimal_read(text, size, &units, &err);
    enum sotto_status as_eps = decimal_read_eps(text, size, &eps, NULL);
    if (status == SOTTO_STATUS_OK) {
        check_round_trip(units);
        check_whole(data, size, units);
        insist(as_eps == SOTTO_STATUS_BUDGET ||
               (as_eps == SOTTO_STATUS_OK && eps == units));
    } else {
        insist(err.status == status && err.position <= size);
        insist(as_eps == status && units == 0 && eps == 0);
    }
    return 0;
}
