/*
 * test_codes_fit.c: learning from the reports of a codebook's mechanism, by the
 * public functions alone: an encoder of principal components, a codebook,
 * simulated reports, a classifier.
 *
 * Records lie in GROUPS groups around points of a ring in four dimensions, and
 * every group has its own label.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/file.h"
#include "learn/codes/codes_model.h"
#include "train_fixture.h"

#define GROUPS 4u
#define AUX 600u
#define PEOPLE 3000u

static struct sotto_table *aux, *people, *test;
static struct sotto_mechanism *encoder, *mechanism, *coded;
static struct sotto_analyst *analyst;
static struct sotto_report_reader *reader;

/* ---- Made data ------------------------------------------------------------
 */

static struct sotto_table *
ring(size_t n, uint64_t seed)
{
    static const char *const names[GROUPS] = {"north", "east", "south", "west"};
    char *text = malloc(64 + 96 * n), *at = text;
    struct sotto_table *table;
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,b,c,d,place\n");
    for (size_t i = 0; i < n; i++) {
        uint32_t g = draw_below(&seeded.random, GROUPS);
        for (size_t j = 0; j < 4; j++) {
            double noise = 0;
            for (size_t k = 0; k < 4; k++) {
                noise += draw_below(&seeded.random, 2001) / 2000.0 - 0.5;
            }
            at += sprintf(at, "%.4f,", 10 + (j == g ? 4.0 : 0) + 0.7 * noise);
        }
        at += sprintf(at, "%s\n", names[g]);
    }
    table = table_of(text);
    free(text);
    return table;
}

/* The mechanism of so many codebooks of 8 codes, and its analyst file. */
static void
make_books(size_t books, const char *label, const char *eps, const char *path,
           const char *analyst_path, struct sotto_mechanism **ret)
{
    const struct sotto_codebook_options options = {
        .label = label, .cells = 24, .seed = 3, .threads = 1};
    const struct sotto_codebook_choice choice = {
        .k = 8, .channel = "subset", .books = books};
    struct sotto_codebook *codebook = NULL;
    must(sotto_codebook_new(aux, encoder, &options, &codebook, &err));
    must(sotto_codebook_write(codebook, &choice, eps, path, analyst_path, ret,
                              &err));
    sotto_codebook_free(codebook);
}

static void
make_codebook(const char *label, const char *eps, const char *path,
              const char *analyst_path, struct sotto_mechanism **ret)
{
    make_books(1, label, eps, path, analyst_path, ret);
}

static int
setup(void **state)
{
    struct pca_options options = {.eps = "2",
                                  .label = "place",
                                  .lambda = 0.5,
                                  .d = 3,
                                  .inside = 0.9,
                                  .steps = 4096,
                                  .threads = 1};
    char path[3][512];
    assert_int_equal(make_folder(state), 0);
    aux = ring(AUX, 1);
    people = ring(PEOPLE, 2);
    test = ring(1000, 3);
    (void)snprintf(path[0], sizeof path[0], "%s", in_folder("e.sotto"));
    (void)snprintf(path[1], sizeof path[1], "%s", in_folder("m.sotto"));
    (void)snprintf(path[2], sizeof path[2], "%s", in_folder("m.analyst"));
    must(train_pca(aux, &options, path[0], NULL, &encoder, &err));
    make_codebook("place", "3", path[1], path[2], &mechanism);
    make_codebook(NULL, "5", in_folder("c.sotto"), NULL, &coded);
    must(sotto_analyst_read(path[2], &analyst, &err));
    reader = read_back(mechanism, people, 7);
    return 0;
}

static int
teardown(void **state)
{
    sotto_report_reader_free(reader);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_mechanism_free(coded);
    sotto_mechanism_free(encoder);
    sotto_table_free(aux);
    sotto_table_free(people);
    sotto_table_free(test);
    return remove_folder(state);
}

static struct learn_options
plain_options(void)
{
    return (struct learn_options){.decay = -1,
                                  .marginal = -1,
                                  .entropy = -1,
                                  .epochs = 30,
                                  .seed = 4,
                                  .threads = 1};
}

static struct sotto_model *
fit_with(const struct learn_options *options, struct sotto_fit_info *info)
{
    struct sotto_model *model = NULL;
    must(learn_fit(mechanism,
                   &(struct learn_job){.reader = reader,
                                       .analyst = analyst,
                                       .options = options},
                   &model, info, &err));
    return model;
}

