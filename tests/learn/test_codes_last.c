/*
 * test_codes_last.c: the last fit: the network on the record that it makes, and
 * what files, devices and other cuts make of that.
 *
 * Records are points (a, b) of a square, and the label says whether b > |a|. An
 * encoder of one layer has them from 4 units, and the code is the largest of a,
 * -a and b.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/file.h"
#include "host/safetensors.h"
#include "learn/codes/codes_last.h"
#include "mechanism/crew.h"

#define AUX 300u
#define CELLS 3u
#define CLASSES 2u

static const struct schema_column column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
};
static const float first_weight[] = {1, 0, -1, 0, 0, 1, 0, -1};
static const float code_weight[] = {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, -1};
static const float no_bias[4] = {0};
static const struct compose_part pairs = {
    .covers = "both",
    .channel = "subset",
    .eps = 4 * DECIMAL_UNIT,
    .blocks = 1,
    .factor = {{false, 0, 3}, {true, 2, 0}},
    .factors = 2};

static struct sotto_mechanism *mechanism;
static struct sotto_table *aux, *people, *few;
static struct sotto_report_reader *reader;

static struct sotto_mechanism *
open_layers(void)
{
    const struct layer layer[] = {
        {.in = 2,
         .out = 4,
         .weight = first_weight,
         .bias = no_bias,
         .activation = ACTIVATION_RELU},
        {.in = 4, .out = CELLS, .weight = code_weight, .bias = no_bias}};
    const struct compose_spec spec = {.name = "codebook",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 4 * DECIMAL_UNIT,
                                      .column = column,
                                      .columns = 3,
                                      .layer = layer,
                                      .layers = 2,
                                      .part = &pairs,
                                      .parts = 1};
    return open_spec(&spec);
}

static struct sotto_table *
make_table(size_t n, uint64_t seed)
{
    char *text = malloc(64 + 48 * n), *at = text;
    struct sotto_table *table;
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,b,label\n");
    for (size_t i = 0; i < n; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        at += sprintf(at, "%.4f,%.4f,%s\n", a, b, b > fabs(a) ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

static struct learn_options
options_of(uint32_t last)
{
    return (struct learn_options){
        .decay = -1, .marginal = -1, .entropy = -1, .last = last, .threads = 1};
}

static struct sotto_model *
fit_last(uint32_t last, unsigned threads, struct sotto_fit_info *info)
{
    struct learn_options options = options_of(last);
    struct sotto_model *model = NULL;
    options.threads = threads;
    must(learn_fit(mechanism,
                   &(struct learn_job){
                       .reader = reader, .table = aux, .options = &options},
                   &model, info, &err));
    return model;
}

static int
setup(void **state)
{
    mechanism = open_layers();
    aux = make_table(AUX, 1);
    people = make_table(1000, 2);
    few = make_table(40, 3);
    reader = read_back(mechanism, people, 5);
    return make_folder(state);
}

static int
teardown(void **state)
{
    sotto_report_reader_free(reader);
    sotto_table_free(aux);
    sotto_table_free(people);
    sotto_table_free(few);
    sotto_mechanism_free(mechanism);
    return remove_folder(state);
}

/* ---- The network ----------------------------------------------------------
 */

