/*
 * task_problem.c: the losses of linear encoders, and of cells, on one problem.
 */
#include "experiment/task_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_cells.h"
#include "encoder/task_code.h"
#include "encoder/task_design.h"
#include "encoder/task_water.h"
#include "experiment/task_drawn.h"
#include "host/error.h"

#define PAPER_Z 3u      /* of the privacy-agnostic encoder, as P2 has it */
#define CELLS_MOST 256u /* codes that are tried */
#define CELL_ROWS 4u    /* to each of them, at least */
#define CELLS_RESTARTS 8u
#define DRAWS 200u /* of every test row, where reports are drawn */
#define FAR                                                                    \
    1e6 /* times the largest code: a radius where nothing is clipped           \
         */

/* ---- The problem --------------------------------------------------------- */

static enum sotto_status
part_init(struct task_part *part, const struct task_problem *problem,
          const double *x, size_t rows, struct sotto_error *err)
{
    const struct task_basis *basis = &problem->basis;
    size_t n = problem->inputs, rank = basis->rank;
    part->rows = rows;
    part->x = calloc(rows, n * sizeof *part->x);
    part->v = calloc(rows, rank * sizeof *part->v);
    part->y = calloc(rows, problem->outputs * sizeof *part->y);
    if (part->x == NULL || part->v == NULL || part->y == NULL) {
        return host_fail_memory(err);
    }
    memcpy(part->x, x, rows * n * sizeof *x);
    enum sotto_status status =
        task_basis_apply(basis, x, rows, rank, part->v, err);
    return HOST_THEN(status,
                     task_basis_outputs(x, rows, n, basis->mean, problem->K,
                                        problem->outputs, part->y, err));
}

static void
part_clear(struct task_part *part)
{
    free(part->x);
    free(part->v);
    free(part->y);
}

