/*
 * obtain.c: the campaign's mechanism, from the collector to this device.
 *
 *     fetch both --> signed? --> opens? --> pinned? --> the same as before?
 *                                --> PATH.minisig gets its name --> PATH does
 *
 * All checks are in memory: what was not checked never has a name. The
 * signature gets its name first, so that a mechanism that is there has one; a
 * crash in between leaves a signature, and all is fetched again.
 *
 * One that is there is compared with the collector's by the signature alone,
 * which is short: who has the key can sign two mechanisms, but not both with
 * one signature.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/key.h"
#include "mechanism/mechanism.h"
#include "mechanism/minisign.h"
#include "sender/backoff.h"
#include "sender/sender.h"

#define MECHANISM_MOST ((size_t)256 << 20)
#define HEX "0123456789abcdefABCDEF"

enum sotto_status
sotto_mechanism_pinned(const struct sotto_mechanism *mechanism, const char *pin,
                       struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    size_t size = strlen(pin);
    if (size != 2 * (size_t)SOTTO_HASH_SIZE || strspn(pin, HEX) != size) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "'%.80s' is no hash of a mechanism: it has 64 "
                         "hexadecimal digits",
                         pin);
    }
    sotto_mechanism_info(mechanism, &info);
    if (strcasecmp(info.hash, pin) != 0) {
        return host_fail(err, SOTTO_STATUS_PIN, 0,
                         "the mechanism's hash is %s, not the one that is "
                         "pinned: this is another mechanism than was agreed "
                         "to",
                         info.hash);
    }
    return SOTTO_STATUS_OK;
}

/* What was fetched. */
struct pair {
    struct host_text data, signature;
};

static enum sotto_status
ask_for(struct exchange *exchange, const char *tail, size_t most,
        struct host_text *ret_body, struct sotto_error *err)
{
    const struct transport_request request = {
        .tail = tail, .most = most, .what = "asking for the mechanism"};
    struct transport_answer answer;
    enum sotto_status status = exchange_run(exchange, &request, &answer, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_body = answer.body;
    }
    return status;
}

static enum sotto_status
ask_both(const struct sotto_sender *sender, struct pair *pair,
         struct sotto_error *err)
{
    struct exchange exchange = {0};
    enum sotto_status status = sender_connect(sender, &exchange, err);
    status =
        HOST_THEN(status, ask_for(&exchange, "/mechanism.minisig",
                                  MINISIGN_TEXT_MAX, &pair->signature, err));
    status = HOST_THEN(status, ask_for(&exchange, "/mechanism", MECHANISM_MOST,
                                       &pair->data, err));
    transport_free(exchange.transport);
    return status;
}

/* Whether a signature is of these bytes; else the message is `what` and why. */
static enum sotto_status
check_signature(const void *data, size_t size,
                const struct host_text *signature, const char *pub_path,
                const char *what, struct sotto_error *err)
{
    struct sotto_error inner = {0};
    char *pub = NULL;
    size_t pub_size = 0;
    enum sotto_status status = key_text_read(pub_path, &pub, &pub_size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = minisign_verify(data, size,
                             signature->data != NULL ? signature->data : "",
                             signature->size, pub, pub_size, NULL, &inner);
    key_text_free(pub, pub_size);
    if (status == SOTTO_STATUS_FORMAT) {
        return key_fail_in(err, pub_path, &inner);
    }
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, inner.position, "%s: %.300s", what,
                           inner.message);
}

/* Whether it is a mechanism, and the one that was agreed to. */
static enum sotto_status
check_content(const struct pair *pair, const char *url, const char *pin,
              struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = sotto_mechanism_parse(
        pair->data.data, pair->data.size, url, &mechanism, err);
    if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_MEMORY) {
        status = SOTTO_STATUS_REFUSED;
        if (err != NULL) {
            err->status = status;
        }
    }
    status = HOST_THEN(status, sotto_mechanism_check_sent(mechanism, err));
    status = HOST_THEN(status, sotto_mechanism_pinned(mechanism, pin, err));
    sotto_mechanism_free(mechanism);
    return status;
}

