/*
 * answers.c: an answer as the server takes it.
 *
 * Every answer has the same few headers. There is no ETag, no Last-Modified and
 * no cookie: a device that sent one back would have a name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"

static void
release_campaigns(void *campaigns)
{
    campaigns_release(campaigns);
}

/* Destroys what lacks a header. */
static struct MHD_Response *
finish_response(struct MHD_Response *response, const char *type)
{
    if (response != NULL &&
        (MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                                 "no-store") != MHD_YES ||
         (type != NULL &&
          MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                  type) != MHD_YES))) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return response;
}

bool
answers_number(struct MHD_Response *response, const char *name, uint64_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return MHD_add_response_header(response, name, text) == MHD_YES;
}

static bool
add_special(struct MHD_Response *response, const struct routes_answer *answer)
{
    if (answer->allow != NULL &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                                answer->allow) != MHD_YES) {
        return false;
    }
    if (answer->status == 401) {
        return MHD_add_response_header(response,
                                       MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                       "Bearer") == MHD_YES &&
               (!answer->basic ||
                MHD_add_response_header(
                    response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                    "Basic realm=\"sotto\", charset=\"UTF-8\"") == MHD_YES);
    }
    if (answer->status == 503) {
        return answers_number(response, MHD_HTTP_HEADER_RETRY_AFTER,
                              ANSWERS_RETRY_S);
    }
    return true;
}

/* The server takes bodies as not const, and writes to none. */
static void *
drop_const(const void *body)
{
    void *plain;
    memcpy(&plain, &body, sizeof plain);
    return plain;
}

struct MHD_Response *
answers_make(const struct routes_answer *answer, struct campaigns *held)
{
    struct MHD_Response *response =
        held != NULL ? MHD_create_response_from_buffer_with_free_callback_cls(
                           answer->size, drop_const(answer->body),
                           release_campaigns, held)
                     : MHD_create_response_from_buffer(answer->size,
                                                       drop_const(answer->body),
                                                       MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        campaigns_release(held);
        return NULL;
    }
    response = finish_response(response, answer->type);
    if (response != NULL && !add_special(response, answer)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return response;
}

static void
release_page(void *held)
{
    pages_release(held);
}

struct MHD_Response *
answers_page(const char *html, size_t size, struct pages_held *held)
{
    const char *const header[][2] = {
        {"Content-Security-Policy", pages_policy(held)},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Frame-Options", "DENY"},
    };
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback_cls(
            size, drop_const(html), release_page, held);
    if (response == NULL) {
        pages_release(held);
        return NULL;
    }
    response = finish_response(response, "text/html; charset=utf-8");
    for (size_t i = 0; response != NULL && i < sizeof header / sizeof *header;
         i++) {
        if (MHD_add_response_header(response, header[i][0], header[i][1]) !=
            MHD_YES) {
            MHD_destroy_response(response);
            response = NULL;
        }
    }
    return response;
}

struct MHD_Response *
answers_own(const char *type, void *body, size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(body);
        return NULL;
    }
    return finish_response(response, type);
}
