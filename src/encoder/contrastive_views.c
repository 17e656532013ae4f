/*
 * contrastive_views.c: two views of a record, for the loss to bring together.
 *
 *     images     data/augment.h
 *     others     each number, and each one-hot code as a whole, is another
 *                record's with probability CORRUPTED
 *
 * Of the random numbers of (epoch, row, view) few are needed, so the blocks of
 * Philox are made one by one:
 *
 *     stream   2^62 + 2^61 + view 2^32 + row
 *     block    epoch 2^32 + 0, 1, ...         two draws each: whether, and
 * whose
 */
#include <string.h>

#include "encoder/contrastive.h"
#include "random/seeded.h"

#define CORRUPTED 0.3
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

/* Two numbers a unit, unit after unit. */
struct draws {
    uint32_t counter[4], key[2], block[4];
    size_t used;
};

static void
draw(struct draws *draws, uint32_t *ret_whether, uint32_t *ret_whose)
{
    if (draws->used == 4) {
        seeded_philox(draws->counter, draws->key, draws->block);
        draws->counter[0]++;
        draws->used = 0;
    }
    *ret_whether = draws->block[draws->used++];
    *ret_whose = draws->block[draws->used++];
}

static void
corrupt_row(const struct job *job, uint32_t row, float *to)
{
    const struct learnt *learnt = job->views->learnt;
    const uint64_t seed = job->views->seed;
    struct draws draws = {.counter = {0, job->epoch, row, MARK + job->view},
                          .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                          .used = 4};
    float *end = to;
    memcpy(to, learnt->x + row * learnt->width, learnt->width * sizeof *to);
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        bool whole = schema_kind(column->kind)->symbols;
        size_t units = i == learnt->label ? 0 : whole ? 1 : column->count;
        size_t size = whole ? column->count : 1;
        for (; units > 0; units--, end += size) {
            uint32_t whether, whose;
            uint64_t other;
            draw(&draws, &whether, &whose);
            other = whose * (uint64_t)(learnt->n - 1) >> 32;
            other += other >= row ? 1 : 0;
            if (whether < CORRUPTED * 0x1p32) {
                memcpy(end, learnt->x + other * learnt->width + (end - to),
                       size * sizeof *end);
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
