/*
 * sotto/collecting.h: the collector's service, the device's sender, and the
 * analyst's reading of what was collected.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. docs/collector.md has the protocol.
 */
#ifndef SOTTO_COLLECTING_H
#define SOTTO_COLLECTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/ledgers.h"
#include "sotto/mechanisms.h"
#include "sotto/reports.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The collector ------------------------------------------------------- */

struct sotto_collector;

/* What a collector says of its work; never anything of a report. */
enum sotto_log_level { SOTTO_LOG_INFO, SOTTO_LOG_WARNING, SOTTO_LOG_ERROR };

#define SOTTO_LISTEN_DEFAULT "127.0.0.1:8470"

/* Filled in by hand, where 0 and NULL are the defaults, or by name with
   sotto_collector_set. */
struct sotto_collector_options {
    /* A signed mechanism file, or a folder of them: NAME.sotto and
       NAME.sotto.minisig are the campaign NAME, of letters, digits, - and _.
       All must be signed by the key at `pub`. */
    const char *mechanisms;
    const char *pub;
    const char *store;              /* sqlite:PATH, or postgres://... as
                                       libpq takes it, without a password */
    const char *window_keys;        /* with postgres: a folder for the keys of
                                       what waits, this collector's own */
    const char *listen;             /* HOST:PORT, or :PORT for every address
                                       (SOTTO_LISTEN_DEFAULT); port 0: any that
                                       is free */
    const char *tls_cert, *tls_key; /* PEM files; without them plain HTTP, and
                                       only on a loopback address unless: */
    bool plain;                     /* something in front does TLS */
    const char *operations;         /* HOST:PORT of a place of their own for
                                       health, metrics and batches (NULL: they
                                       are where reports are taken) */
    const char *admin_token_file;   /* 16 bytes or more, in a file of mode 0600;
                                       NULL: no analyst's side */
    const char *metrics_token_file; /* the same, for metrics alone (NULL: the
                                       analyst's token opens them) */
    bool proxy_protocol;            /* connections begin with a header of the
                                       PROXY protocol, which says whose they
                                       are */
    const char *client_header;      /* the name of a header whose last address
                                       says whose a request is, as the proxy
                                       next to us has it */
    bool simulation;                /* takes simulated reports, and no others */

    size_t body_most;        /* bytes of a request's body (4 MiB) */
    size_t reports_most;     /* of a request (10,000) */
    size_t connections_most; /* at a time (1,024) */
    size_t address_most;     /* of one address, at a time (256; with `plain`
                                as many as in all) */
    unsigned request_s;      /* for all of a request to arrive (20) */
    unsigned idle_s;         /* for the next one to begin (60) */
    size_t waiting_most; /* reports waiting for the disk, then 503 (65,536; not
                            fewer than reports_most) */
    unsigned window_s;   /* of the store (600) */
    size_t batch_min;    /* reports released together (1,000; at least 2) */
    unsigned threads;    /* that answer requests (2) */

    /* `code` names the event, for good; docs/operate.md has all of them. */
    void (*log)(void *context, enum sotto_log_level level, const char *code,
                const char *text);
    void *log_context;
};

/* The i-th setting of a collector; false: there are fewer. */
bool sotto_collector_setting_at(size_t i,
                                struct sotto_setting_info *ret_setting);
/* Sets what has a name: to what is given for it, or to its default. Texts stay
   the caller's. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
sotto_collector_set(struct sotto_collector_options *options,
                    const struct sotto_setting *set, size_t sets,
                    struct sotto_error *err);

/*
 * Opens the store, reads and verifies the mechanisms, and listens; requests are
 * answered by threads of its own. Statuses: USAGE, IO, FORMAT, SIGNATURE,
 * REFUSED, MEMORY, ENTROPY, INPUT (the campaigns).
 */
SOTTO_CHECKED enum sotto_status
sotto_collector_start(const struct sotto_collector_options *options,
                      struct sotto_collector **ret_collector,
                      struct sotto_error *err);
/*
 * Does all that starting does but for listening and writing: reads and verifies
 * what there is to read, and looks whether the store can be opened, or made.
 * Whether the places to listen at are free, and whether another collector has
 * the store, it does not say. Statuses: as for starting.
 */
SOTTO_CHECKED enum sotto_status
sotto_collector_check(const struct sotto_collector_options *options,
                      struct sotto_error *err);
