/*
 * smooth_energy.c: the tempered part of the posterior and its gradient, for all
 * particles at a time.
 *
 *     f = A (s e)                   one product for all particles
 *     tau = softmax(f)
 *     J^b = W_b' tau                one product a book
 *     V = sum_b g_b'(J^b - J*) - (J^b - J*)' H_b (J^b - J*) / 2 + shares
 *     dtau = W_b dJ^b, df = softmax', d(s e) = A' df
 *
 * where the shares P_y = sum_l pi_l tau_ly add
 *
 *     -sum_y (P_y - f_y)^2 / (2 (w f_y)^2)   where f is known,
 *     SMOOTH_COUNT sum_y ln P_y              where it is not.
 *
 * Work on rows is cut into tasks by rows, work on particles by groups of them,
 * never by threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/codes/smooth.h"

#define DEVIATION 0.5   /* of ln s_m */
#define HELD_LEAST 1e-6 /* of a share, for its logarithm */
#define GROUP 16u       /* particles of a task */

/* exp of the mean of ln s_m; that of codes, the last, is the features'. */
static const double mean_scale[SMOOTH_SCALES - 1] = {1, 2, 2, 2};

/* ---- Making and freeing ---------------------------------------------------
 */

static enum sotto_status
init_book(struct smooth_energy *energy, size_t b, struct sotto_error *err)
{
    const struct smooth_problem *problem = energy->problem;
    const struct smooth_book *book = &problem->book[b];
    size_t size = problem->leaves * book->codes->cells;
    energy->joint[b] = malloc(size * sizeof(float));
    if (energy->joint[b] == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < size; i++) {
        energy->joint[b][i] = (float)book->joint[i];
    }
    return smooth_expansion_init(&energy->expansion[b], book->codes, err);
}

enum sotto_status
smooth_energy_init(struct smooth_energy *energy,
                   const struct smooth_problem *problem, size_t particles,
                   struct sotto_error *err)
{
    size_t columns = particles * problem->classes, cells = 0, count;
    enum sotto_status status = SOTTO_STATUS_OK;
    *energy = (struct smooth_energy){
        .problem = problem, .particles = particles, .columns = columns};
    for (size_t b = 0; b < problem->books; b++) {
        size_t own = problem->book[b].codes->cells;
        cells = own > cells ? own : cells;
    }
    count = problem->leaves * columns;
    energy->expansion = calloc(problem->books, sizeof *energy->expansion);
    energy->joint = calloc(problem->books, sizeof *energy->joint);
    energy->pi = calloc(problem->leaves, sizeof *energy->pi);
    energy->scale = malloc(SMOOTH_SCALES * columns * sizeof(float));
    energy->scaled = malloc(problem->features->count * columns * sizeof(float));
    energy->tau = malloc(count * sizeof(float));
    energy->dtau = malloc(count * sizeof(float));
    energy->table = malloc(cells * columns * sizeof(float));
    energy->x = malloc(cells * columns * sizeof(float));
    energy->y = malloc(cells * columns * sizeof(float));
    energy->held = malloc(columns * sizeof(double));
    if (energy->expansion == NULL || energy->joint == NULL ||
        energy->pi == NULL || energy->scale == NULL || energy->scaled == NULL ||
        energy->tau == NULL || energy->dtau == NULL || energy->table == NULL ||
        energy->x == NULL || energy->y == NULL || energy->held == NULL) {
        smooth_energy_clear(energy);
        return host_fail_memory(err);
    }
    for (size_t b = 0; b < problem->books && status == SOTTO_STATUS_OK; b++) {
        status = init_book(energy, b, err);
    }
    if (status != SOTTO_STATUS_OK) {
        smooth_energy_clear(energy);
        return status;
    }
    cells = problem->book[0].codes->cells; /* every book has the same people */
    for (size_t i = 0; i < problem->leaves * cells; i++) {
        energy->pi[i / cells] += problem->book[0].joint[i];
    }
    return SOTTO_STATUS_OK;
}

void
smooth_energy_clear(struct smooth_energy *energy)
{
    for (size_t b = 0; energy->problem != NULL && b < energy->problem->books;
         b++) {
        if (energy->expansion != NULL) {
            smooth_expansion_clear(&energy->expansion[b]);
        }
        if (energy->joint != NULL) {
            free(energy->joint[b]);
        }
    }
    free(energy->expansion);
    free((void *)energy->joint);
    free(energy->pi);
    free(energy->scale);
    free(energy->scaled);
    free(energy->tau);
    free(energy->dtau);
    free(energy->table);
    free(energy->x);
    free(energy->y);
    free(energy->held);
    memset(energy, 0, sizeof *energy);
}

