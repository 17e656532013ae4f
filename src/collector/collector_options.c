/*
 * collector_options.c: what can be set of a collector.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/text.h"

#define ADDRESS_MOST 256u

#define AT(field) offsetof(struct sotto_collector_options, field)

static const struct setting settings[] = {
    SETTING_NEEDED("mechanism", AT(mechanisms), "M",
                   "a signed mechanism, or a folder of them"),
    SETTING_NEEDED("pub", AT(pub), "K.pub", "the public key that signed them"),
    SETTING_NEEDED("store", AT(store), "URL",
                   "where reports are kept: sqlite:PATH, made if it is\n"
                   "not there, or postgres://HOST/DATABASE"),
    SETTING("window-keys", TEXT, AT(window_keys), 0, 0, NULL, "DIR",
            "with postgres: a folder of this collector's own for\n"
            "the keys of what waits; made if it is not there"),
    SETTING("listen", TEXT, AT(listen), 0, 0, SOTTO_LISTEN_DEFAULT, "HOST:PORT",
            "where to listen; port 0: any, no HOST: every address\n"
            "of the machine"),
    SETTING("tls-cert", TEXT, AT(tls_cert), 0, 0, NULL, "F",
            "certificate and chain, PEM"),
    SETTING("tls-key", TEXT, AT(tls_key), 0, 0, NULL, "F", "its key, PEM"),
    SETTING("plain-behind-proxy", FLAG, AT(plain), 0, 0, NULL, NULL,
            "something in front of it does TLS: listen without,\n"
            "also on other addresses than loopback"),
    SETTING("admin-token-file", TEXT, AT(admin_token_file), 0, 0, NULL, "F",
            "the analyst's token, 16 characters or more, 8 of them\n"
            "different, for batches, metrics and the page to look\n"
            "at, /v1/page; without it there are none"),
    SETTING("metrics-token-file", TEXT, AT(metrics_token_file), 0, 0, NULL, "F",
            "another token, for metrics alone, which that for\n"
            "batches then does not open"),
    SETTING("operations", TEXT, AT(operations), 0, 0, NULL, "HOST:PORT",
            "a place of their own for health, metrics and batches,\n"
            "which no crowd at the other one can reach"),
    SETTING("proxy-protocol", FLAG, AT(proxy_protocol), 0, 0, NULL, NULL,
            "connections begin with the PROXY protocol's header,\n"
            "version 1 or 2; limits are for whom it names"),
    SETTING("client-header", TEXT, AT(client_header), 0, 0, NULL, "NAME",
            "a header that the proxy sets, whose last address says\n"
            "who asks; limits are for whom it names"),
    SETTING("simulation", FLAG, AT(simulation), 0, 0, NULL, NULL,
            "take simulated reports, and no others"),
    SETTING("window", WHOLE, AT(window_s), 1, 604800, "600", "S",
            "seconds until reports lose their ids and order"),
    SETTING("batch-min", SIZE, AT(batch_min), 1, 131072, "1000", NULL,
            "reports released together, at least"),
    SETTING("body-most", SIZE, AT(body_most), 64, 1 << 30, "4194304", "BYTES",
            "of a request"),
    SETTING("reports-most", SIZE, AT(reports_most), 1, 1000000, "10000", NULL,
            "of a request"),
    SETTING("connections", SIZE, AT(connections_most), 1, 1 << 20, "1024", NULL,
            "at a time"),
    SETTING("per-address", SIZE, AT(address_most), 1, 1 << 20, NULL, NULL,
            "of one address at a time (256; all behind a proxy that\n"
            "does not say who asks)"),
    SETTING("request-time", WHOLE, AT(request_s), 1, 3600, "20", "S",
            "seconds that a request may take to arrive"),
    SETTING("idle-time", WHOLE, AT(idle_s), 1, 3600, "60", "S",
            "seconds until the next one must begin"),
    SETTING("waiting-most", SIZE, AT(waiting_most), 1, 1 << 24, "65536", NULL,
            "reports that may wait for the disk"),
    SETTING("threads", WHOLE, AT(threads), 1, 64, "2", NULL, "that answer"),
    SETTING_END};

bool
sotto_collector_setting_at(size_t i, struct sotto_setting_info *ret_setting)
{
    return settings_tell(settings, i, ret_setting);
}

enum sotto_status
sotto_collector_set(struct sotto_collector_options *options,
                    const struct sotto_setting *set, size_t sets,
                    struct sotto_error *err)
{
    return settings_set(settings, options, set, sets, err);
}

static enum sotto_status
check_options(const struct sotto_collector_options *options,
              struct sotto_error *err)
{
    if ((options->tls_cert == NULL) != (options->tls_key == NULL)) {
        return settings_fail(err,
                             options->tls_cert != NULL ? "tls-cert" : "tls-key",
                             "is given alone: TLS needs a certificate and its "
                             "key");
    }
    if (options->plain && options->tls_cert != NULL) {
        return settings_fail(err, "plain-behind-proxy",
                             "says that something else does TLS: leave it out, "
                             "or the certificate");
    }
    if (options->proxy_protocol && options->client_header != NULL) {
        return settings_fail(err, "client-header",
                             "and proxy-protocol both say who asks: give one");
    }
    if (options->client_header != NULL && options->tls_cert != NULL) {
        return settings_fail(err, "client-header",
                             "is believed of whoever connects, so that has to "
                             "be the proxy, which does TLS: leave the "
                             "certificate out");
    }
    if (options->batch_min == 1) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "a batch of one report shows when it came: at least "
                         "2 are released together, and 1,000 are better");
    }
    /* A body that could never be put into the queue would be told to come
       again for ever. */
    return options->reports_most <= options->waiting_most
               ? SOTTO_STATUS_OK
               : settings_fail(err, "waiting-most",
                               "%zu: a request may have %zu reports, and only "
                               "%zu may wait for the disk: let more wait, or "
                               "take fewer at a time",
                               options->waiting_most, options->reports_most,
                               options->waiting_most);
}

