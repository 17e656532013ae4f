/*
 * web_fixture.h: a server on this machine that answers one request with what
 * it was given, and then closes, or waits until the other side does.
 */
#ifndef SOTTO_TESTS_WEB_FIXTURE_H
#define SOTTO_TESTS_WEB_FIXTURE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct web {
    pthread_t thread;
    int listening;
    const void *answer;
    size_t size;
    bool stays; /* open behind the answer */
    char request[1024];
    char address[64];
} web;

static void *
web_serve(void *unused)
{
    int fd = accept(web.listening, NULL, NULL);
    size_t got = 0;
    char byte;
    (void)unused;
    while (got + 1 < sizeof web.request && recv(fd, &byte, 1, 0) == 1) {
        web.request[got++] = byte;
        web.request[got] = '\0';
        if (got >= 4 && memcmp(web.request + got - 4, "\r\n\r\n", 4) == 0) {
            break;
        }
    }
    (void)send(fd, web.answer, web.size, MSG_NOSIGNAL);
    while (web.stays && recv(fd, &byte, 1, 0) > 0) {
    }
    (void)close(fd);
    return NULL;
}

/* Starts it; web.address is where it is. */
static inline void
web_start(const void *answer, size_t size, bool stays)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    web = (struct web){.answer = answer, .size = size, .stays = stays};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    web.listening = socket(AF_INET, SOCK_STREAM, 0);
    if (setenv("no_proxy", "*", 1) != 0 ||
        bind(web.listening, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(web.listening, 1) != 0 ||
        getsockname(web.listening, (struct sockaddr *)&at, &length) != 0 ||
        pthread_create(&web.thread, NULL, web_serve, NULL) != 0) {
        abort();
    }
    (void)snprintf(web.address, sizeof web.address, "http://127.0.0.1:%u/x",
                   ntohs(at.sin_port));
}

/* Waits for its end, which comes with that of the one request. */
static inline void
web_stop(void)
{
    (void)pthread_join(web.thread, NULL);
    (void)close(web.listening);
}

#endif
