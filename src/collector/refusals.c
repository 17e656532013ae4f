/*
 * refusals.c: what is refused, cut or sent away, by kind.
 *
 * Whoever refuses adds one to a counter; a thread that looks at the clock
 * anyway compares the counters with what it saw before. So a flood costs the
 * log two lines, however long it is.
 *
 * What one device alone can bring about, by what it sends or how slowly, is
 * compared at the end of a period as long as a window, by a grid that begins
 * with the collector: else the line's time would be that of its request, and
 * who also saw the network would know whose. What takes a crowd, or is about
 * the collector, its disk or its analysts, is said at once.
 */
#include "collector/refusals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The code is the event's, for good; docs/operate.md says what to do. */
static const struct {
    const char *what, *why; /* labels of the metric */
    const char *code;
    enum sotto_log_level level;
    const char *sentence;
    bool by_window; /* said no finer than that */
} kinds[REFUSALS] = {
    [REFUSAL_FULL] = {"connection", "full", "connections-full",
                      SOTTO_LOG_WARNING,
                      "all places for connections are taken, and none gives "
                      "way to some that come: they are closed",
                      false},
    [REFUSAL_ADDRESS] = {"connection", "address", "address-full",
                         SOTTO_LOG_WARNING,
                         "an address has as many connections as it may, all "
                         "with requests on their way: more of it are closed",
                         false},
    [REFUSAL_MEMORY] = {"connection", "memory", "connections-memory",
                        SOTTO_LOG_ERROR,
                        "there is no memory for another connection", false},
    [REFUSAL_FILES] = {"connection", "files", "files-out", SOTTO_LOG_ERROR,
                       "the system gives no file for another connection: "
                       "raise its limit of open files",
                       false},
    [REFUSAL_PROXY] = {"connection", "proxy", "proxy-header", SOTTO_LOG_WARNING,
                       "connections do not begin with the header of the PROXY "
                       "protocol, and are closed: the proxy does not send it, "
                       "or somebody comes past it",
                       false},
    [REFUSAL_SILENT] = {"cut", "silent", "giving-way-silent", SOTTO_LOG_WARNING,
                        "all places for connections are taken: those that "
                        "have sent nothing give way",
                        false},
    [REFUSAL_IDLE] = {"cut", "idle", "giving-way-idle", SOTTO_LOG_WARNING,
                      "all places for connections are taken: those between "
                      "requests give way",
                      false},
    [REFUSAL_SLOW] = {"cut", "slow", "giving-way-slow", SOTTO_LOG_WARNING,
                      "all places for connections, or all memory for long "
                      "requests, are taken: those whose requests or answers "
                      "take long give way",
                      false},
    [REFUSAL_FRESH] = {"cut", "fresh", "giving-way-fresh", SOTTO_LOG_WARNING,
                       "all places for connections are taken: origins that "
                       "have many lose requests on their way to those that "
                       "have fewer",
                       false},
    [REFUSAL_LATE] = {"cut", "late", "requests-late", SOTTO_LOG_INFO,
                      "requests take longer to arrive than --request-time, "
                      "and are cut",
                      true},
    [REFUSAL_HEAD] = {"request", "head", "heads-ambiguous", SOTTO_LOG_WARNING,
                      "requests come that two readers could take for two "
                      "different ones, and are refused (400)",
                      true},
    [REFUSAL_LIBRARY] = {"request", "malformed", "heads-malformed",
                         SOTTO_LOG_INFO,
                         "what comes is no HTTP, and is refused", true},
    [REFUSAL_CLIENT] = {"request", "client", "client-full", SOTTO_LOG_WARNING,
                        "a client behind the proxy has as many requests on "
                        "their way as it may: more of it are refused (503)",
                        false},
    [REFUSAL_TOKEN] = {"request", "token", "token-wrong", SOTTO_LOG_WARNING,
                       "requests come with a wrong token or none where one is "
                       "needed (401)",
                       false},
    [REFUSAL_LONG] = {"request", "long", "bodies-long", SOTTO_LOG_INFO,
                      "requests come with too long a body or too many "
                      "reports, and are refused (413)",
                      true},
    [REFUSAL_BODIES] = {"request", "bodies", "memory-full", SOTTO_LOG_WARNING,
                        "the memory for long requests is taken: more are told "
                        "to come again (503)",
                        false},
    [REFUSAL_QUEUE] = {"request", "queue", "queue-full", SOTTO_LOG_WARNING,
                       "too many reports wait for the disk: more are told to "
                       "come again (503)",
                       false},
    [REFUSAL_DISK] = {"request", "disk", "disk-refuses", SOTTO_LOG_ERROR,
                      "the disk did not take reports: their senders are told "
                      "to come again (503)",
                      false},
    [REFUSAL_BATCHES] = {"request", "batches", "batches-many", SOTTO_LOG_INFO,
                         "too many batches are asked for at once: more are "
                         "told to come again (503)",
                         false},
    [REFUSAL_UNREAD] = {"request", "unread", "batches-unreadable",
                        SOTTO_LOG_ERROR,
                        "batches that are asked for cannot be read (503)",
                        false},
    [REFUSAL_EXPIRED] = {"request", "expired", "reports-expired",
                         SOTTO_LOG_INFO,
                         "reports come of a mechanism that has expired, and "
                         "are refused (410)",
                         true},
};

