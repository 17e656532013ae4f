/*
 * test_codebook.c: from a table and an encoder to a mechanism of codes.
 */
#include "encoder/codebook.h"

#include "client/device.h"
#include "encoder/analyst.h"
#include "fail_alloc.h"
#include "head_codes.h"
#include "host/pool.h"
#include "host/safetensors.h"
#include "learnt_fixture.h"
#include "mechanism/rows.h"

enum { ROWS = 300 };

static struct sotto_table *table;
static struct sotto_mechanism *encoder;

static int
setup_encoder(void **state)
{
    static const uint32_t hidden[] = {6};
    struct vlm_options options = {.eps = "4",
                                  .label = "kind",
                                  .d = 3,
                                  .hidden = hidden,
                                  .hiddens = 1,
                                  .epochs = 3,
                                  .threads = 1};
    if (setup(state) != 0) {
        return -1;
    }
    table = people(ROWS);
    must(train_vlm(table, &options, in_folder("e.sotto"), NULL, NULL, &encoder,
                   &err));
    return 0;
}

static int
teardown_encoder(void **state)
{
    sotto_mechanism_free(encoder);
    sotto_table_free(table);
    encoder = NULL;
    return teardown(state);
}

static struct sotto_codebook *
new_codebook(const char *label, unsigned threads)
{
    struct sotto_codebook_options options = {
        .label = label, .cells = 20, .seed = 4, .threads = threads};
    struct sotto_codebook *codebook = NULL;
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    return codebook;
}

static struct sotto_mechanism *
write_one(struct sotto_codebook *codebook, size_t k, const char *channel,
          const char *name)
{
    struct sotto_codebook_choice choice = {.k = k, .channel = channel};
    struct sotto_mechanism *mechanism = NULL;
    char path[128], analyst[128];
    (void)snprintf(path, sizeof path, "%s.sotto", in_folder(name));
    (void)snprintf(analyst, sizeof analyst, "%s.analyst", in_folder(name));
    must(sotto_codebook_write(codebook, &choice, "0.5", path, analyst,
                              &mechanism, &err));
    return mechanism;
}

static struct sotto_analyst *
read_analyst(const char *name)
{
    struct sotto_analyst *analyst = NULL;
    char path[128];
    (void)snprintf(path, sizeof path, "%s.analyst", in_folder(name));
    must(sotto_analyst_read(path, &analyst, &err));
    return analyst;
}

/* One part for code and label at all of epsilon; the encoder's columns and
   layers, and one layer more. */
static void
test_mechanism(void **state)
{
    struct sotto_codebook *codebook = new_codebook("kind", 1);
    struct sotto_mechanism *mechanism = write_one(codebook, 5, "subset", "c");
    struct sotto_mechanism_info info, own;
    struct sotto_part_info part;
    struct sotto_column_info column;
    const struct sotto_client *client = mechanism->client;
    (void)state;
    assert_int_equal(sotto_codebook_cells(codebook), 20);
    assert_int_equal(sotto_codebook_records(codebook), ROWS);
    assert_int_equal(sotto_codebook_classes(codebook), 2);
    sotto_mechanism_info(encoder, &own);
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(info.columns, own.columns);
    assert_int_equal(info.layers, own.layers + 1);
    assert_int_equal(info.parts, 1);
    assert_string_equal(info.name, "codebook");
    assert_true(info.eps == 0.5);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.covers, "both");
    assert_string_equal(part.channel, "subset");
    assert_int_equal(part.size, 5 * 3);
    assert_true(part.eps == 0.5);
    sotto_mechanism_column(mechanism, 3, &column);
    assert_string_equal(column.name, "kind");
    assert_int_equal(column.count, 3);
    assert_int_equal(column.inputs, 0);
    assert_memory_equal(client->encoder.layer[1].weight,
                        encoder->device.encoder->layer[1].weight,
                        sizeof(float) * client->encoder.layer[1].out *
                            client->encoder.layer[1].in);
    assert_int_equal(client->report.part[0].factor[0].k, 5);
    assert_int_equal(client->report.part[0].factor[1].at, 3);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
    sotto_codebook_free(NULL);
}

/* Codes and representations of the analyst file are the device's, and those of
   the layer; its classes are the label's. */
