/*
 * cells_sample.c: the posterior over assignments of one label to each cell.
 *
 *     s_i = rest U_i + gap A_i,   rest = (1 - p0) / (K - 1),  gap = p0 - rest,
 *     A_i = sum_c pi_c L_i(c, a_c),        U_i = sum_cy pi_c L_i(c, y)
 *
 * (docs/codebook.md): report i has the likelihood s_i if cell c has the label
 * a_c in a share p0 of its records, and the others evenly. The posterior is
 *
 *     ln p(a, p0 | reports) = sum_i ln s_i
 *                             - sum_y (h_y - f_y)^2 / (2 w_y^2) + constant
 *     h_y = sum of pi_c over the cells with a_c = y
 *
 * where f_y is the class's share and w_y how well it is known. p0 is on a grid
 * of LEVELS, and drawn from its conditional; a is drawn by Metropolis and
 * Hastings: a change a -> a' of one cell, or of two that swap, is taken with
 * probability
 *
 *     min(1, (p(a') / p(a))^warm q(a' -> a) / q(a -> a'))
 *
 * Of a change only A_i moves: A_i' = A_i + pi_c (L_i(c, a_c') - L_i(c, a_c)),
 * so a proposal costs two columns a cell. `warm` rises from COLD to 1 over the
 * first third of the sweeps, which are not kept. tau is the mean of [a_c = y]
 * p0 and of the rest elsewhere, over the sweeps of all chains but those that
 * stayed BEHIND the best.
 *
 * A chain is a task; it has a stream of its own, so chains are the same in
 * whatever order they run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/codes/cells.h"
#include "random/draw.h"
#include "random/permute.h"
#include "random/seeded.h"

#define LEVELS 16u /* of p0 */
#define PURITY_LEAST 0.3
#define PURITY_MOST 0.99
#define COLD 0.1 /* share of the log-posterior to begin with */
#define WIDTH_LEAST 1e-3
#define BEHIND 10.0 /* nats below the best chain: left out */
#define EVEN 0.2    /* share of proposals drawn evenly */
#define SEGMENT 10u /* sweeps between looks at the watch */
#define CHAIN_STREAM UINT64_C(0x63656c6c73000000)

struct sampler {
    struct codes *codes;
    const double *pi, *share;
    double *width; /* of each label's share */
    float *u;
    uint32_t *first; /* chain 0 begins here */
    double *likely;  /* pairs: how proposals are drawn, a row adds up to 1 */
    uint32_t sweeps;
    uint32_t from, to; /* sweeps to do now */
    uint64_t seed;
    struct chain *chain;
};

struct chain {
    const struct sampler *sampler;
    struct seeded seeded;
    uint32_t *label;
    uint32_t *count; /* cells with each label */
    float *a;
    double *held;  /* share of the cells with each label */
    double *tau;   /* summed */
    double purity; /* summed */
    double log_p;  /* of the reports, but for log_most */
    double sum;    /* of the log-posterior, over sweeps kept */
    double warm;   /* share of the log-posterior that counts */
    size_t level;
    size_t kept; /* sweeps */
};

static double
draw_uniform(struct chain *chain)
{
    return ((double)random_u32(&chain->seeded.random) + 1) / 4294967296.0;
}

/* No purity is below what an even label has. */
static double
purity_at(const struct sampler *sampler, size_t level)
{
    double even = 1 / (double)sampler->codes->classes;
    double least = even + 0.2 * (1 - even);
    least = least > PURITY_LEAST ? least : PURITY_LEAST;
    return least + (PURITY_MOST - least) * (double)level / (LEVELS - 1);
}

/* What each of the other labels has of a cell. */
static double
rest_of(const struct sampler *sampler, double p0)
{
    return (1 - p0) / (double)(sampler->codes->classes - 1);
}

static double
share_penalty(const struct sampler *sampler, size_t y, double held)
{
    double off = (held - sampler->share[y]) / sampler->width[y];
    return off * off / 2;
}

/* ---- The likelihood ------------------------------------------------------ */

/* A cell that changes its label, twice or once. */
struct change {
    size_t count;
    uint32_t cell[2], label[2];
};

/* The same of a block whose rows stand for several reports each. */
static double
weigh_move(const struct codes *codes, const struct codes_move *move,
           size_t columns, size_t block)
{
    float s[CODES_BLOCK];
    memcpy(s, move->a, sizeof s);
    for (size_t j = 0; j < columns; j++) {
        codes->kept->add(move->column[j], CODES_BLOCK, move->by[j], s);
    }
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        s[i] = move->rest * move->u[i] + move->gap * s[i];
    }
    return codes_log_sum(codes, block, s);
}