static double
accuracy(struct sotto_model *model, bool private_records)
{
    struct sotto_evaluation evaluation;
    must(sotto_model_evaluate(model, test, private_records, 11, &evaluation,
                              &err));
    assert_int_equal(evaluation.rows, 1000);
    return evaluation.accuracy;
}

/* ---- Fitting ------------------------------------------------------------- */

static void
test_learns(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_fit_info info;
    struct sotto_model *model = fit_with(&options, &info);
    double clean = accuracy(model, false), private = accuracy(model, true);
    (void)state;
    print_message("accuracy %.3f, of reports %.3f\n", clean, private);
    assert_int_equal(info.reports, PEOPLE);
    assert_int_equal(info.points, AUX);
    assert_int_equal(info.epochs, 30);
    assert_true(info.log_p < 0 && info.kept == 1 && info.memory > 0);
    assert_int_equal(sotto_model_classes(model), GROUPS);
    assert_string_equal(sotto_model_class(model, 0), "east");
    assert_string_equal(sotto_model_class(model, GROUPS), "(other)");
    assert_int_equal(sotto_model_networks(model), 1);
    assert_true(clean > 0.95);
    assert_true(private > 0.3 && private < clean); /* chance is 0.25 */
    sotto_model_free(model);
}

/* From the auxiliary table there is the same to learn as from the file. */
static void
test_aux(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_model *model = fit_with(&options, NULL), *other = NULL;
    double one[1000 * GROUPS], two[1000 * GROUPS];
    (void)state;
    must(learn_fit(mechanism,
                   &(struct learn_job){
                       .reader = reader, .table = aux, .options = &options},
                   &other, NULL, &err));
    must(sotto_model_predict(model, test, one, &err));
    must(sotto_model_predict(other, test, two, &err));
    assert_memory_equal(one, two, sizeof one);
    sotto_model_free(other);
    other = NULL;
    options.threads = 3; /* decides nothing */
    other = fit_with(&options, NULL);
    must(sotto_model_predict(other, test, two, &err));
    assert_memory_equal(one, two, sizeof one);
    sotto_model_free(other);
    sotto_model_free(model);
}

static void
test_options(void **state)
{
    static const uint32_t hidden[] = {7, 5};
    struct learn_options options = plain_options();
    struct sotto_fit_info info;
    struct sotto_model *model;
    (void)state;
    options.hidden = hidden;
    options.hiddens = 2;
    options.balanced = true;
    options.shifted = true;
    options.prior_most = 200;
    options.epochs = 0; /* chosen: enough for so few */
    model = fit_with(&options, &info);
    assert_int_equal(info.points, 200);
    assert_int_equal(codes_of(model)->classifier->networks.net[0].stack.layers,
                     3);
    assert_true(accuracy(model, false) > 0.9);
    sotto_model_free(model);
    options = plain_options();
    options.linear = true;
    options.other = true;
    options.epochs = 0;
    model = fit_with(&options, NULL);
    assert_int_equal(sotto_model_classes(model), GROUPS + 1);
    print_message("linear %.3f\n", accuracy(model, false));
    assert_true(accuracy(model, false) > 0.9);
    sotto_model_free(model);
}

/* ---- Several codebooks ----------------------------------------------------
 */

static struct sotto_model *
fit_books(struct sotto_mechanism *asked, struct learn_job job,
          struct sotto_fit_info *info)
{
    struct sotto_model *model = NULL;
    must(learn_fit(asked, &job, &model, info, &err));
    return model;
}

/* Reports about one of three codebooks each: what all of them say together is
   learnt, from the file or the table alike, at any number of threads; such
   reports are not classified, and other shares are not estimated. */
