/*
 * transport.c: one connection to a collector, and requests over it, by libcurl.
 *
 * Every setting that a promise rests on is made here and its result checked:
 * if the library refuses one, nothing is sent. Neither a proxy nor credentials
 * are taken from the environment.
 */
#include "sender/transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <curl/curl.h>

#include "host/error.h"
#include "sender/backoff.h"

#define HEADERS_MOST ((size_t)65536) /* bytes of an answer's head */
#define SLOWEST 8192u                /* bytes a second, on the whole */
#define SLOWEST_MOMENT 64L           /* bytes a second, over timeout_s */
#define LONGEST_S ((size_t)3600)
#define URL_SIZE (ADDRESS_URL_SIZE + 64)
#define LINE_SIZE ((size_t)8192)

struct transport {
    struct transport_settings settings;
    CURL *easy;
    struct curl_slist *get, *post; /* header lines */
    CURLcode set;                  /* the first setting that failed */
    char why[CURL_ERROR_SIZE];
    char url[URL_SIZE];
    /* of the request under way */
    const struct transport_request *request;
    struct transport_answer *answer;
    size_t head_size;
    bool too_long, stopped;
};

/* ---- What the library calls --------------------------------------------- */

static size_t
take_body(char *data, size_t one, size_t size, void *context)
{
    struct transport *transport = context;
    struct host_text *body = &transport->answer->body;
    (void)one;
    if (size > transport->request->most - body->size) {
        transport->too_long = true;
        return 0;
    }
    host_text_add(body, data, size);
    return body->failed ? 0 : size;
}

/* The value of a header line if it has that name, without blanks around it. */
static bool
read_header(const char *line, size_t size, const char *name, char *ret_value,
            size_t value_size)
{
    size_t length = strlen(name);
    if (size <= length || line[length] != ':' ||
        strncasecmp(line, name, length) != 0) {
        return false;
    }
    size_t from = length + 1;
    while (from < size && (line[from] == ' ' || line[from] == '\t')) {
        from++;
    }
    while (size > from && strchr(" \t\r\n", line[size - 1]) != NULL) {
        size--;
    }
    if (size - from >= value_size) {
        return false;
    }
    memcpy(ret_value, line + from, size - from);
    ret_value[size - from] = '\0';
    return true;
}

/* A number above 0, in digits alone, once. */
static void
take_number(const char *text, uint64_t *number, bool *odd)
{
    size_t digits = strspn(text, "0123456789");
    if (*number > 0 || digits == 0 || digits >= 20 || text[digits] != '\0' ||
        text[0] == '0') {
        *odd = true;
    } else {
        *number = strtoull(text, NULL, 10);
    }
}

static size_t
take_header(char *line, size_t one, size_t size, void *context)
{
    struct transport *transport = context;
    struct transport_answer *answer = transport->answer;
    char value[64];
    (void)one;
    transport->head_size += size;
    if (transport->head_size > HEADERS_MOST) {
        transport->too_long = true;
        return 0;
    }
    if (size > 5 && memcmp(line, "HTTP/", 5) == 0) {
        answer->retry_after = -1; /* a new answer begins */
        answer->batch = answer->damaged = 0;
        answer->odd = false;
    } else if (memchr(line, '\0', size) != NULL) {
        return size; /* nothing that we ask for */
    } else if (read_header(line, size, "Retry-After", value, sizeof value)) {
        answer->retry_after = backoff_asked(value, time(NULL));
    } else if (read_header(line, size, "Sotto-Batch", value, sizeof value)) {
        take_number(value, &answer->batch, &answer->odd);
    } else if (read_header(line, size, "Sotto-Damaged", value, sizeof value)) {
        take_number(value, &answer->damaged, &answer->odd);
    }
    return size;
}

static int
tell_transport(void *context, curl_off_t due, curl_off_t came,
               curl_off_t up_total, curl_off_t up)
{
    struct transport *transport = context;
    const struct sotto_watch *watch = transport->settings.watch;
    const struct transport_request *request = transport->request;
    bool steps = request->total > 0;
    (void)up_total;
    (void)up;
    transport->stopped = watch->tick != NULL &&
                         !watch->tick(watch->context, request->what,
                                      steps ? request->done : (uint64_t)came,
                                      steps ? request->total : (uint64_t)due);
    return transport->stopped ? 1 : 0;
}

