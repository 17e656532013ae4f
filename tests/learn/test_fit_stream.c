/*
 * test_fit_stream.c: learning from a stream: what is wrong is told before it is
 * read, the order of reports does not matter, and neither does whether they are
 * kept whole, each once with a weight, or only counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "learn/learner.h"
#include "mechanism/compose.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "scratch.h"

#define CODES 5u
#define CLASSES 2u
#define AUX 400u

static struct sotto_error err;
static struct sotto_mechanism *mechanism;
static struct sotto_table *aux;
static uint8_t *reports;
static size_t each, people;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* The largest of five numbers is the code, and its label is code % 2. */
static void
open_mechanism(const char *channel, uint64_t eps)
{
    static const char *const names[CODES] = {"a", "b", "c", "d", "e"};
    static const char *const labels[CLASSES] = {"no", "yes"};
    struct schema_column column[CODES + 1] = {{0}};
    float weight[CODES * CODES] = {0}, bias[CODES] = {0};
    for (size_t i = 0; i < CODES; i++) {
        column[i] = (struct schema_column){.name = names[i],
                                           .kind = SOTTO_COLUMN_NUMBER,
                                           .count = 1,
                                           .scale = 1};
        weight[i * CODES + i] = 1;
    }
    column[CODES] = (struct schema_column){.name = "label",
                                           .kind = SOTTO_COLUMN_CATEGORY,
                                           .count = CLASSES + 1,
                                           .values = labels};
    const struct layer layer = {.in = CODES,
                                .out = CODES,
                                .activation = ACTIVATION_NONE,
                                .weight = weight,
                                .bias = bias};
    const struct compose_part part = {
        .covers = "both",
        .channel = channel,
        .eps = eps,
        .blocks = 1,
        .factor = {{.at = 0, .k = CODES}, {.is_column = true, .at = CODES}},
        .factors = 2};
    const struct compose_spec spec = {.name = "codes",
                                      .campaign = "codes",
                                      .auxiliary = "not used",
                                      .eps = eps,
                                      .column = column,
                                      .columns = CODES + 1,
                                      .layer = &layer,
                                      .layers = 1,
                                      .part = &part,
                                      .parts = 1};
    must(compose_open(&spec, &mechanism, &err));
    each = mechanism->shape.report_size;
}

static void
draw_reports(size_t n)
{
    const struct channel_instance *channel = mechanism->likelihood[0].instance;
    struct seeded seeded;
    seeded_init(&seeded, 3, 0);
    people = n;
    reports = calloc(n, each);
    for (size_t i = 0; i < n; i++) {
        uint8_t *report = reports + i * each;
        uint32_t code = draw_below(&seeded.random, CODES);
        int32_t q = (int32_t)(code * (CLASSES + 1) + code % CLASSES);
        memcpy(report, REPORT_MAGIC_SIMULATED, REPORT_MAGIC_SIZE);
        memcpy(report + REPORT_MAGIC_SIZE, mechanism->shape.hash,
               SOTTO_HASH_SIZE);
        for (size_t j = 0; j < SOTTO_ID_SIZE; j++) {
            report[REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE + j] =
                (uint8_t)random_u32(&seeded.random);
        }
        channel->channel->sample(channel, &q, &seeded.random,
                                 report + REPORT_HEADER_SIZE);
    }
}

static void
make_aux(void)
{
    static const char *const names[CODES] = {"a", "b", "c", "d", "e"};
    double number[AUX];
    struct seeded seeded;
    seeded_init(&seeded, 4, 0);
    must(sotto_table_new(AUX, &aux, &err));
    for (size_t i = 0; i < CODES; i++) {
        for (size_t n = 0; n < AUX; n++) {
            number[n] = (n % CODES == i ? 0.7 : 0) +
                        draw_below(&seeded.random, 1001) / 5e3;
        }
        must(sotto_table_add_numbers(aux, names[i], number, &err));
    }
}

static void
set_up(const char *channel, uint64_t eps, size_t n)
{
    assert_int_equal(scratch_make(), 0);
    open_mechanism(channel, eps);
    draw_reports(n);
    make_aux();
}

