/*
 * objective.c: the likelihood of label reports, and what may be added to it.
 */
#include "learn/objective.h"

#include <math.h>

/* ---- Eq. 12 -------------------------------------------------------------- */

/*
 *     s_i = sum_y t_i(y) p_i(y),     d(-c ln s_i) / dp_i(y) = -c t_i(y) / s_i
 *
 * with c the scale. ln of what t_i was divided by goes back into the sum.
 */
double
conditional_pass(const struct labels *labels, const uint32_t *group, size_t n,
                 const float *p, double scale, float *dp)
{
    size_t classes = labels->classes;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double *t = labels->t + (size_t)group[i] * classes;
        const float *at = p + i * classes;
        double s = 0;
        for (size_t y = 0; y < classes; y++) {
            s += t[y] * (double)at[y];
        }
        s = s <= OBJECTIVE_LEAST ? OBJECTIVE_LEAST : s;
        sum += log(s) + labels->log_t[group[i]];
        for (size_t y = 0; dp != NULL && y < classes; y++) {
            dp[i * classes + y] = (float)(-scale * t[y] / s);
        }
    }
    return sum;
}

/* ---- A known share of the classes ---------------------------------------- */

/*
 *     kappa sum_y pi_y ln(pi_y / m_y),     m_y = mean_i p_i(y)
 *     its derivative by p_i(y) is          -kappa pi_y / (n m_y)
 */
double
share_pass(const struct labels *labels, double kappa, const float *p, size_t n,
           float *dp)
{
    size_t classes = labels->classes;
    double divergence = 0;
    for (size_t y = 0; y < classes; y++) {
        double mean = 0, share = labels->share[y];
        float by;
        for (size_t i = 0; i < n; i++) {
            mean += (double)p[i * classes + y];
        }
        mean = mean / (double)n <= OBJECTIVE_LEAST ? OBJECTIVE_LEAST
                                                   : mean / (double)n;
        divergence += share * log(share / mean);
        by = (float)(kappa * share / mean / (double)n);
        for (size_t i = 0; dp != NULL && i < n; i++) {
            dp[i * classes + y] -= by;
        }
    }
    return kappa * divergence;
}

/* ---- Confidence -----------------------------------------------------------
 */

/*
 *     eta mean_i H_i,   H_i = -sum_y p_i(y) ln p_i(y),   dH_i / dp_i(y) =
 *     -ln p_i(y) - 1, of which a softmax takes the 1 away again
 */
double
entropy_pass(size_t classes, double eta, const float *p, size_t n, float *dp)
{
    double scale = eta / (double)n, sum = 0;
    for (size_t i = 0; i < n * classes; i++) {
        double at =
            (double)p[i] <= OBJECTIVE_LEAST ? OBJECTIVE_LEAST : (double)p[i];
        double log_p = log(at);
        sum -= at * log_p;
        if (dp != NULL) {
            dp[i] -= (float)(scale * log_p);
        }
    }
    return scale * sum;
}
