/*
 * mutant.h: one broken piece in a real, opened mechanism.
 *
 * A mutant changes what it names and nothing else: its `valid`, `log_p`,
 * `unpack` and `estimate` are the sound channel's, so that no formula gives it
 * away.
 */
#ifndef SOTTO_TESTS_MUTANT_H
#define SOTTO_TESTS_MUTANT_H

#include "privacy/audit_fixture.h"

struct mutant {
    const char *name;
    const char *where;  /* what is broken */
    const char *attack; /* the attack that must find it */
    const char *says;   /* what is in one of its violations */
    struct setting setting;
    /* Whatever is set replaces the sound channel's. */
    enum sotto_status (*init)(struct channel_instance *, void *);
    void (*sample)(const struct channel_instance *, const int32_t *,
                   struct random *, uint8_t *);
    bool (*valid)(const struct channel_instance *, const uint8_t *);
    double (*log_p)(const struct likelihood_instance *, const uint8_t *,
                    const int32_t *);
    void (*unpack)(const struct likelihood_instance *, const uint8_t *,
                   int64_t *);
    size_t extra; /* bytes of its own, behind the sound channel's */
    domain_function *place;
    /* Replaces the source's fill; its context is the client. */
    int (*fill)(void *context, void *buffer, size_t size);
    const struct sotto_ledger_port *(*ledger)(void *context);
    void (*spoil)(struct sotto_client *client); /* once it is open */
};

extern const struct channel channel_flip, channel_subset, channel_signs,
    channel_laplace, channel_gaussian, channel_duchi, channel_window;

/* ---- What the sound channel would say -------------------------------------
 */

/* The report's integers, changed by the mutant and put back. */
static inline void
sound_unpack(const struct channel_instance *instance, const uint8_t *wire,
             int64_t *ret_values)
{
    struct likelihood_instance at;
    likelihood_bind(&at, likelihood_find(instance->channel->name), instance);
    at.likelihood->unpack(&at, wire, ret_values);
}

static inline void
sound_pack(const struct channel_instance *instance, const int64_t *values,
           uint8_t *ret_wire)
{
    struct likelihood_instance at;
    likelihood_bind(&at, likelihood_find(instance->channel->name), instance);
    (void)at.likelihood->pack(&at, values, ret_wire);
}

/* ---- Memory of its own --------------------------------------------------- */

static inline size_t
extra_offset(const struct channel *sound)
{
    return (sound->own_size + 7) / 8 * 8;
}

/* Where the mutant's bytes begin, behind what the sound channel keeps. */
static inline void *
extra_at(const struct channel *sound, const void *own)
{
    return (uint8_t *)(uintptr_t)own + extra_offset(sound);
}

/* ---- A twin: the sound sampler, set up for something else ---------------- */

struct twin {
    struct channel_instance instance;
    uint64_t own[4096];
};

static inline enum sotto_status
twin_init(const struct channel *sound, struct channel_instance *instance,
          void *memory, uint64_t eps)
{
    struct twin *twin = extra_at(sound, memory);
    enum sotto_status status = sound->init(instance, memory);
    assert_true(sound->own_size <= sizeof twin->own);
    if (status == SOTTO_STATUS_OK) {
        status =
            channel_init(&twin->instance, sound, instance->size, instance->rows,
                         instance->l, eps, instance->delta, twin->own);
    }
    if (status == SOTTO_STATUS_OK) {
        assert_int_equal(twin->instance.wire_size, instance->wire_size);
    }
    return status;
}

static inline void
twin_sample(const struct channel *sound,
            const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    const struct twin *twin = extra_at(sound, instance->own);
    sound->sample(&twin->instance, q, random, ret_wire);
}

/* ---- Putting it in ------------------------------------------------------- */

/* A mechanism with the mutant in it, and what must be freed with it. */
struct specimen {
    struct sotto_mechanism *mechanism;
    struct channel channel;
    struct likelihood likelihood;
    void *own;
};

static inline void
specimen_channel(struct specimen *specimen, const struct mutant *mutant)
{
    const struct setting *setting = &mutant->setting;
    const struct channel *sound = setting_channel(setting);
    struct sotto_client *client = specimen->mechanism->client;
    struct channel *broken = &specimen->channel;
    uint64_t entropy;
    *broken = *sound;
    broken->own_size = extra_offset(sound) + mutant->extra;
    broken->init = mutant->init != NULL ? mutant->init : sound->init;
    broken->sample = mutant->sample != NULL ? mutant->sample : sound->sample;
    broken->valid = mutant->valid != NULL ? mutant->valid : sound->valid;
    specimen->own = calloc(1, broken->own_size);
    assert_non_null(specimen->own);
    assert_int_equal(channel_init(&client->report.part[0].instance, broken,
                                  setting->size, setting->rows, setting->l,
                                  setting->eps, setting->delta, specimen->own),
                     SOTTO_STATUS_OK);
    specimen->likelihood = *likelihood_find(sound->name);
    if (mutant->log_p != NULL) {
        specimen->likelihood.log_p = mutant->log_p;
    }
    if (mutant->unpack != NULL) {
        specimen->likelihood.unpack = mutant->unpack;
    }
    likelihood_bind(&specimen->mechanism->likelihood[0], &specimen->likelihood,
                    &client->report.part[0].instance);
    client->report.size = report_measure(&client->report, &entropy);
}

static inline void
specimen_make(struct specimen *specimen, const struct mutant *mutant)
{
    struct sotto_client *client;
    specimen->mechanism = setting_open(&mutant->setting);
    client = specimen->mechanism->client;
    specimen_channel(specimen, mutant);
    if (mutant->place != NULL) {
        assert_non_null(client->report.part[0].place);
        client->report.part[0].place = mutant->place;
    }
    if (mutant->fill != NULL) {
        client->entropy.random.fill = mutant->fill;
        client->entropy.random.context = client;
    }
    if (mutant->spoil != NULL) {
        mutant->spoil(client);
    }
    shape_clear(&specimen->mechanism->shape); /* that of the mutant now */
    assert_int_equal(shape_init(&specimen->mechanism->shape,
                                &specimen->mechanism->device, NULL),
                     SOTTO_STATUS_OK);
}

static inline void
specimen_clear(struct specimen *specimen)
{
    sotto_mechanism_free(specimen->mechanism);
    free(specimen->own);
}

#endif
