/*
 * decode_shapes.c: decode --quantiles and --histogram.
 */
#include "verb/decode_shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "host/confidence.h"
#include "verb/decode_rows.h"

#define BINS_MOST 100
#define WHAT_WIDTH 24
#define SHARE_LEAST 1e-9 /* that is shown */

/* ---- Usage -------------------------------------------------------------- */

static bool
read_levels(const char *text, struct decode_shapes *shapes)
{
    while (shapes->levels < DECODE_LEVELS_MAX) {
        char *end;
        double level = strtod(text, &end);
        if (end == text || !(level > 0 && level < 1)) {
            break;
        }
        shapes->level[shapes->levels++] = level;
        if (*end == '\0') {
            return true;
        }
        if (*end != ',') {
            break;
        }
        text = end + 1;
    }
    (void)cli_bad("--quantiles takes 1 to %u numbers between 0 and 1, such as "
                  "0.1,0.5,0.9",
                  DECODE_LEVELS_MAX);
    return false;
}

bool
decode_shapes_read(const struct cli_args *args,
                   struct decode_shapes *ret_shapes)
{
    const char *levels = cli_value(args, "quantiles");
    double bins = 0;
    *ret_shapes = (struct decode_shapes){.json = cli_given(args, "json")};
    if (cli_given(args, "histogram") &&
        (!cli_number(args, "histogram", 2, BINS_MOST, &bins) ||
         bins != floor(bins))) {
        if (bins != floor(bins)) {
            (void)cli_bad("--histogram takes a whole number of bins");
        }
        return false;
    }
    ret_shapes->bins = (size_t)bins;
    return levels == NULL || read_levels(levels, ret_shapes);
}

bool
decode_shapes_wanted(const struct decode_shapes *shapes)
{
    return shapes->levels > 0 || shapes->bins > 0;
}

/* ---- Printing ----------------------------------------------------------- */

/* Of one column. */
struct view {
    const struct decode_shapes *shapes;
    const char *name;
    bool missing; /* it tells who has no value */
    size_t reports;
    double confidence;
    FILE *to;
};

static void
put_json(const struct view *view, const char *kind, double level,
         const struct sotto_distribution_row *row,
         const struct sotto_reach reach[DECODE_LIARS])
{
    json_begin(view->to);
    json_text(view->to, "name", view->name);
    json_text(view->to, "kind", kind);
    if (isnan(level)) {
        json_number(view->to, "from", row->from);
        json_number(view->to, "to", row->to);
    } else {
        json_number(view->to, "level", level);
    }
    json_number(view->to, "value", row->value);
    json_number(view->to, "low", row->low);
    json_number(view->to, "high", row->high);
    json_number(view->to, "confidence", view->confidence);
    decode_liars_json(reach, view->to);
    json_text(view->to, "of", view->missing ? "known" : "all");
    json_text(view->to, "missing", view->missing ? "told" : "middle");
    json_size(view->to, "reports", view->reports);
    json_end(view->to);
}

static void
put_text(const struct view *view, const char *what,
         const struct sotto_distribution_row *row,
         const struct sotto_reach reach[DECODE_LIARS])
{
    (void)fprintf(view->to, "  %-*s  %12.6g  %12.6g  %12.6g", WHAT_WIDTH, what,
                  row->value, row->low, row->high);
    decode_liars_text(reach, view->to);
    (void)fputc('\n', view->to);
}

static void
put_quantile(const struct view *view, double level,
             const struct sotto_distribution_row *row,
             const struct sotto_reach reach[DECODE_LIARS])
{
    char what[64];
    if (view->shapes->json) {
        put_json(view, "quantile", level, row, reach);
        return;
    }
    (void)snprintf(what, sizeof what, "quantile %g", level);
    put_text(view, what, row, reach);
}

/* A share that is too small to be anybody's is 0: what is left of it is how far
   the maximum was climbed. */
static double
show_share(double share)
{
    return fabs(share) < SHARE_LEAST ? 0 : share;
}

static void
put_bin(const struct view *view, const struct sotto_distribution_row *row,
        const struct sotto_reach reach[DECODE_LIARS])
{
    char what[64];
    if (view->shapes->json) {
        put_json(view, "share", NAN, row, reach);
        return;
    }
    const struct sotto_distribution_row shown = {.value =
                                                     show_share(row->value),
                                                 .low = show_share(row->low),
                                                 .high = show_share(row->high)};
    (void)snprintf(what, sizeof what, "share %.6g to %.6g", row->from, row->to);
    put_text(view, what, &shown, reach);
}