static void
test_device(void **state)
{
    struct sotto_codebook *codebook = new_codebook("kind", 1);
    struct sotto_mechanism *mechanism = write_one(codebook, 7, "signs", "c");
    struct sotto_analyst *analyst = read_analyst("c");
    const struct codebook_cut *cut = NULL, *again = NULL;
    uint32_t fast[ROWS], layers = 99;
    uint8_t report[256];
    double estimate[7];
    size_t width = 0, seen = 0;
    const float *z = analyst_representation(analyst, &width, &layers);
    const int32_t *prior = sotto_analyst_prior(analyst);
    struct rows rows;
    (void)state;
    must(sotto_analyst_check(analyst, mechanism, &err));
    assert_int_equal(sotto_analyst_points(analyst), ROWS);
    assert_int_equal(sotto_analyst_width(analyst), 1);
    assert_int_equal(sotto_analyst_z_width(analyst), 7);
    assert_int_equal(width, 3);
    assert_int_equal(layers, 2);
    must(codebook_cut(codebook, 7, &cut, &err));
    must(codebook_cut(codebook, 7, &again, &err));
    assert_ptr_equal(cut, again);
    must(head_codes(&cut->head, codebook->backend, codebook->z, ROWS, fast,
                    &err));
    must(rows_init(&rows, mechanism, table, &err));
    assert_int_equal(rows_q_width(&rows), 1);
    assert_int_equal(rows_representation_width(&rows, layers), 3);
    assert_int_equal(rows_representation_width(&rows, 0), rows_x_width(&rows));
    for (size_t i = 0; i < ROWS; i++) {
        float own[3];
        int32_t q;
        struct sotto_value label = sotto_table_cell(table, i, 3);
        rows_representation(&rows, i, layers, own);
        assert_memory_equal(own, z + 3 * i, sizeof own);
        rows_q(&rows, i, &q);
        assert_int_equal(q / 3, prior[i]);
        assert_int_equal(q % 3, rows_class(&rows, i));
        assert_int_equal(rows_class(&rows, i),
                         *(const char *)label.data == 'y');
        assert_int_equal(prior[i], fast[i]);
        seen |= (size_t)1 << prior[i];
    }
    assert_true(seen > 1);
    /* Through signs a report tells of no code by itself. */
    assert_int_equal(sotto_simulate(mechanism, 1, 1, rows_at(&rows, 0), 4,
                                    report, mechanism->shape.report_size),
                     SOTTO_STATUS_OK);
    sotto_analyst_estimate(analyst, mechanism, report, estimate);
    for (size_t c = 0; c < 7; c++) {
        assert_true(fabs(estimate[c] - 1.0 / 7) < 1e-9);
    }
    rows_clear(&rows);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

/* A report decodes to the sum of the cells' mean records, weighed by the
   estimates of their indicators; a code's own, to its mean. */
static void
test_decode(void **state)
{
    struct sotto_codebook *codebook = new_codebook("kind", 1);
    struct sotto_mechanism *mechanism = write_one(codebook, 4, "flip", "c");
    struct sotto_analyst *analyst = read_analyst("c");
    const int32_t *prior = sotto_analyst_prior(analyst);
    size_t size = mechanism->shape.report_size;
    double one[4] = {0, 1}, z[4], mean[5] = {0}, count = 0, sum[4] = {0};
    double share[4] = {0};
    float x[5];
    uint8_t *report = malloc(size);
    struct rows rows;
    (void)state;
    assert_non_null(report);
    assert_int_equal(sotto_analyst_x_width(analyst), 5);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        rows_encode(&rows, i, x, NULL);
        for (size_t j = 0; j < 5 && prior[i] == 1; j++) {
            mean[j] += (double)x[j];
        }
        count += prior[i] == 1;
        share[prior[i]] += 1.0 / ROWS;
    }
    assert_true(count > 0);
    must(sotto_analyst_decode(analyst, one, 1, x, &err));
    for (size_t j = 0; j < 5; j++) {
        assert_true(fabs((double)x[j] - mean[j] / count) < 1e-5);
    }
    /* Unbiased: 60 simulated reports of everybody, deviation about 0.03. */
    for (size_t i = 0; i < 60 * ROWS; i++) {
        assert_int_equal(sotto_simulate(mechanism, 1, i,
                                        rows_at(&rows, i % ROWS), 4, report,
                                        size),
                         SOTTO_STATUS_OK);
        sotto_analyst_estimate(analyst, mechanism, report, z);
        for (size_t c = 0; c < 4; c++) {
            sum[c] += z[c] / (60 * ROWS);
        }
    }
    for (size_t c = 0; c < 4; c++) {
        assert_true(fabs(sum[c] - share[c]) < 0.15);
    }
    assert_true(fabs(sum[0] + sum[1] + sum[2] + sum[3] - 1) < 1e-9);
    free(report);
    rows_clear(&rows);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

#define ESTIMATES 400u

/* Estimates of many reports, by several threads. */
struct estimates {
    const struct sotto_analyst *analyst;
    const struct sotto_mechanism *mechanism;
    const uint8_t *report;
    double z[ESTIMATES][4];
};

static void
estimate_task(void *context, size_t index, unsigned worker)
{
    struct estimates *estimates = context;
    (void)worker;
    sotto_analyst_estimate(estimates->analyst, estimates->mechanism,
                           estimates->report +
                               index * estimates->mechanism->shape.report_size,
                           estimates->z[index]);
}

/* With one analyst file: what one thread gives. */
static void
test_at_once(void **state)
{
    static struct estimates one, many;
    struct sotto_codebook *codebook = new_codebook("kind", 1);
    struct sotto_mechanism *mechanism = write_one(codebook, 4, "subset", "c");
    struct sotto_analyst *analyst = read_analyst("c");
    size_t size = mechanism->shape.report_size;
    uint8_t *report = calloc(ESTIMATES, size);
    struct host_pool *pool = NULL;
    struct rows rows;
    (void)state;
    assert_non_null(report);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ESTIMATES; i++) {
        assert_int_equal(sotto_simulate(mechanism, 2, i,
                                        rows_at(&rows, i % ROWS), 4,
                                        report + i * size, size),
                         SOTTO_STATUS_OK);
    }
    one = many = (struct estimates){
        .analyst = analyst, .mechanism = mechanism, .report = report};
    must(host_pool_new(4, &pool, &err));
    host_pool_run(NULL, ESTIMATES, estimate_task, &one);
    for (size_t i = 0; i < 20; i++) {
        host_pool_run(pool, ESTIMATES, estimate_task, &many);
        assert_memory_equal(one.z, many.z, sizeof one.z);
    }
    host_pool_free(pool);
    rows_clear(&rows);
    free(report);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

/* Without a label the code alone, and no column for a label; with one that the
   encoder did not have, one column more. */
static void
test_labels(void **state)
{
    struct sotto_codebook *codebook = new_codebook(NULL, 1);
    struct sotto_mechanism *mechanism = write_one(codebook, 6, "subset", "n");
    struct pca_options options = {.eps = "1", .d = 2, .threads = 1};
    static const char *const drop[] = {"kind"};
    struct sotto_mechanism *plain = NULL, *other = NULL;
    struct sotto_codebook_options with = {.label = "kind", .cells = 10};
    struct sotto_codebook *second = NULL;
    struct sotto_analyst *analyst = read_analyst("n");
    struct sotto_part_info part;
    struct sotto_mechanism_info info;
    (void)state;
    assert_int_equal(sotto_codebook_classes(codebook), 0);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.covers, "features");
    assert_int_equal(part.size, 6);
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(info.columns, 3);
    must(sotto_analyst_check(analyst, mechanism, &err));
    options.drop = drop;
    options.drops = 1;
    must(train_pca(table, &options, in_folder("p.sotto"), NULL, &plain, &err));
    must(sotto_codebook_new(table, plain, &with, &second, &err));
    other = write_one(second, 3, "signs", "l");
    sotto_mechanism_info(other, &info);
    assert_int_equal(info.columns, 4);
    sotto_mechanism_part(other, 0, &part);
    assert_string_equal(part.covers, "both");
    assert_int_equal(part.size, 9);
    sotto_codebook_free(second);
    second = NULL;
    /* A codebook's own encoder: its last layer is not taken. */
    must(sotto_codebook_new(table, other, &with, &second, &err));
    assert_int_equal(second->layers, 1);
    assert_int_equal(second->d, 2);
    sotto_codebook_free(second);
    sotto_mechanism_free(other);
    sotto_mechanism_free(plain);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

/* The same files at any number of threads, and one codebook for several. */
static void
test_threads(void **state)
{
    struct sotto_codebook *one = new_codebook("kind", 1);
    struct sotto_codebook *two = new_codebook("kind", 2);
    static const size_t k[] = {3, 12};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char a[128], b[128];
        sotto_mechanism_free(write_one(one, k[i], "subset", "one"));
        sotto_mechanism_free(write_one(two, k[i], "subset", "two"));
        (void)snprintf(a, sizeof a, "%s", in_folder("one.sotto"));
        (void)snprintf(b, sizeof b, "%s", in_folder("two.sotto"));
        assert_true(same_files(a, b));
        (void)snprintf(a, sizeof a, "%s", in_folder("one.analyst"));
        (void)snprintf(b, sizeof b, "%s", in_folder("two.analyst"));
        assert_true(same_files(a, b));
    }
    sotto_codebook_free(one);
    sotto_codebook_free(two);
}

