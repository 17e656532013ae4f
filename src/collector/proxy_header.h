/*
 * proxy_header.h: who is behind a connection, as a proxy says it before the
 * first byte: the PROXY protocol, versions 1 (a line) and 2 (binary).
 * https://www.haproxy.org/download/2.7/doc/proxy-protocol.txt
 */
#ifndef SOTTO_COLLECTOR_PROXY_HEADER_H
#define SOTTO_COLLECTOR_PROXY_HEADER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A header with more is refused: addresses are 36 bytes, and what some proxies
   add (names, certificates' subjects) is of no use here. */
#define PROXY_HEADER_MOST ((size_t)1024)

union proxy_address {
    struct sockaddr any; /* AF_UNSPEC: the proxy speaks for itself */
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

enum proxy_header {
    PROXY_HEADER_WHOLE,
    PROXY_HEADER_CUT,  /* it may become one with more bytes */
    PROXY_HEADER_WRONG /* it is none, or too long */
};

/* Reads the header at the beginning of `size` bytes; where it is whole, gives
   its size and whose connection it is. */
enum proxy_header proxy_header_read(const uint8_t *data, size_t size,
                                    size_t *ret_size,
                                    union proxy_address *ret_address);

/* Reads an address as people write them, of `size` characters: IPv4 or IPv6, in
   brackets or not, with a port or without; false: it is none. */
bool proxy_address_read(const char *text, size_t size,
                        union proxy_address *ret_address);

#endif