enum sotto_status
task_problem_init(struct task_problem *problem, const double *x, size_t rows,
                  size_t aux, size_t inputs, const double *K, size_t outputs,
                  struct sotto_error *err)
{
    struct task_problem made = {.inputs = inputs, .outputs = outputs};
    enum sotto_status status = SOTTO_STATUS_OK;
    made.K = calloc(outputs, inputs * sizeof *made.K);
    if (made.K == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    memcpy(made.K, K, outputs * inputs * sizeof *K);
    status = task_basis_init(&made.basis, x, aux, inputs, K, outputs, err);
    status = HOST_THEN(status, part_init(&made.aux, &made, x, aux, err));
    status = HOST_THEN(status, part_init(&made.test, &made, x + aux * inputs,
                                         rows - aux, err));
done:
    if (status != SOTTO_STATUS_OK) {
        task_problem_clear(&made);
    }
    *problem = made;
    return status;
}

void
task_problem_clear(struct task_problem *problem)
{
    part_clear(&problem->aux);
    part_clear(&problem->test);
    task_basis_clear(&problem->basis);
    free(problem->K);
    memset(problem, 0, sizeof *problem);
}

/* ---- Codes of both parts ------------------------------------------------- */

/* z of auxiliary and of test rows, and what they are to tell of. */
struct codes {
    size_t width;
    double *aux, *test;
};

static void
codes_clear(struct codes *codes)
{
    free(codes->aux);
    free(codes->test);
    memset(codes, 0, sizeof *codes);
}

static enum sotto_status
codes_init(struct codes *codes, const struct task_problem *problem,
           size_t width, struct sotto_error *err)
{
    codes->width = width;
    codes->aux = calloc(problem->aux.rows, width * sizeof *codes->aux);
    codes->test = calloc(problem->test.rows, width * sizeof *codes->test);
    return codes->aux != NULL && codes->test != NULL ? SOTTO_STATUS_OK
                                                     : host_fail_memory(err);
}

/* z_i = scale_i v_i; a NULL scale is 1. */
static void
scale_part(const struct task_problem *problem, const struct task_part *part,
           const double *scale, size_t width, double *ret_z)
{
    size_t rank = problem->basis.rank;
    for (size_t i = 0; i < part->rows * width; i++) {
        double v = part->v[i / width * rank + i % width];
        ret_z[i] = scale != NULL ? scale[i % width] * v : v;
    }
}

/* Codes of the first directions, so scaled. */
static enum sotto_status
codes_scaled(struct codes *codes, const struct task_problem *problem,
             const double *scale, size_t width, struct sotto_error *err)
{
    enum sotto_status status = codes_init(codes, problem, width, err);
    if (status == SOTTO_STATUS_OK) {
        scale_part(problem, &problem->aux, scale, width, codes->aux);
        scale_part(problem, &problem->test, scale, width, codes->test);
    }
    return status;
}

/* x - mean itself. */
static enum sotto_status
codes_identity(struct codes *codes, const struct task_problem *problem,
               struct sotto_error *err)
{
    size_t n = problem->inputs;
    enum sotto_status status = codes_init(codes, problem, n, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < problem->aux.rows * n;
         i++) {
        codes->aux[i] = problem->aux.x[i] - problem->basis.mean[i % n];
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < problem->test.rows * n;
         i++) {
        codes->test[i] = problem->test.x[i] - problem->basis.mean[i % n];
    }
    return status;
}

static struct task_rows
rows_of(const struct task_problem *problem, const struct task_part *part,
        const double *z, size_t width)
{
    return (struct task_rows){.z = z,
                              .y = part->y,
                              .rows = part->rows,
                              .width = width,
                              .outputs = problem->outputs};
}

/* The loss of test rows under a code that was fitted. */
static enum sotto_status
test_code(const struct task_problem *problem, const struct codes *codes,
          const struct task_code *code, struct study_outcome *ret_outcome,
          struct sotto_error *err)
{
    const struct task_rows rows =
        rows_of(problem, &problem->test, codes->test, codes->width);
    return task_code_loss(code, &rows, &ret_outcome->loss, ret_outcome->each,
                          err);
}

/* ---- Sound --------------------------------------------------------------- */

/* A method by its name. */
struct method {
    const char *name;
    enum sotto_status (*measure)(const struct task_problem *problem,
                                 const struct method *method,
                                 const struct study_point *point,
                                 struct study_outcome *ret_outcome,
                                 struct sotto_error *err);
    size_t most;    /* numbers or cells; 0: as many as serve */
    double factor;  /* of unsound ones: the noise's variance over (sensitivity /
                       epsilon)^2 */
    uint32_t draws; /* reports of every row, by the channel itself; 0: the
                       closed form */
};

static size_t
most_of(const struct method *method, const struct study_point *point)
{
    return point->most > 0 ? point->most : method->most;
}

static enum sotto_status
measure_aware(const struct task_problem *problem, const struct method *method,
              const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const struct task_basis *basis = &problem->basis;
    double ratio = task_laplace_ratio(point->eps);
    struct task_design_wanted how = {
        .ball = TASK_BALL_L1, .ratio = ratio, .most = most_of(method, point)};
    struct task_design design = {0};
    struct task_code code = {0};
    struct codes codes = {0};
    enum sotto_status status =
        task_design_find(&design, problem->aux.v, problem->aux.rows,
                         basis->lambda, basis->rank, &how, err);
    status = HOST_THEN(
        status, codes_scaled(&codes, problem, design.scale, design.kept, err));
    if (status == SOTTO_STATUS_OK) {
        const struct task_rows rows =
            rows_of(problem, &problem->aux, codes.aux, codes.width);
        status = task_code_fit(&code, &rows, TASK_BALL_L1, 1, ratio, err);
    }
    if (method->draws > 0 && status == SOTTO_STATUS_OK) {
        const struct task_rows rows =
            rows_of(problem, &problem->test, codes.test, codes.width);
        status = task_draw_lattice(&code, &rows, point->eps, method->draws,
                                   point->seed, &ret_outcome->loss, err);
    } else {
        status = HOST_THEN(status,
                           test_code(problem, &codes, &code, ret_outcome, err));
    }
    (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "Z=%zu",
                   design.kept);
    task_code_clear(&code);
    codes_clear(&codes);
    task_design_clear(&design);
    return status;
}

/* Clips codes at the radius that serves auxiliary rows best, and tells the loss
   of test rows; ret_left_out is that of auxiliary rows. */
static enum sotto_status
measure_clipped(const struct task_problem *problem, const struct codes *codes,
                double eps, struct study_outcome *ret_outcome,
                double *ret_left_out, struct sotto_error *err)
{
    const struct task_rows rows =
        rows_of(problem, &problem->aux, codes->aux, codes->width);
    struct task_code code = {0};
    enum sotto_status status = task_code_choose(&code, &rows, TASK_BALL_L1,
                                                task_laplace_ratio(eps), err);
    status =
        HOST_THEN(status, test_code(problem, codes, &code, ret_outcome, err));
    *ret_left_out = code.left_out;
    task_code_clear(&code);
    return status;
}

static enum sotto_status
measure_agnostic(const struct task_problem *problem,
                 const struct method *method, const struct study_point *point,
                 struct study_outcome *ret_outcome, struct sotto_error *err)
{
    struct codes codes = {0};
    double left_out;
    enum sotto_status status = codes_identity(&codes, problem, err);
    status = HOST_THEN(status, measure_clipped(problem, &codes, point->eps,
                                               ret_outcome, &left_out, err));
    (void)method;
    codes_clear(&codes);
    return status;
}

/* The first Z directions at one scale, Z given or that of the least loss on
   auxiliary rows left out. */
static enum sotto_status
measure_directions(const struct task_problem *problem,
                   const struct method *method, const struct study_point *point,
                   struct study_outcome *ret_outcome, struct sotto_error *err)
{
    size_t rank = problem->basis.rank, best = 0;
    size_t most = most_of(method, point), first = most > 0 ? most : 1;
    double least = INFINITY;
    enum sotto_status status = SOTTO_STATUS_OK;
    first = first < rank ? first : rank;
    size_t last = most > 0 ? first : rank;
    for (size_t z = first; z <= last && status == SOTTO_STATUS_OK; z++) {
        struct study_outcome outcome = {0};
        struct codes codes = {0};
        double left_out = INFINITY;
        status = codes_scaled(&codes, problem, NULL, z, err);
        status = HOST_THEN(status, measure_clipped(problem, &codes, point->eps,
                                                   &outcome, &left_out, err));
        codes_clear(&codes);
        if (status == SOTTO_STATUS_OK && (best == 0 || left_out < least)) {
            least = left_out;
            best = z;
            *ret_outcome = outcome;
        }
    }
    (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "Z=%zu", best);
    return status;
}

/* Cells of y, whose squared distance is the loss. */
static enum sotto_status
measure_codes(const struct task_problem *problem, const struct method *method,
              const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const struct task_part *aux = &problem->aux, *test = &problem->test;
    size_t most = most_of(method, point), rows = aux->rows / CELL_ROWS;
    struct task_cells_plan plan = {.eps = point->eps, .seed = point->seed};
    struct task_cells cells = {0};
    enum sotto_status status =
        task_cells_choose(&plan, most < rows ? most : rows, aux->y, NULL,
                          aux->rows, problem->outputs, err);
    plan.restarts = CELLS_RESTARTS;
    status =
        HOST_THEN(status, task_cells_init(&cells, &plan, aux->y, NULL,
                                          aux->rows, problem->outputs, err));
    if (method->draws > 0) {
        status = HOST_THEN(status, task_draw_cells(&cells, test->y, test->rows,
                                                   method->draws, point->seed,
                                                   &ret_outcome->loss, err));
    } else if (status == SOTTO_STATUS_OK) {
        ret_outcome->loss = task_cells_loss(&cells, test->y, test->y,
                                            test->rows, ret_outcome->each);
    }
    (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "k=%zu %s",
                   plan.k, plan.w > 1 ? "subset" : "flip");
    task_cells_clear(&cells);
    return status;
}

/* ---- Unsound ------------------------------------------------------------- */

static double
find_sensitivity(const double *z, size_t rows, size_t width)
{
    double most = 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = i + 1; j < rows; j++) {
            double distance = 0;
            for (size_t k = 0; k < width; k++) {
                distance += fabs(z[i * width + k] - z[j * width + k]);
            }
            most = fmax(most, distance);
        }
    }
    return most;
}