/* ---- Forward --------------------------------------------------------------
 */

struct pass {
    struct smooth_energy *energy;
    const float *e;
    float *de, *du;
    size_t book;
    double *value;
};

/* Particles from `begin` to `end`: a task's. */
struct group {
    size_t begin, end;
};

static struct group
find_group(const struct smooth_energy *energy, size_t i)
{
    size_t end = (i + 1) * GROUP;
    return (struct group){i * GROUP,
                          end < energy->particles ? end : energy->particles};
}

static void
run_groups(const struct smooth_energy *energy,
           void (*task)(void *context, size_t i, unsigned worker),
           struct pass *pass)
{
    host_pool_run(energy->problem->pool,
                  (energy->particles + GROUP - 1) / GROUP, task, pass);
}

static size_t
scale_of(const struct smooth_features *features, size_t row)
{
    size_t m = 0;
    while (row >= features->first[m + 1]) {
        m++;
    }
    return m;
}

static void
set_scale(struct smooth_energy *energy, const float *u)
{
    size_t classes = energy->problem->classes;
    for (size_t i = 0; i < SMOOTH_SCALES * energy->particles; i++) {
        size_t m = i / energy->particles;
        double middle = m + 1 < SMOOTH_SCALES
                            ? mean_scale[m]
                            : energy->problem->features->codes;
        float s = (float)(middle * exp(DEVIATION * (double)u[i]));
        for (size_t y = 0; y < classes; y++) {
            energy->scale[i * classes + y] = s;
        }
    }
}

/* to = s_m from, of one feature's row. */
static void
scale_row(const struct smooth_energy *energy, size_t row, const float *from,
          float *to)
{
    const float *s = energy->scale +
                     scale_of(energy->problem->features, row) * energy->columns;
    for (size_t i = 0; i < energy->columns; i++) {
        to[i] = s[i] * from[i];
    }
}

static void
scale_task(void *context, size_t row, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    (void)worker;
    scale_row(energy, row, pass->e + row * energy->columns,
              energy->scaled + row * energy->columns);
}

void
smooth_energy_forward(struct smooth_energy *energy, const float *e,
                      const float *u)
{
    const struct smooth_problem *problem = energy->problem;
    const struct smooth_features *features = problem->features;
    struct tensor_backend *backend = problem->backend;
    struct pass pass = {.energy = energy, .e = e};
    set_scale(energy, u);
    host_pool_run(problem->pool, features->count, scale_task, &pass);
    backend->ops->multiply(backend, false, false, problem->leaves,
                           energy->columns, features->count, 1, features->a,
                           energy->scaled, 0, energy->tau);
    backend->ops->softmax(backend, problem->leaves * energy->particles,
                          problem->classes, energy->tau, energy->tau);
}

/* ---- The value, and dtau --------------------------------------------------
 */

/* Turns some particles of a table: cells rows of particles rows of classes,
   and the other way round. */
static void
turn_table(const struct smooth_energy *energy, struct group group, size_t cells,
           const float *from, bool back, float *to)
{
    size_t classes = energy->problem->classes, particles = energy->particles;
    for (size_t p = group.begin; p < group.end; p++) {
        for (size_t c = 0; c < cells; c++) {
            size_t table = (c * particles + p) * classes;
            size_t turned = (p * cells + c) * classes;
            memcpy(to + (back ? table : turned), from + (back ? turned : table),
                   classes * sizeof *to);
        }
    }
}

/* y = x H. */
static void
curve(const struct smooth_energy *energy,
      const struct smooth_expansion *expansion, size_t pairs)
{
    struct tensor_backend *backend = energy->problem->backend;
    if (expansion->dense) {
        backend->ops->multiply(backend, false, false, energy->particles, pairs,
                               pairs, 1, energy->x, expansion->h, 0, energy->y);
        return;
    }
    for (size_t i = 0; i < energy->particles * pairs; i++) {
        energy->y[i] = energy->x[i] * expansion->h[i % pairs];
    }
}

/* x = J - J* of some particles. */
static void
centre_task(void *context, size_t i, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    const struct codes *codes = energy->problem->book[pass->book].codes;
    const double *at = energy->expansion[pass->book].at;
    struct group group = find_group(energy, i);
    (void)worker;
    turn_table(energy, group, codes->cells, energy->table, false, energy->x);
    for (size_t p = group.begin; p < group.end; p++) {
        float *x = energy->x + p * codes->pairs;
        for (size_t pair = 0; pair < codes->pairs; pair++) {
            x[pair] -= (float)at[pair];
        }
    }
}

