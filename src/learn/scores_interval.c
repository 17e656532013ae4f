/*
 * scores_interval.c: intervals of shares, of means and of paired differences.
 */
#include <math.h>

#include "learn/scores_parts.h"

struct sotto_score
scores_wilson(size_t k, size_t n, double z)
{
    double count = (double)n, share = (double)k / count;
    double middle = share + z * z / (2 * count);
    double half =
        z * sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    double all = 1 + z * z / count;
    if (n == 0) {
        return (struct sotto_score){NAN, NAN, NAN};
    }
    return (struct sotto_score){share, fmax(0, (middle - half) / all),
                                fmin(1, (middle + half) / all)};
}

struct sotto_score
scores_mean(double sum, double squares, size_t n, double z)
{
    double count = (double)n, mean = sum / count;
    double variance = fmax(0, squares / count - mean * mean);
    double half = n > 1 ? z * sqrt(variance / (count - 1)) : INFINITY;
    return (struct sotto_score){mean, mean - half, mean + half};
}

/*
 * Each cell of the discordant pairs gets one more row. The value is the plain
 * difference, which lies between the ends: the interval's middle is it, drawn
 * to 0 by n / (n + 2).
 */
struct sotto_score
scores_paired(size_t more, size_t fewer, size_t n, double z)
{
    double value = ((double)more - (double)fewer) / (double)n;
    double count = (double)n + 2;
    double up = ((double)more + 1) / count, down = ((double)fewer + 1) / count;
    double middle = up - down;
    double half = z * sqrt((up + down - middle * middle) / count);
    return (struct sotto_score){value, fmax(-1, middle - half),
                                fmin(1, middle + half)};
}

double
scores_mcnemar(size_t more, size_t fewer)
{
    size_t m = more + fewer, k = more > fewer ? more : fewer;
    double log_all = lgamma((double)m + 1) - (double)m * log(2), tail = 0;
    for (size_t i = k; i <= m; i++) {
        tail +=
            exp(log_all - lgamma((double)i + 1) - lgamma((double)(m - i) + 1));
    }
    return fmin(1, 2 * tail);
}
