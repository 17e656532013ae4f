/*
 * amount.c: a budget as decimal text.
 */
#include "host/amount.h"

size_t
amount_write(uint64_t units, char text[DECIMAL_TEXT_SIZE])
{
    char digit[DECIMAL_TEXT_SIZE]; /* last first */
    size_t count = 0, size = 0, skip = 0;
    do {
        digit[count++] = (char)('0' + units % 10);
        units /= 10;
    } while (units > 0 || count <= DECIMAL_DIGITS);
    while (skip < DECIMAL_DIGITS && digit[skip] == '0') {
        skip++;
    }
    while (count > skip) {
        text[size++] = digit[--count];
        if (count == DECIMAL_DIGITS && count > skip) {
            text[size++] = '.';
        }
    }
    text[size] = '\0';
    return size;
}
