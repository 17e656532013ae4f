/*
 * fuzz_address.c: the reader of a campaign's address. What is taken is written
 * in one way, which reads back as itself, and holds nothing that could end a
 * line of a request.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sender/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct address first, second;
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    if (address_parse(text, &first, NULL) == SOTTO_STATUS_OK) {
        require(strpbrk(first.url, "\r\n \t@?#%\\") == NULL);
        require(address_parse(first.url, &second, NULL) == SOTTO_STATUS_OK);
        require(strcmp(first.url, second.url) == 0);
        require(strcmp(first.host, second.host) == 0);
        require(strcmp(first.path, second.path) == 0);
        require(first.tls == second.tls);
        require(strncmp(first.url, first.tls ? "https://" : "http://",
                        first.tls ? 8 : 7) == 0);
    }
    free(text);
    return 0;
}
