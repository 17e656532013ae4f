/*
 * opened.h: opening a mechanism, and what the opened one lends to a host.
 *
 * A device calls sotto/client.h and nothing here. A host opens a mechanism with
 * the channels that it names, exact ones for all that devices are to run, and
 * asks the opened one for its plans. What a struct sotto_client holds besides
 * is known to this folder alone (device.h).
 */
#ifndef SOTTO_CLIENT_OPENED_H
#define SOTTO_CLIENT_OPENED_H

#include "client/reader.h"
#include "client/wiring.h"
#include "encode/encode.h"
#include "report/report.h"

#define DEVICE_COLUMNS_MAX 4096u
#define DEVICE_LAYERS_MAX WIRING_LAYERS_MAX
#define DEVICE_WIDTH_MAX (1u << 20) /* entries of x, z or a layer */
#define DEVICE_TEXT_MAX 120u        /* characters of a name */

/* What a mechanism says of the whole. */
struct device_terms {
    uint32_t version; /* of the grammar: 1 or 2 */
    struct reader_word name, campaign, auxiliary, eps_text, delta_text;
    struct reader_word central_eps, central_delta; /* empty: none is stated */
    uint64_t eps;     /* stated total, units of 10^-12 */
    uint64_t delta;   /* likewise; 0: pure */
    uint64_t expires; /* seconds since 1970; 0: never */
    bool label_only;  /* the collector holds the record in the clear */
    bool uneven; /* numbers so small that its time could tell of a record */
    const uint8_t *text; /* names and categories of all columns */
    size_t text_size;
};

/* What an opened mechanism is made of; all of it lies in its workspace. */
struct device_view {
    const struct device_terms *terms;
    struct encode_plan *encoder; /* to run it as the device does */
    const struct report_plan *report;
    struct entropy *entropy;
};

/* sotto_client_size for parts that may name any of these channels. */
SOTTO_CHECKED enum sotto_status
device_size(const void *mechanism, size_t size,
            const struct channel *const *channels, size_t *ret_workspace,
            struct sotto_error *err);
/* sotto_client_open_work likewise. It refuses an uneven mechanism; or, to look
   at `uneven` ones too, for analysts, takes it: no report is made with one. */
SOTTO_CHECKED enum sotto_status
device_open(const void *mechanism, size_t size,
            const struct channel *const *channels, const uint8_t *pin,
            void *workspace, size_t workspace_size, uint64_t work, bool uneven,
            struct sotto_client **ret_client, struct sotto_error *err);

struct device_view device_view(struct sotto_client *client);

/* Wipes everything the last record left in the workspace. */
void device_wipe(struct sotto_client *client);

#endif
