/*
 * contrastive_views.c: two views of a record, for the loss to bring together.
 *
 *     images     data/augment.h
 *     others     each column's entries, and each sample of bytes, are another
 *                record's with probability CORRUPTED; numbers get normal noise
 *
 * Of the random numbers of (epoch, row, view) few are needed, so the blocks of
 * Philox are made one by one:
 *
 *     stream   2^62 + 2^61 + view 2^32 + row
 *     block    epoch 2^32 + 0, 1, ...         one a unit: whether, whose, noise
 */
#include <string.h>

#include "data/augment_intensity.h"
#include "encoder/contrastive.h"
#include "random/seeded.h"

#define CORRUPTED 0.3
#define JITTER 0.3F /* deviations of a number's noise in its own */
#define MARK UINT32_C(0x60000000)
#define ROWS ((size_t)16) /* of a task */

struct job {
    const struct contrastive_views *views;
    const uint32_t *row;
    size_t n;
    uint32_t epoch, view;
    float *ret;
};

enum sotto_status
contrastive_views_init(struct contrastive_views *views,
                       const struct learnt *learnt,
                       const struct contrastive_settings *set,
                       struct sotto_error *err)
{
    struct sotto_image image = contrastive_image(learnt);
    *views = (struct contrastive_views){
        .learnt = learnt,
        .image = image,
        .corrupt = strcmp(set->augment, "corrupt") == 0,
        .seed = set->seed,
    };
    if (views->corrupt) {
        return SOTTO_STATUS_OK;
    }
    views->augment = strcmp(set->augment, "line") == 0
                         ? data_augment_line(image.height, image.width)
                         : data_augment_photo();
    return data_augment_check(&views->augment, image.height, image.width,
                              image.channels, err);
}

/* Gives `unit`, so many entries of `to` from `at` on, another record's. */
static void
replace_unit(const struct learnt *learnt, uint32_t row, uint32_t whose,
             size_t at, size_t unit, float *to)
{
    uint64_t other = whose * (uint64_t)(learnt->n - 1) >> 32;
    other += other >= row ? 1 : 0;
    memcpy(to + at, learnt->x + other * learnt->width + at, unit * sizeof *to);
}

static void
corrupt_row(const struct job *job, uint32_t row, float *to)
{
    const struct learnt *learnt = job->views->learnt;
    const uint64_t seed = job->views->seed;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t counter[4] = {0, job->epoch, row, MARK + job->view}, block[4];
    memcpy(to, learnt->x + row * learnt->width, learnt->width * sizeof *to);
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        const struct schema_kind *kind = schema_kind(column->kind);
        size_t unit = kind->bytes ? 1 : column->inputs;
        for (size_t at = 0; i != learnt->label && at < column->inputs;
             at += unit) {
            seeded_philox(counter, key, block);
            counter[0]++;
            if (block[0] < CORRUPTED * 0x1p32) {
                replace_unit(learnt, row, block[1], column->at + at, unit, to);
            }
            if (kind->ranged && learnt->gain != NULL) {
                to[column->at] += augment_normal(JITTER, block[2]);
            }
        }
    }
}

static void
corrupt_task(void *context, size_t index, unsigned worker)
{
    const struct job *job = context;
    size_t from = index * ROWS;
    (void)worker;
    for (size_t i = from; i < job->n && i < from + ROWS; i++) {
        corrupt_row(job, job->row[i], job->ret + i * job->views->learnt->width);
    }
}

void
contrastive_views_make(const struct contrastive_views *views,
                       struct host_pool *pool, const uint32_t *row, size_t n,
                       uint32_t epoch, uint32_t view, float *ret)
{
    const struct sotto_image *image = &views->image;
    if (views->corrupt) {
        struct job job = {.views = views,
                          .row = row,
                          .n = n,
                          .epoch = epoch,
                          .view = view,
                          .ret = ret};
        host_pool_run(pool, (n + ROWS - 1) / ROWS, corrupt_task, &job);
    } else {
        data_augment_rows(pool, &views->augment, image->height, image->width,
                          image->channels, views->learnt->x, row, n,
                          views->seed, epoch, view, ret);
    }
}