/* sum_i ln s_i as it would be. */
static double
log_p_with(const struct chain *chain, const struct change *change, size_t level)
{
    const struct sampler *sampler = chain->sampler;
    const struct codes *codes = sampler->codes;
    double (*const sum[])(const struct codes_move *, size_t) = {
        codes->kernel->stay, codes->kept->move, codes->kept->swap};
    double p0 = purity_at(sampler, level), rest = rest_of(sampler, p0);
    struct codes_move move = {.rest = (float)rest, .gap = (float)(p0 - rest)};
    double total = 0;
    for (size_t i = 0; i < change->count; i++) {
        float by = (float)(sampler->pi[change->cell[i]] * codes->step);
        move.by[2 * i] = by;
        move.by[2 * i + 1] = -by;
    }
    for (size_t block = 0; block < codes->blocks; block++) {
        move.u = sampler->u + block * CODES_BLOCK;
        move.a = chain->a + block * CODES_BLOCK;
        for (size_t i = 0; i < change->count; i++) {
            size_t row = change->cell[i] * codes->classes;
            uint32_t old = chain->label[change->cell[i]];
            move.column[2 * i] =
                codes_column(codes, block, row + change->label[i]);
            move.column[2 * i + 1] = codes_column(codes, block, row + old);
        }
        total += codes->times != NULL
                     ? weigh_move(codes, &move, 2 * change->count, block)
                     : sum[change->count](&move, CODES_BLOCK);
    }
    return total;
}

/* Sets A, or U if `label` is NULL, from nothing: rounding does not add up.
   Beyond the last report s is 1. */
static void
sum_columns(const struct sampler *sampler, const uint32_t *label,
            float *ret_sum)
{
    const struct codes *codes = sampler->codes;
    size_t each = label != NULL ? 1 : codes->classes; /* labels of a cell */
    double sum = 0;
    for (size_t c = 0; c < codes->cells; c++) {
        sum += sampler->pi[c] * (double)each;
    }
    for (size_t i = 0; i < codes->blocks * CODES_BLOCK; i++) {
        ret_sum[i] = (float)(i < codes->rows ? codes->lo * sum : (double)each);
    }
    for (size_t block = 0; block < codes->blocks; block++) {
        for (size_t i = 0; i < codes->cells * each; i++) {
            size_t c = i / each, y = label != NULL ? label[c] : i % each;
            codes_add(codes, codes_column(codes, block, c * codes->classes + y),
                      codes->step * sampler->pi[c],
                      ret_sum + block * CODES_BLOCK);
        }
    }
}

/* ---- Steps --------------------------------------------------------------- */

static void
apply_change(struct chain *chain, const struct change *change)
{
    const struct sampler *sampler = chain->sampler;
    const struct codes *codes = sampler->codes;
    for (size_t i = 0; i < change->count; i++) {
        uint32_t c = change->cell[i], old = chain->label[c];
        size_t row = c * codes->classes;
        double by = sampler->pi[c] * codes->step;
        for (size_t block = 0; block < codes->blocks; block++) {
            float *a = chain->a + block * CODES_BLOCK;
            codes_add(codes, codes_column(codes, block, row + change->label[i]),
                      by, a);
            codes_add(codes, codes_column(codes, block, row + old), -by, a);
        }
        chain->count[old]--;
        chain->count[change->label[i]]++;
        chain->held[old] -= sampler->pi[c];
        chain->held[change->label[i]] += sampler->pi[c];
        chain->label[c] = change->label[i];
    }
}

/* By how much the prior would rise. Both kinds of change touch the same two
   labels. */
static double
prior_gain(const struct chain *chain, const struct change *change)
{
    const struct sampler *sampler = chain->sampler;
    uint32_t from = chain->label[change->cell[0]], to = change->label[0];
    double moved = sampler->pi[change->cell[0]];
    if (change->count == 2) {
        moved -= sampler->pi[change->cell[1]];
    }
    return share_penalty(sampler, from, chain->held[from]) +
           share_penalty(sampler, to, chain->held[to]) -
           share_penalty(sampler, from, chain->held[from] - moved) -
           share_penalty(sampler, to, chain->held[to] + moved);
}

