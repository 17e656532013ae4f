/*
 * test_same.c: whether two mechanisms make the same of every record.
 */
#include "mechanism_fixture.h"

#include "mechanism/same.h"

/* Compares the image's mechanism with one whose layer `at` is another. */
static bool
same_but(size_t at, const struct layer *layer, size_t layers)
{
    struct sotto_mechanism *a = fixture_open(&fixture_image), *b;
    struct layer copy[5];
    struct compose_spec spec = fixture_image;
    bool same;
    memcpy(copy, fixture_image_layer, sizeof copy);
    copy[at] = *layer;
    spec.layer = copy;
    spec.name = "another";
    b = fixture_open(&spec);
    same = same_layers(a, b, layers);
    sotto_mechanism_free(a);
    sotto_mechanism_free(b);
    return same;
}

static void
test_layers(void **state)
{
    struct layer layer = fixture_image_layer[2];
    (void)state;
    assert_true(same_but(2, &layer, 5));
    assert_false(same_but(2, &layer, 6)); /* it has no more */
    layer.activation = ACTIVATION_RELU;
    assert_false(same_but(2, &layer, 5));
    assert_true(same_but(2, &layer, 2));
    layer = fixture_image_layer[2];
    layer.bias = fixture_image_weight; /* other numbers */
    assert_false(same_but(2, &layer, 5));
    layer = fixture_image_layer[2];
    layer.from[1] = 0;
    assert_false(same_but(2, &layer, 5));
    layer = fixture_image_layer[1];
    layer.kind = LAYER_POOL_MEAN;
    assert_false(same_but(1, &layer, 5));
}

/* The encoded fixture with some of its columns changed. */
static bool
same_columns(const struct schema_column *column, size_t columns, uint32_t label)
{
    struct compose_part part[2] = {fixture_encoded_part[0],
                                   fixture_encoded_part[1]};
    struct compose_spec spec = fixture_encoded;
    struct sotto_mechanism *a = fixture_open(&fixture_encoded), *b;
    bool same;
    part[0].factor[1].at = label;
    part[0].eps /= 2; /* a budget may differ */
    spec.part = part;
    spec.column = column;
    spec.columns = columns;
    b = fixture_open(&spec);
    same = same_code(a, b);
    assert_int_equal(same_layers(a, b, 1), same);
    sotto_mechanism_free(a);
    sotto_mechanism_free(b);
    return same;
}

static void
test_inputs(void **state)
{
    struct schema_column column[FIXTURE_COLUMNS];
    (void)state;
    memcpy(column, fixture_column, sizeof column);
    assert_true(same_columns(column, 4, 3));
    column[2] = column[3];
    assert_true(same_columns(column, 3, 2)); /* a column that it did not take */
    column[0].scale /= 2;
    assert_false(same_columns(column, 3, 2));
    column[0].scale *= 2;
    column[0].clip = true;
    assert_false(same_columns(column, 3, 2));
    column[0].clip = false;
    column[0].log = true;
    assert_false(same_columns(column, 3, 2));
    column[0].log = false;
    column[0].name = "aged";
    assert_false(same_columns(column, 3, 2));
    column[0] = fixture_column[1];
    column[1] = fixture_column[0];
    assert_false(same_columns(column, 3, 2)); /* in another order */
}

static void
test_codes(void **state)
{
    struct sotto_mechanism *pair = fixture_open(&fixture_encoded);
    struct sotto_mechanism *none = fixture_open(&fixture_plain), *other;
    struct compose_part part[2] = {fixture_encoded_part[0],
                                   fixture_encoded_part[1]};
    struct compose_spec spec = fixture_encoded;
    (void)state;
    assert_true(same_code(pair, pair));
    assert_false(same_code(pair, none));
    assert_false(same_code(none, none));
    part[0].factor[0].k = 2; /* of the first two outputs */
    spec.part = part;
    other = fixture_open(&spec);
    assert_false(same_code(pair, other));
    sotto_mechanism_free(pair);
    sotto_mechanism_free(none);
    sotto_mechanism_free(other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