static void
put_title(const struct view *view)
{
    (void)fputc('\n', view->to);
    cli_put(view->to, view->name, strlen(view->name));
    (void)fprintf(view->to, ", %s:\n",
                  view->missing
                      ? "of those who have a value"
                      : "of all people, the middle for a missing value");
    (void)fprintf(view->to, "  %-*s  %12s  %12s  %12s%s\n", WHAT_WIDTH, "",
                  "estimate", "low", "high", DECODE_LIARS_TITLE);
}

static void
put_column(const struct view *view, struct sotto_distribution *distribution)
{
    double z = confidence_z(view->confidence);
    const struct decode_shapes *shapes = view->shapes;
    struct sotto_distribution_row row;
    struct sotto_reach reach[DECODE_LIARS];
    if (!shapes->json) {
        put_title(view);
    }
    for (size_t i = 0; i < shapes->levels; i++) {
        sotto_distribution_quantile(distribution, shapes->level[i], z, &row);
        for (size_t j = 0; j < DECODE_LIARS; j++) {
            sotto_distribution_quantile_reach(distribution, shapes->level[i],
                                              decode_liars[j], &reach[j]);
        }
        put_quantile(view, shapes->level[i], &row, reach);
    }
    for (size_t i = 0; i < shapes->bins; i++) {
        sotto_distribution_bin(distribution, i, z, &row);
        for (size_t j = 0; j < DECODE_LIARS; j++) {
            sotto_distribution_bin_reach(distribution, i, decode_liars[j],
                                         &reach[j]);
        }
        put_bin(view, &row, reach);
    }
}

/* ---- All of it ---------------------------------------------------------- */

static int
start_column(struct decode_shapes *shapes,
             const struct sotto_mechanism *mechanism, size_t column)
{
    size_t bins = shapes->bins > 0 ? shapes->bins : 1;
    struct sotto_error err = {0};
    enum sotto_status status = sotto_distribution_new(
        mechanism, column, bins, &shapes->distribution[shapes->columns], &err);
    if (status == SOTTO_STATUS_INPUT) {
        cli_note("%s", err.message);
        return CLI_EXIT_DONE;
    }
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    shapes->column[shapes->columns++] = column;
    return CLI_EXIT_DONE;
}

int
decode_shapes_start(struct decode_shapes *shapes,
                    const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    int status = CLI_EXIT_DONE;
    sotto_mechanism_info(mechanism, &info);
    shapes->column = calloc(info.columns + 1, sizeof *shapes->column);
    shapes->distribution =
        calloc(info.columns + 1, sizeof(struct sotto_distribution *));
    if (shapes->column == NULL || shapes->distribution == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < info.columns && status == CLI_EXIT_DONE; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(mechanism, i, &column);
        if (column.kind == SOTTO_COLUMN_NUMBER) {
            status = start_column(shapes, mechanism, i);
        }
    }
    if (status == CLI_EXIT_DONE && shapes->columns == 0) {
        return cli_bad("no column of this mechanism has a distribution to "
                       "tell: see sotto decode --help");
    }
    return status;
}

void
decode_shapes_add(struct decode_shapes *shapes,
                  const struct sotto_report_block *block, size_t report_size)
{
    for (size_t i = 0; i < shapes->columns; i++) {
        for (size_t j = 0; j < block->count; j++) {
            sotto_distribution_add(shapes->distribution[i],
                                   block->reports + j * report_size);
        }
    }
}

void
decode_shapes_put(const struct decode_shapes *shapes,
                  const struct sotto_mechanism *mechanism, uint64_t reports,
                  double confidence, FILE *to)
{
    if (!shapes->json) {
        (void)fprintf(to,
                      "\nBy maximum likelihood, not unbiased; %g%% intervals "
                      "hold at least that often.\n",
                      100 * confidence);
    }
    for (size_t i = 0; i < shapes->columns; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(mechanism, shapes->column[i], &column);
        const struct view view = {.shapes = shapes,
                                  .name = column.name,
                                  .missing = column.missing,
                                  .reports = (size_t)reports,
                                  .confidence = confidence,
                                  .to = to};
        put_column(&view, shapes->distribution[i]);
    }
}

void
decode_shapes_clear(struct decode_shapes *shapes)
{
    for (size_t i = 0; i < shapes->columns; i++) {
        sotto_distribution_free(shapes->distribution[i]);
    }
    free(shapes->distribution);
    free(shapes->column);
}