/* A label for a cell, by what the linear score says of it. */
static uint32_t
draw_label(struct chain *chain, uint32_t c)
{
    size_t classes = chain->sampler->codes->classes;
    const double *likely = chain->sampler->likely + c * classes;
    double at = draw_uniform(chain);
    uint32_t y = 0;
    while (y + 1 < classes && (at -= likely[y]) > 0) {
        y++;
    }
    return y;
}

/* One of the cells with a label, of which there are `count`. */
static uint32_t
draw_member(struct chain *chain, uint32_t y)
{
    uint32_t left = draw_below(&chain->seeded.random, chain->count[y]);
    uint32_t c = 0;
    while (chain->label[c] != y || left-- > 0) {
        c++;
    }
    return c;
}

/*
 * A cell by lot and a label y for it by `likely`; and either the cell alone
 * takes it, or it swaps with one of the n_y cells that have it. The ratio of
 * the probabilities of proposing the way back and the way there is, for one
 * cell, likely(c, a) / likely(c, y), and for two, either of which may have been
 * drawn first,
 *
 *     likely(c, a) / n_a + likely(d, y) / n_y
 *     ---------------------------------------
 *     likely(c, y) / n_y + likely(d, a) / n_a
 *
 * Returns its logarithm; NAN if there is nothing to change.
 */
static double
draw_change(struct chain *chain, struct change *ret_change)
{
    const double *likely = chain->sampler->likely;
    size_t classes = chain->sampler->codes->classes;
    bool swap = draw_below(&chain->seeded.random, 2) == 1;
    uint32_t c = draw_below(&chain->seeded.random,
                            (uint32_t)chain->sampler->codes->cells);
    uint32_t a = chain->label[c], y = draw_label(chain, c), d;
    double n_a = chain->count[a], n_y = chain->count[y];
    const double *of_c = likely + c * classes, *of_d;
    if (y == a || (swap && chain->count[y] == 0)) {
        return NAN;
    }
    if (!swap) {
        *ret_change = (struct change){1, {c}, {y}};
        return log(of_c[a] / of_c[y]);
    }
    d = draw_member(chain, y);
    of_d = likely + d * classes;
    *ret_change = (struct change){2, {c, d}, {y, a}};
    return log((of_c[a] / n_a + of_d[y] / n_y) /
               (of_c[y] / n_y + of_d[a] / n_a));
}

static void
propose_change(struct chain *chain)
{
    struct change change;
    double log_p, gain, back = draw_change(chain, &change);
    if (isnan(back)) {
        return;
    }
    log_p = log_p_with(chain, &change, chain->level);
    gain = log_p - chain->log_p + prior_gain(chain, &change);
    if (log(draw_uniform(chain)) < chain->warm * gain + back) {
        apply_change(chain, &change);
        chain->log_p = log_p;
    }
}

/* p0 from its conditional. */
static void
draw_purity(struct chain *chain)
{
    const struct change none = {.count = 0};
    double log_p[LEVELS], most = -INFINITY, sum = 0, at;
    size_t level = 0;
    for (size_t i = 0; i < LEVELS; i++) {
        log_p[i] = log_p_with(chain, &none, i);
        most = log_p[i] > most ? log_p[i] : most;
    }
    for (size_t i = 0; i < LEVELS; i++) {
        sum += exp(chain->warm * (log_p[i] - most));
    }
    at = draw_uniform(chain) * sum;
    while (level < LEVELS - 1 &&
           (at -= exp(chain->warm * (log_p[level] - most))) > 0) {
        level++;
    }
    chain->level = level;
    chain->log_p = log_p[level];
}

/* ---- Chains -------------------------------------------------------------- */

/* Cells in an order drawn by lot, each where most is wanted. */
static void
start_by_lot(struct chain *chain)
{
    const struct sampler *sampler = chain->sampler;
    size_t cells = sampler->codes->cells, classes = sampler->codes->classes;
    for (size_t c = 0; c < cells; c++) {
        chain->label[c] = (uint32_t)c;
    }
    permute_drawn(chain->label, sizeof *chain->label, cells, PERMUTE_DOWN,
                  &chain->seeded.random);
    /* label[i] is the i-th cell still; `tau` is free to hold the answer. */
    for (size_t i = 0; i < cells; i++) {
        uint32_t c = chain->label[i];
        size_t best = 0;
        for (size_t y = 1; y < classes; y++) {
            best = sampler->share[y] - chain->held[y] >
                           sampler->share[best] - chain->held[best]
                       ? y
                       : best;
        }
        chain->held[best] += sampler->pi[c];
        chain->tau[c] = (double)best;
    }
    for (size_t c = 0; c < cells; c++) {
        chain->label[c] = (uint32_t)chain->tau[c];
        chain->tau[c] = 0;
    }
}