static void
test_refused(void **state)
{
    struct sotto_codebook *codebook = new_codebook(NULL, 1), *other = NULL;
    struct direct_options direct = {.eps = "1"};
    struct sotto_codebook_options options = {.label = "colour"};
    struct sotto_mechanism *plain = NULL;
    struct sotto_table *few = people(1);
    char path[128];
    static const struct {
        size_t k;
        const char *channel, *eps, *message;
        enum sotto_status status;
    } wrong[] = {
        {1, "subset", "1", "from 2 to 20", SOTTO_STATUS_USAGE},
        {21, "subset", "1", "from 2 to 20", SOTTO_STATUS_USAGE},
        {5, "signs", "1", "name a label", SOTTO_STATUS_USAGE},
        {5, "laplace", "1", "laplace", SOTTO_STATUS_USAGE},
        {5, NULL, "1", "no channel", SOTTO_STATUS_USAGE},
        {5, "subset", "0", "psilon", SOTTO_STATUS_BUDGET},
        {5, "subset", "x", "", SOTTO_STATUS_FORMAT},
        {70000, "subset", "1", "too many", SOTTO_STATUS_LIMIT},
    };
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("r.sotto"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sotto_codebook_choice choice = {.k = wrong[i].k,
                                               .channel = wrong[i].channel};
        must_fail(wrong[i].status, wrong[i].message,
                  sotto_codebook_write(codebook, &choice, wrong[i].eps, path,
                                       NULL, NULL, &err));
        assert_int_equal(access(path, F_OK), -1);
    }
    must_fail(SOTTO_STATUS_USAGE, "goes into the encoder",
              sotto_codebook_new(table, encoder, &options, &other, &err));
    options.label = "nobody";
    must_fail(SOTTO_STATUS_USAGE, "nobody",
              sotto_codebook_new(table, encoder, &options, &other, &err));
    options.label = NULL;
    must_fail(SOTTO_STATUS_INPUT, "at least 2",
              sotto_codebook_new(few, encoder, &options, &other, &err));
    must(train_direct(table, &direct, in_folder("d.sotto"), &plain, &err));
    must_fail(SOTTO_STATUS_USAGE, "no encoder",
              sotto_codebook_new(table, plain, &options, &other, &err));
    assert_null(other);
    sotto_mechanism_free(plain);
    sotto_table_free(few);
    sotto_codebook_free(codebook);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return strcmp(what, context) != 0;
}

