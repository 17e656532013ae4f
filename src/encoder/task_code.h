/*
 * task_code.h: a clipped code under noise, its best linear decoder, its loss.
 *
 *     z --clip--> c, |c| <= R --noise of variance s2 = ratio R^2--> decoder
 *     y^ = mean y + D (c + w - mean c),   D = Cov(y, c) (Cov(c) + s2 I)^-1
 *
 * The clip is the device's, domain_lattice's and domain_ball's: z where |z| is
 * at most R, else R z / |z|; or domain_cube's, each number to [-R, R]. Two
 * points of the ball are at most 2R apart, so for Laplace noise (L1) the ratio
 * is 2 (2 / eps)^2 = 8 / eps^2; a mechanism's is the variance of its channel's
 * own discrete noise over l^2, which differs by about eps^2 / (48 l^2) of
 * itself (docs/task-aware.md). For any encoder, not only the task-aware one,
 * and any y: x itself, or a task's outputs K x.
 *
 * The loss is exact in the noise: nothing is drawn.
 */
#ifndef SOTTO_ENCODER_TASK_CODE_H
#define SOTTO_ENCODER_TASK_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "sotto/sotto.h"

/* In a cube the norm is the largest number's size, and each number is clipped
   by itself. */
enum task_ball { TASK_BALL_L1 = 0, TASK_BALL_L2 = 1, TASK_BALL_CUBE = 2 };

/* 8 / eps^2. */
double task_laplace_ratio(double eps);

/* A clip and what undoes it. */
struct task_code {
    enum task_ball ball;
    size_t width;    /* d numbers in a code */
    size_t outputs;  /* m */
    double radius;   /* R */
    double noise;    /* s2: variance of the noise on each number */
    double *mean;    /* d: of clipped codes */
    double *mean_y;  /* m */
    double *decoder; /* m rows of d: D */
    double loss;     /* on the rows it was fitted to */
    double left_out; /* the same where each row is decoded by a D that was
                        fitted to the others, in closed form: what choices are
                        made by, for `loss` flatters many numbers on few rows */
};

/* Codes and what they are to tell of. */
struct task_rows {
    const double *z; /* rows of d, before the clip */
    const double *y; /* rows of m */
    size_t rows, width, outputs;
};

/* Clips at `radius` and fits the decoder. Clear the code in any case.
   Statuses: MEMORY, LIMIT, INPUT (something not finite). */
SOTTO_CHECKED enum sotto_status task_code_fit(struct task_code *code,
                                              const struct task_rows *rows,
                                              enum task_ball ball,
                                              double radius, double ratio,
                                              struct sotto_error *err);

/* Tries the radii at quantiles of |z| and keeps the one with the least
   left_out. As task_code_fit for the rest. */
SOTTO_CHECKED enum sotto_status
task_code_choose(struct task_code *code, const struct task_rows *rows,
                 enum task_ball ball, double ratio, struct sotto_error *err);
void task_code_clear(struct task_code *code);

/* The mean over rows, other ones too, of E |y - y^|^2; ret_each (m, or NULL)
   has each output's share of it. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
task_code_loss(const struct task_code *code, const struct task_rows *rows,
               double *ret_loss, double *ret_each, struct sotto_error *err);

/* The device's clip of one code, in place. */
void task_clip(enum task_ball ball, double radius, size_t width, double *z);

/* |z|, by the ball: in L1 or L2, or the largest number's. */
double task_norm(enum task_ball ball, size_t width, const double *z);

/* The radii that are tried: |z| at quantiles 0.02 to 1 of the rows, rising;
   ret_count of them, at least 1. Statuses: MEMORY. */
#define TASK_RADII 14
SOTTO_CHECKED enum sotto_status
task_radii(const double *z, size_t rows, size_t width, enum task_ball ball,
           double *ret_radius, size_t *ret_count, struct sotto_error *err);

/* ---- For a search ---------------------------------------------------------
 *
 * Room for fitting many codes to the same outputs: nothing is allocated per
 * fit but the decoder's own eigenvectors.
 */
struct task_fitting {
    size_t rows, width, outputs; /* width: the most a code may have */
    double *mean_y;
    double *y;     /* centred */
    double *c, *g; /* rows of width: clipped and centred codes; room */
    double *e;     /* rows of outputs: what a decoder without noise leaves */
    double *mean;  /* width */
    double *inverse, *vector, *value; /* of Cov(c) + s2 I; room */
    double *decoder;
};

/* Copies y. Clear it in any case. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status task_fitting_init(struct task_fitting *fitting,
                                                  const double *y, size_t rows,
                                                  size_t outputs, size_t width,
                                                  struct sotto_error *err);
void task_fitting_clear(struct task_fitting *fitting);

/* Clips rows of z (`width` numbers, at most the fitting's) and fits; c, e, mean
   and decoder (outputs rows of width) stay as of this fit. Statuses: MEMORY,
   LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
task_fitting_fit(struct task_fitting *fitting, const double *z, size_t width,
                 enum task_ball ball, double radius, double ratio,
                 double *ret_loss, double *ret_left_out,
                 struct sotto_error *err);

/* The loss's gradient by z of the last fit, which had the same z: rows of
   width, into fitting->g. */
void task_fitting_slope(struct task_fitting *fitting, const double *z,
                        size_t width, enum task_ball ball, double radius);

#endif