static void
test_books(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_mechanism *asked = NULL, *first = NULL;
    struct sotto_analyst *known = NULL;
    struct sotto_model *model = NULL, *other;
    struct sotto_report_reader *answers;
    struct sotto_evaluation evaluation;
    struct sotto_fit_info info;
    double one[1000 * GROUPS], two[1000 * GROUPS];
    (void)state;
    make_books(3, "place", "2", NULL, in_folder("three.analyst"), &asked);
    must(sotto_analyst_read(in_folder("three.analyst"), &known, &err));
    answers = read_back(asked, people, 7);
    model =
        fit_books(asked,
                  (struct learn_job){
                      .reader = answers, .analyst = known, .options = &options},
                  &info);
    print_message("three books %.3f\n", accuracy(model, false));
    assert_int_equal(info.reports, PEOPLE);
    assert_true(accuracy(model, false) > 0.95);
    must(sotto_model_predict(model, test, one, &err));
    options.threads = 2;
    other = fit_books(asked,
                      (struct learn_job){
                          .reader = answers, .table = aux, .options = &options},
                      NULL);
    must(sotto_model_predict(other, test, two, &err));
    assert_memory_equal(one, two, sizeof one);
    sotto_model_free(other);
    assert_int_equal(
        sotto_model_evaluate(model, test, true, 11, &evaluation, &err),
        SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "several codebooks"));
    /* asked about its code in the first book, a person is classified */
    must(sotto_model_mechanism_code(model, "5", NULL, NULL, &first, &err));
    assert_int_equal(first->shape.books, 1);
    must(sotto_model_evaluate_private_with(model, first, test, 11, &evaluation,
                                           &err));
    assert_true(evaluation.accuracy > 0.9);
    sotto_mechanism_free(first);
    options.shifted = true;
    other = NULL;
    assert_int_equal(learn_fit(asked,
                               &(struct learn_job){.reader = answers,
                                                   .analyst = known,
                                                   .options = &options},
                               &other, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "one codebook"));
    sotto_model_free(model);
    sotto_report_reader_free(answers);
    sotto_analyst_free(known);
    sotto_mechanism_free(asked);
}

static void
refuses(const struct learn_options *options, bool prior,
        enum sotto_status status, const char *text)
{
    struct sotto_model *model = NULL;
    assert_int_equal(
        learn_fit(mechanism,
                  &(struct learn_job){.reader = reader,
                                      .analyst = prior ? analyst : NULL,
                                      .options = options},
                  &model, NULL, &err),
        status);
    assert_null(model);
    if (strstr(err.message, text) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, text);
    }
}