/* It is as good, tau_bar is its mean over codes, and threads decide nothing. */
static void
test_fit(void **state)
{
    struct sotto_fit_info info;
    struct sotto_model *model = fit_last(6, 1, &info);
    struct sotto_model *other = fit_last(6, 2, NULL);
    const struct classifier *classifier = codes_of(model)->classifier;
    struct sotto_evaluation evaluation;
    double one[AUX * CLASSES], two[AUX * CLASSES];
    double sum[CELLS * CLASSES] = {0}, count[CELLS] = {0};
    struct rows rows;
    (void)state;
    assert_int_equal(info.last, 6);
    assert_non_null(codes_of(model)->last);
    must(sotto_model_predict(model, aux, one, &err));
    must(sotto_model_predict(other, aux, two, &err));
    assert_memory_equal(one, two, sizeof one);
    must(rows_init(&rows, mechanism, aux, &err));
    for (size_t m = 0; m < AUX; m++) {
        float scores[CELLS];
        size_t c;
        rows_encode(&rows, m, NULL, scores);
        c = (size_t)domain_largest(scores, CELLS);
        count[c]++;
        for (size_t y = 0; y < CLASSES; y++) {
            sum[c * CLASSES + y] += one[m * CLASSES + y];
        }
    }
    rows_clear(&rows);
    for (size_t i = 0; i < (size_t)CELLS * CLASSES; i++) {
        assert_true(fabs(classifier->tau_bar[i] - sum[i] / count[i / CLASSES]) <
                    1e-5);
    }
    must(sotto_model_evaluate(model, people, false, 1, &evaluation, &err));
    print_message("accuracy %.3f\n", evaluation.accuracy);
    assert_true(evaluation.accuracy > 0.9);
    sotto_model_free(other);
    other = fit_last(0, 1, &info); /* none: another answer */
    assert_int_equal(info.last, 0);
    assert_null(codes_of(other)->last);
    must(sotto_model_predict(other, aux, two, &err));
    assert_memory_not_equal(one, two, sizeof one);
    sotto_model_free(other);
    sotto_model_free(model);
}

/* Records that are no images have none unless it is asked for; what cannot be
   made is refused if it was asked for. */