static void
test_stopped(void **state)
{
    static char what[2][16] = {"encoding", "clustering"};
    struct sotto_codebook *codebook = NULL;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sotto_codebook_options options = {
            .watch = {.tick = stop, .context = what[i]}};
        must_fail(
            SOTTO_STATUS_STOPPED, "stopped",
            sotto_codebook_new(table, encoder, &options, &codebook, &err));
        assert_null(codebook);
    }
}

/* ---- The analyst file ---------------------------------------------------- */

static struct safetensors_entry entry[8];
static size_t tensors;

static void
assert_damaged(const json_t *metadata, const char *message)
{
    struct sotto_analyst *analyst = NULL;
    must(safetensors_write(in_folder("d.analyst"), 0600, metadata, entry,
                           tensors, &err));
    must_fail(SOTTO_STATUS_FORMAT, message,
              sotto_analyst_read(in_folder("d.analyst"), &analyst, &err));
    assert_null(analyst);
}

static void
test_damage(void **state)
{
    struct sotto_codebook *codebook = new_codebook("kind", 1);
    static const struct {
        const char *codebook, *message;
    } wrong[] = {
        {"{\"codes\":5,\"symbols\":3,\"layers\":2}", "numbers"},
        {"{\"codes\":4,\"symbols\":0,\"layers\":2}", "numbers"},
        {"{\"codes\":4,\"symbols\":65536,\"layers\":2}", "numbers"},
        {"{\"codes\":4,\"symbols\":3,\"layers\":-1}", "numbers"},
        {"{\"codes\":4,\"symbols\":3,\"layers\":65}", "numbers"},
        {"{\"codes\":4,\"symbols\":3,\"layers\":2.5}", "numbers"},
        {"{\"codes\":4,\"symbols\":3}", "the codebook"},
        {"{\"codes\":4,\"symbols\":3,\"layers\":2,\"more\":1}", "the codebook"},
        {"[]", "the codebook"},
    };
    struct safetensors *file = NULL;
    struct safetensors_entry *prior = NULL, *z = NULL;
    json_t *metadata;
    int32_t *codes;
    float *values;
    (void)state;
    sotto_mechanism_free(write_one(codebook, 4, "subset", "g"));
    must(
        safetensors_read(in_folder("g.analyst"), (size_t)1 << 30, &file, &err));
    tensors = safetensors_count(file);
    assert_int_equal(tensors, 4);
    for (size_t i = 0; i < tensors; i++) {
        entry[i] = *safetensors_at(file, i);
        prior = strcmp(entry[i].name, "prior") == 0 ? &entry[i] : prior;
        z = strcmp(entry[i].name, "representation") == 0 ? &entry[i] : z;
    }
    metadata = json_deep_copy(safetensors_metadata(file));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(
            json_object_set_new(metadata, "codebook",
                                json_loads(wrong[i].codebook, 0, NULL)),
            0);
        assert_damaged(metadata, wrong[i].message);
    }
    assert_int_equal(json_object_del(metadata, "codebook"), 0);
    assert_damaged(metadata, "fit");
    json_decref(metadata);
    metadata = json_deep_copy(safetensors_metadata(file));
    codes = malloc(prior->size);
    values = malloc(z->size);
    assert_non_null(codes);
    assert_non_null(values);
    memcpy(codes, prior->data, prior->size);
    memcpy(values, z->data, z->size);
    prior->data = codes;
    z->data = values;
    codes[3] = -1;
    assert_damaged(metadata, "no code");
    codes[3] = 4;
    assert_damaged(metadata, "no code");
    codes[3] = 0;
    values[5] = NAN;
    assert_damaged(metadata, "not finite");
    values[5] = 0;
    z->name = "other";
    assert_damaged(metadata, "representation");
    json_decref(metadata);
    free(codes);
    free(values);
    safetensors_free(file);
    sotto_codebook_free(codebook);
}