void
refusals_init(struct refusals *refusals, refusals_log *log, void *log_context,
              unsigned quiet_s, unsigned window_s)
{
    memset(refusals, 0, sizeof *refusals);
    refusals->log = log;
    refusals->log_context = log_context;
    refusals->quiet_ms = (uint64_t)quiet_s * 1000;
    refusals->window_ms = (uint64_t)window_s * 1000;
    (void)pthread_mutex_init(&refusals->lock, NULL);
}

void
refusals_clear(struct refusals *refusals)
{
    (void)pthread_mutex_destroy(&refusals->lock);
}

void
refusals_count(struct refusals *refusals, enum refusal kind)
{
    atomic_fetch_add_explicit(&refusals->count[kind], 1, memory_order_relaxed);
}

/* ---- The log ------------------------------------------------------------- */

static void
say_over(struct refusals *refusals, enum refusal kind,
         const struct refusals_said *said)
{
    char code[64], text[256];
    (void)snprintf(code, sizeof code, "%s-over", kinds[kind].code);
    (void)snprintf(
        text, sizeof text, "it is over: %" PRIu64 " times within %" PRIu64 " s",
        said->seen - said->first, (said->last - said->began + 999) / 1000);
    refusals->log(refusals->log_context, SOTTO_LOG_INFO, code, text);
}

/* `began` is since when there may have been some that were not seen yet. */
static void
tell_kind(struct refusals *refusals, enum refusal kind, uint64_t began,
          uint64_t now)
{
    struct refusals_said *said = &refusals->said[kind];
    uint64_t count =
        atomic_load_explicit(&refusals->count[kind], memory_order_relaxed);
    if (count != said->seen) {
        if (!said->on) {
            said->on = true;
            said->began = began;
            said->first = said->seen;
            refusals->log(refusals->log_context, kinds[kind].level,
                          kinds[kind].code, kinds[kind].sentence);
        }
        said->seen = count;
        said->last = now;
    } else if (said->on && now - said->last >= refusals->quiet_ms) {
        said->on = false;
        say_over(refusals, kind, said);
    }
}

/* When a period ended last, by the grid. */
static uint64_t
find_period(const struct refusals *refusals, uint64_t now)
{
    return refusals->window_ms == 0
               ? now
               : now - (now - refusals->period) % refusals->window_ms;
}

void
refusals_tell(struct refusals *refusals, uint64_t now_ms)
{
    if (refusals->log == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&refusals->lock);
    if (!refusals->looked) {
        refusals->looked = true;
        refusals->period = now_ms; /* the grid begins with the first look */
    }
    uint64_t before = refusals->period, period = find_period(refusals, now_ms);
    bool ended = period != before;
    for (int i = 0; i < REFUSALS; i++) {
        if (!kinds[i].by_window) {
            tell_kind(refusals, (enum refusal)i, now_ms, now_ms);
        } else if (ended) {
            tell_kind(refusals, (enum refusal)i, before, period);
        }
    }
    refusals->period = period;
    (void)pthread_mutex_unlock(&refusals->lock);
}

/* ---- Metrics ------------------------------------------------------------- */

void
refusals_write(struct refusals *refusals, struct host_text *text)
{
    host_text_print(text, "# HELP sotto_refused_total connections not let in "
                          "(connection) or cut (cut), and requests, by why\n"
                          "# TYPE sotto_refused_total counter\n");
    for (int i = 0; i < REFUSALS; i++) {
        host_text_print(
            text, "sotto_refused_total{what=\"%s\",why=\"%s\"} %" PRIu64 "\n",
            kinds[i].what, kinds[i].why,
            (uint64_t)atomic_load_explicit(&refusals->count[i],
                                           memory_order_relaxed));
    }
}
