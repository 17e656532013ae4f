/*
 * test_shape.c: what kind of mechanism it is, for each kind there is.
 */
#include "mechanism_fixture.h"

#include "fail_alloc.h"

static struct sotto_error err;

static void
test_plain(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    const struct shape *shape = &mechanism->shape;
    size_t offset = 4 + SOTTO_HASH_SIZE + SOTTO_ID_SIZE;
    (void)state;
    assert_int_equal(shape->schema.columns, 4);
    assert_int_equal(shape->layers, 0);
    assert_int_equal(shape->parts, 4);
    assert_int_equal(shape->x, 3);
    assert_int_equal(shape->z, 3);
    assert_int_equal(shape->q, 1 + 2 + 1 + 1);
    assert_int_equal(shape->work, 0);
    assert_true(shape->eps == 7 * DECIMAL_UNIT && shape->delta == 0);
    for (size_t i = 0; i < 4; i++) {
        const struct shape_part *part = &shape->part[i];
        assert_int_equal(part->numbers, i < 2);
        assert_int_equal(part->offset, offset);
        assert_int_equal(shape_offset(shape, i, 0), offset);
        assert_int_equal(part->cells, 0);
        offset += part->instance->wire_size;
    }
    assert_int_equal(shape->report_size, offset);
    assert_int_equal(shape->part[1].role, SHAPE_FEATURES);
    assert_int_equal(shape->part[1].from, 1);
    assert_int_equal(shape->part[1].width, 2);
    assert_int_equal(shape->part[2].column, 2);
    /* A colour and a label, but no code. */
    assert_int_equal(shape->part[3].role, SHAPE_OTHER);
    assert_string_equal(shape->part[3].covers, "both");
    assert_true(shape->part[3].column == SIZE_MAX);
    assert_true(shape->code == SIZE_MAX && shape->label == SIZE_MAX);
    assert_true(shape->label_part == SIZE_MAX);
    sotto_mechanism_free(mechanism);
}

static void
test_columns(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    static const size_t at[] = {0, 1, 3, 3}, inputs[] = {1, 2, 0, 0};
    (void)state;
    for (size_t i = 0; i < FIXTURE_COLUMNS; i++) {
        const struct schema_column *column = &mechanism->shape.schema.column[i];
        assert_string_equal(column->name, fixture_column[i].name);
        assert_int_equal(column->kind, fixture_column[i].kind);
        assert_int_equal(column->count, fixture_column[i].count);
        assert_true(column->shift == fixture_column[i].shift);
        assert_true(column->scale == fixture_column[i].scale);
        assert_int_equal(column->at, at[i]);
        assert_int_equal(column->inputs, inputs[i]);
        assert_false(column->label); /* part 4 is no pair of a code */
    }
    sotto_mechanism_free(mechanism);
}

static void
test_pair(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    const struct shape *shape = &mechanism->shape;
    (void)state;
    assert_int_equal(shape->part[0].role, SHAPE_PAIR);
    assert_int_equal(shape->part[0].cells, 3);
    assert_int_equal(shape->part[0].from, 0);
    assert_int_equal(shape->part[0].column, 3);
    assert_int_equal(shape->part[1].role, SHAPE_FEATURES);
    assert_int_equal(shape_offset(shape, 1, 2),
                     shape->part[1].offset +
                         2 * shape->part[1].instance->wire_size);
    assert_int_equal(shape->code, 0);
    assert_int_equal(shape->label, 3);
    assert_true(shape->label_part == SIZE_MAX);
    assert_int_equal(shape->layers, 1);
    assert_int_equal(shape->z_layers, 0); /* the one layer gives scores */
    assert_int_equal(shape->q, 1 + 3);
    assert_int_equal(shape->work, 9);
    assert_true(shape->schema.column[3].label);
    assert_false(shape->schema.column[2].label);
    /* The pair is about two things, so about no column alone. */
    assert_true(sotto_mechanism_part_column(mechanism, 0, 0) == SIZE_MAX);
    sotto_mechanism_free(mechanism);
}

static void
test_label(void **state)
{
    static const size_t width[] = {16, 8, 8, 8, 2, 3};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_image);
    const struct shape *shape = &mechanism->shape;
    (void)state;
    assert_int_equal(shape->part[1].role, SHAPE_LABEL);
    assert_int_equal(shape->label, 1);
    assert_int_equal(shape->label_part, 1);
    assert_true(shape->schema.column[1].label);
    assert_true(shape->code == SIZE_MAX);
    assert_int_equal(shape->z_layers, 5);
    assert_int_equal(shape->q, 3);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(shape->width[i], width[i]);
    }
    assert_int_equal(shape->x, 16);
    assert_int_equal(shape->z, 3);
    sotto_mechanism_free(mechanism);
}

/* The largest of the outputs alone; a label of numbers; of two columns. */
static void
test_others(void **state)
{
    struct compose_part part = fixture_encoded_part[0];
    struct compose_spec spec = fixture_encoded;
    struct sotto_mechanism *mechanism = fixture_open(&fixture_numbers);
    (void)state;
    assert_int_equal(mechanism->shape.part[2].role, SHAPE_OTHER);
    assert_true(mechanism->shape.label == SIZE_MAX);
    assert_true(mechanism->shape.delta == 1500000);
    sotto_mechanism_free(mechanism);
    part.covers = "features";
    part.factors = 1;
    part.factor[0].at = 1;
    part.factor[0].k = 2;
    spec.part = &part;
    spec.parts = 1;
    mechanism = fixture_open(&spec);
    assert_int_equal(mechanism->shape.part[0].role, SHAPE_CODE);
    assert_int_equal(mechanism->shape.part[0].from, 1);
    assert_int_equal(mechanism->shape.part[0].cells, 2);
    assert_true(mechanism->shape.part[0].column == SIZE_MAX);
    assert_int_equal(mechanism->shape.code, 0);
    sotto_mechanism_free(mechanism);
    part = fixture_plain_part[3];
    part.covers = "label";
    spec = fixture_plain;
    spec.part = &part;
    spec.parts = 1;
    mechanism = fixture_open(&spec);
    assert_int_equal(mechanism->shape.part[0].role, SHAPE_LABEL);
    assert_true(mechanism->shape.part[0].column == SIZE_MAX);
    assert_true(mechanism->shape.label == SIZE_MAX);
    assert_true(mechanism->shape.schema.column[2].label);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_image);
    struct shape shape;
    (void)state;
    for (long n = 1; n <= 4; n++) {
        fail_alloc_at(n);
        assert_int_equal(shape_init(&shape, &mechanism->device, &err),
                         SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    assert_int_equal(shape_init(&shape, &mechanism->device, &err),
                     SOTTO_STATUS_OK);
    shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),  cmocka_unit_test(test_columns),
        cmocka_unit_test(test_pair),   cmocka_unit_test(test_label),
        cmocka_unit_test(test_others), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
