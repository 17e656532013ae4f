/*
 * watching.c: what is told to whoever watches a collector: counts of all
 * clients together, and what it stands on: its version, certificate, store and
 * disk.
 */
#include <inttypes.h>

#include "collector/collector.h"
#include "store/store_disk.h"

static void
put_number(struct host_text *text, const char *name, const char *type,
           const char *help, uint64_t value)
{
    host_text_print(text,
                    "# HELP sotto_%s %s\n# TYPE sotto_%s %s\n"
                    "sotto_%s %" PRIu64 "\n",
                    name, help, name, type, name, value);
}

static void
put_campaigns(const struct campaigns *campaigns, struct host_text *text)
{
    host_text_print(text, "# HELP sotto_campaign_reports reports in the store, "
                          "when the last window was moved\n"
                          "# TYPE sotto_campaign_reports gauge\n");
    for (size_t i = 0; i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        host_text_print(
            text,
            "sotto_campaign_reports{campaign=\"%s\",at=\"waiting\"} %" PRIu64
            "\n"
            "sotto_campaign_reports{campaign=\"%s\",at=\"released\"} %" PRIu64
            "\n",
            campaign->name, (uint64_t)atomic_load(&campaign->waiting),
            campaign->name, (uint64_t)atomic_load(&campaign->released));
    }
}

static void
put_store(const char *url, struct host_text *text)
{
    struct store_disk disk;
    if (store_disk_look(url, &disk)) {
        put_number(text, "store_bytes", "gauge", "of the store's files",
                   disk.bytes);
        put_number(text, "store_free_bytes", "gauge",
                   "that the store's file system has left for it", disk.left);
    }
}

void
watching_write(struct sotto_collector *collector,
               const struct campaigns *campaigns, struct host_text *text)
{
    uint64_t end = certificates_end(collector->certificates);
    metrics_write(&collector->metrics, text);
    refusals_write(&collector->refusals, text);
    put_campaigns(campaigns, text);
    host_text_print(text,
                    "# HELP sotto_info the program\n"
                    "# TYPE sotto_info gauge\n"
                    "sotto_info{version=\"%s\"} 1\n",
                    SOTTO_VERSION);
    put_number(text, "start_time_seconds", "gauge",
               "when it was started, since 1970", collector->started_at);
    put_number(text, "reloads_total", "counter", "readings again that worked",
               atomic_load(&collector->reloads));
    put_number(text, "reload_failures_total", "counter",
               "readings again that did not",
               atomic_load(&collector->reload_failures));
    put_number(text, "reload_good", "gauge",
               "0 where the last reading again failed",
               atomic_load(&collector->reload_failed) ? 0 : 1);
    if (end > 0) {
        put_number(text, "certificate_end_seconds", "gauge",
                   "when the certificate in use ends, since 1970", end);
    }
    put_store(collector->options.store, text);
}
