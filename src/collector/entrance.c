/*
 * entrance.c: a place where the collector is reached.
 */
#include "collector/entrance.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/listening.h"
#include "host/error.h"

#define CONNECTION_MEMORY ((size_t)32768) /* of the server: heads, pieces */

/* TLS 1.2 and 1.3 alone, each with an elliptic curve's forward secrecy and an
   authenticated cipher: finite fields cost a server far more than who asks. No
   tickets: one that comes back is a name. scripts/tls looks at what is left. */
static const char priorities[] =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:"
    "+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:"
    "-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:"
    "+GROUP-SECP384R1:%SERVER_PRECEDENCE:%NO_TICKETS";

/* ---- What the server calls ----------------------------------------------- */

/* Paths are compared as they came: no name needs an escape. */
static size_t
leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* The certificate there is when a handshake begins. The session has no context
   of ours, but knows its connection. */
static int
show_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                 int authorities_count, const gnutls_pk_algorithm_t *algorithms,
                 int algorithms_count, gnutls_pcert_st **ret_chain,
                 unsigned *ret_size, gnutls_privkey_t *ret_key)
{
    struct MHD_Connection *connection = gnutls_session_get_ptr(session);
    const union MHD_ConnectionInfo *info =
        connection != NULL ? MHD_get_connection_info(
                                 connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
                           : NULL;
    struct entrance *entrance =
        info != NULL ? connection_context(info->socket_context) : NULL;
    (void)authorities;
    (void)authorities_count;
    (void)algorithms;
    (void)algorithms_count;
    return entrance != NULL
               ? certificates_get(entrance->collector->certificates, ret_chain,
                                  ret_size, ret_key)
               : -1;
}

static bool
pass_to_server(void *context, int fd, const struct sockaddr *address,
               socklen_t size)
{
    struct entrance *entrance = context;
    return MHD_add_connection(entrance->daemon, fd, address, size) == MHD_YES;
}

/* ---- Opening ------------------------------------------------------------- */

enum sotto_status
entrance_listen(struct entrance *entrance,
                const struct entrance_options *options, struct sotto_error *err)
{
    const struct sotto_collector_options *own = &entrance->collector->options;
    bool secure = entrance->collector->certificates != NULL, loopback = false;
    enum sotto_status status =
        listening_open(options->place, secure || options->plain,
                       &entrance->listener, &entrance->port, &loopback, err);
    entrance->tls = secure && !(entrance->operations && loopback);
    /* whether a proxy in front of everybody's place does TLS is not known */
    entrance->basic =
        entrance->tls || (loopback && (entrance->operations ||
                                       !(options->plain || options->proxied ||
                                         own->client_header != NULL)));
    return status;
}

static struct MHD_Daemon *
start_daemon(struct entrance *entrance, const struct entrance_options *options)
{
    gnutls_certificate_retrieve_function2 *show = show_certificate;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, NULL},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_USE_TURBO |
                     MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
    size_t most = options->limits.most + 2 * CONNECTIONS_BEYOND;
    memcpy(&tls[0].ptr_value, &show, sizeof(void *));
    memcpy(&tls[1].ptr_value, &(const char *){priorities}, sizeof(void *));
    if (entrance->tls) {
        flags |= MHD_USE_TLS;
    } else {
        tls[0].option = MHD_OPTION_END;
    }
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handler_access, entrance,
        MHD_OPTION_THREAD_POOL_SIZE,
        options->threads > 1 ? options->threads : 0,
        MHD_OPTION_CONNECTION_LIMIT,
        /* Ours is exact; each thread of the server gets a share of this. */
        (unsigned)most * options->threads + options->threads,
        MHD_OPTION_CONNECTION_TIMEOUT, options->limits.idle_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, handler_connection, entrance,
        MHD_OPTION_NOTIFY_COMPLETED, handler_completed, entrance,
        MHD_OPTION_URI_LOG_CALLBACK, handler_line, entrance,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static enum sotto_status
start_server(struct entrance *entrance, const struct entrance_options *options,
             struct sotto_error *err)
{
    if (entrance->tls &&
        (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES ||
         MHD_is_feature_supported(MHD_FEATURE_HTTPS_CERT_CALLBACK) !=
             MHD_YES)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "this system's HTTP library was built without TLS");
    }
    entrance->daemon = start_daemon(entrance, options);
    return entrance->daemon != NULL
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_IO, 0,
                           "the HTTP server does not start: %s",
                           strerror(errno));
}

enum sotto_status
entrance_open(struct entrance *entrance, const struct entrance_options *options,
              struct sotto_error *err)
{
    struct connections_limits limits = options->limits;
    struct sotto_collector *collector = entrance->collector;
    enum sotto_status status;
    limits.plain = !entrance->tls;
    limits.context = entrance;
    status = connections_new(&limits, &collector->metrics, &collector->refusals,
                             &entrance->connections, err);
    status = HOST_THEN(status, start_server(entrance, options, err));
    if (status == SOTTO_STATUS_OK) {
        const struct door_options door = {
            .listener = entrance->listener,
            .proxied = options->proxied,
            .connections = entrance->connections,
            .refusals = &collector->refusals,
            .pass = pass_to_server,
            .context = entrance,
        };
        status = door_open(&door, &entrance->door, err);
    }
    return status;
}

/* ---- Closing ------------------------------------------------------------- */

void
entrance_shut(struct entrance *entrance)
{
    door_close(entrance->door);
    entrance->door = NULL;
    if (entrance->listener >= 0) {
        (void)close(entrance->listener);
        entrance->listener = -1;
    }
}

void
entrance_close(struct entrance *entrance)
{
    entrance_shut(entrance);
    if (entrance->daemon != NULL) {
        MHD_stop_daemon(entrance->daemon);
        entrance->daemon = NULL;
    }
    connections_free(entrance->connections);
    entrance->connections = NULL;
}