/* The port it listens on, and that for operations (0: they have none). */
unsigned sotto_collector_port(const struct sotto_collector *collector);
unsigned
sotto_collector_operations_port(const struct sotto_collector *collector);
/* What it has done since it was started; counted by several threads, so that
   the numbers are not of one moment. */
struct sotto_collector_counts {
    uint64_t accepted; /* reports */
    uint64_t commits;  /* flushes that they shared */
    uint64_t windows;  /* with reports in them, that were moved on */
};
void sotto_collector_count(struct sotto_collector *collector,
                           struct sotto_collector_counts *ret_counts);
/* Reads mechanisms, tokens and the certificate again: new campaigns begin,
   those that are gone end, the others go on untouched; connections keep the
   certificate they have. On failure all is as before. Statuses: as for
   starting; REFUSED (a name has another mechanism than before). */
SOTTO_CHECKED enum sotto_status
sotto_collector_reload(struct sotto_collector *collector,
                       struct sotto_error *err);
/* Takes no new connection, answers what has come, ends the window and moves it
   on, for some seconds at most, and frees. */
void sotto_collector_stop(struct sotto_collector *collector);

/* ---- What was collected -------------------------------------------------- */

/*
 * Released reports of a mechanism in the store at `url`, as a reader: all
 * batches there are, in the order of their payloads, so that the same reports
 * give the same results however they were shuffled. `simulation` says whether
 * simulated ones are wanted. Statuses: sotto_report_reader_parse's; USAGE,
 * REFUSED (the store has simulated reports, or others than those); INPUT (none
 * is released yet).
 */
SOTTO_CHECKED enum sotto_status
sotto_store_reports(const struct sotto_mechanism *mechanism, const char *url,
                    bool simulation, struct sotto_report_reader **ret_reader,
                    struct sotto_error *err);
/* How a stream without a report is told of, which is no failure of its own:
   with the store's name, or the collector's. */
#define SOTTO_NONE_RELEASED                                                    \
    "'%s' has released no reports of this mechanism yet: they wait for the "   \
    "end of a window, and until there are as many as the collector's "         \
    "batch-min"
/*
 * The same batch by batch, in the order of release and in memory of one batch;
 * those behind number `after`, 0 for all. A batch's own order is random.
 * Reports that the store has damaged are left out, and counted; so is a batch
 * that cannot be read at all. Statuses: USAGE, REFUSED, FORMAT (no store, or
 * more than 1,000 such batches in a row), IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_store_stream(const struct sotto_mechanism *mechanism, const char *url,
                   bool simulation, uint64_t after,
                   struct sotto_report_stream **ret_stream,
                   struct sotto_error *err);
/*
 * The same over HTTP, from a collector that is running: an analyst's way who is
 * not on its machine.
 */
struct sotto_gather_options {
    const char *url;        /* https://HOST[:PORT]/v1/campaigns/NAME; http for a
                               loopback address alone */
    const char *token_file; /* the collector's admin token */
    const char *ca;         /* PEM file of the authorities to trust (the
                               system's) */
    unsigned tries;         /* of a request (8) */
    unsigned wait_ms;       /* before the second try, then doubled, jittered
                               (500) */
    unsigned timeout_s;     /* of one request (30) */
    bool simulation;        /* simulated ones are wanted */
    struct sotto_watch watch;
};
/* Statuses: sotto_store_reports'; IO, FORMAT and LIMIT (the answer makes no
   sense), STOPPED, ENTROPY. */
SOTTO_CHECKED enum sotto_status
sotto_gather_reports(const struct sotto_mechanism *mechanism,
                     const struct sotto_gather_options *options,
                     struct sotto_report_reader **ret_reader,
                     struct sotto_error *err);
/* The same batch by batch: a batch is asked for when it is wanted. `options`
   and what it points to need not stay; but its watch's context must. */
SOTTO_CHECKED enum sotto_status
sotto_gather_stream(const struct sotto_mechanism *mechanism,
                    const struct sotto_gather_options *options, uint64_t after,
                    struct sotto_report_stream **ret_stream,
                    struct sotto_error *err);
/* Whether a text names a store (sqlite:..., postgres:...) and not a file. */
bool sotto_store_named(const char *url);

/* ---- The sender ---------------------------------------------------------- */

/*
 * The device's queue of reports and the way to a collector.
 *
 *     ledger --report--> queue (durable) --shuffled, in batches--> collector
 *                          ^ acknowledged: forgotten but for its tag
 */