static void
test_asked(void **state)
{
    struct sotto_fit_info info;
    struct sotto_model *model = fit_last(LEARN_LAST_CHOSEN, 1, &info);
    struct learn_options options = options_of(3);
    struct learn_job job = {.reader = reader, .options = &options};
    (void)state;
    assert_int_equal(info.last, 0);
    sotto_model_free(model);
    model = NULL;
    assert_int_equal(learn_fit(mechanism, &job, &model, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.subject, "last");
    assert_non_null(strstr(err.message, "auxiliary records"));
    assert_null(model);
}

/* ---- Images ----------------------------------------------------------------
 */

#define SIDE 8u
#define IMAGES 200u

/* A bar that lies or stands, bright on dark. */
static struct sotto_table *
make_images(void)
{
    static uint8_t sample[IMAGES * SIDE * SIDE];
    static const char *label[IMAGES];
    const struct sotto_image image = {SIDE, SIDE, 1};
    struct sotto_table *table = NULL;
    for (unsigned i = 0; i < IMAGES; i++) {
        bool stands = i % 2 == 0;
        unsigned at = 1 + i / 2 % (SIDE - 2);
        label[i] = stands ? "yes" : "no";
        for (unsigned j = 0; j < SIDE * SIDE; j++) {
            bool on = (stands ? j % SIDE : j / SIDE) == at;
            sample[i * SIDE * SIDE + j] = on ? 240 : (uint8_t)(i * j % 30);
        }
    }
    must(sotto_table_new(IMAGES, &table, &err));
    must(sotto_table_add_bytes(table, "pixels", sample, &image, &err));
    must(sotto_table_add_texts(table, "label", label, &err));
    return table;
}

/* A convolution and a pool, then two codes: more light in row 1, or in column
   1. */
static struct sotto_mechanism *
open_images(uint64_t eps)
{
    static float kernel[4 * 9], code[2 * 4 * 16];
    static const struct schema_column images[] = {
        {"pixels", SOTTO_COLUMN_BYTES, SIDE * SIDE, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
    };
    struct layer layer[] = {{.kind = LAYER_CONV,
                             .image = {SIDE, SIDE, 1},
                             .filters = 4,
                             .kernel = 3,
                             .stride = 1,
                             .pad = 1,
                             .weight = kernel,
                             .bias = no_bias,
                             .activation = ACTIVATION_RELU},
                            {.kind = LAYER_POOL_MEAN,
                             .image = {SIDE, SIDE, 4},
                             .filters = 4,
                             .kernel = 2,
                             .stride = 2},
                            {.out = 2, .weight = code, .bias = no_bias}};
    struct compose_part part = pairs;
    struct compose_spec spec = {.name = "images",
                                .campaign = "c",
                                .auxiliary = "not used",
                                .eps = eps,
                                .column = images,
                                .columns = 2,
                                .layer = layer,
                                .layers = 3,
                                .part = &part,
                                .parts = 1};
    for (size_t i = 0; i < 3; i++) { /* a line that lies; one that stands */
        kernel[3 + i] = 1;
        kernel[9 + 1 + 3 * i] = 1;
        kernel[i] = kernel[6 + i] = -0.5F;
        kernel[9 + 3 * i] = kernel[9 + 3 * i + 2] = -0.5F;
        kernel[18 + 4 * i] = kernel[27 + 2 + 2 * i] = 1;
    }
    for (size_t i = 0; i < 16; i++) {
        code[4 * i] = code[64 + 4 * i + 1] = 1;
    }
    for (size_t i = 0; i < 2; i++) {
        assert_true(layer_measure(&layer[i]));
        layer[i].in = layer[i].height * layer[i].width * layer[i].channels;
        layer[i].out =
            layer[i].made_height * layer[i].made_width * layer[i].filters;
    }
    layer[2].in = layer[1].out;
    part.eps = eps;
    part.factor[0].k = 2;
    part.factor[1].at = 1;
    return open_spec(&spec);
}

/* With views, and a layer that has no weights of its own; the same with two
   threads, and read back. */
static void
test_images(void **state)
{
    struct sotto_mechanism *of_images = open_images(4 * DECIMAL_UNIT);
    struct sotto_table *images = make_images();
    struct sotto_report_reader *reports = read_back(of_images, images, 7);
    struct learn_options options = options_of(2);
    const struct learn_job job = {
        .reader = reports, .table = images, .options = &options};
    struct sotto_model *model = NULL, *other = NULL, *again = NULL;
    double p[3][IMAGES * CLASSES];
    (void)state;
    must(learn_fit(of_images, &job, &model, NULL, &err));
    options.threads = 2;
    must(learn_fit(of_images, &job, &other, NULL, &err));
    must(sotto_model_write(model, in_folder("i.model"), &err));
    must(sotto_model_read(in_folder("i.model"), &again, &err));
    must(sotto_model_predict(model, images, p[0], &err));
    must(sotto_model_predict(other, images, p[1], &err));
    must(sotto_model_predict(again, images, p[2], &err));
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    assert_memory_equal(p[0], p[2], sizeof p[0]);
    sotto_model_free(again);
    sotto_model_free(other);
    sotto_model_free(model);
    sotto_report_reader_free(reports);
    sotto_table_free(images);
    sotto_mechanism_free(of_images);
}

/* How much the reports tell decides, where nobody does. */
static void
test_chosen(void **state)
{
    static const uint64_t eps[] = {4, 12};
    struct sotto_table *images = make_images();
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sotto_mechanism *of_images = open_images(eps[i] * DECIMAL_UNIT);
        struct sotto_report_reader *reports = read_back(of_images, images, 7);
        struct learn_options options = options_of(LEARN_LAST_CHOSEN);
        struct sotto_model *model = NULL;
        struct sotto_fit_info info;
        must(learn_fit(of_images,
                       &(struct learn_job){.reader = reports,
                                           .table = images,
                                           .options = &options},
                       &model, &info, &err));
        assert_int_equal(info.last, i == 0 ? 0 : 8);
        sotto_model_free(model);
        sotto_report_reader_free(reports);
        sotto_mechanism_free(of_images);
    }
    sotto_table_free(images);
}

/* ---- Files, devices, cuts -------------------------------------------------
 */

static void
test_round_trip(void **state)
{
    struct sotto_model *model = fit_last(2, 1, NULL), *again = NULL;
    double one[AUX * CLASSES], two[AUX * CLASSES];
    uint8_t *data[2] = {NULL, NULL};
    size_t size[2] = {0, 0};
    (void)state;
    must(sotto_model_write(model, in_folder("m.model"), &err));
    must(sotto_model_read(in_folder("m.model"), &again, &err));
    must(sotto_model_predict(model, aux, one, &err));
    must(sotto_model_predict(again, aux, two, &err));
    assert_memory_equal(one, two, sizeof one);
    must(sotto_model_write(again, in_folder("n.model"), &err));
    must(host_file_read(in_folder("m.model"), SIZE_MAX, &data[0], &size[0],
                        &err));
    must(host_file_read(in_folder("n.model"), SIZE_MAX, &data[1], &size[1],
                        &err));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);
    free(data[0]);
    free(data[1]);
    sotto_model_free(again);
    sotto_model_free(model);
}

