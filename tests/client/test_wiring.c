/*
 * test_wiring.c: what layers may take in either version of the format, and
 * that no buffer is written while something in it is still to be taken.
 */
#include "client_fixture.h"

static struct layer
dense(uint32_t in, uint32_t out, uint16_t back, uint16_t added)
{
    return (struct layer){.in = in, .out = out, .from = {back, added}};
}

static struct layer
conv(uint32_t side, uint32_t channels, uint32_t filters, uint16_t back,
     uint16_t added)
{
    return (struct layer){.kind = LAYER_CONV,
                          .in = side * side * channels,
                          .out = side * side * filters,
                          .image = {side, side, channels},
                          .made = {side, side, filters},
                          .kernel = 1,
                          .stride = 1,
                          .from = {back, added}};
}

/* Buffers of the layers; 0: they are refused. */
static uint32_t
slots_of(uint32_t version, uint32_t width, const struct layer *layer,
         size_t layers, struct wiring *wiring)
{
    struct reader reader;
    uint32_t slots;
    reader_init(&reader, (const uint8_t *)"", 0);
    wiring_start(wiring, width);
    for (size_t i = 0; i < layers; i++) {
        wiring_add(wiring, &reader, version, &layer[i]);
    }
    slots = wiring_finish(wiring, &reader);
    return reader.status == SOTTO_STATUS_OK ? slots : 0;
}

#define SLOTS(version, width, layers)                                          \
    slots_of(version, width, layers, sizeof(layers) / sizeof *(layers), &wiring)

static void
test_line(void **state)
{
    const struct layer line[] = {dense(4, 3, 1, 0), dense(3, 5, 1, 0),
                                 dense(5, 2, 0, 0)};
    struct wiring wiring;
    (void)state;
    assert_int_equal(slots_of(1, 7, NULL, 0, &wiring), 1);
    assert_int_equal(SLOTS(1, 4, line), 2);
    assert_int_equal(SLOTS(2, 4, line), 2);
    assert_int_equal(SLOTS(1, 5, line), 0);
    assert_int_equal(wiring.layers, 0);
}

static void
test_skips(void **state)
{
    const struct layer own[] = {conv(2, 3, 3, 1, 1)};
    const struct layer over[] = {conv(2, 3, 3, 1, 0), conv(2, 3, 3, 1, 2)};
    const struct layer two[] = {conv(2, 3, 3, 1, 0), conv(2, 3, 3, 1, 2),
                                conv(2, 3, 3, 1, 2)};
    const struct layer dense_sum[] = {dense(4, 4, 1, 1)};
    const struct layer back[] = {conv(2, 3, 3, 1, 2)};
    struct wiring wiring;
    (void)state;
    assert_int_equal(SLOTS(1, 12, own), 2);
    assert_int_equal(SLOTS(1, 12, over), 3);
    assert_int_equal(SLOTS(1, 12, two), 0); /* a layer under two skips */
    assert_int_equal(SLOTS(2, 12, two), 3);
    assert_int_equal(SLOTS(1, 4, dense_sum), 0);
    assert_int_equal(SLOTS(2, 4, dense_sum), 2);
    assert_int_equal(SLOTS(1, 12, back), 0);
    assert_int_equal(SLOTS(2, 12, back), 0);
}

static void
test_graphs(void **state)
{
    const struct layer projected[] = {conv(2, 3, 4, 1, 0), conv(2, 3, 4, 2, 0),
                                      conv(2, 4, 4, 2, 1)};
    const struct layer lost[] = {dense(4, 4, 1, 0), dense(4, 4, 2, 0)};
    const struct layer wide[] = {dense(4, 4, 1, 0), dense(4, 5, 1, 2)};
    const struct layer far[] = {dense(4, 4, 2, 0)};
    struct layer turned[] = {conv(2, 3, 6, 1, 0), conv(2, 6, 6, 1, 1)};
    struct wiring wiring;
    (void)state;
    assert_int_equal(SLOTS(1, 12, projected), 0);
    assert_int_equal(SLOTS(2, 12, projected), 3);
    assert_int_equal(SLOTS(2, 4, lost), 0); /* nobody takes layer 0 */
    assert_int_equal(SLOTS(2, 4, wide), 0); /* another number of entries */
    assert_int_equal(SLOTS(2, 4, far), 0);
    assert_int_equal(SLOTS(2, 12, turned), 2);
    turned[1].image.height = 1; /* 24 entries, and another image */
    turned[1].image.width = 4;
    assert_int_equal(SLOTS(2, 12, turned), 0);
}

/* A simulation of the run: what each layer takes is still there. */
static void
check_held(const struct wiring *wiring, const struct layer *layer)
{
    uint32_t held[WIRING_LAYERS_MAX + 1];
    for (size_t i = 0; i <= WIRING_LAYERS_MAX; i++) {
        held[i] = UINT32_MAX;
    }
    held[0] = 0;
    for (uint32_t i = 0; i < wiring->layers; i++) {
        uint32_t input = i + 1 - layer_back(&layer[i]);
        uint32_t slot = wiring->output[i + 1].slot;
        assert_int_equal(held[wiring->output[input].slot], input);
        assert_int_not_equal(slot, wiring->output[input].slot);
        if (layer[i].from[1] > 0) {
            uint32_t added = i + 1 - layer[i].from[1];
            assert_int_equal(held[wiring->output[added].slot], added);
            assert_int_not_equal(slot, wiring->output[added].slot);
        }
        held[slot] = i + 1;
    }
}

/* Random graphs of dense layers: all that are taken are held, and a layer that
   none takes is refused. */
static void
test_random(void **state)
{
    struct seeded seeded;
    uint32_t good = 0, most = 0;
    (void)state;
    seeded_init(&seeded, 5, 0);
    for (int round = 0; round < 3000; round++) {
        struct layer layer[WIRING_LAYERS_MAX + 1];
        struct wiring wiring;
        size_t layers =
            1 + random_u32(&seeded.random) % (uint32_t)(round % 12 + 1);
        uint64_t taken = 0;
        for (uint32_t i = 0; i < layers; i++) {
            uint32_t reach = i < 3 ? i + 1 : 4;
            uint32_t back = 1 + random_u32(&seeded.random) % reach;
            uint32_t added = random_u32(&seeded.random) % (reach + 1);
            layer[i] = dense(4, 4, (uint16_t)back, (uint16_t)added);
            taken |= UINT64_C(1) << (i + 1 - back);
            taken |= added > 0 ? UINT64_C(1) << (i + 1 - added) : 0;
        }
        uint32_t slots = slots_of(2, 4, layer, layers, &wiring);
        assert_int_equal(slots > 0, taken == (UINT64_C(1) << layers) - 1);
        if (slots > 0) {
            check_held(&wiring, layer);
            good++;
            most = slots > most ? slots : most;
        }
    }
    print_message("%u graphs, at most %u buffers\n", good, most);
    assert_true(good > 200 && most > 3 && most <= 6);
}

/* One layer more than there is room for changes nothing. */
static void
test_full(void **state)
{
    struct layer layer[WIRING_LAYERS_MAX + 1];
    struct wiring wiring;
    (void)state;
    for (size_t i = 0; i <= WIRING_LAYERS_MAX; i++) {
        layer[i] = dense(4, 4, 1, 0);
    }
    assert_int_equal(slots_of(2, 4, layer, WIRING_LAYERS_MAX + 1, &wiring), 2);
    assert_int_equal(wiring.layers, WIRING_LAYERS_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),   cmocka_unit_test(test_skips),
        cmocka_unit_test(test_graphs), cmocka_unit_test(test_random),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