struct sotto_sender;

/* Filled in by hand, where 0 and NULL are the defaults but for `spread_s` and
   `grid_s`, or by name with sotto_sender_set. */
struct sotto_sender_options {
    const char *url;   /* https://HOST[:PORT]/v1/campaigns/NAME; http for a
                          loopback address alone */
    const char *queue; /* the SQLite file; made if it is not there */
    const char *ca;    /* PEM file of the authorities to trust (the system's) */
    const char
        *proxy;       /* as curl takes it, socks5h://HOST:PORT, say; NULL: none,
                         whatever the environment says; with https alone */
    size_t batch;     /* reports in a request (100; at most 10,000) */
    unsigned tries;   /* of a request before it is left for another run (8) */
    unsigned wait_ms; /* before the second try, then doubled, jittered (500) */
    unsigned timeout_s; /* of one request (30) */
    unsigned spread_s;  /* sending begins at a time drawn when the sender is
                           opened, up to so many seconds after that (0) */
    unsigned grid_s;    /* or, if that has passed, a multiple of so many seconds
                           after it (0: at once); see sotto_sender_check */
    bool simulation;    /* sends simulated reports, and no others */
    bool look; /* at the queue, and no more: it is neither made nor changed,
                  and nothing is sent */
    struct sotto_watch watch;
};

/* As sotto_collector_setting_at and sotto_collector_set: there the spread is 10
   seconds, and the grid 1. */
bool sotto_sender_setting_at(size_t i, struct sotto_setting_info *ret_setting);
SOTTO_CHECKED enum sotto_status
sotto_sender_set(struct sotto_sender_options *options,
                 const struct sotto_setting *set, size_t sets,
                 struct sotto_error *err);

/*
 * Opens it before any record is read: so the time of sending, which is drawn
 * here, cannot depend on one. The queue is this sender's until it is freed: of
 * two programs at a time the second gets IO, and has done nothing. Statuses:
 * USAGE, FORMAT (the queue), IO, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_sender_open(const struct sotto_sender_options *options,
                  struct sotto_sender **ret_sender, struct sotto_error *err);
void sotto_sender_free(struct sotto_sender *sender);

/*
 * Makes the queue this ledger's, before anybody is asked: reports of two
 * ledgers in it could be of the same people. The queue keeps how many charges
 * the ledger had when reports were queued: one that has fewer was put back from
 * a backup, and makes no new charge from here on. The ledger must outlive the
 * sender's last call but sotto_sender_free. Statuses: REFUSED (it is another
 * ledger's), IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_sender_bind(struct sotto_sender *sender,
                                                  struct sotto_ledger *ledger,
                                                  struct sotto_error *err);

/*
 * Asks the collector for the signature of its mechanism, and whether that is
 * one of `mechanism` by the key at `pub`: before a record is read, so that
 * nobody is charged for a report that the collector would refuse, and whether
 * it is asked does not depend on a record. From then on reports of `mechanism`,
 * which must outlive the sender, are only sent if a device can have made them.
 * Unless the grid is 0, they leave at a deadline: not before the time that is
 * set aside, from now, for the reports that will be queued, by their number and
 * the mechanism's multiply-adds alone. A mechanism that takes a slow device
 * more than a quarter of the grid for a record is refused with USAGE, one that
 * sotto_mechanism_check refuses with FORMAT. Statuses: SIGNATURE (it has
 * another mechanism), IO (also: no such campaign), FORMAT (also: the key),
 * USAGE (also: look), LIMIT, STOPPED, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_sender_check(struct sotto_sender *sender,
                   const struct sotto_mechanism *mechanism, const char *pub,
                   struct sotto_error *err);

/*
 * When the encoder works for whom, in seconds, on the clock that
 * CLOCK_MONOTONIC is: a function of public facts alone. From the moment that an
 * encoder starts until `encoder` + `stop` later nothing else is to happen,
 * whether it has ended or not; then the report is charged.
 */
struct sotto_schedule {
    double first;   /* the first person's turn begins, at the earliest */
    double turn;    /* from one person's turn to the next one's, at least */
    double encoder; /* that it may take for a record, and always gets; 0: there
                       is no schedule, and no deadline either */
    double stop;    /* and to end it */
};