struct damage {
    const char *tensor;
    bool leave_out;
    bool turn; /* rows for columns */
    float to;  /* the first number, unless 0 */
};

static void
damage_model(const struct damage *damage)
{
    struct safetensors *file = NULL;
    struct safetensors_entry entry[24];
    struct sotto_model *model = NULL;
    float numbers[256];
    size_t kept = 0;
    must(safetensors_read(in_folder("m.model"), SIZE_MAX, &file, &err));
    for (size_t i = 0; i < safetensors_count(file); i++) {
        entry[kept] = *safetensors_at(file, i);
        if (strcmp(entry[kept].name, damage->tensor) == 0) {
            assert_true(entry[kept].size <= sizeof numbers);
            memcpy(numbers, entry[kept].data, entry[kept].size);
            numbers[0] = damage->to != 0 ? damage->to : numbers[0];
            entry[kept].data = numbers;
            if (damage->turn) {
                uint64_t rows = entry[kept].shape[0];
                entry[kept].shape[0] = entry[kept].shape[1];
                entry[kept].shape[1] = rows;
            }
            kept -= damage->leave_out ? 1 : 0;
        }
        kept++;
    }
    must(safetensors_write(in_folder("bad.model"), 0644,
                           safetensors_metadata(file), entry, kept, &err));
    if (sotto_model_read(in_folder("bad.model"), &model, &err) !=
        SOTTO_STATUS_FORMAT) {
        fail_msg("%s was taken", damage->tensor);
    }
    assert_null(model);
    safetensors_free(file);
}

/* A tensor that is missing, has another shape or is none of a device's. */
static void
test_damage(void **state)
{
    static const struct damage damages[] = {
        {"last.0.weight", true, false, 0},
        {"last.0.bias", true, false, 0},
        {"last.2.bias", true, false, 0},
        {"last.0.weight", false, true, 0},
        {"last.1.weight", false, true, 0},
        {"last.0.weight", false, false, NAN},
        {"last.2.bias", false, false, INFINITY},
    };
    struct sotto_model *model = fit_last(1, 1, NULL);
    (void)state;
    must(sotto_model_write(model, in_folder("m.model"), &err));
    sotto_model_free(model);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damage_model(&damages[i]);
    }
}

/* A device finds the class that predict does, and its reports are known. */
static void
test_device(void **state)
{
    struct sotto_model *model = fit_last(4, 1, NULL);
    struct sotto_model *other = fit_last(0, 1, NULL);
    struct sotto_mechanism *class = NULL, *right = NULL;
    struct sotto_evaluation evaluation;
    double p[AUX * CLASSES];
    struct rows rows;
    (void)state;
    must(sotto_model_mechanism_class(model, "8", NULL, &class, &err));
    must(sotto_model_predict(model, aux, p, &err));
    must(rows_init(&rows, class, aux, &err));
    for (size_t m = 0; m < AUX; m++) {
        float logits[CLASSES];
        rows_encode(&rows, m, NULL, logits);
        assert_int_equal(domain_largest(logits, CLASSES),
                         model_likeliest(p + m * CLASSES, CLASSES));
    }
    rows_clear(&rows);
    must(sotto_model_evaluate_private_with(model, class, people, 1, &evaluation,
                                           &err));
    assert_true(evaluation.accuracy > 0.9);
    assert_int_equal(sotto_model_evaluate_private_with(other, class, people, 1,
                                                       &evaluation, &err),
                     SOTTO_STATUS_INPUT);
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    assert_int_equal(right->shape.layers, class->shape.layers);
    sotto_mechanism_free(right);
    sotto_mechanism_free(class);
    sotto_model_free(other);
    sotto_model_free(model);
}