/* ---- Settings ----------------------------------------------------------- */

static void
set_long(struct transport *transport, CURLoption option, long value)
{
    CURLcode code = curl_easy_setopt(transport->easy, option, value);
    transport->set = transport->set == CURLE_OK ? code : transport->set;
}

static void
set_pointer(struct transport *transport, CURLoption option, const void *value)
{
    CURLcode code = curl_easy_setopt(transport->easy, option, value);
    transport->set = transport->set == CURLE_OK ? code : transport->set;
}

static void
set_calls(struct transport *transport)
{
    CURL *easy = transport->easy;
    const CURLcode code[] = {
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body),
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header),
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, tell_transport),
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, transport),
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, transport),
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transport),
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transport->why),
    };
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
        transport->set = transport->set == CURLE_OK ? code[i] : transport->set;
    }
    set_long(transport, CURLOPT_NOPROGRESS, 0);
}

/* Who is talked to, and through whom. */
static void
set_peer(struct transport *transport)
{
    const struct transport_settings *settings = &transport->settings;
    set_pointer(transport, CURLOPT_PROTOCOLS_STR,
                settings->address->tls ? "https" : "http");
    set_long(transport, CURLOPT_FOLLOWLOCATION, 0);
    set_pointer(transport, CURLOPT_PROXY,
                settings->proxy != NULL ? settings->proxy : "");
    set_pointer(transport, CURLOPT_NOPROXY, "");
    set_long(transport, CURLOPT_NETRC, CURL_NETRC_IGNORED);
    set_long(transport, CURLOPT_SSL_VERIFYPEER, 1);
    set_long(transport, CURLOPT_SSL_VERIFYHOST, 2);
    set_long(transport, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    set_long(transport, CURLOPT_SSL_SESSIONID_CACHE, 0);
    if (settings->ca != NULL) { /* these authorities, and not the system's */
        set_pointer(transport, CURLOPT_CAINFO, settings->ca);
        set_pointer(transport, CURLOPT_CAPATH, NULL);
    }
}

/* What is said, and for how long. */
static void
set_manners(struct transport *transport)
{
    long seconds = (long)transport->settings.timeout_s;
    set_long(transport, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_pointer(transport, CURLOPT_USERAGENT, TRANSPORT_AGENT);
    set_long(transport, CURLOPT_MAXCONNECTS, 1);
    set_long(transport, CURLOPT_NOSIGNAL, 1);
    set_long(transport, CURLOPT_PATH_AS_IS, 1);
    set_long(transport, CURLOPT_CONNECTTIMEOUT, seconds);
    set_long(transport, CURLOPT_LOW_SPEED_LIMIT, SLOWEST_MOMENT);
    set_long(transport, CURLOPT_LOW_SPEED_TIME, seconds);
}

/* Adds a line to a list; a line without a value takes the library's own
   away. */
static bool
add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    *list = longer != NULL ? longer : *list;
    return longer != NULL;
}

/* The lines of every GET and of every POST. */
static bool
add_lines(struct transport *transport)
{
    char line[LINE_SIZE];
    const char *bearer = transport->settings.bearer;
    bool added = add_line(&transport->get, "Accept:") &&
                 add_line(&transport->post, "Accept:") &&
                 add_line(&transport->post, "Expect:") &&
                 add_line(&transport->post, "Content-Type: " TRANSPORT_TYPE);
    if (added && bearer != NULL) {
        (void)snprintf(line, sizeof line, "Authorization: Bearer %s", bearer);
        added = add_line(&transport->get, line);
        explicit_bzero(line, sizeof line);
    }
    return added;
}

static void
start_library(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

enum sotto_status
transport_open(const struct transport_settings *settings,
               struct transport **ret_transport, struct sotto_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start_library);
    struct transport *transport = calloc(1, sizeof *transport);
    if (transport == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = SOTTO_STATUS_OK;
    transport->settings = *settings;
    transport->easy = curl_easy_init();
    if (transport->easy == NULL || !add_lines(transport)) {
        status = host_fail_memory(err);
        goto done;
    }
    set_calls(transport);
    set_peer(transport);
    set_manners(transport);
    if (transport->set != CURLE_OK) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "nothing is sent, because libcurl here cannot do "
                           "what is needed: %s",
                           curl_easy_strerror(transport->set));
    }
done:
    if (status == SOTTO_STATUS_OK) {
        *ret_transport = transport;
    } else {
        transport_free(transport);
    }
    return status;
}

