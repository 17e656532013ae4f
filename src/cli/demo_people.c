/*
 * demo_people.c: what reports decode to: those of a few people one by one, and
 * the mean of those that name a class.
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

/* A decoded x, back in the column's units, as a share of white. */
static enum sotto_status
decode(const struct view *view, const uint8_t *report,
       float ret_image[DEMO_PIXELS], struct sotto_error *err)
{
    double z[DEMO_D];
    sotto_analyst_estimate(view->analyst, view->mechanism, report, z);
    enum sotto_status status =
        sotto_analyst_decode(view->analyst, z, 1, ret_image, err);
    double middle = (view->image.low + view->image.high) / 2;
    double half = (view->image.high - view->image.low) / 2;
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
    return decode(view, report, ret_report->image, err);
}

/* ---- Everybody ----------------------------------------------------------- */

static struct demo_mean *
find_mean(struct demo_mean *means, const char *label)
{
    for (size_t i = 0; i < DEMO_CLASSES; i++) {
        if (strcmp(means[i].label, label) == 0) {
            return &means[i];
        }
    }
    return NULL;
}

static enum sotto_status
add_means(const struct view *view, const struct sotto_report_reader *reader,
          struct demo_mean *means, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < DEMO_CLASSES; i++) {
        (void)snprintf(
            means[i].label, sizeof means[i].label, "%s",
            sotto_mechanism_category(view->mechanism, view->label, i));
    }
    size_t count = sotto_report_reader_count(reader);
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        const uint8_t *report = sotto_report_reader_at(reader, i);
        struct demo_mean *mean = find_mean(means, label_of(view, report));
        float image[DEMO_PIXELS];
        if (mean == NULL) { /* "(other)": no digit */
            continue;
        }
        status = decode(view, report, image, err);
        for (size_t j = 0; j < DEMO_PIXELS && status == SOTTO_STATUS_OK; j++) {
            mean->image[j] += image[j];
        }
        mean->reports++;
    }
    for (size_t i = 0; i < DEMO_CLASSES; i++) {
        for (size_t j = 0; j < DEMO_PIXELS && means[i].reports > 0; j++) {
            means[i].image[j] /= (float)means[i].reports;
        }
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
        status = add_means(&view, reader, demo->mean[budget], &err);
    }
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}