/* Another cut keeps the network; a code's reports are of the old encoder. */
static void
test_cut(void **state)
{
    static const size_t counts[] = {4};
    const struct sotto_codebook_options how = {
        .cells = 12, .seed = 3, .threads = 1};
    struct sotto_model *model = fit_last(4, 1, NULL), *cut = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *code = NULL;
    struct sotto_evaluation evaluation;
    double one[AUX * CLASSES], two[AUX * CLASSES];
    (void)state;
    must(sotto_codebook_new(aux, mechanism, &how, &codebook, &err));
    must(sotto_model_cut(model, codebook, counts, 1, "6", NULL, &code, &cut,
                         &err));
    must(sotto_model_predict(model, aux, one, &err));
    must(sotto_model_predict(cut, aux, two, &err));
    assert_memory_equal(one, two, sizeof one);
    must(sotto_model_evaluate_private_with(cut, code, people, 1, &evaluation,
                                           &err));
    assert_true(evaluation.accuracy > 0.7);
    sotto_model_free(cut);
    sotto_mechanism_free(code);
    sotto_codebook_free(codebook);
    sotto_model_free(model);
}

/* ---- Memory, and stopping
 * ---------------------------------------------------------------
 */

static enum sotto_status
read_again(struct sotto_model **model)
{
    sotto_model_free(*model);
    *model = NULL;
    return sotto_model_read(in_folder("m.model"), model, &err);
}

/* The last fit alone, of a few records in three codes. */
static enum sotto_status
fit_again(struct sotto_model **model)
{
    struct learn_options options = options_of(2);
    const struct learn_job job = {.table = few, .options = &options};
    const size_t row[] = {0, 1, 2, 3};
    const uint32_t code[] = {0, 1, 2, 2};
    float target[4 * CLASSES] = {1, 0, 1, 0, 0, 1, 0, 1};
    const struct codes_last records = {
        .row = row, .code = code, .target = target, .n = 4};
    sotto_mechanism_free(codes_of(*model)->last);
    codes_of(*model)->last = NULL;
    return codes_last_fit(*model, &job, &records, 2, &err);
}

static void
fails_well(enum sotto_status (*make)(struct sotto_model **model),
           struct sotto_model **model)
{
    enum sotto_status status;
    long n = 0;
    do {
        fail_alloc_at(++n);
        status = make(model);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

static void
test_memory(void **state)
{
    struct sotto_model *model = fit_last(1, 1, NULL), *again = NULL;
    (void)state;
    must(sotto_model_write(model, in_folder("m.model"), &err));
    fails_well(fit_again, &model);
    fails_well(read_again, &again);
    sotto_model_free(again);
    sotto_model_free(model);
}

static bool
stop_last(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return strcmp(what, "last fit") != 0;
}

static void
test_stopped(void **state)
{
    struct learn_options options = options_of(3);
    struct sotto_model *model = NULL;
    (void)state;
    options.watch = (struct sotto_watch){stop_last, NULL};
    assert_int_equal(learn_fit(mechanism,
                               &(struct learn_job){.reader = reader,
                                                   .table = aux,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_STOPPED);
    assert_null(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(test_fit),        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_device),     cmocka_unit_test(test_cut),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_images),
        cmocka_unit_test(test_chosen),     cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