/* Cells of directions: places have length 1, codes are the device's of z as it
   is, and the next codebook over the same encoder has such cells, too. */
static void
test_unit(void **state)
{
    struct sotto_codebook_options options = {
        .label = "kind", .cells = 20, .seed = 4, .threads = 1, .unit = true};
    struct sotto_codebook *codebook = NULL, *next = NULL;
    struct sotto_mechanism *mechanism = NULL;
    const struct codebook_cut *cut = NULL;
    uint32_t near[ROWS], cell[ROWS], part[20];
    struct rows rows;
    size_t other = 0;
    (void)state;
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    for (size_t i = 0; i < ROWS; i++) {
        double z = 0, place = 0, product = 0;
        for (size_t j = 0; j < 3; j++) {
            double a = (double)codebook->z[3 * i + j];
            double b = (double)codebook->place[3 * i + j];
            z += a * a;
            place += b * b;
            product += a * b;
        }
        assert_true(fabs(place - 1) < 1e-6);
        assert_true(fabs(product - sqrt(z)) < 1e-6);
    }
    must(codebook_cut(codebook, 5, &cut, &err));
    must(head_codes(&cut->head, codebook->backend, codebook->place, ROWS, near,
                    &err));
    must(clustering_cut(&codebook->clustering, 5, part, &err));
    must(clustering_assign(&codebook->clustering, NULL, codebook->backend,
                           codebook->place, ROWS, cell, &err));
    mechanism = write_one(codebook, 5, "subset", "u");
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        int32_t q = 0;
        rows_q(&rows, i, &q);
        assert_int_equal(q / 3, cut->code[i]); /* of a pair */
        assert_int_equal(near[i], (uint32_t)cut->code[i]);
        other += part[cell[i]] != (uint32_t)cut->code[i];
    }
    assert_true(other < ROWS / 5);
    rows_clear(&rows);

    options.unit = false;
    must(sotto_codebook_new(table, mechanism, &options, &next, &err));
    assert_memory_equal(next->place, codebook->place, ROWS * 3 * sizeof(float));
    assert_memory_equal(next->z, codebook->z, ROWS * 3 * sizeof(float));
    sotto_codebook_free(next);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);

    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    assert_ptr_equal(codebook->place, codebook->z);
    mechanism = write_one(codebook, 5, "subset", "u");
    must(sotto_codebook_new(table, mechanism, &options, &next, &err));
    assert_ptr_equal(next->place, next->z);
    sotto_codebook_free(next);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