static void
clear(void)
{
    free(reports);
    sotto_table_free(aux);
    sotto_mechanism_free(mechanism);
    aux = NULL;
    assert_int_equal(scratch_remove(), 0);
}

/* A file of the reports, backwards if asked for. */
static const char *
write_reports(bool backwards)
{
    const char *path = in_folder(backwards ? "backwards" : "forwards");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < people; i++) {
        size_t at = backwards ? people - 1 - i : i;
        assert_int_equal(fwrite(reports + at * each, each, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static enum sotto_status
fit(const char *path, const struct sotto_table *table, size_t most,
    struct sotto_model **ret_model, struct sotto_fit_info *ret_info)
{
    const struct sotto_fit_options from = {.threads = 1};
    struct sotto_report_stream *stream = NULL;
    struct learn_options options;
    struct learn_job job = {.table = table, .options = &options};
    enum sotto_status status;
    must(learn_options_read(learner_find(NULL, mechanism), &from, &options,
                            &err));
    must(sotto_report_stream_new(mechanism, &path, 1, &stream, &err));
    status = learn_fit_stream(mechanism, stream, &job, most, ret_model,
                              ret_info, &err);
    sotto_report_stream_free(stream);
    return status;
}

static double
share_right(struct sotto_model *model)
{
    double p[AUX * CLASSES];
    size_t right = 0;
    assert_int_equal(sotto_model_classes(model), CLASSES);
    must(sotto_model_predict(model, aux, p, &err));
    for (size_t n = 0; n < AUX; n++) {
        size_t y = p[2 * n + 1] > p[2 * n] ? 1 : 0;
        right += y == n % CODES % 2 ? 1 : 0;
    }
    return (double)right / AUX;
}

static void
check_fit(size_t most)
{
    struct sotto_model *model = NULL;
    struct sotto_fit_info info;
    must(fit(write_reports(false), aux, most, &model, &info));
    assert_int_equal(info.reports, people);
    assert_true(share_right(model) > 0.95);
    sotto_model_free(model);
}

/* Nothing is read: there is nothing to be read. */
static void
test_prior_first(void **state)
{
    struct sotto_model *model = NULL;
    struct sotto_fit_info info;
    (void)state;
    set_up("subset", DECIMAL_UNIT, 10);
    assert_int_equal(fit(in_folder("none"), NULL, 100, &model, &info),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "auxiliary records"));
    assert_int_equal(fit(in_folder("none"), aux, 100, &model, &info),
                     SOTTO_STATUS_IO);
    assert_null(model);
    clear();
}

static void
read_file(const char *path, char *text, size_t size, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *ret_size = fread(text, 1, size, file);
    assert_true(*ret_size < size);
    assert_int_equal(fclose(file), 0);
}

/* The same reports, the same bytes: kept whole, or counted. */
static void
test_order(void **state)
{
    static char text[2][1 << 20];
    (void)state;
    for (size_t most = 1; most < 1000000; most *= 1000) {
        size_t size[2];
        set_up("subset", 2 * DECIMAL_UNIT, 4000);
        for (size_t i = 0; i < 2; i++) {
            struct sotto_model *model = NULL;
            struct sotto_fit_info info;
            must(fit(write_reports(i > 0), aux, most, &model, &info));
            must(sotto_model_write(model, in_folder("m"), &err));
            read_file(in_folder("m"), text[i], sizeof text[i], &size[i]);
            sotto_model_free(model);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(text[0], text[1], size[0]);
        clear();
    }
}

static void
test_counted(void **state)
{
    (void)state;
    set_up("subset", DECIMAL_UNIT, 30000);
    check_fit(LEARN_PAYLOADS_MOST);
    check_fit(1);
    clear();
}

/* 15 symbols: as many rows. */
static void
test_weighed(void **state)
{
    (void)state;
    set_up("flip", DECIMAL_UNIT, 300000);
    check_fit(LEARN_PAYLOADS_MOST);
    clear();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prior_first), cmocka_unit_test(test_order),
        cmocka_unit_test(test_counted), cmocka_unit_test(test_weighed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