static void
note_sweep(struct chain *chain)
{
    const struct sampler *sampler = chain->sampler;
    size_t cells = sampler->codes->cells, classes = sampler->codes->classes;
    double p0 = purity_at(sampler, chain->level);
    double rest = rest_of(sampler, p0);
    for (size_t c = 0; c < cells; c++) {
        for (size_t y = 0; y < classes; y++) {
            chain->tau[c * classes + y] += y == chain->label[c] ? p0 : rest;
        }
    }
    chain->purity += p0;
    chain->sum += chain->log_p;
    for (size_t y = 0; y < classes; y++) {
        chain->sum -= share_penalty(sampler, y, chain->held[y]);
    }
    chain->kept++;
}

static void
start_chain(const struct sampler *sampler, size_t index)
{
    struct chain *chain = &sampler->chain[index];
    chain->sampler = sampler;
    chain->level = LEVELS - 1;
    seeded_init(&chain->seeded, sampler->seed, CHAIN_STREAM + index);
    if (index > 0) {
        start_by_lot(chain);
    } else {
        memcpy(chain->label, sampler->first,
               sampler->codes->cells * sizeof *chain->label);
    }
    memset(chain->held, 0, sampler->codes->classes * sizeof *chain->held);
    for (size_t c = 0; c < sampler->codes->cells; c++) {
        chain->held[chain->label[c]] += sampler->pi[c];
        chain->count[chain->label[c]]++;
    }
}