/*
 * Says, behind sotto_sender_check and before a record is encoded, how many
 * reports will be queued at most: the deadline allows for them. Gives when they
 * are to be made; nothing (encoder 0) if the grid is 0. Statuses: REFUSED (by
 * the deadline the mechanism has ended: charge nobody).
 */
SOTTO_CHECKED enum sotto_status
sotto_sender_expect(struct sotto_sender *sender, uint64_t reports,
                    struct sotto_schedule *ret_schedule,
                    struct sotto_error *err);

/*
 * Fetches the campaign's mechanism and its signature, to PATH and
 * PATH.minisig, both or neither; verifies them with the key at `pub`, and that
 * the hash is `pin` (64 hexadecimal digits): a signature says who, not which,
 * and its owner could give each device a mechanism of its own. What was
 * there is only replaced by the same bytes' like: a file with another hash is
 * REFUSED. Statuses: IO, SIGNATURE, PIN, REFUSED, USAGE (the pin), FORMAT,
 * LIMIT, STOPPED, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_sender_fetch(struct sotto_sender *sender, const char *path,
                   const char *pub, const char *pin, struct sotto_error *err);

/* Whether a mechanism is the one whose hash was agreed to: `pin`, 64
   hexadecimal digits. Statuses: PIN, USAGE. */
SOTTO_CHECKED enum sotto_status
sotto_mechanism_pinned(const struct sotto_mechanism *mechanism, const char *pin,
                       struct sotto_error *err);

/*
 * From begin to commit what is queued is not durable yet: keep it elsewhere, as
 * the ledger does. The commit makes all of it durable at once, and the queue
 * then holds no order in which it was queued. Sending commits first. Statuses:
 * USAGE (look, begun twice), IO, MEMORY, FORMAT.
 */