static double
largest_norm(const double *z, size_t rows, size_t width, enum task_ball ball)
{
    double most = 0;
    for (size_t i = 0; i < rows; i++) {
        most = fmax(most, task_norm(ball, width, z + i * width));
    }
    return most;
}

/* Noise of variance factor (sensitivity of the test rows / epsilon)^2 on codes
   that nothing clips, and the best linear decoder for it (Proposition 1). */
static enum sotto_status
measure_unclipped(const struct task_problem *problem, const struct codes *codes,
                  double factor, double eps, struct study_outcome *ret_outcome,
                  struct sotto_error *err)
{
    const struct task_rows rows =
        rows_of(problem, &problem->aux, codes->aux, codes->width);
    double sensitivity =
        find_sensitivity(codes->test, problem->test.rows, codes->width);
    double s2 = factor * pow(sensitivity / eps, 2);
    double radius =
        FAR * (sensitivity + largest_norm(codes->aux, problem->aux.rows,
                                          codes->width, TASK_BALL_L1));
    struct task_code code = {0};
    enum sotto_status status = task_code_fit(&code, &rows, TASK_BALL_L1, radius,
                                             s2 / (radius * radius), err);
    status =
        HOST_THEN(status, test_code(problem, codes, &code, ret_outcome, err));
    task_code_clear(&code);
    return status;
}

