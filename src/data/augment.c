/*
 * augment.c: images distorted at random, for learning what does not matter.
 *
 * augment_draw.c decides what is done to a view, augment_warp.c moves pixels,
 * augment_colour.c and augment_intensity.c change them.
 */
#include "data/augment.h"

#include <math.h>
#include <string.h>

#include "data/augment_colour.h"
#include "data/augment_draw.h"
#include "data/augment_intensity.h"
#include "data/augment_warp.h"
#include "host/error.h"

#define IMAGES 16u /* in a task */

struct job {
    const struct data_augment *augment;
    uint32_t height, width, channels;
    const float *all;
    const uint32_t *row;
    size_t n;
    struct augment_key key; /* but for the row */
    float *ret;
};

/* ---- Parameters --------------------------------------------------------- */

/* Of pixels twice as wide each stands for four, whose noise is half as large on
   average. */
struct data_augment
data_augment_line(uint32_t height, uint32_t width)
{
    double side = (height < width ? height : width) / 28.0;
    struct data_augment augment = {.kind = DATA_AUGMENT_LINE,
                                   .rotate = 15,
                                   .scale = 0.3,
                                   .shear = 0.3,
                                   .shift = 3 * side,
                                   .thickness = 0.5,
                                   .gamma = 0.5,
                                   .noise = 0.3 * (side < 1 ? side : 1),
                                   .jitter = 0.8,
                                   .brightness = 0.4,
                                   .contrast = 0.4};
    return augment;
}

struct data_augment
data_augment_photo(void)
{
    struct data_augment augment = {.kind = DATA_AUGMENT_PHOTO,
                                   .crop = 0.2,
                                   .flip = 0.5,
                                   .jitter = 0.8,
                                   .brightness = 0.4,
                                   .contrast = 0.4,
                                   .saturation = 0.4,
                                   .hue = 0.1,
                                   .grey = 0.2};
    return augment;
}

struct range {
    const char *name;
    double value, low, high;
};

static enum sotto_status
check_ranges(const struct range *range, size_t count, struct sotto_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!(range[i].value >= range[i].low &&
              range[i].value <= range[i].high)) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "%s is %g: it must be in %g to %g", range[i].name,
                             range[i].value, range[i].low, range[i].high);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_parameters(const struct data_augment *augment, struct sotto_error *err)
{
    const struct range either[] = {
        {"jitter", augment->jitter, 0, 1},
        {"brightness", augment->brightness, 0, 1},
        {"contrast", augment->contrast, 0, 1},
    };
    const struct range line[] = {
        {"rotate", augment->rotate, 0, 180},
        {"scale", augment->scale, 0, 0.99},
        {"shear", augment->shear, 0, 10},
        {"shift", augment->shift, 0, DATA_AUGMENT_SIDE_MAX},
        {"thickness", augment->thickness, 0, 10},
        {"gamma", augment->gamma, 0, 2},
        {"noise", augment->noise, 0, 10},
    };
    const struct range photo[] = {
        {"crop", augment->crop, 1e-6, 1},
        {"flip", augment->flip, 0, 1},
        {"saturation", augment->saturation, 0, 1},
        {"hue", augment->hue, 0, 0.5},
        {"grey", augment->grey, 0, 1},
    };
    enum sotto_status status =
        check_ranges(either, sizeof either / sizeof *either, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return augment->kind == DATA_AUGMENT_LINE
               ? check_ranges(line, sizeof line / sizeof *line, err)
               : check_ranges(photo, sizeof photo / sizeof *photo, err);
}

enum sotto_status
data_augment_check(const struct data_augment *augment, uint32_t height,
                   uint32_t width, uint32_t channels, struct sotto_error *err)
{
    if (height == 0 || width == 0 || channels == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "an image of %u x %u pixels in %u channels has "
                         "nothing in it",
                         height, width, channels);
    }
    if (height > DATA_AUGMENT_SIDE_MAX || width > DATA_AUGMENT_SIDE_MAX ||
        channels > DATA_AUGMENT_CHANNELS_MAX ||
        width * channels > DATA_AUGMENT_LANES_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "images of %u x %u pixels in %u channels are too "
                         "large: at most %u pixels high, %u channels, and "
                         "width times channels %u",
                         height, width, channels, DATA_AUGMENT_SIDE_MAX,
                         DATA_AUGMENT_CHANNELS_MAX, DATA_AUGMENT_LANES_MAX);
    }
    return check_parameters(augment, err);
}