SOTTO_CHECKED enum sotto_status sotto_sender_begin(struct sotto_sender *sender,
                                                   struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sotto_sender_commit(struct sotto_sender *sender,
                                                    struct sotto_error *err);

/*
 * Says of which mechanism the reports are that are queued from here on, without
 * asking the collector, as sotto_sender_check does: the queue keeps when it
 * ends. It must outlive what is queued until then.
 */
void sotto_sender_know(struct sotto_sender *sender,
                       const struct sotto_mechanism *mechanism);

/* Queues a report of the mechanism that the sender knows, with its end, durably
   unless something is begun; one that is queued or was acknowledged is left as
   it is. Statuses: REFUSED (simulated, or not; of a mechanism for the label
   only), USAGE (look; another mechanism's, or none is known), IO, MEMORY,
   FORMAT, ENTROPY. */
SOTTO_CHECKED enum sotto_status sotto_sender_queue(struct sotto_sender *sender,
                                                   const uint8_t *report,
                                                   size_t size,
                                                   struct sotto_error *err);

/* What sending came to. */
struct sotto_sent {
    size_t accepted, duplicate, refused, left; /* left: still in the queue */
    size_t marked;     /* refused, now or before, and still in the queue */
    size_t ended;      /* in the queue, and never sent: their mechanism has
                          expired */
    size_t requests;   /* with reports */
    bool late;         /* the deadline had passed when all was queued */
    char refusal[160]; /* why, of the first; "" */
};
/*
 * Sends what is queued for this address, over one connection, in an order drawn
 * at random; what gets no answer, or "later" for one, is sent again, the same
 * bytes. Refused reports stay, marked, and are not sent again before
 * sotto_sender_retry. Reports of a mechanism that has expired, by this device's
 * clock, stay and are not sent, also where that happens between two tries. A
 * request is checked first: no report of another kind
 * (simulated, or not) is sent, and none that no device can have made with the
 * mechanism of sotto_sender_check. `ret_sent` is filled also on failure.
 * Statuses: IO (some could not be sent, and stay), FORMAT (the queue has what
 * is no report, or the answer makes no sense, and they stay), LIMIT (such an
 * answer), STOPPED, USAGE, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status sotto_sender_flush(struct sotto_sender *sender,
                                                   struct sotto_sent *ret_sent,
                                                   struct sotto_error *err);

/* Lets what was refused wait again, the same bytes. Statuses: USAGE (look), IO,
   FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_sender_retry(struct sotto_sender *sender,
                                                   struct sotto_error *err);

/* Removes what has ended from the queue; the ledger keeps reports and charges.
   Statuses: USAGE (look), IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_sender_drop(struct sotto_sender *sender,
                                                  struct sotto_error *err);

/* What the queue has for this address, each report counted once. */
struct sotto_queued {
    size_t waiting;
    size_t refused; /* by the collector */
    size_t ended;   /* their mechanism has expired: they are never sent */
};
/* Counts them; and gives the next request's, up to `batch` of them, of one
   mechanism, each of `ret_size` bytes, one behind the other: the caller frees
   them. Those of `mechanism` are checked. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_sender_count(struct sotto_sender *sender, struct sotto_queued *ret_count,
                   struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_sender_next(struct sotto_sender *sender,
                  const struct sotto_mechanism *mechanism,
                  uint8_t **ret_reports, size_t *ret_size, size_t *ret_count,
                  struct sotto_error *err);

/*
 * Every byte that a request with these reports, of `size` bytes each, would be,
 * but for TLS: `text` is the bytes with an explanation of each part beside it,
 * in lines for people; of a report of another mechanism the payload is shown
 * alone. The caller frees it. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_sender_explain(const struct sotto_sender *sender,
                     const struct sotto_mechanism *mechanism,
                     const uint8_t *reports, size_t size, size_t count,
                     char **ret_text, struct sotto_error *err);

/* ---- Looking after a store ----------------------------------------------- */

/* What is damaged in a store. */
struct sotto_store_damage {
    uint64_t reports; /* whose payload has changed; they are left out */
    uint64_t places;  /* else */
    uint64_t sealed;  /* no damage: rows that wait, of a store on a server,
                         which cannot be looked into without their keys */
};

/*
 * Looks at all that the store `url` keeps, also while collectors write to it;
 * `tell`, if not NULL, is told of every place that is damaged, in words. With a
 * folder of keys (postgres:, window_keys; NULL: none), which no collector may
 * have open, also at what waits of that collector. Statuses: USAGE, IO, MEMORY,
 * FORMAT (nothing can be looked at), REFUSED (others may look into the folder).
 */
SOTTO_CHECKED enum sotto_status
sotto_store_check(const char *url, const char *window_keys,
                  void (*tell)(void *context, const char *text), void *context,
                  struct sotto_store_damage *ret_damage,
                  struct sotto_error *err);

/* What a repair found and saved. */
struct sotto_store_repaired {
    bool sound;        /* there was nothing to repair, nothing was changed, and
                          nothing counted; but for `mended`, bytes of the log */
    uint64_t released; /* reports in batches */
    uint64_t waiting;  /* reports that wait */
    uint64_t lost;     /* reports that are gone, as far as that is known */
    uint64_t mended;   /* pages, of the log, too, of which one byte was put
                          right */
    uint64_t damaged;  /* other pages that were damaged */
    uint64_t tags;     /* pages of tags that are lost: reports whose tags were
                          there would be taken twice */
};

/*
 * Writes the store `url` (sqlite:PATH) anew with all of it that is sound, with
 * the collector stopped; the old one is kept as PATH.damaged, and may hold ids'
 * tags beside payloads, so remove it when all is well. `tell`, if not NULL, is
 * told of every place that was damaged, in words. A kill at any moment leaves
 * the old store or the new one, whole. Statuses: USAGE (also: an old one is in
 * the way; postgres:), IO (also: it has a writer or readers), FORMAT (what all
 * hangs on is gone), MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_store_repair(const char *url,
                   void (*tell)(void *context, const char *text), void *context,
                   struct sotto_store_repaired *ret_repaired,
                   struct sotto_error *err);

/* What a store had of a campaign. */
struct sotto_store_forgotten {
    uint64_t released, batches, waiting;
};

/*
 * Ends a campaign for good, with the collector stopped, unless the store is on
 * a server: `which` is a mechanism file, or the 64 hexadecimal digits of its
 * hash. Its reports and tags are deleted, and none is taken any more. Statuses:
 * sotto_mechanism_read's; USAGE (the store does not know it), IO (also: it has
 * a writer; a reader is in the way), FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_store_forget(const char *url, const char *which,
                   struct sotto_store_forgotten *ret_forgotten,
                   struct sotto_error *err);

/*
 * Copies a store, also while a collector writes to it, to `to` and `to`-tags,
 * where there is nothing yet, without the window that is open. The copy is a
 * store. Statuses: USAGE (also: it is on a server, whose own tools do that),
 * IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_store_backup(const char *url, const char *to, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
