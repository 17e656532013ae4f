/*
 * audit_fixture.h: mechanisms of one channel, opened in memory and audited.
 *
 *     symbols   one category column of `size` symbols, the last "other"
 *     pairs     two such columns, of `rows` and of `size` / `rows`
 *     numbers   `size` number columns from -1 to 1
 *
 * and the same with a layer in front (`encoded`): then the numbers, or the
 * largest of them, are a linear encoder's outputs.
 */
#ifndef SOTTO_TESTS_AUDIT_FIXTURE_H
#define SOTTO_TESTS_AUDIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "client/device.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "privacy/audit.h"

#define UNITS(x) ((uint64_t)((x)*1e6 + 0.5) * (DECIMAL_UNIT / 1000000))
#define FIXTURE_COLUMNS_MOST 64u
#define FIXTURE_SYMBOLS_MOST 1024u

struct setting {
    const char *channel;
    uint32_t size, l;
    uint64_t eps, delta;
    uint32_t blocks; /* 0: one */
    bool encoded;
    uint32_t rows; /* of a channel of pairs; else 0 */
};

static inline const struct channel *
setting_channel(const struct setting *setting)
{
    const struct channel *channel =
        channel_find(channel_exact, setting->channel, strlen(setting->channel));
    assert_non_null(channel);
    return channel;
}

/* ---- Mechanisms ---------------------------------------------------------- */