void
transport_free(struct transport *transport)
{
    if (transport != NULL) {
        curl_easy_cleanup(transport->easy);
        curl_slist_free_all(transport->get);
        curl_slist_free_all(transport->post);
        free(transport);
    }
}

/* ---- Asking ------------------------------------------------------------- */

static void
set_request(struct transport *transport,
            const struct transport_request *request)
{
    bool post = request->body != NULL;
    size_t bytes = post ? request->size : request->most;
    size_t longest = transport->settings.timeout_s + bytes / SLOWEST;
    (void)snprintf(transport->url, sizeof transport->url, "%s%s",
                   transport->settings.address->url, request->tail);
    set_pointer(transport, CURLOPT_URL, transport->url);
    set_pointer(transport, CURLOPT_HTTPHEADER,
                post ? transport->post : transport->get);
    set_long(transport, CURLOPT_TIMEOUT,
             (long)(longest < LONGEST_S ? longest : LONGEST_S));
    if (post) {
        CURLcode code =
            curl_easy_setopt(transport->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                             (curl_off_t)request->size);
        transport->set = transport->set == CURLE_OK ? code : transport->set;
        set_pointer(transport, CURLOPT_POSTFIELDS, request->body);
        set_long(transport, CURLOPT_POST, 1);
    } else {
        set_long(transport, CURLOPT_HTTPGET, 1);
    }
}

/* What another try cannot change: who the other is, and what we are told to
   use. */
static bool
is_final(CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_NOT_BUILT_IN:
    case CURLE_WRITE_ERROR:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_ABORTED_BY_CALLBACK:
        return true;
    default:
        return false;
    }
}

static enum sotto_status
explain_failure(const struct transport *transport, CURLcode code,
                struct sotto_error *err)
{
    const char *url = transport->url;
    const char *stays = transport->request->stays;
    const char *why =
        transport->why[0] != '\0' ? transport->why : curl_easy_strerror(code);
    if (transport->stopped) {
        return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                         "stopped while talking to %s%s%s", host_shown(url),
                         stays != NULL ? "; " : "", stays != NULL ? stays : "");
    }
    if (transport->too_long) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the answer of %s is too long", host_shown(url));
    }
    if (code == CURLE_OUT_OF_MEMORY || code == CURLE_WRITE_ERROR) {
        return host_fail_memory(err);
    }
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot talk to %s: %.200s",
                     host_shown(url), why);
}

enum sotto_status
transport_ask(struct transport *transport,
              const struct transport_request *request,
              struct transport_answer *ret_answer, struct sotto_error *err)
{
    memset(ret_answer, 0, sizeof *ret_answer);
    ret_answer->retry_after = -1;
    host_text_init(&ret_answer->body, request->most + 1);
    transport->request = request;
    transport->answer = ret_answer;
    transport->head_size = 0;
    transport->too_long = transport->stopped = false;
    transport->why[0] = '\0';
    set_request(transport, request);
    CURLcode code = transport->set == CURLE_OK
                        ? curl_easy_perform(transport->easy)
                        : transport->set;
    if (code != CURLE_OK) {
        ret_answer->again = transport->set == CURLE_OK && !is_final(code);
        return explain_failure(transport, code, err);
    }
    (void)curl_easy_getinfo(transport->easy, CURLINFO_RESPONSE_CODE,
                            &ret_answer->code);
    return SOTTO_STATUS_OK;
}

void
transport_head(const struct address *address, size_t size, struct host_text *to)
{
    host_text_print(to,
                    "POST %s/reports HTTP/1.1\r\n"
                    "Host: %s\r\n"
                    "User-Agent: " TRANSPORT_AGENT "\r\n"
                    "Content-Type: " TRANSPORT_TYPE "\r\n"
                    "Content-Length: %zu\r\n"
                    "\r\n",
                    address->path, address->host, size);
}
