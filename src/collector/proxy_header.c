/*
 * proxy_header.c: the PROXY protocol's two headers.
 *
 *     PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 CR LF
 *     PROXY UNKNOWN anything CR LF
 *
 *     12 bytes of signature, version and command, family, length of what
 *     follows, addresses, ports, what else there is
 */
#include "collector/proxy_header.h"

#include <arpa/inet.h>
#include <string.h>

#define LINE_MOST ((size_t)107) /* with its end */
#define FIXED ((size_t)16)
#define TEXT_MOST ((size_t)64)
#define FOUR_SIZE ((size_t)12) /* two addresses, two ports */
#define SIX_SIZE ((size_t)36)

static const uint8_t signature[12] = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                      0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};

static bool
begins(const uint8_t *data, size_t size, const void *with, size_t with_size)
{
    return memcmp(data, with, size < with_size ? size : with_size) == 0;
}

static enum proxy_header
give_address(union proxy_address *address, size_t size, size_t *ret_size,
             union proxy_address *ret_address)
{
    *ret_size = size;
    *ret_address = *address;
    return PROXY_HEADER_WHOLE;
}

/* ---- Texts --------------------------------------------------------------- */

static bool
read_address(const char *text, int family, union proxy_address *address)
{
    memset(address, 0, sizeof *address);
    address->any.sa_family = (sa_family_t)family;
    return inet_pton(family, text,
                     family == AF_INET ? (void *)&address->four.sin_addr
                                       : (void *)&address->six.sin6_addr) == 1;
}

static bool
is_port(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 5 && text[digits] == '\0';
}

bool
proxy_address_read(const char *text, size_t size,
                   union proxy_address *ret_address)
{
    char own[TEXT_MOST], *end;
    if (size == 0 || size >= sizeof own || memchr(text, '\0', size) != NULL) {
        return false;
    }
    memcpy(own, text, size);
    own[size] = '\0';
    if (own[0] == '[') {
        end = strchr(own, ']');
        if (end == NULL ||
            (end[1] != '\0' && (end[1] != ':' || !is_port(end + 2)))) {
            return false;
        }
        *end = '\0';
        return read_address(own + 1, AF_INET6, ret_address);
    }
    end = strchr(own, ':');
    if (end != NULL && strchr(own, '.') != NULL && is_port(end + 1)) {
        *end = '\0';
    }
    return read_address(own, AF_INET, ret_address) ||
           read_address(own, AF_INET6, ret_address);
}

/* ---- Version 1 ----------------------------------------------------------- */

/* Takes the next word of a line, whose words have one blank between them. */
static char *
next_word(char **rest)
{
    char *word = *rest, *end;
    if (word == NULL) {
        return NULL;
    }
    end = strchr(word, ' ');
    *rest = end != NULL ? end + 1 : NULL;
    if (end != NULL) {
        *end = '\0';
    }
    return word;
}

static bool
read_words(char *line, union proxy_address *address)
{
    union proxy_address to;
    char *rest = line, *kind = next_word(&rest), *word[4];
    int family;
    memset(address, 0, sizeof *address);
    if (strcmp(kind, "UNKNOWN") == 0) {
        return true;
    }
    family = strcmp(kind, "TCP4") == 0   ? AF_INET
             : strcmp(kind, "TCP6") == 0 ? AF_INET6
                                         : AF_UNSPEC;
    for (int i = 0; i < 4; i++) {
        word[i] = next_word(&rest);
    }
    return family != AF_UNSPEC && word[3] != NULL && rest == NULL &&
           read_address(word[1], family, &to) && is_port(word[2]) &&
           is_port(word[3]) && read_address(word[0], family, address);
}

static enum proxy_header
read_line(const uint8_t *data, size_t size, size_t *ret_size,
          union proxy_address *ret_address)
{
    char line[LINE_MOST + 1];
    size_t most = size < LINE_MOST ? size : LINE_MOST;
    const uint8_t *end = memchr(data, '\n', most);
    union proxy_address address;
    size_t length;
    if (end == NULL) {
        return size < LINE_MOST ? PROXY_HEADER_CUT : PROXY_HEADER_WRONG;
    }
    length = (size_t)(end - data) + 1;
    memcpy(line, data, length);
    if (length < 8 || line[length - 2] != '\r' ||
        memchr(line, '\0', length) != NULL) {
        return PROXY_HEADER_WRONG;
    }
    line[length - 2] = '\0';
    return read_words(line + 6, &address)
               ? give_address(&address, length, ret_size, ret_address)
               : PROXY_HEADER_WRONG;
}

/* ---- Version 2 ----------------------------------------------------------- */

static enum proxy_header
read_binary(const uint8_t *data, size_t size, size_t *ret_size,
            union proxy_address *ret_address)
{
    union proxy_address address;
    size_t length, whole;
    memset(&address, 0, sizeof address);
    if (size < FIXED) {
        return PROXY_HEADER_CUT;
    }
    length = (size_t)data[14] << 8 | data[15];
    whole = FIXED + length;
    if (data[12] >> 4 != 2 || (data[12] & 15) > 1 ||
        whole > PROXY_HEADER_MOST) {
        return PROXY_HEADER_WRONG;
    }
    if (size < whole) {
        return PROXY_HEADER_CUT;
    }
    if ((data[12] & 15) == 1 && data[13] == 0x11) { /* TCP over IPv4 */
        if (length < FOUR_SIZE) {
            return PROXY_HEADER_WRONG;
        }
        address.any.sa_family = AF_INET;
        memcpy(&address.four.sin_addr, data + FIXED, 4);
    } else if ((data[12] & 15) == 1 && data[13] == 0x21) { /* over IPv6 */
        if (length < SIX_SIZE) {
            return PROXY_HEADER_WRONG;
        }
        address.any.sa_family = AF_INET6;
        memcpy(&address.six.sin6_addr, data + FIXED, 16);
    }
    return give_address(&address, whole, ret_size, ret_address);
}

enum proxy_header
proxy_header_read(const uint8_t *data, size_t size, size_t *ret_size,
                  union proxy_address *ret_address)
{
    if (size == 0) {
        return PROXY_HEADER_CUT;
    }
    if (begins(data, size, signature, sizeof signature)) {
        return read_binary(data, size, ret_size, ret_address);
    }
    return begins(data, size, "PROXY ", 6)
               ? read_line(data, size, ret_size, ret_address)
               : PROXY_HEADER_WRONG;
}
