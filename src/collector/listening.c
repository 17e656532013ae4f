/*
 * listening.c: the socket that a collector listens on.
 */
#include "collector/listening.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"

#define BACKLOG 1024

static bool
is_loopback(const struct sockaddr *address)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        return (ntohl(four.sin_addr.s_addr) >> 24) == 127;
    }
    memcpy(&six, address, sizeof six);
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&six.sin6_addr);
}

static unsigned
port_of(int fd)
{
    struct sockaddr_storage address = {0};
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        return 0;
    }
    memcpy(&four, &address, sizeof four);
    memcpy(&six, &address, sizeof six);
    return ntohs(address.ss_family == AF_INET ? four.sin_port : six.sin6_port);
}

/* Splits HOST:PORT; the host has its brackets taken off, and "" is any. */
static bool
split_address(char *place, const char **ret_host, const char **ret_port)
{
    char *colon = strrchr(place, ':'), *end;
    unsigned long port;
    if (colon == NULL) {
        return false;
    }
    *colon = '\0';
    port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535) {
        return false;
    }
    *ret_port = colon + 1;
    *ret_host = place;
    if (place[0] == '[' && colon > place + 1 && colon[-1] == ']') {
        colon[-1] = '\0';
        *ret_host = place + 1;
    } else if (strchr(place, ':') != NULL) {
        return false;
    }
    return true;
}

static enum sotto_status
bind_to(const struct addrinfo *info, const char *place, int *ret_fd,
        struct sotto_error *err)
{
    int on = 1, off = 0,
        fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);
    bool good = fd >= 0;
    if (good) {
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (info->ai_family == AF_INET6) {
            (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        }
        good = bind(fd, info->ai_addr, info->ai_addrlen) == 0 &&
               listen(fd, BACKLOG) == 0;
    }
    if (!good) {
        (void)host_fail(err, SOTTO_STATUS_IO, 0, "cannot listen on '%s': %s",
                        host_shown(place), strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return SOTTO_STATUS_IO;
    }
    *ret_fd = fd;
    return SOTTO_STATUS_OK;
}

/* The first address of a place; every address where no host is named, by IPv6
   if the system has it. */
static int
look_up(const char *host, const char *port, struct addrinfo **ret_info)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    int failed;
    if (strcmp(host, "localhost") == 0) { /* also where no file says so */
        host = "127.0.0.1";
    }
    if (host[0] != '\0') {
        return getaddrinfo(host, port, &hints, ret_info);
    }
    hints.ai_family = AF_INET6;
    failed = getaddrinfo(NULL, port, &hints, ret_info);
    if (failed == 0) {
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0) {
            (void)close(fd);
            return 0;
        }
        freeaddrinfo(*ret_info);
    }
    hints.ai_family = AF_INET;
    return getaddrinfo(NULL, port, &hints, ret_info);
}

/* Where a place is, which the caller frees; only a loopback address unless it
   may be open. */
static enum sotto_status
find_place(const char *place, bool open, struct addrinfo **ret_info,
           struct sotto_error *err)
{
    const char *host = NULL, *port = NULL;
    struct addrinfo *info = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    int failed;
    char *copy = host_text_copy(place, strlen(place));
    if (copy == NULL) {
        return host_fail_memory(err);
    }
    if (!split_address(copy, &host, &port)) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "'%s' is no place to listen on: give HOST:PORT, "
                           "[IPv6]:PORT or :PORT",
                           host_shown(place));
        goto done;
    }
    failed = look_up(host, port, &info);
    if (failed != 0) {
        status =
            host_fail(err, SOTTO_STATUS_USAGE, 0, "cannot listen on '%s': %s",
                      host_shown(place), gai_strerror(failed));
        goto done;
    }
    if (!open && !is_loopback(info->ai_addr)) {
        freeaddrinfo(info);
        status = host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "'%s' is open to other machines, and without TLS "
                           "everybody in between would read who reports: give "
                           "a certificate (tls-cert and tls-key), or say that "
                           "something in front of the collector does TLS "
                           "(plain-behind-proxy), or listen on 127.0.0.1",
                           host_shown(place));
        goto done;
    }
    *ret_info = info;
done:
    free(copy);
    return status;
}

enum sotto_status
listening_open(const char *place, bool open, int *ret_fd, unsigned *ret_port,
               bool *ret_loopback, struct sotto_error *err)
{
    struct addrinfo *info = NULL;
    int fd = -1;
    enum sotto_status status = find_place(place, open, &info, err);
    if (info != NULL) {
        status = bind_to(info, place, &fd, err);
    }
    if (status == SOTTO_STATUS_OK && info != NULL) {
        *ret_fd = fd;
        *ret_port = port_of(fd);
        *ret_loopback = is_loopback(info->ai_addr);
    }
    if (info != NULL) {
        freeaddrinfo(info);
    }
    return status;
}

enum sotto_status
listening_check(const char *place, bool open, struct sotto_error *err)
{
    struct addrinfo *info = NULL;
    enum sotto_status status = find_place(place, open, &info, err);
    if (status == SOTTO_STATUS_OK) {
        freeaddrinfo(info);
    }
    return status;
}