/* Some sweeps of a chain. */
static void
run_chain(void *context, size_t index, unsigned worker)
{
    const struct sampler *sampler = context;
    struct chain *chain = &sampler->chain[index];
    size_t proposals = sampler->codes->pairs;
    uint32_t heating = sampler->sweeps / 3;
    (void)worker;
    for (uint32_t sweep = sampler->from; sweep < sampler->to; sweep++) {
        chain->warm =
            sweep < heating ? pow(COLD, 1 - (double)sweep / heating) : 1;
        sum_columns(sampler, chain->label, chain->a);
        draw_purity(chain);
        for (size_t i = 0; i < proposals; i++) {
            propose_change(chain);
        }
        if (sweep >= heating) {
            note_sweep(chain);
        }
    }
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
chain_init(struct chain *chain, const struct codes *codes,
           struct sotto_error *err)
{
    size_t reports = codes->blocks * CODES_BLOCK;
    chain->tau = calloc(1, (codes->pairs + codes->classes) * sizeof(double) +
                               (reports + codes->cells + codes->classes) *
                                   sizeof(float));
    if (chain->tau == NULL) {
        return host_fail_memory(err);
    }
    chain->held = chain->tau + codes->pairs;
    chain->a = (float *)(void *)(chain->held + codes->classes);
    chain->label = (uint32_t *)(void *)(chain->a + reports);
    chain->count = chain->label + codes->cells;
    return SOTTO_STATUS_OK;
}

/* likely = a mix of even and softmax(score). */
static void
set_likely(struct sampler *sampler, const double *score)
{
    size_t classes = sampler->codes->classes;
    for (size_t c = 0; c < sampler->codes->cells; c++) {
        const double *row = score + c * classes;
        double *to = sampler->likely + c * classes, most = row[0], sum = 0;
        for (size_t y = 1; y < classes; y++) {
            most = row[y] > most ? row[y] : most;
        }
        for (size_t y = 0; y < classes; y++) {
            sum += to[y] = exp(row[y] - most);
        }
        for (size_t y = 0; y < classes; y++) {
            to[y] = EVEN / (double)classes + (1 - EVEN) * to[y] / sum;
        }
    }
}

/* The linear score pi_c G_cy at tau = share, by which the log-likelihood rises
   at first as cell c becomes label y: where the first chain begins, and how
   proposals are drawn. */
static enum sotto_status
set_first(struct sampler *sampler, struct sotto_error *err)
{
    struct codes *codes = sampler->codes;
    double *j = malloc(2 * codes->pairs * sizeof *j), *g;
    enum sotto_status status;
    if (j == NULL) {
        return host_fail_memory(err);
    }
    g = j + codes->pairs;
    for (size_t p = 0; p < codes->pairs; p++) {
        j[p] = sampler->pi[p / codes->classes] *
               sampler->share[p % codes->classes];
    }
    (void)codes_pass(codes, j, g);
    for (size_t p = 0; p < codes->pairs; p++) {
        g[p] *= sampler->pi[p / codes->classes];
    }
    set_likely(sampler, g);
    status = cells_assign(g, sampler->pi, sampler->share, codes->cells,
                          codes->classes, sampler->first, err);
    free(j);
    return status;
}

/* The mean over chains, but for those that stayed far below the best. */
static void
average_chains(const struct sampler *sampler, size_t chains, double *ret_tau,
               struct cells_info *ret_info)
{
    size_t pairs = sampler->codes->pairs;
    double best = -INFINITY, purity = 0, kept = 0;
    size_t used = 0;
    for (size_t i = 0; i < chains; i++) {
        const struct chain *chain = &sampler->chain[i];
        double mean = chain->sum / (double)chain->kept;
        best = mean > best ? mean : best;
    }
    memset(ret_tau, 0, pairs * sizeof *ret_tau);
    for (size_t i = 0; i < chains; i++) {
        const struct chain *chain = &sampler->chain[i];
        if (chain->sum / (double)chain->kept < best - BEHIND) {
            continue;
        }
        for (size_t p = 0; p < pairs; p++) {
            ret_tau[p] += chain->tau[p];
        }
        purity += chain->purity;
        kept += (double)chain->kept;
        used++;
    }
    for (size_t p = 0; p < pairs; p++) {
        ret_tau[p] /= kept;
    }
    ret_info->purity = purity / kept;
    ret_info->chains = used;
}

static enum sotto_status
sampler_init(struct sampler *sampler, size_t chains, double width,
             struct sotto_error *err)
{
    const struct codes *codes = sampler->codes;
    enum sotto_status status = SOTTO_STATUS_OK;
    sampler->u = malloc(codes->blocks * CODES_BLOCK * sizeof *sampler->u);
    sampler->width =
        malloc((codes->classes + codes->pairs) * sizeof *sampler->width);
    sampler->first = malloc(codes->cells * sizeof *sampler->first);
    sampler->chain = calloc(chains, sizeof *sampler->chain);
    if (sampler->u == NULL || sampler->width == NULL ||
        sampler->first == NULL || sampler->chain == NULL) {
        return host_fail_memory(err);
    }
    sampler->likely = sampler->width + codes->classes;
    for (size_t i = 0; i < chains && status == SOTTO_STATUS_OK; i++) {
        status = chain_init(&sampler->chain[i], codes, err);
    }
    for (size_t y = 0; y < codes->classes; y++) {
        double at = width * sampler->share[y];
        sampler->width[y] = at > WIDTH_LEAST ? at : WIDTH_LEAST;
    }
    sum_columns(sampler, NULL, sampler->u);
    return HOST_THEN(status, set_first(sampler, err));
}

static void
sampler_clear(struct sampler *sampler, size_t chains)
{
    for (size_t i = 0; sampler->chain != NULL && i < chains; i++) {
        free(sampler->chain[i].tau);
    }
    free(sampler->chain);
    free(sampler->u);
    free(sampler->width);
    free(sampler->first);
}

/* A few sweeps of every chain at a time, so that it can be stopped. */
static enum sotto_status
run_chains(struct sampler *sampler, size_t chains,
           const struct sotto_watch *watch, struct sotto_error *err)
{
    for (size_t i = 0; i < chains; i++) {
        start_chain(sampler, i);
    }
    for (uint32_t at = 0; at < sampler->sweeps; at = sampler->to) {
        enum sotto_status status = cells_tick(watch, at, sampler->sweeps, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        sampler->from = at;
        sampler->to =
            sampler->sweeps - at < SEGMENT ? sampler->sweeps : at + SEGMENT;
        host_pool_run(sampler->codes->pool, chains, run_chain, sampler);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
cells_sample(struct codes *codes, const double *pi,
             const struct cells_options *options, double *ret_tau,
             struct cells_info *ret_info, struct sotto_error *err)
{
    size_t chains = options->chains > 0 ? options->chains : CELLS_CHAINS;
    struct sampler sampler = {.codes = codes,
                              .pi = pi,
                              .share = options->share,
                              .sweeps = options->sweeps > 0 ? options->sweeps
                                                            : CELLS_SWEEPS,
                              .seed = options->seed};
    enum sotto_status status =
        sampler_init(&sampler, chains, options->width, err);
    status =
        HOST_THEN(status, run_chains(&sampler, chains, options->watch, err));
    if (status == SOTTO_STATUS_OK) {
        average_chains(&sampler, chains, ret_tau, ret_info);
    }
    sampler_clear(&sampler, chains);
    return status;
}
