/*
 * sotto/work.h: what all long work shares: files that are either complete or
 * not there, a watch that says how far the work is and stops it, and settings
 * by name.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_WORK_H
#define SOTTO_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Files --------------------------------------------------------------- */

/*
 * A file being written that is either complete or not there: commit flushes it
 * to disk and gives it its name in one step, so a crash, a full disk or a
 * failure leaves either the old file or the new one. Where the file system
 * allows it, the file has no name before that, and a program that is killed
 * leaves nothing behind; elsewhere it leaves FOLDER/.sotto-PID-N.tmp. What is
 * not a regular file (a pipe, /dev/stdout) is written straight. Messages name
 * the file and say what the system said.
 */
struct sotto_output;

/*
 * Starts writing what will be `path`, with these permission bits less the
 * umask's, or with those of the file it replaces; but a `mode` for the owner
 * alone makes a file for the owner alone. A link is followed. With `exclusive`,
 * an existing `path` is refused, at commit at the latest. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_output_new(const char *path, unsigned mode, bool exclusive,
                 struct sotto_output **ret_output, struct sotto_error *err);
/* Appends; buffered, so the failure may come later. Statuses: IO. */
SOTTO_CHECKED enum sotto_status sotto_output_write(struct sotto_output *output,
                                                   const void *data,
                                                   size_t size,
                                                   struct sotto_error *err);
/* Flushes, names and frees; on failure nothing is left behind. Fails if a
   write did. Statuses: IO. */
SOTTO_CHECKED enum sotto_status sotto_output_commit(struct sotto_output *output,
                                                    struct sotto_error *err);
/* Gives up: removes what was written and frees. */
void sotto_output_free(struct sotto_output *output);

/* ---- Long work ----------------------------------------------------------- */

/* How long work tells its caller how far it is, and how it is stopped. */
struct sotto_watch {
    /* `done` of `total` steps of `what`; at least once a second or so. False:
       stop. The work then ends with STOPPED, having kept what it can. May be
       NULL. */
    bool (*tick)(void *context, const char *what, uint64_t done,
                 uint64_t total);
    void *context;
};

/* ---- Kernels --------------------------------------------------------------
 */

/*
 * Names the kernels that the library of matrix products (OpenBLAS) should take
 * for this processor; NULL: those it took are right, or nothing can be said. A
 * release that is older than the processor takes its slowest ones. They cannot
 * be exchanged in a running program: set OPENBLAS_CORETYPE to the name, and
 * start it anew. The text is static.
 */
const char *sotto_work_kernels(void);

/* ---- Settings ------------------------------------------------------------ */

/* A setting by its name: {"epochs", "12"}. A flag's value is NULL or "yes". */
struct sotto_setting {
    const char *name, *value;
};

/* What the library tells of a setting, for a program that offers it. */
struct sotto_setting_info {
    const char *name;
    const char *value;   /* what its value is called, as "N" or "cnn|mlp"; NULL:
                            a flag, which takes none */
    const char *initial; /* its default; NULL: see `help` */
    const char *help;    /* a line or more */
    bool many;           /* may be given more than once */
    bool needed;         /* must be given */
    bool number;         /* its value is one */
};

#ifdef __cplusplus
}
#endif

#endif
