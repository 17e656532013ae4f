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

/* The steps of the histogram, and their names. */
static const struct {
    double seconds;
    const char *name;
} step[METRICS_STEPS] = {
    {0.001, "0.001"}, {0.0025, "0.0025"}, {0.005, "0.005"}, {0.01, "0.01"},
    {0.025, "0.025"}, {0.05, "0.05"},     {0.1, "0.1"},     {0.25, "0.25"},
    {0.5, "0.5"},     {1, "1"},           {2.5, "2.5"},     {10, "10"},
};

void
metrics_took(struct metrics *metrics, double seconds)
{
    unsigned at = 0;
    while (at < METRICS_STEPS && seconds > step[at].seconds) {
        at++;
    }
    atomic_fetch_add_explicit(&metrics->took[at], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->took_us, (uint64_t)(seconds * 1e6),
                              memory_order_relaxed);
}

/* ---- Writing ------------------------------------------------------------- */

static void
put_type(struct host_text *text, const char *name, const char *type,
         const char *help)
{
    host_text_print(text, "# HELP sotto_%s %s\n# TYPE sotto_%s %s\n", name,
                    help, name, type);
}

static void
put_value(struct host_text *text, const char *name, const char *labels,
          atomic_uint_fast64_t *value)
{
    host_text_print(
        text, "sotto_%s%s %" PRIu64 "\n", name, labels,
        (uint64_t)atomic_load_explicit(value, memory_order_relaxed));
}

static void
put_answers(struct metrics *metrics, struct host_text *text)
{
    char label[64];
    put_type(text, "answers_total", "counter", "answers by class of status");
    for (unsigned i = 2; i < METRICS_CLASSES; i++) {
        (void)snprintf(label, sizeof label, "{class=\"%uxx\"}", i);
        put_value(text, "answers_total", label, &metrics->answers[i]);
    }
    put_type(text, "reports_total", "counter",
             "reports by what became of them");
    for (unsigned i = 0; i < JUDGE_VERDICTS; i++) {
        (void)snprintf(label, sizeof label, "{verdict=\"%s\"}",
                       judge_verdict_name((enum judge_verdict)i));
        put_value(text, "reports_total", label, &metrics->reports[i]);
    }
}

/* Steps are cumulative: what took less is in each behind it, too. */
static void
put_took(struct metrics *metrics, struct host_text *text)
{
    uint64_t count = 0;
    put_type(text, "answer_seconds", "histogram",
             "from a request's last byte to its answer");
    for (unsigned i = 0; i <= METRICS_STEPS; i++) {
        count += atomic_load_explicit(&metrics->took[i], memory_order_relaxed);
        host_text_print(text,
                        "sotto_answer_seconds_bucket{le=\"%s\"} %" PRIu64 "\n",
                        i < METRICS_STEPS ? step[i].name : "+Inf", count);
    }
    host_text_print(
        text,
        "sotto_answer_seconds_sum %.6f\nsotto_answer_seconds_count %" PRIu64
        "\n",
        (double)atomic_load_explicit(&metrics->took_us, memory_order_relaxed) /
            1e6,
        count);
}

void
metrics_write(struct metrics *metrics, struct host_text *text)
{
    double clean_at = (double)atomic_load(&metrics->clean_at);
    atomic_uint_fast64_t clean_age =
        (uint_fast64_t)fmax(0, floor(host_seconds() - clean_at));
    atomic_uint_fast64_t healthy = atomic_load(&metrics->healthy) ? 1 : 0;
    const struct {
        const char *name, *type, *help;
        atomic_uint_fast64_t *value;
    } row[] = {
        {"commits_total", "counter", "groups of requests on disk",
         &metrics->commits},
        {"commit_failures_total", "counter",
         "groups that the disk did not take", &metrics->failures},
        {"windows_total", "counter", "windows moved on", &metrics->windows},
        {"move_failures_total", "counter",
         "tries to move a window on that failed", &metrics->move_failures},
        {"scrub_failures_total", "counter",
         "tries to clean the store's files that failed, or met a reader",
         &metrics->scrub_failures},
        {"clean_age_seconds", "gauge",
         "since the store last held nothing of a window that has ended: "
         "much longer than a window is wrong",
         &clean_age},
        {"waiting_reports", "gauge", "reports that wait for the disk",
         &metrics->waiting},
        {"healthy", "gauge", "1 while the disk takes reports", &healthy},
        {"store_looks_total", "counter", "times all of the store was checked",
         &metrics->looks},
        {"store_damaged_reports", "gauge",
         "reports in the store whose payload has changed on the disk",
         &metrics->damaged_reports},
        {"store_damaged_places", "gauge", "other damaged places of the store",
         &metrics->damaged_places},
        {"batches_total", "counter", "batches handed out", &metrics->batches},
        {"connections_late_total", "counter",
         "connections cut because a request took too long", &metrics->late},
        {"connections_turned_away_total", "counter",
         "connections above a limit", &metrics->turned_away},
        {"connections", "gauge", "open connections", &metrics->connections},
    };
    put_answers(metrics, text);
    put_took(metrics, text);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        put_type(text, row[i].name, row[i].type, row[i].help);
        put_value(text, row[i].name, "", row[i].value);
    }
}
