/*
 * right_print.c: what answers to "is this model right about you?" come to.
 */
#include "verb/right_print.h"

#include <math.h>

#include "cli/cli.h"
#include "cli/json_print.h"

static const char *
people_word(const struct sotto_right *right)
{
    return right->reports == 1 ? "person" : "people";
}

void
right_print(FILE *to, const struct sotto_right *right,
            const struct right_print *more)
{
    (void)fprintf(to, "asked     %zu %s, one question each; %zu said yes\n",
                  right->reports, people_word(right), right->yes);
    (void)fprintf(to,
                  "right     about %.1f%% of people, %g%% interval %.1f to "
                  "%.1f (exact)\n",
                  100 * right->share, 100 * more->confidence, 100 * right->low,
                  100 * right->high);
    if (!isnan(more->clean)) {
        (void)fprintf(to, "clean     %.1f%% of the rows, looked at openly\n",
                      100 * more->clean);
    }
    (void)fprintf(to,
                  "spent     epsilon %s by each of them, in the campaign "
                  "\"%s\"%s\n",
                  more->eps, cli_shown(more->campaign),
                  right->simulated > 0 ? ": in a simulation, by nobody" : "");
    if (right->share < 0 || right->share > 1) {
        cli_note("the estimate lies beyond 0 and 100%%: the noise was that "
                 "large, as it may be; the interval does not");
    }
    if (right->high <= 0 || right->low >= 1) {
        cli_note("no share explains these answers at %g%%: either noise had an "
                 "odd day, or some did not come from devices",
                 100 * more->confidence);
    }
}

void
right_print_json(FILE *to, const struct sotto_right *right,
                 const struct right_print *more)
{
    json_size(to, "people", right->reports);
    json_size(to, "simulated", right->simulated);
    json_size(to, "yes", right->yes);
    json_number(to, "accuracy", right->share);
    json_number(to, "error", right->error);
    json_number(to, "low", right->low);
    json_number(to, "high", right->high);
    json_number(to, "confidence", more->confidence);
    json_decimal(to, "eps", more->eps);
    json_text(to, "campaign", more->campaign);
    if (!isnan(more->clean)) {
        json_number(to, "clean", more->clean);
    }
}
