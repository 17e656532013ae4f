/*
 * placement.c: classes as points of the L1 ball, behind Laplace noise.
 *
 * With s = 1 / b = epsilon / 2 and class k at c_k, the likeliest class is right
 * with the probability
 *
 *     A = 1/K int max_k prod_i (s / 2) e^(-s |z_i - c_ki|) dz.
 *
 * Along one coordinate x, the others being fixed, the integrand is e^(s t(x))
 * where t is the largest of the tents h_k - |x - c_k|. A tent whose top is
 * under another counts for nothing. The rest, from left to right, meet their
 * neighbours in valleys v, every slope is 1, and with s / 2 in front
 *
 *     (s / 2) int e^(s t(x)) dx = sum_tops e^(s h) - sum_valleys e^(s v),
 *     v = (h_k + h_j - (c_j - c_k)) / 2.
 *
 * Over each other coordinate z the mean is taken with noise around 0: the
 * factor of class k beside it is e^(s (|z| - |z - c_k|)), which is constant
 * beyond -1 and beyond 1, so two atoms stand for the tails.
 */
#include "experiment/placement.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "random/seeded.h"

#define D PLACEMENT_D_MOST
#define K PLACEMENT_K_MOST
#define GAUSS ((size_t)4)
#define PIECES_MOST ((size_t)8)
#define ENDS_MOST (3 + K + 2 * K * (K - 1)) /* -1, 0, 1; points; crossings */
#define NODES_MOST (2 + GAUSS * PIECES_MOST * (ENDS_MOST - 1))
#define STREAM (UINT64_C(0x65713133) << 32) /* of the seed */

/* Gauss and Legendre's on [-1, 1]. */
static const double gauss_node[GAUSS] = {
    -0.86113631159405257522, -0.33998104358485626480, 0.33998104358485626480,
    0.86113631159405257522};
static const double gauss_weight[GAUSS] = {
    0.34785484513745385737, 0.65214515486254614263, 0.65214515486254614263,
    0.34785484513745385737};

/* A coordinate that is summed over: its nodes, and log factors of classes. */
struct axis {
    size_t nodes;
    double weight[NODES_MOST];
    double lead[NODES_MOST][K]; /* |z| - |z - c_k| */
};

/* ---- Accuracy ------------------------------------------------------------ */

static void
sort_numbers(double *number, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        double moved = number[i];
        size_t j = i;
        for (; j > 0 && number[j - 1] > moved; j--) {
            number[j] = number[j - 1];
        }
        number[j] = moved;
    }
}

static void
add_node(struct axis *axis, const struct placement *placement, size_t i,
         double z, double weight)
{
    for (size_t k = 0; k < placement->classes; k++) {
        axis->lead[axis->nodes][k] = fabs(z) - fabs(z - placement->at[k][i]);
    }
    axis->weight[axis->nodes++] = weight;
}

/*
 * Adds where along coordinate i the top of one class's tent comes out of
 * another's slope: |z - c_j| - |z - c_k| = +-(c_j0 - c_k0) - (base_k - base_j),
 * where `base` is what the coordinates between have added. There the integrand
 * has kinks, too.
 */
static size_t
add_crossings(double *end, size_t ends, const struct placement *placement,
              size_t i, const double *base)
{
    for (size_t k = 0; k < placement->classes; k++) {
        for (size_t j = 0; j < k; j++) {
            double low = placement->at[k][i], high = placement->at[j][i];
            for (int sign = -1; sign <= 1; sign += 2) {
                double v = sign * (placement->at[j][0] - placement->at[k][0]) -
                           (base[k] - base[j]);
                double z = (low + high - (low < high ? v : -v)) / 2;
                if (fabs(v) < fabs(high - low)) {
                    end[ends++] = z;
                }
            }
        }
    }
    return ends;
}

/*
 * Adds the kinks that crossings make along coordinate i. Of the last one `base`
 * is known. Before it the coordinate behind adds something else at each of its
 * values; but to the difference of two classes it adds the same wherever it is
 * below both points or above both, as at -1 and at 1. Elsewhere the crossing
 * moves with it, and the mean over it has no kink.
 */