void
smooth_energy_tables(struct smooth_energy *energy, size_t b)
{
    const struct smooth_problem *problem = energy->problem;
    const struct codes *codes = problem->book[b].codes;
    struct tensor_backend *backend = problem->backend;
    backend->ops->multiply(backend, true, false, codes->cells, energy->columns,
                           problem->leaves, 1, energy->joint[b], energy->tau, 0,
                           energy->table);
    run_groups(energy, centre_task,
               &(struct pass){.energy = energy, .book = b});
    curve(energy, &energy->expansion[b], codes->pairs);
}

/* The book's part of the value of some particles, and dJ = g - y. */
static void
value_task(void *context, size_t i, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    const struct smooth_expansion *expansion = &energy->expansion[pass->book];
    const struct codes *codes = energy->problem->book[pass->book].codes;
    struct group group = find_group(energy, i);
    (void)worker;
    for (size_t p = group.begin; p < group.end; p++) {
        const float *x = energy->x + p * codes->pairs;
        float *y = energy->y + p * codes->pairs;
        double sum = expansion->log_p;
        for (size_t pair = 0; pair < codes->pairs; pair++) {
            double g = (double)expansion->g[pair];
            sum += (double)x[pair] * (g - (double)y[pair] / 2);
            y[pair] = expansion->g[pair] - y[pair];
        }
        pass->value[p] += sum;
    }
    turn_table(energy, group, codes->cells, energy->y, true, energy->table);
}

/* Adds a book's part to every value, and leaves dJ in energy->table. */
static void
add_book(struct smooth_energy *energy, size_t b, double *value)
{
    struct pass pass = {.energy = energy, .book = b};
    pass.value = value;
    smooth_energy_tables(energy, b);
    run_groups(energy, value_task, &pass);
}

/* held = sum_l pi_l tau_l of some particles. */
static void
held_task(void *context, size_t i, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    struct group group = find_group(energy, i);
    size_t classes = energy->problem->classes, begin = group.begin * classes;
    size_t count = (group.end - group.begin) * classes;
    double *held = energy->held + begin;
    (void)worker;
    memset(held, 0, count * sizeof *held);
    for (size_t l = 0; l < energy->problem->leaves; l++) {
        const float *tau = energy->tau + l * energy->columns + begin;
        double pi = energy->pi[l];
        for (size_t column = 0; column < count; column++) {
            held[column] += pi * (double)tau[column];
        }
    }
}

/* Adds the prior on shares, and turns `held` into its gradient. */
static void
add_shares(struct smooth_energy *energy, double *value)
{
    const struct smooth_problem *problem = energy->problem;
    double width = problem->width > 0 ? problem->width : SMOOTH_WIDTH;
    run_groups(energy, held_task, &(struct pass){.energy = energy});
    for (size_t i = 0; i < energy->columns; i++) {
        size_t p = i / problem->classes, y = i % problem->classes;
        double held = energy->held[i];
        if (problem->share != NULL) {
            double w = width * problem->share[y];
            double off = (held - problem->share[y]) / w;
            value[p] -= off * off / 2;
            energy->held[i] = -off / w;
        } else {
            held = held > HELD_LEAST ? held : HELD_LEAST;
            value[p] += SMOOTH_COUNT * log(held);
            energy->held[i] = SMOOTH_COUNT / held;
        }
    }
}

/* dtau += pi_l dP of a leaf. */
static void
share_task(void *context, size_t l, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    float *dtau = energy->dtau + l * energy->columns;
    const double *held = energy->held;
    double pi = energy->pi[l];
    (void)worker;
    for (size_t i = 0; i < energy->columns; i++) {
        dtau[i] += (float)(pi * held[i]);
    }
}

/* d ln s_m = s e . d(s e), and de = s d(s e), of one feature's row. */
static void
unscale_task(void *context, size_t row, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    (void)worker;
    scale_row(energy, row, energy->scaled + row * energy->columns,
              pass->de + row * energy->columns);
}

/* Sets the gradient by u of some particles. */
static void
du_task(void *context, size_t i, unsigned worker)
{
    const struct pass *pass = context;
    const struct smooth_energy *energy = pass->energy;
    const struct smooth_features *features = energy->problem->features;
    size_t particles = energy->particles, classes = energy->problem->classes;
    struct group group = find_group(energy, i);
    (void)worker;
    for (size_t m = 0; m < SMOOTH_SCALES; m++) {
        float *du = pass->du + m * particles;
        memset(du + group.begin, 0, (group.end - group.begin) * sizeof *du);
    }
    for (size_t row = 0; row < features->count; row++) {
        float *du = pass->du + scale_of(features, row) * particles;
        for (size_t p = group.begin; p < group.end; p++) {
            size_t at = row * energy->columns + p * classes;
            float sum = 0;
            for (size_t y = 0; y < classes; y++) {
                sum += pass->e[at + y] * pass->de[at + y];
            }
            du[p] += (float)DEVIATION * sum;
        }
    }
}

