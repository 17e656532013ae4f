/*
 * outlook_interval.c: where a campaign to come will lie, from simulated ones.
 *
 * With a the mean of m simulated accuracies, s^2 their variance, n the records
 * that each was tested on and N the labelled records that all of them share,
 * the accuracy to come has the variance
 *
 *     V = c + a (1 - a) (1/n + 1/N) + max(s^2, a (1 - a)/n)/m
 *     c = max(0, s^2 - a (1 - a)/n)
 *
 * c is what campaigns differ by beyond their test records. The test records'
 * own part is in closed form: splits by class hide some of it. Campaigns are
 * not normal: a fit finds the largest class, or something better, or takes two
 * classes for each other. So the accuracy to come is taken for a mixture of m
 * normals about a + (a_i - a) sqrt(c)/s, of variance V - c each, and the
 * interval is the shortest one that holds the confidence of it. For what s
 * itself is not known the confidence is raised as Student's t raises a normal
 * one, with (m - 1) (V/s^2)^2 degrees of freedom (Satterthwaite 1946).
 */
#include <math.h>

#include "host/confidence.h"
#include "likelihood/interval.h"
#include "sotto/planning.h"

#define STEPS 1000u /* from 0 to 1, of the ends */

struct mixture {
    const double *accuracy;
    size_t count;
    double mean, shrink; /* sqrt(c)/s */
    double deviation;    /* of each normal */
    double confidence;
};

static double
variance_of(const struct sotto_outlook_draws *draws, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < draws->count; i++) {
        squares += (draws->accuracy[i] - mean) * (draws->accuracy[i] - mean);
    }
    return squares / (double)(draws->count - 1);
}

static void
mixture_init(struct mixture *mixture, const struct sotto_outlook_draws *draws,
             double confidence)
{
    double m = (double)draws->count, n = (double)draws->tested, mean = 0;
    for (size_t i = 0; i < draws->count; i++) {
        mean += draws->accuracy[i] / m;
    }
    /* Of n records right about all, or none, the next may be otherwise. */
    double each = fmax(mean * (1 - mean), 0.25 / n);
    double spread = variance_of(draws, mean);
    double beyond = fmax(0, spread - each / n);
    double own =
        each / n + each / (double)draws->labelled + fmax(spread, each / n) / m;
    double ratio = (beyond + own) / fmax(spread, each / n);
    double t =
        interval_student(confidence_z(confidence), (m - 1) * ratio * ratio);
    *mixture =
        (struct mixture){.accuracy = draws->accuracy,
                         .count = draws->count,
                         .mean = mean,
                         .shrink = spread > 0 ? sqrt(beyond / spread) : 0,
                         .deviation = sqrt(own),
                         .confidence = 1 - erfc(t / sqrt(2.0))};
}

/* The probability below x; all of it lies from 0 to 1. */
static double
mixture_below(const struct mixture *mixture, double x)
{
    double sum = 0;
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    for (size_t i = 0; i < mixture->count; i++) {
        double at = mixture->mean +
                    mixture->shrink * (mixture->accuracy[i] - mixture->mean);
        sum += erfc((at - x) / (mixture->deviation * sqrt(2.0))) / 2;
    }
    return sum / (double)mixture->count;
}

/* Of the shortest intervals, to a step, the one that holds most. */
void
sotto_outlook_interval(const struct sotto_outlook_draws *draws,
                       double confidence, double *ret_low, double *ret_high)
{
    struct mixture mixture;
    double below[STEPS + 1], most = 0;
    size_t low = 0, high = STEPS;
    mixture_init(&mixture, draws, confidence);
    for (size_t i = 0; i <= STEPS; i++) {
        below[i] = mixture_below(&mixture, (double)i / STEPS);
    }
    for (size_t i = 0, j = 0; i <= STEPS; i++) {
        while (j < STEPS && below[j] - below[i] < mixture.confidence) {
            j++;
        }
        double held = below[j] - below[i];
        if (held >= mixture.confidence &&
            (j - i < high - low || (j - i == high - low && held > most))) {
            low = i;
            high = j;
            most = held;
        }
    }
    *ret_low = (double)low / STEPS;
    *ret_high = (double)high / STEPS;
}