/* ---- Views -------------------------------------------------------------- */

/* m + R (s_x k; 0 s_y) (p - m) + t, as a map of p. */
static struct augment_map
map_line(const struct job *job, const struct augment_line *line)
{
    double c = cos(line->rotate), s = sin(line->rotate);
    double m_x = (job->width - 1) / 2.0, m_y = (job->height - 1) / 2.0;
    double xx = c * line->scale_x, yx = s * line->scale_x;
    double xy = c * line->shear - s * line->scale_y;
    double yy = s * line->shear + c * line->scale_y;
    struct augment_map map = {
        .xx = (float)xx,
        .xy = (float)xy,
        .yx = (float)yx,
        .yy = (float)yy,
        .x0 = (float)(m_x + line->shift_x - xx * m_x - xy * m_y),
        .y0 = (float)(m_y + line->shift_y - yx * m_x - yy * m_y),
        .left = -1,
        .right = (float)job->width,
        .top = -1,
        .bottom = (float)job->height};
    return map;
}

/* The part's pixels side by side fill the frame's; beyond the outermost
   pixels of the part lies more of the same. */
static struct augment_map
map_photo(const struct job *job, const struct augment_photo *photo)
{
    double xx = (double)photo->width / job->width;
    double yy = (double)photo->height / job->height;
    double x0 = photo->left + (xx - 1) / 2;
    if (photo->flip) {
        x0 += xx * (job->width - 1);
        xx = -xx;
    }
    struct augment_map map = {.xx = (float)xx,
                              .yy = (float)yy,
                              .x0 = (float)x0,
                              .y0 = (float)(photo->top + (yy - 1) / 2),
                              .left = (float)photo->left,
                              .right = (float)(photo->left + photo->width - 1),
                              .top = (float)photo->top,
                              .bottom =
                                  (float)(photo->top + photo->height - 1)};
    return map;
}

static void
warp(const struct job *job, const struct augment_map *map, const float *from,
     float *to)
{
    if (job->height < 2 || job->width < 2) {
        memcpy(to, from,
               (size_t)job->height * job->width * job->channels * sizeof *to);
    } else {
        augment_warp(map, job->height, job->width, job->channels, from, to);
    }
}

static void
view_line(const struct job *job, const struct augment_key *key,
          const float *from, float *to)
{
    struct augment_line line;
    augment_draw_line(job->augment, key, &line);
    struct augment_map map = map_line(job, &line);
    warp(job, &map, from, to);
    if (line.weight > 0) {
        augment_thicken(job->height, job->width, job->channels, line.thin,
                        line.weight, to);
    }
    augment_intensity(&line, key, (size_t)job->height * job->width,
                      job->channels, to);
}

static void
view_photo(const struct job *job, const struct augment_key *key,
           const float *from, float *to)
{
    struct augment_photo photo;
    augment_draw_photo(job->augment, key, job->height, job->width, &photo);
    struct augment_map map = map_photo(job, &photo);
    warp(job, &map, from, to);
    augment_colour(&photo, (size_t)job->height * job->width, job->channels, to);
}

static void
make_views(void *context, size_t index, unsigned worker)
{
    const struct job *job = context;
    size_t size = (size_t)job->height * job->width * job->channels;
    size_t end = (index + 1) * IMAGES;
    end = end < job->n ? end : job->n;
    (void)worker;
    for (size_t i = index * IMAGES; i < end; i++) {
        struct augment_key key = job->key;
        key.row = job->row[i];
        const float *from = job->all + size * key.row;
        if (job->augment->kind == DATA_AUGMENT_LINE) {
            view_line(job, &key, from, job->ret + size * i);
        } else {
            view_photo(job, &key, from, job->ret + size * i);
        }
    }
}

void
data_augment_rows(struct host_pool *pool, const struct data_augment *augment,
                  uint32_t height, uint32_t width, uint32_t channels,
                  const float *all, const uint32_t *row, size_t n,
                  uint64_t seed, uint32_t epoch, uint32_t view, float *ret)
{
    struct job job = {.augment = augment,
                      .height = height,
                      .width = width,
                      .channels = channels,
                      .all = all,
                      .row = row,
                      .n = n,
                      .key = {.seed = seed, .epoch = epoch, .view = view}};
    job.ret = ret;
    host_pool_run(pool, (n + IMAGES - 1) / IMAGES, make_views, &job);
}
