/*
 * head_bytes.c: whether the bytes of a request's head can be read in one way
 * only.
 *
 * The server ends a line at a LF alone, too, and takes blanks before a colon,
 * lines that go on in the next, control characters and NULs. Each of these puts
 * a byte where this walk expects another one: what came as CR LF is two NULs,
 * what came as LF is one, and a NUL that was sent is one too many.
 */
#include "collector/head_bytes.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define LENGTH_MOST 18u /* digits */

/* A token's letters, RFC 9110 5.6.2: digits, letters and !#$%&'*+-.^_`|~, a bit
   for each. */
static bool
is_token(char c)
{
    static const uint64_t letters[2] = {UINT64_C(0x03ff6cfa00000000),
                                        UINT64_C(0x57ffffffc7fffffe)};
    unsigned char byte = (unsigned char)c;
    return byte < 128 && (letters[byte / 64] >> (byte % 64) & 1) > 0;
}

static bool
is_value(char c)
{
    unsigned char byte = (unsigned char)c;
    return c == '\t' || (byte >= ' ' && byte != 0x7f);
}

bool
head_bytes_target(const char *target)
{
    for (; *target != '\0'; target++) {
        if (*target <= ' ' || *target > '~') {
            return false;
        }
    }
    return true;
}

/* ---- What decides -------------------------------------------------------- */

enum { HOST, LENGTH, TRANSFER, ONCE = 6 };

static const char *const once[ONCE] = {
    [HOST] = "host",
    [LENGTH] = "content-length",
    [TRANSFER] = "transfer-encoding",
    "content-type",
    "content-encoding",
    "authorization",
};

/* Whether a name is one of those, but for its case and for _ in the place of -,
   which some readers take for the same; ONCE: it is none. */
static int
find_once(const char *name)
{
    for (int i = 0; i < ONCE; i++) {
        const char *a = name, *b = once[i];
        while (*a != '\0' && ((*a | 0x20) == *b || (*a == '_' && *b == '-') ||
                              (*a == '-' && *b == '-'))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0') {
            return i;
        }
    }
    return ONCE;
}

/* A value without the blanks around it. */
static const char *
trim_value(const char *value, size_t *ret_size)
{
    size_t size;
    value += strspn(value, " \t");
    size = strlen(value);
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t')) {
        size--;
    }
    *ret_size = size;
    return value;
}

static bool
is_length(const char *value)
{
    size_t size;
    value = trim_value(value, &size);
    return size > 0 && size <= LENGTH_MOST &&
           strspn(value, "0123456789") >= size &&
           (value[0] != '0' || size == 1);
}

static bool
is_chunked(const char *value)
{
    size_t size;
    value = trim_value(value, &size);
    return size == strlen("chunked") &&
           strncasecmp(value, "chunked", size) == 0;
}

/* What is known of the lines so far. */
struct walk {
    unsigned seen; /* a bit for each of `once` */
    bool old;      /* HTTP/1.0, which has no chunks */
};

static bool
take_line(struct walk *walk, const char *name, const char *value)
{
    int which = find_once(name);
    unsigned both = 1u << LENGTH | 1u << TRANSFER;
    if (which == ONCE) {
        return true;
    }
    if (strchr(name, '_') != NULL || (walk->seen >> which & 1) > 0) {
        return false;
    }
    walk->seen |= 1u << which;
    if ((walk->seen & both) == both) {
        return false;
    }
    return which == LENGTH     ? is_length(value)
           : which == TRANSFER ? is_chunked(value) && !walk->old
                               : true;
}

/* ---- Lines --------------------------------------------------------------- */

/* Where what is of a kind, from `at` on, ends. */
static size_t
skip_token(const char *head, size_t at, size_t size)
{
    while (at < size && is_token(head[at])) {
        at++;
    }
    return at;
}

static size_t
skip_value(const char *head, size_t at, size_t size)
{
    while (at < size && is_value(head[at])) {
        at++;
    }
    return at;
}

static bool
ends_line(const char *head, size_t at, size_t size)
{
    return size - at >= 2 && head[at] == '\0' && head[at + 1] == '\0';
}

static bool
take_lines(struct walk *walk, const char *head, size_t at, size_t size)
{
    while (at < size && head[at] != '\0') {
        size_t name = at, value = skip_token(head, at, size) + 1;
        if (value >= size || head[value - 1] != '\0') {
            return false;
        }
        at = skip_value(head, value, size);
        if (at >= size || !ends_line(head, at, size) ||
            !take_line(walk, head + name, head + value)) {
            return false;
        }
        at += 2;
    }
    return at + 2 == size && ends_line(head, at, size);
}

bool
head_bytes_plain(const char *head, size_t size, size_t version,
                 size_t target_size)
{
    size_t method = skip_token(head, 0, size);
    size_t end = version + strlen("HTTP/1.x");
    struct walk walk = {0};
    if (method == 0 || target_size == 0 || version >= size || end >= size ||
        version != method + 1 + target_size + 1 || head[method] != '\0' ||
        head[version - 1] != '\0' ||
        memcmp(head + version, "HTTP/1.", strlen("HTTP/1.")) != 0 ||
        (head[end - 1] != '0' && head[end - 1] != '1') ||
        !ends_line(head, end, size)) {
        return false;
    }
    walk.old = head[end - 1] == '0';
    return take_lines(&walk, head, end + 2, size);
}