static bool
copy_text(const char **text)
{
    if (*text != NULL) {
        *text = host_text_copy(*text, strlen(*text));
        return *text != NULL;
    }
    return true;
}

/* The texts that are needed as long as the collector runs. */
static const char **
text_at(struct sotto_collector_options *options, size_t i)
{
    const char **const text[] = {
        &options->mechanisms,
        &options->pub,
        &options->store,
        &options->window_keys,
        &options->tls_cert,
        &options->tls_key,
        &options->admin_token_file,
        &options->metrics_token_file,
        &options->client_header,
    };
    return i < sizeof text / sizeof *text ? text[i] : NULL;
}

void
options_free(struct sotto_collector_options *own)
{
    const char **text;
    for (size_t i = 0; (text = text_at(own, i)) != NULL; i++) {
        char *plain;
        memcpy(&plain, text, sizeof plain);
        free(plain);
    }
}

bool
options_know_clients(const struct sotto_collector_options *options)
{
    return !options->plain || options->proxy_protocol ||
           options->client_header != NULL;
}

enum sotto_status
options_take(struct sotto_collector_options *own,
             struct sotto_collector_options *options, struct sotto_error *err)
{
    enum sotto_status status = settings_complete(settings, options, err);
    const char **text;
    bool copied = true;
    status = HOST_THEN(status, check_options(options, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (options->address_most == 0) {
        options->address_most = options_know_clients(options)
                                    ? ADDRESS_MOST
                                    : options->connections_most;
    }
    *own = *options;
    own->listen = own->operations = NULL;
    for (size_t i = 0; (text = text_at(own, i)) != NULL; i++) {
        if (copied) {
            copied = copy_text(text);
        } else {
            *text = NULL;
        }
    }
    return copied ? SOTTO_STATUS_OK : host_fail_memory(err);
}
