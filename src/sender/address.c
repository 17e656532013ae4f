/*
 * address.c: where a campaign's reports go.
 *
 * It is taken apart here, not by the library that sends: what is not plainly
 * an address of the one form is refused, so there is nothing that two programs
 * could read in two ways.
 */
#include "sender/address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"

#define PREFIX "/v1/campaigns/"
#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define PORT_MOST 65535ul

static enum sotto_status
fail_address(const char *text, const char *why, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "'%.200s' is no address of a campaign: %s; it must be "
                     "https://HOST[:PORT]" PREFIX "NAME",
                     text, why);
}

/* The parts of a text, each `size` bytes at `at`. */
struct piece {
    const char *at;
    size_t size;
};

/* The host, in brackets or not, in small letters. */
static const char *
read_host(struct piece host, char name[ADDRESS_HOST_MOST + 1])
{
    if (host.size == 0 || host.size > ADDRESS_HOST_MOST) {
        return "it has no host, or one that is too long";
    }
    memcpy(name, host.at, host.size);
    name[host.size] = '\0';
    for (size_t i = 0; i < host.size; i++) {
        const char *capital = strchr(CAPITALS, name[i]);
        if (capital != NULL) {
            name[i] = LETTERS[capital - CAPITALS];
        }
    }
    if (name[0] == '[') {
        unsigned char bytes[16];
        char inner[ADDRESS_HOST_MOST + 1];
        memcpy(inner, name + 1, host.size);
        bool closed = host.size > 2 && name[host.size - 1] == ']';
        inner[closed ? host.size - 2 : 0] = '\0';
        return inet_pton(AF_INET6, inner, bytes) == 1
                   ? NULL
                   : "what is in brackets is no IPv6 address";
    }
    return strspn(name, LETTERS DIGITS "-.") == host.size && name[0] != '-' &&
                   name[0] != '.'
               ? NULL
               : "its host has other characters than letters, digits, - and .";
}

/* ":PORT" or nothing; 0 stands for nothing and for the scheme's own. */
static const char *
read_port(struct piece text, bool tls, unsigned long *ret_port)
{
    unsigned long port = 0;
    *ret_port = 0;
    if (text.size == 0) {
        return NULL;
    }
    for (size_t i = 1; i < text.size && port <= PORT_MOST; i++) {
        const char *digit = strchr(DIGITS, text.at[i]);
        if (digit == NULL || *digit == '\0') {
            return "its port is no number";
        }
        port = 10 * port + (unsigned long)(digit - DIGITS);
    }
    if (port == 0 || port > PORT_MOST) {
        return "its port is none from 1 to 65535";
    }
    *ret_port = port == (tls ? 443u : 80u) ? 0 : port;
    return NULL;
}

static const char *
check_path(const char *path)
{
    const char *name = path + sizeof PREFIX - 1;
    if (strncmp(path, PREFIX, sizeof PREFIX - 1) != 0) {
        return "its path does not begin with " PREFIX;
    }
    size_t size = strspn(name, LETTERS CAPITALS DIGITS "-_");
    return size > 0 && size <= ADDRESS_NAME_MOST && name[size] == '\0'
               ? NULL
               : "the campaign's name is not 1 to 64 letters, digits, - and _";
}

/* Only what never leaves this machine: names could be anybody's, but this one
   is not looked up. */
static bool
is_loopback(const char *name)
{
    unsigned char four[4], six[16];
    if (inet_pton(AF_INET, name, four) == 1) {
        return four[0] == 127;
    }
    if (name[0] == '[') {
        char inner[ADDRESS_HOST_MOST + 1];
        (void)snprintf(inner, sizeof inner, "%s", name + 1);
        inner[strcspn(inner, "]")] = '\0';
        return inet_pton(AF_INET6, inner, six) == 1 &&
               memcmp(six, &in6addr_loopback, sizeof six) == 0;
    }
    return strcmp(name, "localhost") == 0;
}

/* Splits HOST[:PORT]; the colons in brackets are the address's own. */
static void
split_url(struct piece whole, struct piece *ret_host, struct piece *ret_port)
{
    size_t at = 0;
    if (whole.size > 0 && whole.at[0] == '[') {
        while (at < whole.size && whole.at[at] != ']') {
            at++;
        }
    }
    while (at < whole.size && whole.at[at] != ':') {
        at++;
    }
    *ret_host = (struct piece){whole.at, at};
    *ret_port = (struct piece){whole.at + at, whole.size - at};
}

enum sotto_status
address_parse(const char *text, struct address *ret_address,
              struct sotto_error *err)
{
    struct address address;
    struct piece host, port;
    char name[ADDRESS_HOST_MOST + 1];
    unsigned long number = 0;
    memset(&address, 0, sizeof address);
    if (strchr(text, '@') != NULL) { /* what stands before it is not shown */
        return host_fail(
            err, SOTTO_STATUS_USAGE, 0,
            "an address of a campaign has no user and no "
            "password, and no @: it must be https://HOST[:PORT]" PREFIX "NAME");
    }
    address.tls = strncasecmp(text, "https://", 8) == 0;
    if (!address.tls && strncasecmp(text, "http://", 7) != 0) {
        return fail_address(
            text, "it begins neither with https:// nor with http://", err);
    }
    const char *rest = text + (address.tls ? 8 : 7);
    const char *path = rest + strcspn(rest, "/");
    split_url((struct piece){rest, (size_t)(path - rest)}, &host, &port);
    const char *why = read_host(host, name);
    if (why == NULL) {
        why = read_port(port, address.tls, &number);
    }
    if (why == NULL) {
        why = check_path(path);
    }
    if (why == NULL && !address.tls && !is_loopback(name)) {
        why = "without TLS reports are sent to a loopback address alone";
    }
    if (why != NULL) {
        return fail_address(text, why, err);
    }
    char tail[24] = "";
    if (number != 0) {
        (void)snprintf(tail, sizeof tail, ":%lu", number);
    }
    (void)snprintf(address.host, sizeof address.host, "%s%s", name, tail);
    (void)snprintf(address.path, sizeof address.path, "%s", path);
    (void)snprintf(address.url, sizeof address.url, "%s://%s%s",
                   address.tls ? "https" : "http", address.host, address.path);
    *ret_address = address;
    return SOTTO_STATUS_OK;
}