static inline struct sotto_mechanism *
mechanism_of(const struct compose_spec *spec)
{
    struct sotto_error err;
    struct sotto_mechanism *mechanism = NULL;
    if (compose_open(spec, &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s: %s", spec->name, err.message);
    }
    return mechanism;
}

/* Distinct texts; they stay. */
static inline const char *
name_of(uint32_t i)
{
    static char names[FIXTURE_SYMBOLS_MOST][8];
    assert_true(i < FIXTURE_SYMBOLS_MOST);
    (void)snprintf(names[i], sizeof names[i], "v%u", (unsigned)i);
    return names[i];
}

/* A layer of `out` outputs of `in` numbers, the identity and a little more. */
static inline struct layer
layer_of(uint32_t in, uint32_t out, float *weight, float *bias)
{
    assert_true(in <= FIXTURE_COLUMNS_MOST && out <= FIXTURE_COLUMNS_MOST);
    for (uint32_t i = 0; i < out; i++) {
        bias[i] = 0.125f;
        for (uint32_t j = 0; j < in; j++) {
            weight[i * in + j] = i % in == j ? 1 : -0.25f;
        }
    }
    return (struct layer){in, out, ACTIVATION_NONE, weight, bias};
}

static inline struct sotto_mechanism *
pairs_open(const struct setting *setting)
{
    static const char *values[FIXTURE_SYMBOLS_MOST];
    static float weight[FIXTURE_COLUMNS_MOST * FIXTURE_COLUMNS_MOST];
    static float bias[FIXTURE_COLUMNS_MOST];
    uint32_t k[2] = {setting->rows, setting->size / setting->rows};
    struct schema_column column[3];
    struct layer layer = layer_of(3, k[0] + k[1], weight, bias);
    struct compose_part part = {.covers = "both",
                                .channel = setting->channel,
                                .eps = setting->eps,
                                .blocks = 1,
                                .factors = 2};
    struct compose_spec spec = {.name = setting->channel,
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = setting->eps,
                                .column = column,
                                .columns = setting->encoded ? 3 : 2,
                                .layer = &layer,
                                .layers = setting->encoded,
                                .part = &part,
                                .parts = 1};
    for (uint32_t i = 0; i < FIXTURE_SYMBOLS_MOST; i++) {
        values[i] = name_of(i);
    }
    for (uint32_t i = 0; i < spec.columns; i++) {
        column[i] = (struct schema_column){
            name_of(i), SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    }
    for (uint32_t i = 0; i < 2; i++) {
        part.factor[i] = (struct compose_factor){true, i, 0};
        if (setting->encoded) {
            part.factor[i] = (struct compose_factor){false, i * k[0], k[i]};
        } else {
            column[i] = (struct schema_column){
                name_of(i), SOTTO_COLUMN_CATEGORY, k[i], values, false, 0, 0};
        }
    }
    return mechanism_of(&spec);
}

static inline struct sotto_mechanism *
setting_open(const struct setting *setting)
{
    static const char *values[FIXTURE_SYMBOLS_MOST];
    static float weight[FIXTURE_COLUMNS_MOST * FIXTURE_COLUMNS_MOST];
    static float bias[FIXTURE_COLUMNS_MOST];
    bool symbols = setting_channel(setting)->domain == CHANNEL_DOMAIN_SYMBOLS;
    uint32_t blocks = setting->blocks > 0 ? setting->blocks : 1;
    uint32_t outputs = symbols ? setting->size : blocks * setting->size;
    struct schema_column column[FIXTURE_COLUMNS_MOST];
    struct compose_part part = {.covers = "features",
                                .channel = setting->channel,
                                .eps = setting->eps,
                                .blocks = blocks,
                                .delta = setting->delta};
    struct compose_spec spec = {.name = setting->channel,
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = blocks * setting->eps,
                                .column = column,
                                .part = &part,
                                .parts = 1};
    struct layer layer;
    if (setting->rows > 0) {
        return pairs_open(setting);
    }
    spec.columns = symbols ? 1 : outputs;
    if (setting->encoded) {
        spec.columns = 3;
        layer = layer_of(3, outputs, weight, bias);
        spec.layer = &layer;
        spec.layers = 1;
    }
    for (uint32_t i = 0; i < spec.columns; i++) {
        column[i] = (struct schema_column){
            name_of(i), SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    }
    for (uint32_t i = 0; symbols && i + 1 < setting->size; i++) {
        values[i] = name_of(i);
    }
    if (symbols) {
        part.factors = 1;
        part.factor[0].is_column = !setting->encoded;
        part.factor[0].k = setting->encoded ? setting->size : 0;
    } else {
        part.d = setting->size;
        part.l = setting->l;
    }
    if (symbols && !setting->encoded) {
        column[0].kind = SOTTO_COLUMN_CATEGORY;
        column[0].count = setting->size;
        column[0].values = values;
        column[0].name = "symbol";
        column[0].scale = 0;
    }
    return mechanism_of(&spec);
}

/* ---- Audits -------------------------------------------------------------- */

static inline struct sotto_audit *
audit_of(struct sotto_mechanism *mechanism,
         const struct sotto_audit_options *options)
{
    struct sotto_audit *audit = NULL;
    struct sotto_error err;
    memset(&err, 0, sizeof err);
    if (sotto_audit_run(mechanism, options, &audit, &err) != SOTTO_STATUS_OK) {
        fail_msg("the audit itself failed: %s", err.message);
    }
    return audit;
}

/* An audit about to begin, for one attack alone: its own parts of what
   sotto_audit_run fills in. Free it with sotto_audit_free. */
static inline struct sotto_audit *
audit_begin(struct sotto_mechanism *mechanism,
            const struct sotto_audit_options *options)
{
    const struct sotto_client *client = mechanism->client;
    struct sotto_audit *audit = calloc(1, sizeof *audit);
    assert_non_null(audit);
    audit->mechanism = mechanism;
    audit->options = *options;
    audit->info.parts = client->sizes.parts;
    audit->info.eps_stated = (double)client->terms.eps / (double)DECIMAL_UNIT;
    audit->info.delta_stated =
        (double)client->terms.delta / (double)DECIMAL_UNIT;
    audit->part = calloc(audit->info.parts, sizeof *audit->part);
    assert_non_null(audit->part);
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct channel_instance *own = &client->report.part[i].instance;
        audit->part[i].channel = own->channel->name;
        audit->part[i].sensitivity_stated = own->l > 0 ? 2.0 * own->l : 1;
    }
    return audit;
}

/* A finding with these words; NULL if there is none. */
static inline const struct sotto_audit_finding *
finding_with(const struct sotto_audit *audit, const char *words)
{
    for (size_t i = 0; i < audit->info.findings; i++) {
        if (strstr(audit->finding[i].text, words) != NULL) {
            return &audit->finding[i];
        }
    }
    return NULL;
}

/* The first violation that an attack found (NULL: any attack); or NULL. */
static inline const char *
violation_by(const struct sotto_audit *audit, const char *attack)
{
    struct sotto_audit_info info;
    sotto_audit_info(audit, &info);
    for (size_t i = 0; i < info.findings; i++) {
        const struct sotto_audit_finding *finding =
            sotto_audit_finding(audit, i);
        if (finding->violated &&
            (attack == NULL || strcmp(attack, finding->attack) == 0)) {
            return finding->text;
        }
    }
    return NULL;
}

static inline bool
sanitized(void)
{
    const char *sanitize = getenv("SOTTO_SANITIZE");
    return sanitize != NULL && sanitize[0] != '\0';
}

#endif
