/*
 * predict_number.c: what sotto predict says by a model that tells a number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "verb/number_verbs.h"

#define LOW 0.05
#define HIGH 0.95

int
predict_number_shares(const struct cli_args *args,
                      const struct sotto_model *model,
                      struct predict_shares *ret_shares)
{
    const char *at = cli_value(args, "quantiles");
    struct predict_shares shares = {.share = {LOW, HIGH}, .count = 2};
    struct sotto_number number;
    if (at != NULL && !sotto_model_number(model, &number)) {
        return cli_bad("--quantiles are of a number, and '%.240s' tells "
                       "classes apart",
                       args->word[0]);
    }
    for (shares.count = at == NULL ? 2 : 0; at != NULL;) {
        char *end = NULL;
        double share = strtod(at, &end);
        if (end == at || (*end != '\0' && *end != ',') || !(share > 0) ||
            !(share < 1) || shares.count == PREDICT_QUANTILES_MOST) {
            return cli_bad("--quantiles takes at most %u shares between 0 and "
                           "1, as in 0.05,0.5,0.95",
                           PREDICT_QUANTILES_MOST);
        }
        shares.share[shares.count++] = share;
        at = *end == ',' ? end + 1 : NULL;
    }
    *ret_shares = shares;
    return CLI_EXIT_DONE;
}

/* What the model says of a row. */
static const double *
row_p(const struct predict_rows *rows, const struct sotto_number *number,
      size_t i)
{
    return rows->p + i * number->classes;
}

void
predict_number_csv(const struct predict_rows *rows,
                   const struct predict_shares *shares, FILE *to)
{
    struct sotto_number number;
    (void)sotto_model_number(rows->model, &number);
    (void)fputs("row,mean", to);
    for (size_t j = 0; j < shares->count; j++) {
        (void)fprintf(to, ",q%g", shares->share[j]);
    }
    (void)fputc('\n', to);
    for (size_t i = 0; i < rows->rows; i++) {
        const double *p = row_p(rows, &number, i);
        (void)fprintf(to, "%zu,%.8g", i + 1, sotto_number_mean(&number, p));
        for (size_t j = 0; j < shares->count; j++) {
            (void)fprintf(to, ",%.8g",
                          sotto_number_quantile(&number, p, shares->share[j]));
        }
        (void)fputc('\n', to);
    }
}

void
predict_number_json(const struct predict_rows *rows,
                    const struct predict_shares *shares, FILE *to)
{
    struct sotto_number number;
    (void)sotto_model_number(rows->model, &number);
    for (size_t i = 0; i < rows->rows; i++) {
        const double *p = row_p(rows, &number, i);
        json_begin(to);
        json_size(to, "row", i + 1);
        json_number(to, "mean", sotto_number_mean(&number, p));
        for (size_t j = 0; j < shares->count; j++) {
            char name[32];
            (void)snprintf(name, sizeof name, "q%g", shares->share[j]);
            json_number(to, name,
                        sotto_number_quantile(&number, p, shares->share[j]));
        }
        json_end(to);
    }
}

void
predict_number_tell(const struct predict_rows *rows, FILE *to)
{
    struct sotto_number number;
    double least = INFINITY, most = -INFINITY, mean = 0;
    (void)sotto_model_number(rows->model, &number);
    for (size_t i = 0; i < rows->rows; i++) {
        double at = sotto_number_mean(&number, row_p(rows, &number, i));
        least = at < least ? at : least;
        most = at > most ? at : most;
        mean += at / (double)rows->rows;
    }
    (void)fprintf(to, "%zu %s", rows->rows,
                  rows->reports ? "reports" : "records");
    if (rows->rows > 0) {
        (void)fputs(": ", to);
        cli_put(to, number.name, strlen(number.name));
        (void)fprintf(to, " is foretold as %.6g to %.6g, %.6g in the mean",
                      least, most, mean);
    }
    (void)fputc('\n', to);
}
