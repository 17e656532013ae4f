/*
 * bench_task.h: the closed form of a linear task beside the same in NumPy.
 */
#ifndef SOTTO_BENCH_BENCH_TASK_H
#define SOTTO_BENCH_BENCH_TASK_H

#include "sotto/sotto.h"

struct bench_task_size {
    size_t rows, inputs, outputs;
};

/* 10,000 records of 1,000 numbers, for 100 outputs. */
extern const struct bench_task_size bench_task_full;

/*
 * Two rows for directions, scales and the loss that follows, beside NumPy as
 * the paper writes it and as we do; one for the search that a mechanism is made
 * by. Statuses: CHECK (the two do not come to the same loss), MEMORY, IO.
 */
SOTTO_CHECKED enum sotto_status
bench_task_run(const struct bench_task_size *size,
               void (*row)(void *context, const struct sotto_bench_row *),
               void *context, struct sotto_error *err);

#endif