void
smooth_energy_value(struct smooth_energy *energy, const float *e,
                    const float *u, double *ret_value, float *ret_de,
                    float *ret_du)
{
    const struct smooth_problem *problem = energy->problem;
    const struct smooth_features *features = problem->features;
    struct tensor_backend *backend = problem->backend;
    struct pass pass = {.energy = energy, .e = e};
    pass.de = ret_de;
    pass.du = ret_du;
    memset(ret_value, 0, energy->particles * sizeof *ret_value);
    for (size_t b = 0; b < problem->books; b++) {
        add_book(energy, b, ret_value);
        if (ret_de != NULL) {
            backend->ops->multiply(
                backend, false, false, problem->leaves, energy->columns,
                problem->book[b].codes->cells, 1, energy->joint[b],
                energy->table, b > 0 ? 1 : 0, energy->dtau);
        }
    }
    add_shares(energy, ret_value);
    if (ret_de == NULL) {
        return;
    }
    host_pool_run(problem->pool, problem->leaves, share_task, &pass);
    backend->ops->softmax_back(backend, problem->leaves * energy->particles,
                               problem->classes, energy->tau, energy->dtau,
                               energy->dtau);
    backend->ops->multiply(backend, true, false, features->count,
                           energy->columns, problem->leaves, 1, features->a,
                           energy->dtau, 0, energy->scaled);
    set_scale(energy, u);
    host_pool_run(problem->pool, features->count, unscale_task, &pass);
    run_groups(energy, du_task, &pass);
}

void
smooth_energy_likely(struct smooth_energy *energy, double *ret_value)
{
    memset(ret_value, 0, energy->particles * sizeof *ret_value);
    for (size_t b = 0; b < energy->problem->books; b++) {
        add_book(energy, b, ret_value);
    }
}

/* ---- Expanding ------------------------------------------------------------
 */

/* J^b of a tau that is given by leaves and classes. */
static void
set_table(const struct smooth_problem *problem, size_t b, const double *tau,
          double *ret_j)
{
    const struct smooth_book *book = &problem->book[b];
    size_t cells = book->codes->cells, classes = problem->classes;
    memset(ret_j, 0, cells * classes * sizeof *ret_j);
    for (size_t l = 0; l < problem->leaves; l++) {
        for (size_t c = 0; c < cells; c++) {
            double w = book->joint[l * cells + c];
            for (size_t y = 0; y < classes && w > 0; y++) {
                ret_j[c * classes + y] += w * tau[l * classes + y];
            }
        }
    }
}

static size_t
most_pairs(const struct smooth_problem *problem)
{
    size_t most = 0;
    for (size_t b = 0; b < problem->books; b++) {
        size_t pairs = problem->book[b].codes->pairs;
        most = pairs > most ? pairs : most;
    }
    return most;
}

enum sotto_status
smooth_energy_expand(struct smooth_energy *energy, bool curved,
                     struct sotto_error *err)
{
    const struct smooth_problem *problem = energy->problem;
    size_t classes = problem->classes, size = problem->leaves * classes;
    double *mean = calloc(size + most_pairs(problem), sizeof *mean);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (mean == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < problem->leaves; l++) {
        const float *tau = energy->tau + l * energy->columns;
        for (size_t i = 0; i < energy->columns; i++) {
            mean[l * classes + i % classes] +=
                (double)tau[i] / (double)energy->particles;
        }
    }
    for (size_t b = 0; b < problem->books && status == SOTTO_STATUS_OK; b++) {
        set_table(problem, b, mean, mean + size);
        status = smooth_expansion_set(
            &energy->expansion[b], problem->book[b].codes, mean + size, curved,
            problem->backend, energy->watch, err);
    }
    free(mean);
    return status;
}

double
smooth_energy_exact(struct smooth_energy *energy, size_t particle, double *room)
{
    const struct smooth_problem *problem = energy->problem;
    size_t classes = problem->classes;
    double *j = room + problem->leaves * classes, sum = 0;
    for (size_t i = 0; i < problem->leaves * classes; i++) {
        room[i] = (double)energy->tau[i / classes * energy->columns +
                                      particle * classes + i % classes];
    }
    for (size_t b = 0; b < problem->books; b++) {
        set_table(problem, b, room, j);
        sum += codes_pass(problem->book[b].codes, j, NULL);
    }
    return sum;
}
