/*
 * demo_devices.c: people's devices. Each has a queue of its own on disk, puts
 * the reports of its people there, and sends them over a connection of its own;
 * a few have their turn at a time.
 *
 *     mechanism fetched, signed, pinned (by the first) -> report -> queue
 *       -> collector -> acknowledged
 *
 * It is what sotto send does, but for the ledger: that gives reports with the
 * system's noise alone, and these are simulated.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "demo/demo.h"
#include "host/error.h"
#include "host/pool.h"

#define FOLDER "devices"
#define PREFIX "device-"
#define AT_A_TIME 16u

/* What devices share here, where they are threads of one program. */
struct devices {
    struct demo_story *story;
    const struct demo_budget *budget;
    unsigned port;

    pthread_mutex_t lock; /* of what follows */
    struct sotto_mechanism *mechanism;
    struct sotto_records *records;
    size_t done; /* of the devices */
    size_t requests;
    bool stop;
    struct sotto_error err; /* the first failure */
};

/* ---- One device ---------------------------------------------------------- */

/* Simulated, with memory that is everybody's. */
static enum sotto_status
make_report(struct devices *devices, size_t person, uint8_t *report,
            struct sotto_error *err)
{
    (void)pthread_mutex_lock(&devices->lock);
    enum sotto_status status =
        demo_simulate(devices->story, devices->mechanism, devices->records,
                      person, report, devices->budget->report_size, err);
    (void)pthread_mutex_unlock(&devices->lock);
    return status;
}

/* The mechanism's file, as a device gets it. An earlier demo's may be another,
   and that is never replaced. */
static enum sotto_status
fetch(const struct devices *devices, struct sotto_sender *sender,
      struct sotto_error *err)
{
    static const char *const endings[] = {"sotto.minisig", "sotto"};
    char path[DEMO_PATH_SIZE], pub[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    const struct demo *demo = &devices->story->demo;
    struct sotto_mechanism_info info;
    sotto_mechanism_info(devices->mechanism, &info);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        (void)unlink(demo_place(demo,
                                demo_name(demo_kind_name[DEMO_KIND_CODES],
                                          devices->budget, endings[i], name),
                                path));
    }
    return sotto_sender_fetch(
        sender, path, demo_place(demo, "collector.pub", pub), info.hash, err);
}

/* Queues all people of a device in one transaction: after a failure nobody is
   queued. */
static enum sotto_status
queue_people(struct devices *devices, size_t device,
             struct sotto_sender *sender, struct sotto_error *err)
{
    const struct demo *demo = &devices->story->demo;
    size_t size = devices->budget->report_size;
    enum sotto_status status;
    uint8_t *report = malloc(size);
    if (report == NULL) {
        err->status = SOTTO_STATUS_MEMORY;
        return SOTTO_STATUS_MEMORY;
    }
    status = sotto_sender_begin(sender, err);
    for (size_t person = device;
         person < demo->people && status == SOTTO_STATUS_OK;
         person += demo->devices) {
        status = make_report(devices, person, report, err);
        status =
            HOST_THEN(status, sotto_sender_queue(sender, report, size, err));
    }
    free(report);
    return HOST_THEN(status, sotto_sender_commit(sender, err));
}

/* All that is queued; a collector that refuses any of it ends the demo. */
static enum sotto_status
flush(struct devices *devices, struct sotto_sender *sender,
      struct sotto_error *err)
{
    struct sotto_sent sent = {0};
    enum sotto_status status = sotto_sender_flush(sender, &sent, err);
    if (status == SOTTO_STATUS_OK && sent.refused > 0) {
        status = SOTTO_STATUS_REFUSED;
        (void)snprintf(err->message, sizeof err->message,
                       "the collector refused a report: %s", sent.refusal);
    }
    (void)pthread_mutex_lock(&devices->lock);
    devices->requests += sent.requests;
    (void)pthread_mutex_unlock(&devices->lock);
    return status;
}

static enum sotto_status
run_device(struct devices *devices, size_t device, struct sotto_error *err)
{
    char name[DEMO_NAME_SIZE], queue[DEMO_PATH_SIZE], url[DEMO_NAME_SIZE + 64];
    struct sotto_sender *sender = NULL;
    const struct sotto_sender_options options = {
        .url = url, .queue = queue, .simulation = true};
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/v1/campaigns/%s",
                   devices->port, demo_campaign(devices->budget, name));
    (void)snprintf(name, sizeof name, FOLDER "/" PREFIX "%zu.queue", device);
    (void)demo_place(&devices->story->demo, name, queue);
    enum sotto_status status = sotto_sender_open(&options, &sender, err);
    if (status == SOTTO_STATUS_OK && device == 0) {
        status = fetch(devices, sender, err);
    }
    if (status == SOTTO_STATUS_OK) {
        sotto_sender_know(sender, devices->mechanism);
        status = queue_people(devices, device, sender, err);
    }
    status = HOST_THEN(status, flush(devices, sender, err));
    sotto_sender_free(sender);
    return status;
}

/* ---- All of them --------------------------------------------------------- */

/* Tells how far they are; false: all is to stop. */
static bool
tell_progress(struct devices *devices)
{
    struct sotto_watch port = watch_port(&devices->story->watch);
    (void)pthread_mutex_lock(&devices->lock);
    if (!devices->stop && !port.tick(port.context, "sending", devices->done,
                                     devices->story->demo.devices)) {
        devices->err.status = SOTTO_STATUS_STOPPED;
        devices->stop = true;
    }
    bool go = !devices->stop;
    (void)pthread_mutex_unlock(&devices->lock);
    return go;
}

/* A device has its turn. The first failure is the one to tell. */
static void
take_turn(void *context, size_t device, unsigned worker)
{
    struct devices *devices = context;
    struct sotto_error err = {0};
    (void)worker;
    if (!tell_progress(devices)) {
        return;
    }
    err.status = run_device(devices, device, &err);
    (void)pthread_mutex_lock(&devices->lock);
    devices->done++;
    if (err.status != SOTTO_STATUS_OK && !devices->stop) {
        devices->err = err;
        devices->stop = true;
    }
    (void)pthread_mutex_unlock(&devices->lock);
}

int
demo_devices(struct demo_story *story, const struct demo_budget *budget,
             struct sotto_mechanism *mechanism, unsigned port)
{
    char path[DEMO_PATH_SIZE];
    struct demo *demo = &story->demo;
    struct host_pool *pool = NULL;
    struct devices devices = {
        .story = story, .budget = budget, .port = port, .mechanism = mechanism};
    int status = demo_folder_clear(demo, FOLDER, PREFIX);
    if (status == CLI_EXIT_DONE &&
        (host_pool_new(AT_A_TIME, &pool, &devices.err) != SOTTO_STATUS_OK ||
         sotto_records_new(mechanism, story->people, &devices.records,
                           &devices.err) != SOTTO_STATUS_OK)) {
        status = cli_fail(&devices.err);
    }
    if (status != CLI_EXIT_DONE) {
        host_pool_free(pool);
        return status;
    }
    demo->devices = demo->effort->devices;
    (void)pthread_mutex_init(&devices.lock, NULL);
    host_pool_run(pool, demo->devices, take_turn, &devices);
    (void)pthread_mutex_destroy(&devices.lock);
    host_pool_free(pool);
    sotto_records_free(devices.records);
    demo->requests = devices.requests;
    status = demo_folder_clear(demo, FOLDER, PREFIX);
    (void)rmdir(demo_place(demo, FOLDER, path));
    return devices.stop ? demo_fail(&devices.err) : status;
}
