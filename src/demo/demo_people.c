/*
 * demo_people.c: what reports say: those of a few people one by one, and those
 * of everybody as the label of each code.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"

/* ---- A few people -------------------------------------------------------- */

/* The label's symbol: the last, "other", for what is none of its categories. */
static size_t
symbol_of(const struct sotto_mechanism *mechanism, const char *label)
{
    struct sotto_mechanism_info info;
    struct sotto_column_info column;
    size_t symbol = 0;
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < info.columns; i++) {
        sotto_mechanism_column(mechanism, i, &column);
        if (strcmp(column.name, DEMO_LABEL) == 0) {
            while (symbol + 1 < column.count &&
                   strcmp(sotto_mechanism_category(mechanism, i, symbol),
                          label) != 0) {
                symbol++;
            }
        }
    }
    return symbol;
}

static bool
is_taken(const struct demo *demo, const char *label)
{
    for (size_t i = 0; i < demo->persons; i++) {
        if (strcmp(demo->person[i].label, label) == 0) {
            return true;
        }
    }
    return false;
}

/* The first people whose digits are all different: rows, and records. */
static void
choose_people(struct demo_story *story, const struct sotto_mechanism *mechanism,
              size_t ret_row[DEMO_PEOPLE])
{
    struct demo *demo = &story->demo;
    demo->persons = 0;
    for (size_t i = 0; i < demo->people && demo->persons < DEMO_PEOPLE; i++) {
        struct demo_person *person = &demo->person[demo->persons];
        struct sotto_value image = sotto_table_cell(story->people, i, 0);
        struct sotto_value label = sotto_table_cell(story->people, i, 1);
        const uint8_t *pixel = image.data;
        char text[sizeof person->label];
        (void)snprintf(text, sizeof text, "%.*s", (int)label.size,
                       (const char *)label.data);
        if (is_taken(demo, text)) {
            continue;
        }
        memcpy(person->label, text, sizeof text);
        person->symbol = symbol_of(mechanism, text);
        for (size_t j = 0; j < DEMO_PIXELS && j < image.size; j++) {
            person->image[j] = (float)pixel[j] / 255;
        }
        ret_row[demo->persons++] = i;
    }
}

/* A pair of code c and label y is the symbol c * DEMO_SYMBOLS + y. */
static void
read_report(const struct sotto_mechanism *mechanism, const uint8_t *report,
            int64_t *named, size_t count, struct demo_report *ret_report)
{
    sotto_report_values(mechanism, report, 0, 0, named);
    for (size_t i = 0; i < count; i++) {
        size_t code = (size_t)named[i] / DEMO_SYMBOLS;
        if (code < DEMO_CODES_MAX) {
            ret_report->names[code][(size_t)named[i] % DEMO_SYMBOLS] = true;
        }
    }
}

int
demo_people(struct demo_story *story, size_t budget,
            struct sotto_mechanism *mechanism)
{
    struct demo *demo = &story->demo;
    struct sotto_records *records = NULL;
    struct sotto_error err = {.status = SOTTO_STATUS_MEMORY};
    size_t row[DEMO_PEOPLE], size = demo->budget[budget].report_size;
    int64_t named[DEMO_CODES_MAX * DEMO_SYMBOLS];
    uint8_t *report = malloc(size);
    enum sotto_status status =
        report != NULL
            ? sotto_records_new(mechanism, story->people, &records, &err)
            : SOTTO_STATUS_MEMORY;
    if (status == SOTTO_STATUS_OK) {
        choose_people(story, mechanism, row);
        for (size_t i = 0; i < demo->persons && status == SOTTO_STATUS_OK;
             i++) {
            status = demo_simulate(story, mechanism, records, row[i], report,
                                   size, &err);
            if (status == SOTTO_STATUS_OK) {
                read_report(mechanism, report, named,
                            demo->budget[budget].named,
                            &demo->person[i].report[budget]);
            }
        }
        sotto_records_free(records);
    }
    free(report);
    return cli_exit(status, &err);
}

/* ---- Everybody ----------------------------------------------------------- */

/*
 * Of every code, over the auxiliary images m that have it, the mean image and
 *
 *     mean_m p(y | m)
 *
 * where p is the model's: what the reports together say its label is.
 */
struct sums {
    size_t code, count;
    double p[DEMO_CLASSES];
    double image[DEMO_PIXELS];
};

static void
add_sums(const struct demo_story *story, const int32_t *code, const double *p,
         struct sums *sums)
{
    for (size_t m = 0; m < story->demo.auxiliary; m++) {
        struct sums *own = &sums[code[m]];
        struct sotto_value image = sotto_table_cell(story->auxiliary, m, 0);
        const uint8_t *pixel = image.data;
        own->code = (size_t)code[m];
        own->count++;
        for (size_t y = 0; y < DEMO_CLASSES; y++) {
            own->p[y] += p[m * DEMO_CLASSES + y];
        }
        for (size_t i = 0; i < DEMO_PIXELS && i < image.size; i++) {
            own->image[i] += (double)pixel[i] / 255;
        }
    }
}

static int
more_first(const void *a, const void *b)
{
    const struct sums *first = a, *second = b;
    int order = (first->count < second->count) - (first->count > second->count);
    return order != 0
               ? order
               : (first->code > second->code) - (first->code < second->code);
}

static void
tell_cell(const struct sums *sums, size_t all, const struct sotto_model *model,
          struct demo_cell *ret_cell)
{
    double count = fmax((double)sums->count, 1);
    size_t best = 0;
    for (size_t y = 1; y < DEMO_CLASSES; y++) {
        best = sums->p[y] > sums->p[best] ? y : best;
    }
    (void)snprintf(ret_cell->label, sizeof ret_cell->label, "%s",
                   sotto_model_class(model, best));
    ret_cell->sure = sums->p[best] / count;
    ret_cell->share = (double)sums->count / (double)all;
    for (size_t i = 0; i < DEMO_PIXELS; i++) {
        ret_cell->image[i] = (float)(sums->image[i] / count);
    }
}

int
demo_cells(struct demo_story *story, size_t budget,
           const struct sotto_analyst *analyst, struct sotto_model *model)
{
    struct demo *demo = &story->demo;
    size_t k = demo->budget[budget].k, all = demo->auxiliary;
    struct sums *sums = calloc(k, sizeof *sums);
    double *p = calloc(all * DEMO_CLASSES, sizeof *p);
    struct sotto_error err = {.status = SOTTO_STATUS_MEMORY};
    int status = CLI_EXIT_DONE;
    if (sums == NULL || p == NULL ||
        sotto_model_predict(model, story->auxiliary, p, &err) !=
            SOTTO_STATUS_OK) {
        status = cli_fail(&err);
        goto done;
    }
    add_sums(story, sotto_analyst_prior(analyst), p, sums);
    qsort(sums, k, sizeof *sums, more_first);
    for (size_t i = 0; i < k && i < DEMO_CELLS; i++) {
        tell_cell(&sums[i], all, model, &demo->cell[budget][i]);
    }
done:
    free(p);
    free(sums);
    return status;
}