static void
test_refused(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_model *model = NULL;
    struct sotto_report_reader *codes = read_back(coded, people, 1);
    (void)state;
    refuses(&options, false, SOTTO_STATUS_USAGE, "needs an analyst file");
    options.objective = SOTTO_OBJECTIVE_LABEL;
    refuses(&options, true, SOTTO_STATUS_USAGE, "not for codebooks");
    options.objective = SOTTO_OBJECTIVE_PLAIN;
    refuses(&options, true, SOTTO_STATUS_USAGE, "not for codebooks");
    options = plain_options();
    options.level = SOTTO_LEVEL_FEATURE;
    refuses(&options, true, SOTTO_STATUS_USAGE, "sees representations");
    options = plain_options();
    options.restarts = 2;
    refuses(&options, true, SOTTO_STATUS_USAGE, "one network");
    options = plain_options();
    assert_int_equal(learn_fit(coded,
                               &(struct learn_job){.reader = codes,
                                                   .table = aux,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "has no label"));
    assert_int_equal(learn_fit(coded,
                               &(struct learn_job){.reader = codes,
                                                   .analyst = analyst,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_INPUT);
    sotto_report_reader_free(codes);
}

/* Tables are counts of codes as the device finds them; the same model, to the
   last bit, at any number of threads. */
static void
check_clean(struct learn_options *options)
{
    double p[2][1000 * GROUPS], count[8] = {0};
    struct sotto_model *model[2] = {NULL};
    const struct classifier *one, *two;
    struct rows rows;
    for (unsigned i = 0; i < 2; i++) {
        options->threads = 1 + 2 * i;
        must(learn_fit(mechanism,
                       &(struct learn_job){.table = aux, .options = options},
                       &model[i], NULL, &err));
        must(sotto_model_predict(model[i], test, p[i], &err));
    }
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    assert_int_equal(codes_of(model[0])->shape.cells, 8);
    one = codes_of(model[0])->classifier;
    two = codes_of(model[1])->classifier;
    assert_memory_equal(one->tau, two->tau, 8 * GROUPS * sizeof(double));
    must(rows_init(&rows, mechanism, aux, &err));
    for (size_t i = 0; i < AUX; i++) {
        int32_t q;
        rows_q(&rows, i, &q);
        count[q / (int32_t)(GROUPS + 1)]++;
    }
    for (size_t c = 0; c < 8; c++) {
        assert_true(fabs(one->pi[c] - (count[c] + 0.5) / (AUX + 4)) < 1e-12);
        assert_true(one->pi[c] == two->pi[c]);
    }
    rows_clear(&rows);
    sotto_model_free(model[0]);
    sotto_model_free(model[1]);
}

static void
test_clean(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_fit_info info;
    struct sotto_model *model = NULL;
    double sum = 0;
    (void)state;
    options.balanced = true;
    must(learn_fit(mechanism,
                   &(struct learn_job){.table = aux, .options = &options},
                   &model, &info, &err));
    assert_int_equal(info.reports, AUX);
    assert_true(accuracy(model, false) > 0.97);
    assert_true(accuracy(model, true) > 0.3);
    for (size_t c = 0; c < codes_of(model)->shape.cells; c++) {
        sum += codes_of(model)->classifier->pi[c];
    }
    assert_true(fabs(sum - 1) < 1e-9);
    sotto_model_free(model);
    model = NULL;
    options.balanced = false;
    check_clean(&options);
    options.level = SOTTO_LEVEL_FEATURE;
    assert_int_equal(
        learn_fit(mechanism,
                  &(struct learn_job){.table = aux, .options = &options},
                  &model, NULL, &err),
        SOTTO_STATUS_USAGE);
}

/* ---- Reports of another budget --------------------------------------------
 */

static void
test_other_mechanism(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_model *model = fit_with(&options, NULL);
    struct sotto_mechanism *foreign = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_evaluation evaluation;
    uint8_t *reports = simulate(coded, test, 11);
    double p[1000 * GROUPS], own;
    size_t right = 0, truth[1000];
    (void)state;
    own = accuracy(model, true);
    must(
        sotto_model_predict_private_with(model, coded, reports, 1000, p, &err));
    must(model_truth(model, test, truth, &err));
    for (size_t i = 0; i < 1000; i++) {
        right += model_likeliest(p + i * GROUPS, GROUPS) == truth[i];
    }
    must(sotto_model_evaluate_private_with(model, coded, test, 11, &evaluation,
                                           &err));
    print_message("of codes alone %.3f\n", evaluation.accuracy);
    assert_true(fabs(evaluation.accuracy - (double)right / 1000) < 1e-9);
    assert_true(evaluation.accuracy > own + 0.2);
    must(sotto_model_evaluate_private_with(model, NULL, test, 11, &evaluation,
                                           &err));
    assert_true(fabs(evaluation.accuracy - own) < 1e-9);
    assert_int_equal(sotto_model_predict_private(model, reports, 1000, p, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(
        sotto_model_predict_private_with(model, foreign, reports, 1, p, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "another encoder"));
    free(reports);
    sotto_mechanism_free(foreign);
    sotto_model_free(model);
}

/* By the mechanism's own channel, from the model's own tables. */
static double
expected_of(const struct sotto_model *model, const struct sotto_mechanism *code)
{
    const struct expected_cells cells = codes_model_cells(model);
    const struct channel_instance *instance =
        &code->device.report->part[0].instance;
    double accuracy = 0, error = 0;
    if (strcmp(instance->channel->name, "flip") == 0) {
        must(expected_flip(&cells, (double)instance->eps / (double)SOTTO_UNIT,
                           &accuracy, &err));
    } else {
        must(expected_channel(&cells, &code->likelihood[0], &accuracy, &error,
                              &err));
    }
    return accuracy;
}

/* By the channel that is asked for, or that more is expected of. */
static void
check_code(struct sotto_model *model)
{
    static const char *const channel[] = {"flip", "subset", NULL, NULL};
    static const char *const eps[] = {"0.5", "0.5", "0.5", "6"};
    double expected[4] = {0};
    struct sotto_part_info part;
    for (size_t i = 0; i < 4; i++) {
        struct sotto_mechanism *code = NULL;
        must(sotto_model_mechanism_code(model, eps[i], channel[i],
                                        in_folder("k.sotto"), &code, &err));
        sotto_mechanism_part(code, 0, &part);
        assert_int_equal(part.size, 8);
        if (channel[i] != NULL) {
            assert_string_equal(part.channel, channel[i]);
        }
        must(sotto_model_expect(model, code, &expected[i], &err));
        assert_true(expected[i] == expected_of(model, code));
        if (i == 3) {
            assert_string_equal(part.channel, "flip");
        }
        sotto_mechanism_free(code);
    }
    assert_true(expected[2] > fmax(expected[0], expected[1]) - 0.01);
    assert_true(expected[3] > expected[2] + 0.3);
    assert_int_equal(sotto_model_mechanism_code(model, "1", "signs",
                                                in_folder("x"), NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "flip or subset"));
    assert_int_equal(sotto_model_expect(model, mechanism, expected, &err),
                     SOTTO_STATUS_INPUT);
}

/* Mechanisms that the model makes for private inference. */
static void
test_sends(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_model *model = fit_with(&options, NULL), *other;
    struct sotto_mechanism *code = NULL, *class = NULL;
    struct sotto_mechanism_info info;
    struct sotto_evaluation evaluation;
    double flip = exp(3) / (exp(3) + GROUPS - 1), expected = 0;
    (void)state;
    must(sotto_model_mechanism_code(model, "5", NULL, in_folder("k.sotto"),
                                    &code, &err));
    must(sotto_model_mechanism_class(model, "3", in_folder("y.sotto"), &class,
                                     &err));
    sotto_mechanism_info(class, &info);
    assert_string_equal(info.eps_text, "3");
    assert_int_equal(info.columns, 4);
    assert_int_equal(info.layers, 3);
    must(sotto_model_evaluate_private_with(model, code, test, 11, &evaluation,
                                           &err));
    assert_true(evaluation.accuracy > 0.9);
    must(sotto_model_expect(model, code, &expected, &err));
    print_message("of codes at epsilon 5: %.3f, expected %.3f\n",
                  evaluation.accuracy, expected);
    assert_true(fabs(evaluation.accuracy - expected) < 0.25);
    must(sotto_model_evaluate_private_with(model, class, test, 11, &evaluation,
                                           &err));
    print_message("of classes at epsilon 3: %.3f\n", evaluation.accuracy);
    assert_true(fabs(evaluation.accuracy - accuracy(model, false) * flip) <
                0.05);
    must(sotto_model_expect(model, class, &expected, &err));
    assert_true(fabs(expected - flip) < 1e-9); /* classes are alike */
    check_code(model);
    options.seed = 5;
    other = fit_with(&options, NULL); /* another network */
    assert_int_equal(sotto_model_evaluate_private_with(other, class, test, 11,
                                                       &evaluation, &err),
                     SOTTO_STATUS_INPUT);
    must(sotto_model_evaluate_private_with(other, code, test, 11, &evaluation,
                                           &err));
    assert_int_equal(
        sotto_model_mechanism_class(model, "0", in_folder("z"), NULL, &err),
        SOTTO_STATUS_BUDGET);
    sotto_mechanism_free(code);
    sotto_mechanism_free(class);
    sotto_model_free(other);
    sotto_model_free(model);
}

/* ---- The file --------------------------------------------------------------
 */

static void
test_round_trip(void **state)
{
    struct learn_options options = plain_options();
    struct sotto_model *model = fit_with(&options, NULL), *again = NULL;
    uint8_t *data[2] = {NULL, NULL}, *reports = simulate(mechanism, test, 5);
    double one[1000 * GROUPS], two[1000 * GROUPS];
    size_t size[2] = {0, 0}, pairs;
    (void)state;
    must(sotto_model_write(model, in_folder("m.model"), &err));
    must(sotto_model_read(in_folder("m.model"), &again, &err));
    pairs = codes_of(model)->shape.cells * model->classes;
    assert_memory_equal(codes_of(model)->classifier->tau,
                        codes_of(again)->classifier->tau,
                        pairs * sizeof(double));
    must(sotto_model_predict(model, test, one, &err));
    must(sotto_model_predict(again, test, two, &err));
    assert_memory_equal(one, two, sizeof one);
    must(sotto_model_predict_private(model, reports, 1000, one, &err));
    must(sotto_model_predict_private(again, reports, 1000, two, &err));
    assert_memory_equal(one, two, sizeof one);
    must(host_file_read(in_folder("m.model"), SIZE_MAX, &data[0], &size[0],
                        &err));
    must(sotto_model_write(again, in_folder("n.model"), &err));
    must(host_file_read(in_folder("n.model"), SIZE_MAX, &data[1], &size[1],
                        &err));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(data[0], data[1], size[0]);
    free(data[0]);
    free(data[1]);
    free(reports);
    sotto_model_free(model);
    sotto_model_free(again);
}

/* ---- Labels that are known ------------------------------------------------
 */

/* Of reports about a code alone: the classifier is as good, its classes have
   the labels' names, and its file has them too. */
static void
test_labelled(void **state)
{
    struct sotto_report_reader *codes = read_back(coded, people, 8);
    struct learn_options options = plain_options();
    struct sotto_model *model = NULL, *again = NULL;
    struct sotto_fit_info info;
    (void)state;
    must(learn_fit(coded,
                   &(struct learn_job){.reader = codes,
                                       .labels = people,
                                       .column = "place",
                                       .table = aux,
                                       .options = &options},
                   &model, &info, &err));
    assert_int_equal(info.reports, PEOPLE);
    assert_int_equal(sotto_model_classes(model), GROUPS);
    assert_string_equal(sotto_model_class(model, 0), "east");
    assert_true(accuracy(model, false) > 0.95);
    must(sotto_model_write(model, in_folder("l.model"), &err));
    must(sotto_model_read(in_folder("l.model"), &again, &err));
    assert_true(accuracy(again, false) == accuracy(model, false));
    sotto_model_free(again);
    sotto_model_free(model);
    sotto_report_reader_free(codes);
}

static void
test_labelled_refused(void **state)
{
    struct sotto_report_reader *codes = read_back(coded, people, 8);
    struct learn_options options = plain_options();
    struct sotto_model *model = NULL;
    (void)state;
    assert_int_equal(learn_fit(coded,
                               &(struct learn_job){.reader = codes,
                                                   .labels = test,
                                                   .column = "place",
                                                   .table = aux,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "1000 labels"));
    assert_int_equal(learn_fit(mechanism,
                               &(struct learn_job){.reader = reader,
                                                   .labels = people,
                                                   .column = "place",
                                                   .analyst = analyst,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "label of their own"));
    assert_int_equal(learn_fit(coded,
                               &(struct learn_job){.reader = codes,
                                                   .labels = people,
                                                   .column = "nowhere",
                                                   .table = aux,
                                                   .options = &options},
                               &model, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_null(model);
    sotto_report_reader_free(codes);
}

/* ---- Another cut ----------------------------------------------------------
 */

static void
test_cut(void **state)
{
    static const size_t counts[] = {4, 6, 12};
    const struct sotto_codebook_options how = {
        .cells = 24, .seed = 3, .threads = 1};
    struct learn_options options = plain_options();
    struct sotto_model *model = fit_with(&options, NULL), *cut = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *code = NULL;
    struct sotto_evaluation evaluation;
    struct sotto_part_info part;
    double expected = 0;
    (void)state;
    must(sotto_codebook_new(aux, encoder, &how, &codebook, &err));
    must(sotto_model_cut(model, codebook, counts, 3, "3", NULL, &code, &cut,
                         &err));
    sotto_mechanism_part(code, 0, &part);
    assert_int_equal(part.size, 4); /* as many as there are groups */
    assert_string_equal(sotto_model_class(cut, 3), "west");
    must(sotto_model_expect(cut, code, &expected, &err));
    must(sotto_model_evaluate_private_with(cut, code, test, 5, &evaluation,
                                           &err));
    assert_true(evaluation.accuracy > 0.8);
    assert_true(expected > 0.4 && expected < evaluation.accuracy + 0.05);
    assert_int_equal(
        sotto_model_predict_private_with(model, code, NULL, 0, NULL, &err),
        SOTTO_STATUS_INPUT); /* it knows other codes */
    sotto_model_free(cut);
    sotto_mechanism_free(code);
    sotto_codebook_free(codebook);
    sotto_model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_aux),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_books),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_other_mechanism),
        cmocka_unit_test(test_sends),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_labelled),
        cmocka_unit_test(test_labelled_refused),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
