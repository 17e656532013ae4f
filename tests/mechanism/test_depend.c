/*
 * test_depend.c: which columns a part can depend on, from the file alone.
 */
#include "mechanism_fixture.h"

#include "mechanism/depend.h"

/* Checks the blocks of every part that can depend on every column. */
static void
check(const struct compose_spec *spec, const size_t *blocks)
{
    struct sotto_mechanism *mechanism = fixture_open(spec);
    for (size_t i = 0; i < spec->parts; i++) {
        for (size_t j = 0; j < spec->columns; j++) {
            assert_int_equal(depend_blocks(mechanism, i, j),
                             blocks[i * spec->columns + j]);
        }
    }
    sotto_mechanism_free(mechanism);
}

/* age, pixels (2), colour and label: a number, a pair of numbers, a symbol, a
   pair of symbols. */
static void
test_without_an_encoder(void **state)
{
    static const size_t blocks[] = {1, 0, 0, 0, /**/ 0, 1, 0, 0,
                                    0, 0, 1, 0, /**/ 0, 0, 1, 1};
    (void)state;
    check(&fixture_plain, blocks);
}

/* Of three blocks of one number each, those that the column fills. */
static void
test_blocks(void **state)
{
    static const size_t blocks[] = {1, 2, 0, 0};
    struct compose_spec spec = fixture_plain;
    struct compose_part part = fixture_plain_part[0];
    struct sotto_mechanism *mechanism;
    (void)state;
    part.blocks = 3;
    spec.part = &part;
    spec.parts = 1;
    check(&spec, blocks);
    mechanism = fixture_open(&spec);
    assert_int_equal(depend_eps(mechanism, 0), part.eps);
    assert_int_equal(depend_eps(mechanism, 1), 2 * part.eps);
    assert_int_equal(depend_eps(mechanism, 3), 0);
    sotto_mechanism_free(mechanism);
}

/* Behind a layer every input may be in every output. */
static void
test_with_an_encoder(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        bool goes_in = mechanism->shape.schema.column[i].inputs > 0;
        assert_int_equal(depend_blocks(mechanism, 0, i), goes_in);
        assert_int_equal(depend_blocks(mechanism, 1, i), goes_in ? 3 : 0);
    }
    assert_true(mechanism->shape.schema.column[0].inputs > 0);
    assert_int_equal(mechanism->shape.schema.column[3].inputs, 0);
    assert_int_equal(depend_blocks(mechanism, 0, 3), 1); /* the factor */
    assert_int_equal(depend_blocks(mechanism, 1, 3), 0);
    sotto_mechanism_free(mechanism);
}

/* The age has no weight in the first layer; a later one may take x, too. */
static void
test_weightless(void **state)
{
    static const float blind[9] = {0, 1, 0, 0, 0, 1, 0, 1, 1};
    static const uint16_t ways[][2] = {{0, 0}, {0, 2}};
    struct layer layer[2] = {fixture_layer, fixture_layer};
    struct compose_spec spec = fixture_encoded;
    (void)state;
    layer[0].weight = blind;
    spec.layer = layer;
    for (size_t layers = 1; layers <= 2; layers++) {
        for (size_t i = 0; i < layers; i++) {
            struct sotto_mechanism *mechanism;
            layer[1].from[0] = ways[i][0];
            layer[1].from[1] = ways[i][1];
            spec.layers = layers;
            mechanism = fixture_open(&spec);
            assert_int_equal(depend_weightless(mechanism, 0), i == 0);
            assert_false(depend_weightless(mechanism, 1));
            assert_false(depend_weightless(mechanism, 2)); /* no input */
            sotto_mechanism_free(mechanism);
        }
    }
}

/* What a maker declares is compared with what can be. */
static void
test_contradictions(void **state)
{
    struct compose_part parts[4];
    struct compose_spec spec = fixture_plain;
    struct sotto_mechanism *mechanism;
    char *text = NULL;
    (void)state;
    memcpy(parts, fixture_plain_part, sizeof parts);
    spec.part = parts;
    mechanism = fixture_open(&spec);
    for (size_t i = 0; i < 4; i++) {
        assert_false(depend_contradicts(mechanism, i));
    }
    assert_int_equal(sotto_mechanism_describe(mechanism, false, &text, NULL),
                     SOTTO_STATUS_OK);
    fixture_in(text, "  - age: at most 2 (part 1)");
    fixture_in(text, "  - label: at most 3 (part 4)");
    assert_null(strstr(text, "LABELLING IS WRONG"));
    free(text);
    sotto_mechanism_free(mechanism);
    parts[3].covers = "label"; /* of colour x label */
    mechanism = fixture_open(&spec);
    assert_true(depend_contradicts(mechanism, 3));
    assert_int_equal(sotto_mechanism_describe(mechanism, false, &text, NULL),
                     SOTTO_STATUS_OK);
    fixture_in(text, "LABELLING IS WRONG");
    free(text);
    sotto_mechanism_free(mechanism);
    parts[3] = fixture_plain_part[2];
    parts[3].covers = "label"; /* the same colour as features and as label */
    mechanism = fixture_open(&spec);
    assert_true(depend_contradicts(mechanism, 2));
    assert_false(depend_contradicts(mechanism, 3));
    assert_false(depend_contradicts(mechanism, 0));
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_an_encoder),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_with_an_encoder),
        cmocka_unit_test(test_weightless),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
