/*
 * points.c: which points are in a domain, and how far apart two are.
 */
#include "privacy/points.h"

#include <math.h>

double
points_distance(const struct channel_instance *instance, const int32_t *q,
                const int32_t *p)
{
    double sum = 0;
    if (instance->l == 0) {
        return p == NULL || q[0] != p[0];
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        double a = fabs((double)q[i] - (p != NULL ? p[i] : 0));
        switch (instance->channel->domain) {
        case CHANNEL_DOMAIN_BALL:
            sum += a * a;
            break;
        case CHANNEL_DOMAIN_CUBE:
            sum = fmax(sum, a);
            break;
        default:
            sum += a;
            break;
        }
    }
    return instance->channel->domain == CHANNEL_DOMAIN_BALL ? sqrt(sum) : sum;
}

bool
points_inside(const struct channel_instance *instance, const int32_t *q)
{
    if (instance->l == 0) {
        return q[0] >= 0 && (uint32_t)q[0] < instance->size;
    }
    return points_distance(instance, q, NULL) <= instance->l;
}
