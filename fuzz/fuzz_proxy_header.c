/*
 * fuzz_proxy_header.c: proxy_header_read and proxy_address_read on any bytes.
 * What is whole stays so with bytes behind it, and every beginning of it is
 * cut; what is wrong stays wrong.
 */
#include "collector/proxy_header.h"

#include <stdlib.h>
#include <string.h>

#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_header(const uint8_t *data, size_t size)
{
    union proxy_address address, again;
    size_t whole = 0, part;
    enum proxy_header read = proxy_header_read(data, size, &whole, &address);
    if (read != PROXY_HEADER_WHOLE) {
        return;
    }
    require(whole > 0 && whole <= size && whole <= PROXY_HEADER_MOST);
    require(address.any.sa_family == AF_UNSPEC ||
            address.any.sa_family == AF_INET ||
            address.any.sa_family == AF_INET6);
    require(proxy_header_read(data, whole, &part, &again) ==
                PROXY_HEADER_WHOLE &&
            part == whole && address.any.sa_family == again.any.sa_family);
    for (size_t cut = 0; cut < whole; cut++) {
        require(proxy_header_read(data, cut, &part, &again) ==
                PROXY_HEADER_CUT);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    union proxy_address address;
    /* Of their own size, so that a step too far is seen. */
    uint8_t *own = malloc(size > 0 ? size : 1);
    if (own == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(own, data, size);
    }
    check_header(own, size);
    if (proxy_address_read((const char *)own, size, &address)) {
        require(address.any.sa_family == AF_INET ||
                address.any.sa_family == AF_INET6);
    }
    free(own);
    return 0;
}
