/*
 * sotto/experiments.h: what is measured: the papers' experiments, and how fast
 * the library is.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_EXPERIMENTS_H
#define SOTTO_EXPERIMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/fitting.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Experiments --------------------------------------------------------- */

struct sotto_experiment_options {
    const char *name;       /* as sotto_experiment_at has it */
    const char *mechanism;  /* NULL: the experiment's first; all, where a loss
                               is measured */
    const double *eps;      /* INFINITY: no noise */
    size_t eps_count;       /* 0: the papers' */
    uint32_t trials, draws; /* 0: 3 and 3 */
    enum sotto_level level;
    double aux_share; /* of the training images, 0: 0.75 */
    uint32_t epochs;  /* of the encoder, 0: the experiment's own */
    uint64_t seed;
    unsigned threads;    /* 0: all cores; results do not depend on it */
    const char *data;    /* file or folder of the data; NULL: the cache's, of
                            data that it can have */
    const char *folder;  /* encoders and rows are kept there; NULL:
                            the cache's experiments/ */
    const char *results; /* folder for tables and plots; NULL: none */
    const char *command; /* kept with the rows that it makes; may be NULL */
    const char *commit;  /* likewise: what the program was built from */
    struct sotto_watch watch;
};

/* One fit, or the mean over trials and draws. Texts live until the callback
   returns. An experiment measures an accuracy or a loss; the other is NAN. */
struct sotto_experiment_row {
    const char *experiment, *mechanism, *level;
    double eps; /* INFINITY: none */
    double aux_share;
    bool mean; /* over all trials and draws; the rest is one of them */
    uint32_t trial, draw; /* from 1 */
    uint64_t seed;
    double loss;      /* of an experiment that measures one (level is then its
                         figure's name, and x the place there); NAN: none */
    double x;         /* likewise */
    double accuracy;  /* on test records, in [0, 1]; clean ones, but for
                         mnist-private */
    double deviation; /* a mean's: over trials (of their means over draws);
                         NAN: fewer than two */
    double deviation_draws;        /* a mean's: over draws within a trial */
    size_t runs;                   /* a mean's: how many fits */
    double paper, paper_deviation; /* what the papers have; NAN: nothing */
    const char *paper_table;       /* and where; NULL */
    double reach; /* what sotto must reach; NAN: nothing said */
    double seconds;
    bool cached;                  /* was done before; a mean's: all of it was */
    const char *setting;          /* the mechanism's parameters, as text */
    const char *note;             /* what was found on the way, such as the
                                     number of codes; NULL: nothing */
    const char *data;             /* SHA-256 of the training records' file */
    const char *version;          /* of the program that made it */
    const char *command, *commit; /* NULL: not said */
};

/*
 * Runs, or goes on with, an experiment (docs/experiments.md). Every fit is
 * appended to FOLDER/EXPERIMENT.csv as it finishes, and one that is there is
 * not run again; trained encoders are kept in FOLDER/encoders. One run at a
 * time uses a folder; killed at any moment, the next goes on where it stopped.
 * With `results`, every mean that finishes brings RESULTS/EXPERIMENT-MECHANISM
 * [-LEVEL][-SHARE].csv, .md and .svg up to date, with all means in the folder
 * that these options ask for or would with eps_count 0. Statuses: USAGE, INPUT,
 * IO, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_experiment_run(
    const struct sotto_experiment_options *options,
    void (*row)(void *context, const struct sotto_experiment_row *),
    void *context, struct sotto_error *err);
/* The means that such a run would come to, with their settings and the papers'
   numbers; `accuracy` and `data` are NAN and NULL. Reads and writes no file.
   Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status sotto_experiment_plan(
    const struct sotto_experiment_options *options,
    void (*row)(void *context, const struct sotto_experiment_row *),
    void *context, struct sotto_error *err);
/* Where a run leaves its table: RESULTS/... without the ending. The caller
   frees it. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_experiment_path(const struct sotto_experiment_options *options,
                      char **ret_path, struct sotto_error *err);
/* Writes one page of all tables in `results`, a folder that runs wrote to, with
   pictures linked: an index, then each experiment. It depends on the files
   alone. Statuses: INPUT (a file that is not as this version writes it: names
   file, line and field), IO, LIMIT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_experiment_page(const char *results,
                                                      const char *path,
                                                      struct sotto_error *err);
/* Experiment i and what it is about, in lines; NULL past the last. */
const char *sotto_experiment_at(size_t i, const char **ret_about);
/* The i-th mechanism of an experiment, the first its default; NULL past the
   last. */
const char *sotto_experiment_mechanism_at(const char *experiment, size_t i);

/* ---- Benchmarks ---------------------------------------------------------- */

struct sotto_bench_row {
    const char *name;    /* what was timed */
    const char *setting; /* at which setting */
    double rate;         /* per second */
    double microseconds; /* each */
    double ratio;        /* to the limit or peer named next, 0: none */
    const char *against;
    /* "timing" alone: Welch's t between the times of one fixed record and of
       random ones, and what to think of it; NULL elsewhere. */
    size_t runs;
    double t;
    const char *verdict;
    /* What is timed beside the same by a peer: a fit ("fit"), a closed form
       ("task-linear"), or one training step ("train-vlm" and its like); `batch`
       is 0 elsewhere. Seconds of one; how many times as long the peer takes,
       and what share of ours the limit is; the most memory of each, in bytes.
     */
    size_t batch; /* records that go through at a time */
    double ours, peer, limit;
    double ratio_peer, ratio_limit;
    double memory_ours, memory_peer;
    const char *missing; /* the package to install for the peer; NULL: none */
    /* "collector" alone, where `ours` and `limit` are reports a second and
       `batch` is of a request: the kind of store, NULL elsewhere; the time
       within which 99 of 100 requests were answered; reports that shared a
       flush; and how many flushes of as many bytes the disk does alone. */
    const char *store;
    double p99_ms;
    double group;
    double flushes; /* a second */
    /* "collector-growth" alone: seconds until a collector whose store is that
       large takes reports, and bytes of its files a report. */
    double start_s;
    double bytes;
};

/* Benchmark i and what it times, a line or more; NULL past the last. */
const char *sotto_bench_at(size_t i, const char **ret_about);

/*
 * Runs the benchmark of that name (NULL: all but "timing" and "fit", which take
 * minutes, and the "train-", "reading" and "collector" ones) on one thread
 * ("fit": on all cores; the "train-" and "reading" ones: on two; a collector
 * has its own), handing each row to `row`. Answers are checked before they are
 * timed. Statuses: USAGE (no such benchmark), CHECK (a wrong answer), REFUSED
 * (the time of a report depends on its record), MEMORY, IO, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
sotto_bench_run(const char *name,
                void (*row)(void *context, const struct sotto_bench_row *),
                void *context, struct sotto_error *err);

/*
 * "collector-growth" for so many million reports (1 or more): a row every five
 * million, or at the end. Needs about 110 bytes of disk a report. Statuses:
 * sotto_bench_run's.
 */
SOTTO_CHECKED enum sotto_status
sotto_bench_growth(uint64_t millions,
                   void (*row)(void *context, const struct sotto_bench_row *),
                   void *context, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
