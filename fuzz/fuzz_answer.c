/*
 * fuzz_answer.c: what a collector says of the reports it was sent: the first
 * byte is how many, the rest its JSON. Whatever is believed adds up.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sender/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct answer answer = {0};
    size_t count = size > 0 ? data[0] % 16 : 0, refused = 0;
    if (size == 0 || answer_parse((const char *)data + 1, size - 1, count,
                                  &answer, NULL) != SOTTO_STATUS_OK) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        require(memchr(answer.code[i], '\0', ANSWER_CODE_SIZE) != NULL);
        refused += answer.code[i][0] != '\0';
    }
    require(refused == answer.refused);
    require(answer.accepted + answer.duplicate + answer.refused == count);
    require(memchr(answer.why, '\0', ANSWER_WHY_SIZE) != NULL);
    require((answer.why[0] != '\0') == (refused > 0));
    answer_clear(&answer);
    return 0;
}
