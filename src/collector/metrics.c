/*
 * metrics.c: what a collector counts.
 */
#include "collector/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "host/clock.h"

void
metrics_init(struct metrics *metrics)
{
    *metrics = (struct metrics){.healthy = true};
}

void
metrics_judged(struct metrics *metrics, const struct judge *judge)
{
    for (size_t i = 0; i < JUDGE_VERDICTS; i++) {
        if (judge->found[i] > 0) {
            atomic_fetch_add_explicit(&metrics->reports[i], judge->found[i],
                                      memory_order_relaxed);
        }
    }
}

void
metrics_answered(struct metrics *metrics, unsigned status)
{
    unsigned class = status / 100;
    atomic_fetch_add_explicit(
        &metrics->answers[class < METRICS_CLASSES ? class : 0], 1,
        memory_order_relaxed);
}

static void
put(struct host_text *text, const char *name, const char *labels,
    atomic_uint_fast64_t *value)
{
    host_text_print(
        text, "sotto_%s%s %" PRIu64 "\n", name, labels,
        (uint64_t)atomic_load_explicit(value, memory_order_relaxed));
}

static void
put_type(struct host_text *text, const char *name, const char *type,
         const char *help)
{
    host_text_print(text, "# HELP sotto_%s %s\n# TYPE sotto_%s %s\n", name,
                    help, name, type);
}

static void
put_answers(struct metrics *metrics, struct host_text *text)
{
    char label[64];
    put_type(text, "answers_total", "counter", "answers by class of status");
    for (unsigned i = 2; i < METRICS_CLASSES; i++) {
        (void)snprintf(label, sizeof label, "{class=\"%uxx\"}", i);
        put(text, "answers_total", label, &metrics->answers[i]);
    }
    put_type(text, "reports_total", "counter",
             "reports by what became of them");
    for (unsigned i = 0; i < JUDGE_VERDICTS; i++) {
        (void)snprintf(label, sizeof label, "{verdict=\"%s\"}",
                       judge_verdict_name((enum judge_verdict)i));
        put(text, "reports_total", label, &metrics->reports[i]);
    }
}

/* What the writer and the mover do. */
static void
put_store(struct metrics *metrics, struct host_text *text)
{
    double clean_at = (double)atomic_load(&metrics->clean_at);
    put_type(text, "commits_total", "counter", "groups of requests on disk");
    put(text, "commits_total", "", &metrics->commits);
    put_type(text, "commit_failures_total", "counter",
             "groups that the disk did not take");
    put(text, "commit_failures_total", "", &metrics->failures);
    put_type(text, "windows_total", "counter", "windows moved on");
    put(text, "windows_total", "", &metrics->windows);
    put_type(text, "move_failures_total", "counter",
             "tries to move a window on that failed");
    put(text, "move_failures_total", "", &metrics->move_failures);
    put_type(text, "scrub_failures_total", "counter",
             "tries to clean the store's files that failed, or met a reader");
    put(text, "scrub_failures_total", "", &metrics->scrub_failures);
    put_type(text, "clean_age_seconds", "gauge",
             "since the store last held nothing of a window that has ended: "
             "much longer than a window is wrong");
    host_text_print(text, "sotto_clean_age_seconds %.0f\n",
                    floor(host_seconds() - clean_at));
    put_type(text, "waiting_reports", "gauge",
             "reports that wait for the disk");
    put(text, "waiting_reports", "", &metrics->waiting);
    put_type(text, "healthy", "gauge", "1 while the disk takes reports");
    host_text_print(text, "sotto_healthy %d\n",
                    atomic_load(&metrics->healthy) ? 1 : 0);
}

void
metrics_write(struct metrics *metrics, struct host_text *text)
{
    put_answers(metrics, text);
    put_store(metrics, text);
    put_type(text, "batches_total", "counter", "batches handed out");
    put(text, "batches_total", "", &metrics->batches);
    put_type(text, "connections_late_total", "counter",
             "connections cut because a request took too long");
    put(text, "connections_late_total", "", &metrics->late);
    put_type(text, "connections_turned_away_total", "counter",
             "connections above a limit");
    put(text, "connections_turned_away_total", "", &metrics->turned_away);
    put_type(text, "connections", "gauge", "open connections");
    put(text, "connections", "", &metrics->connections);
}