/* Whether the file at `path`, if there is one, holds the same bytes. */
static enum sotto_status
check_same(const struct pair *pair, const char *path, bool *ret_there,
           struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    *ret_there = access(path, F_OK) == 0;
    if (!*ret_there) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        host_file_read(path, MECHANISM_MOST, &data, &size, err);
    if (status == SOTTO_STATUS_OK &&
        (size != pair->data.size || pair->data.data == NULL ||
         memcmp(data, pair->data.data, size) != 0)) {
        status = host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the collector has another mechanism now than "
                           "'%s': a new one is a new question, so it is not "
                           "replaced; choose another name for it",
                           host_shown(path));
    }
    free(data);
    return status;
}

static enum sotto_status
write_both(const struct pair *pair, const char *path, bool there,
           struct sotto_error *err)
{
    char *name = key_file_name(path, MINISIGN_SUFFIX);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = host_file_write(
        name, 0644, false, pair->signature.data, pair->signature.size, err);
    if (status == SOTTO_STATUS_OK && !there) {
        status = host_file_write(path, 0644, true, pair->data.data,
                                 pair->data.size, err);
        if (status != SOTTO_STATUS_OK) {
            (void)unlink(name);
        }
    }
    free(name);
    return status;
}

enum sotto_status
sotto_sender_fetch(struct sotto_sender *sender, const char *path,
                   const char *pub, const char *pin, struct sotto_error *err)
{
    struct pair pair = {{0}, {0}};
    bool there = false;
    if (pin == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "no hash is pinned: a mechanism that is fetched must "
                         "be one that was agreed to");
    }
    enum sotto_status status = ask_both(sender, &pair, err);
    if (status == SOTTO_STATUS_OK && pair.data.data == NULL) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the collector gave an empty mechanism");
    }
    status = HOST_THEN(
        status,
        check_signature(
            pair.data.data, pair.data.size, &pair.signature, pub,
            "the mechanism that the collector gave is not signed as it should "
            "be, and was thrown away",
            err));
    status =
        HOST_THEN(status, check_content(&pair, sender->address.url, pin, err));
    status = HOST_THEN(status, check_same(&pair, path, &there, err));
    status = HOST_THEN(status, write_both(&pair, path, there, err));
    host_text_clear(&pair.data);
    host_text_clear(&pair.signature);
    return status;
}

/* Devices must take it, and do its work in a small part of the grid: else how
   long a record took might show by a step. */
static enum sotto_status
check_work(const struct sotto_sender *sender,
           const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    uint64_t work = mechanism->shape.work;
    uint64_t least = backoff_least_grid(work);
    if (sender->grid > 0 && sender->grid < least) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a record takes %" PRIu64 " multiply-adds, so long on "
                         "a slow device that its time could show: reports of "
                         "this mechanism must leave on a grid of %" PRIu64
                         " s or more",
                         work, least);
    }
    enum sotto_status status = sotto_mechanism_check_sent(mechanism, err);
    return HOST_THEN(status, sotto_mechanism_check(mechanism, err));
}

enum sotto_status
sotto_sender_check(struct sotto_sender *sender,
                   const struct sotto_mechanism *mechanism, const char *pub,
                   struct sotto_error *err)
{
    struct exchange exchange = {0};
    struct host_text signature = {0};
    enum sotto_status status = check_work(sender, mechanism, err);
    status = HOST_THEN(status, sender_connect(sender, &exchange, err));
    status = HOST_THEN(status, ask_for(&exchange, "/mechanism.minisig",
                                       MINISIGN_TEXT_MAX, &signature, err));
    transport_free(exchange.transport);
    status = HOST_THEN(
        status,
        check_signature(
            mechanism->data, mechanism->size, &signature, pub,
            "the collector has another mechanism than this one, and would "
            "refuse its reports",
            err));
    host_text_clear(&signature);
    if (status == SOTTO_STATUS_OK) {
        sender->mechanism = mechanism;
        sender->known = mechanism;
        sender->asked = host_seconds();
        sender->made = 0;
    }
    return status;
}