static size_t
add_kinks(double *end, size_t ends, const struct placement *placement, size_t i,
          const double *base)
{
    double low[K], high[K];
    if (i + 1 == placement->d) {
        return add_crossings(end, ends, placement, i, base);
    }
    for (size_t k = 0; k < placement->classes; k++) {
        low[k] = base[k] - placement->at[k][i + 1];
        high[k] = base[k] + placement->at[k][i + 1];
    }
    ends = add_crossings(end, ends, placement, i, low);
    return add_crossings(end, ends, placement, i, high);
}

/* The tails, and pieces between -1, 0, 1, the points' coordinates and kinks. */
static void
init_axis(struct axis *axis, const struct placement *placement, size_t i,
          const double *base, double s, size_t pieces)
{
    double end[ENDS_MOST] = {-1, 0, 1};
    size_t ends = 3;
    for (size_t k = 0; k < placement->classes; k++) {
        end[ends++] = placement->at[k][i];
    }
    ends = add_kinks(end, ends, placement, i, base);
    sort_numbers(end, ends);
    axis->nodes = 0;
    add_node(axis, placement, i, -1, exp(-s) / 2);
    add_node(axis, placement, i, 1, exp(-s) / 2);
    for (size_t e = 1; e < ends; e++) {
        double wide = (end[e] - end[e - 1]) / (double)pieces;
        for (size_t n = 0; wide > 1e-12 && n < pieces * GAUSS; n++) {
            size_t piece = n / GAUSS;
            double z = end[e - 1] +
                       wide * ((double)piece + 0.5 + gauss_node[n % GAUSS] / 2);
            add_node(axis, placement, i, z,
                     s / 2 * exp(-s * fabs(z)) * wide / 2 *
                         gauss_weight[n % GAUSS]);
        }
    }
}

/* (s / 2) int e^(s t(x)) dx for tents in the order of their places. */
static double
integrate_tents(const double *place, const double *top, size_t count, double s)
{
    size_t kept[K], left = 0, right;
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (top[i] + place[i] > most) { /* no tent on the left covers it */
            most = top[i] + place[i];
            kept[left++] = i;
        }
    }
    right = left;
    most = -INFINITY;
    for (size_t i = left; i-- > 0;) {
        if (top[kept[i]] - place[kept[i]] > most) {
            most = top[kept[i]] - place[kept[i]];
            kept[--right] = kept[i];
        }
    }
    for (size_t i = right; i < left; i++) {
        size_t at = kept[i];
        sum += exp(s * top[at]);
        if (i > right) {
            size_t before = kept[i - 1];
            sum -= exp(s / 2 *
                       (top[at] + top[before] - place[at] + place[before]));
        }
    }
    return sum;
}

/* The points in the order of their first coordinates. */
static struct placement
sort_points(const struct placement *placement)
{
    struct placement sorted = *placement;
    for (size_t i = 1; i < sorted.classes; i++) {
        for (size_t j = i; j > 0 && sorted.at[j - 1][0] > sorted.at[j][0];
             j--) {
            double moved[D];
            memcpy(moved, sorted.at[j], sizeof moved);
            memcpy(sorted.at[j], sorted.at[j - 1], sizeof moved);
            memcpy(sorted.at[j - 1], moved, sizeof moved);
        }
    }
    return sorted;
}

/* The mean over coordinates i and on, for points in the order of the first. */
static double
integrate_from(const struct placement *placement, size_t i, const double *base,
               double s, size_t pieces)
{
    struct axis axis;
    double sum = 0;
    if (i == placement->d) {
        double place[K];
        for (size_t k = 0; k < placement->classes; k++) {
            place[k] = placement->at[k][0];
        }
        return integrate_tents(place, base, placement->classes, s);
    }
    init_axis(&axis, placement, i, base, s, pieces);
    for (size_t n = 0; n < axis.nodes; n++) {
        double top[K];
        for (size_t k = 0; k < placement->classes; k++) {
            top[k] = base[k] + axis.lead[n][k];
        }
        sum +=
            axis.weight[n] * integrate_from(placement, i + 1, top, s, pieces);
    }
    return sum;
}