/* Proposition 4 for the sphere around all auxiliary rows. */
static enum sotto_status
measure_water(const struct task_problem *problem, const struct method *method,
              const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const struct task_basis *basis = &problem->basis;
    double r = largest_norm(problem->aux.v, problem->aux.rows, basis->rank,
                            TASK_BALL_L2);
    double *scale = calloc(basis->rank, sizeof *scale);
    size_t most = most_of(method, point), kept;
    struct codes codes = {0};
    if (scale == NULL) {
        return host_fail_memory(err);
    }
    most = most > 0 && most < basis->rank ? most : basis->rank;
    kept = task_water_fill(basis->lambda, most, task_water_noise(r, point->eps),
                           scale);
    for (size_t i = 0; i < kept; i++) {
        scale[i] = sqrt(scale[i]);
    }
    (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "Z=%zu r=%.3g",
                   kept, r);
    enum sotto_status status = codes_scaled(&codes, problem, scale, kept, err);
    status =
        HOST_THEN(status, measure_unclipped(problem, &codes, method->factor,
                                            point->eps, ret_outcome, err));
    codes_clear(&codes);
    free(scale);
    return status;
}

static enum sotto_status
measure_equal(const struct task_problem *problem, const struct method *method,
              const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    size_t z = most_of(method, point);
    struct codes codes = {0};
    z = z < problem->basis.rank ? z : problem->basis.rank;
    enum sotto_status status = codes_scaled(&codes, problem, NULL, z, err);
    status =
        HOST_THEN(status, measure_unclipped(problem, &codes, method->factor,
                                            point->eps, ret_outcome, err));
    codes_clear(&codes);
    return status;
}

static enum sotto_status
measure_identity(const struct task_problem *problem,
                 const struct method *method, const struct study_point *point,
                 struct study_outcome *ret_outcome, struct sotto_error *err)
{
    struct codes codes = {0};
    enum sotto_status status = codes_identity(&codes, problem, err);
    status =
        HOST_THEN(status, measure_unclipped(problem, &codes, method->factor,
                                            point->eps, ret_outcome, err));
    codes_clear(&codes);
    return status;
}

/* ---- By name ------------------------------------------------------------- */

#define THEIRS 1.0 /* their code's noise */
#define PAPER 2.0  /* Laplace's */

static const struct method methods[] = {
    {"task-aware", measure_aware, 0, 0, 0},
    {"task-aware-drawn", measure_aware, 0, 0, DRAWS},
    {"task-codes", measure_codes, CELLS_MOST, 0, 0},
    {"task-codes-drawn", measure_codes, CELLS_MOST, 0, DRAWS},
    {"task-agnostic", measure_agnostic, 0, 0, 0},
    {"privacy-agnostic", measure_directions, 0, 0, 0},
    {"privacy-agnostic-3", measure_directions, PAPER_Z, 0, 0},
    {"unsound-aware", measure_water, 0, PAPER, 0},
    {"unsound-agnostic", measure_identity, 0, PAPER, 0},
    {"unsound-privacy-agnostic", measure_equal, PAPER_Z, PAPER, 0},
    {"unsound-aware-code", measure_water, 0, THEIRS, 0},
    {"unsound-agnostic-code", measure_identity, 0, THEIRS, 0},
    {"unsound-privacy-agnostic-code", measure_equal, PAPER_Z, THEIRS, 0},
};

enum sotto_status
task_problem_measure(const struct task_problem *problem,
                     const struct study_point *point,
                     struct study_outcome *ret_outcome, struct sotto_error *err)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, point->method->name) == 0) {
            return methods[i].measure(problem, &methods[i], point, ret_outcome,
                                      err);
        }
    }
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "a linear task has no method '%s'", point->method->name);
}
