/*
 * demo_people.c: what reports decode to: those of a few people one by one, and
 * those of everybody as the mean of each class.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo.h"

/* Where the parts and columns are; the demo's mechanisms are all alike: an
   image and a label, each a part. */
struct view {
    const struct sotto_analyst *analyst;
    const struct sotto_mechanism *mechanism;
    size_t part, label_part; /* of the numbers, and of the label */
    size_t label;            /* column */
    struct sotto_column_info image;
};

static struct view
view_of(const struct demo_story *story, const struct sotto_mechanism *mechanism)
{
    struct view view = {.analyst = story->analyst, .mechanism = mechanism};
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        *(part.l == 0 ? &view.label_part : &view.part) = i;
    }
    view.label = sotto_mechanism_part_column(mechanism, view.label_part, 0);
    sotto_mechanism_column(mechanism, view.label == 0 ? 1 : 0, &view.image);
    return view;
}

/* What a representation decodes to, as shares of white. */
static enum sotto_status
decode(const struct view *view, const double z[DEMO_D],
       float ret_image[DEMO_PIXELS], struct sotto_error *err)
{
    double middle = (view->image.low + view->image.high) / 2;
    double half = (view->image.high - view->image.low) / 2;
    enum sotto_status status =
        sotto_analyst_decode(view->analyst, z, 1, ret_image, err);
    for (size_t i = 0; i < DEMO_PIXELS && status == SOTTO_STATUS_OK; i++) {
        double white = (middle + half * (double)ret_image[i]) / 255;
        ret_image[i] = (float)fmin(fmax(white, 0), 1);
    }
    return status;
}

static const char *
label_of(const struct view *view, const uint8_t *report)
{
    int64_t symbol = 0;
    sotto_report_values(view->mechanism, report, view->label_part, 0, &symbol);
    return sotto_mechanism_category(view->mechanism, view->label,
                                    (size_t)symbol);
}

/* ---- A few people -------------------------------------------------------- */

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
choose_people(struct demo_story *story, size_t ret_row[DEMO_PEOPLE])
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
        for (size_t j = 0; j < DEMO_PIXELS && j < image.size; j++) {
            person->image[j] = (float)pixel[j] / 255;
        }
        ret_row[demo->persons++] = i;
    }
}

static enum sotto_status
read_person(const struct view *view, const uint8_t *report,
            struct demo_report *ret_report, struct sotto_error *err)
{
    sotto_report_values(view->mechanism, report, view->part, 0,
                        ret_report->value);
    (void)snprintf(ret_report->label, sizeof ret_report->label, "%s",
                   label_of(view, report));
    double z[DEMO_D];
    sotto_analyst_estimate(view->analyst, view->mechanism, report, z);
    return decode(view, z, ret_report->image, err);
}

/* ---- Everybody ----------------------------------------------------------- */

/*
 * The mean representation of each class. With p the probability that a label
 * is left as it is, q that it becomes a given other one, n_c of N reports that
 * name c, S_c the sum of their estimates and T that of all,
 *
 *     E n_c = (p - q) N_c + q N      E S_c = (p - q) N_c mu_c + q T
 *
 * so that mu_c = (S_c - q T) / (n_c - q N): wrong labels cancel out.
 */
struct sums {
    double count[DEMO_CLASSES], sum[DEMO_CLASSES][DEMO_D];
    double all, total[DEMO_D];
};

static void
add_sums(const struct view *view, const struct sotto_report_reader *reader,
         struct sums *sums)
{
    size_t count = sotto_report_reader_count(reader);
    for (size_t n = 0; n < count; n++) {
        const uint8_t *report = sotto_report_reader_at(reader, n);
        int64_t symbol = 0;
        double z[DEMO_D];
        sotto_analyst_estimate(view->analyst, view->mechanism, report, z);
        sotto_report_values(view->mechanism, report, view->label_part, 0,
                            &symbol);
        bool digit = symbol >= 0 && symbol < (int64_t)DEMO_CLASSES;
        sums->all += 1;
        if (digit) {
            sums->count[symbol] += 1;
        }
        for (size_t i = 0; i < DEMO_D; i++) {
            sums->total[i] += z[i];
            if (digit) {
                sums->sum[symbol][i] += z[i];
            }
        }
    }
}

/* A mean of points of the ball is in it: what noise put outside is drawn back
   to its surface. */
static void
clip(double z[DEMO_D])
{
    double length = 0;
    for (size_t i = 0; i < DEMO_D; i++) {
        length += fabs(z[i]);
    }
    for (size_t i = 0; i < DEMO_D && length > 1; i++) {
        z[i] /= length;
    }
}

static enum sotto_status
find_means(const struct view *view, const struct sums *sums,
           const struct demo_budget *budget, struct demo_mean *means,
           struct sotto_error *err)
{
    double p = demo_keep(budget);
    double q = (1 - p) / ((double)budget->classes - 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t c = 0; c < DEMO_CLASSES && status == SOTTO_STATUS_OK; c++) {
        double z[DEMO_D];
        double people = fmax(sums->count[c] - q * sums->all, 1);
        for (size_t i = 0; i < DEMO_D; i++) {
            z[i] = (sums->sum[c][i] - q * sums->total[i]) / people;
        }
        clip(z);
        (void)snprintf(
            means[c].label, sizeof means[c].label, "%s",
            sotto_mechanism_category(view->mechanism, view->label, c));
        means[c].reports = (size_t)sums->count[c];
        status = decode(view, z, means[c].image, err);
    }
    return status;
}

int
demo_people(struct demo_story *story, size_t budget,
            const struct sotto_mechanism *mechanism,
            const struct sotto_report_reader *reader)
{
    struct demo *demo = &story->demo;
    struct view view = view_of(story, mechanism);
    struct sotto_error err = {0};
    size_t row[DEMO_PEOPLE];
    enum sotto_status status = SOTTO_STATUS_OK;
    choose_people(story, row);
    for (size_t i = 0; i < demo->persons && status == SOTTO_STATUS_OK; i++) {
        status = read_person(&view, sotto_report_reader_at(reader, row[i]),
                             &demo->person[i].report[budget], &err);
    }
    if (status == SOTTO_STATUS_OK) {
        struct sums sums = {0};
        add_sums(&view, reader, &sums);
        status = find_means(&view, &sums, &demo->budget[budget],
                            demo->mean[budget], &err);
    }
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}