static void
test_memory(void **state)
{
    struct sotto_codebook_options options = {
        .label = "kind", .cells = 8, .threads = 1, .unit = true};
    struct sotto_codebook_choice choice = {.k = 3, .channel = "subset"};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct sotto_codebook *codebook = NULL;
        struct sotto_mechanism *mechanism = NULL;
        fail_alloc_at(++n);
        status = sotto_codebook_new(table, encoder, &options, &codebook, &err);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_codebook_write(
                codebook, &choice, "1", in_folder("m.sotto"),
                in_folder("m.analyst"), &mechanism, &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
        }
        sotto_mechanism_free(mechanism);
        sotto_codebook_free(codebook);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 50);
}

/* Cells are 500 at most, unless codes are more than half as many: two to a code
   then, if records allow. The first cut of the finer cells is that of a
   codebook which was asked for as many. */
static void
test_fine(void **state)
{
    struct sotto_table *many = people(12000);
    struct sotto_codebook_options options = {.label = "kind", .threads = 1};
    struct sotto_codebook *codebook = NULL, *asked = NULL;
    const struct codebook_cut *cut = NULL, *other = NULL;
    (void)state;
    must(sotto_codebook_new(many, encoder, &options, &codebook, &err));
    assert_int_equal(sotto_codebook_cells(codebook), 500);
    assert_int_equal(codebook_cells_most(codebook), 600);
    must(codebook_prepare(codebook, 1, 250, &err));
    assert_int_equal(sotto_codebook_cells(codebook), 500);
    must(codebook_prepare(codebook, 2, 270, &err));
    assert_int_equal(codebook->books, 2);
    assert_int_equal(sotto_codebook_cells(codebook), 540);
    must(codebook_prepare(codebook, 1, 400, &err));
    assert_int_equal(sotto_codebook_cells(codebook), 600);
    options.cells = 600;
    must(sotto_codebook_new(many, encoder, &options, &asked, &err));
    must(codebook_cut(codebook, 10, &cut, &err));
    must(codebook_cut(asked, 10, &other, &err));
    assert_memory_equal(cut->code, other->code, 12000 * sizeof *cut->code);
    must(codebook_prepare(asked, 1, 400, &err)); /* what was asked for stays */
    assert_int_equal(sotto_codebook_cells(asked), 600);
    sotto_codebook_free(codebook);
    sotto_codebook_free(asked);
    sotto_table_free(many);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup_encoder, teardown_encoder)
    const struct CMUnitTest tests[] = {
        TEST(test_mechanism), TEST(test_device),  TEST(test_decode),
        TEST(test_labels),    TEST(test_threads), TEST(test_refused),
        TEST(test_stopped),   TEST(test_damage),  TEST(test_memory),
        TEST(test_at_once),   TEST(test_unit),    TEST(test_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
