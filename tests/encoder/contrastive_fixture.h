/*
 * contrastive_fixture.h: pictures to tell apart, and nets as training makes
 * them.
 */
#ifndef SOTTO_TESTS_CONTRASTIVE_FIXTURE_H
#define SOTTO_TESTS_CONTRASTIVE_FIXTURE_H

#include "encoder/contrastive.h"
#include "host/pool.h"

#include "learnt_fixture.h"

/* A bright bar, lying or standing, somewhere in each picture. */
static inline struct sotto_table *
pictures(size_t rows, size_t height, size_t width, size_t channels)
{
    size_t head = channels > 1 ? 20 : 16, pixels = height * width;
    size_t size = head + rows * pixels * channels;
    uint8_t *file = calloc(1, size);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(file);
    seeded_init(&seeded, 7, 0);
    memcpy(file, channels > 1 ? "\0\0\x08\x04" : "\0\0\x08\x03", 4);
    file[6] = (uint8_t)(rows >> 8);
    file[7] = (uint8_t)rows;
    file[11] = (uint8_t)height;
    file[15] = (uint8_t)width;
    if (channels > 1) {
        file[19] = (uint8_t)channels;
    }
    for (size_t i = 0; i < rows; i++) {
        bool lies = uniform(&seeded) < 0.5;
        size_t at =
            (size_t)(uniform(&seeded) * (double)(lies ? height : width));
        for (size_t j = 0; j < pixels * channels; j++) {
            size_t y = j / channels / width, x = j / channels % width;
            bool bright = (lies ? y : x) == at;
            file[head + i * pixels * channels + j] =
                (uint8_t)((bright ? 200 : 0) + 40 * uniform(&seeded));
        }
    }
    must(sotto_table_parse(file, size, "pictures", NULL, &table, &err));
    free(file);
    return table;
}

/* All that training begins with. */
struct begun {
    struct sotto_train_options options;
    struct encoder_job job;
    struct contrastive_settings set;
    struct learnt learnt;
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct contrastive_net net;
};

/* Settings and x. */
static inline void
begun_learnt(struct begun *begun, const struct sotto_table *table,
             const struct clm_options *options)
{
    struct train_sets sets = {.count = 0};
    begun->options =
        (struct sotto_train_options){.eps = "4", .label = options->label};
    begun->job = (struct encoder_job){
        .encoder = &encoder_clm, .table = table, .options = &begun->options};
    clm_sets(options, &sets);
    settings_init(contrastive_settings, &begun->set);
    for (size_t i = 0; i < sets.count; i++) {
        must(settings_put(contrastive_settings, &begun->set, sets.set[i].name,
                          sets.set[i].value, &err));
    }
    must(contrastive_settings_check(&begun->set, &err));
    must(learnt_begin(&begun->learnt, &begun->job, &begun->set.common, &err));
    must(contrastive_settings_suit(&begun->set, &begun->learnt, &err));
}

static inline void
begun_make(struct begun *begun, const struct sotto_table *table,
           const struct clm_options *options)
{
    begun_learnt(begun, table, options);
    if (options->threads > 0) {
        must(host_pool_new(options->threads, &begun->pool, &err));
        must(tensor_new("cpu", begun->pool, &begun->backend, &err));
    } else {
        must(tensor_new("plain", NULL, &begun->backend, &err));
    }
    must(contrastive_net_init(&begun->net, &begun->learnt, &begun->set,
                              begun->pool, begun->backend, &err));
}

static inline void
begun_clear(struct begun *begun)
{
    contrastive_net_clear(&begun->net);
    tensor_backend_free(begun->backend);
    host_pool_free(begun->pool);
    learnt_clear(&begun->learnt);
}

#endif