double
placement_accuracy(const struct placement *placement, double eps, size_t pieces)
{
    const struct placement sorted = sort_points(placement);
    const double base[K] = {0};
    assert(placement->classes >= 1 && placement->classes <= K);
    assert(placement->d >= 1 && placement->d <= D);
    assert(pieces >= 1 && pieces <= PIECES_MOST && eps > 0);
    return integrate_from(&sorted, 1, base, eps / 2, pieces) /
           (double)placement->classes;
}

void
placement_vertices(struct placement *placement, size_t classes, size_t d)
{
    assert(classes <= 2 * d && classes <= K && d <= D);
    *placement = (struct placement){.classes = classes, .d = d};
    for (size_t k = 0; k < classes; k++) {
        placement->at[k][k / 2] = k % 2 == 0 ? 1 : -1;
    }
}

/* ---- The search ---------------------------------------------------------- */

/* A standard normal number, by Box and Muller. */
static double
draw_normal(struct random *random)
{
    double a = ((double)random_u56(random) + 1) / 0x1p56;
    double b = (double)random_u56(random) / 0x1p56;
    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

/* The nearest point of the ball: coordinates shrink by the same amount, and no
   farther than to 0. */
static void
project(double *point, size_t d)
{
    double size[D], sum = 0, shrink = 0;
    for (size_t i = 0; i < d; i++) {
        size[i] = fabs(point[i]);
        sum += size[i];
    }
    if (sum <= 1) {
        return;
    }
    sort_numbers(size, d);
    sum = 0;
    for (size_t i = d; i-- > 0;) {
        sum += size[i];
        double by = (sum - 1) / (double)(d - i);
        shrink = size[i] > by ? by : shrink;
    }
    for (size_t i = 0; i < d; i++) {
        double left = fabs(point[i]) - shrink;
        point[i] = left > 0 ? copysign(left, point[i]) : 0;
    }
}

/* Every point moved by normal numbers, or with one chance in two one alone. */
static void
move_points(struct random *random, struct placement *placement, double stride)
{
    size_t one = random_u56(random) % (2 * placement->classes);
    for (size_t k = 0; k < placement->classes; k++) {
        for (size_t i = 0; i < placement->d; i++) {
            bool still = one < placement->classes && k != one;
            double by = stride * draw_normal(random);
            placement->at[k][i] += still ? 0 : by;
        }
        project(placement->at[k], placement->d);
    }
}

/* One start: a step is kept where it helps; a stride is 1.5 times as long after
   one that did, and shorter by a fiftieth after one that did not, so that one
   success in twenty keeps it. */
static double
climb(struct random *random, struct placement *placement, double eps,
      size_t steps)
{
    double stride = 0.5, found;
    move_points(random, placement, 1);
    found = placement_accuracy(placement, eps, 1);
    for (size_t n = 0; n < steps && stride > 1e-8; n++) {
        struct placement moved = *placement;
        move_points(random, &moved, stride);
        double accuracy = placement_accuracy(&moved, eps, 1);
        bool better = accuracy > found;
        if (better) {
            found = accuracy;
            *placement = moved;
        }
        stride *= better ? 1.5 : 0.98;
    }
    return placement_accuracy(placement, eps, 2);
}

double
placement_search(size_t classes, size_t d, double eps, size_t starts,
                 size_t steps, uint64_t seed, struct placement *ret_best)
{
    struct seeded seeded;
    double best = 0;
    seeded_init(&seeded, seed, STREAM);
    for (size_t n = 0; n < starts; n++) {
        struct placement placement = {.classes = classes, .d = d};
        double found = climb(&seeded.random, &placement, eps, steps);
        if (found > best) {
            best = found;
            *ret_best = placement;
        }
    }
    return placement_accuracy(ret_best, eps, PIECES_MOST);
}
