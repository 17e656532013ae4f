/*
 * vector_cases.h: where tests/vectors comes from: mechanisms, records and
 * entropy, chosen so that every rule of docs/format.md shows in some vector.
 *
 *     test_vectors --write tests/vectors
 *
 * writes the files anew. They are committed and must not change: a vector
 * that does is a change of the format or of the samplers.
 */
#ifndef TESTS_CLIENT_VECTOR_CASES_H
#define TESTS_CLIENT_VECTOR_CASES_H

#include <math.h>

#include <jansson.h>
#include <sodium.h>

#include "client_fixture.h"
#include "sotto/sotto.h"

#define ENTROPY_SIZE 65536u
#define UNSEEDED 0
#define FIRST_DRAW (SOTTO_ID_SIZE + DRAW_TABLES_SIZE)

/* Entropy is a stream by seed, or one byte repeated, with some bytes set. */
struct vector_case {
    const char *name, *about;
    const struct compose_spec *spec;
    struct sotto_value record[4];
    uint32_t seed; /* UNSEEDED: `fill` */
    uint8_t fill;
    void (*adjust)(uint8_t *entropy);
};

/* ---- Columns and specs -------------------------------------------------- */

#define NUMBER(name, shift, scale)                                             \
    {                                                                          \
        name, SOTTO_COLUMN_NUMBER, 1, NULL, false, shift, scale                \
    }
#define BYTES(name, count)                                                     \
    {                                                                          \
        name, SOTTO_COLUMN_BYTES, count, NULL, false, 127.5, 1 / 127.5         \
    }
#define CATEGORY(name, count)                                                  \
    {                                                                          \
        name, SOTTO_COLUMN_CATEGORY, count, vector_values, false, 0, 1         \
    }
#define SYMBOLS(channel, eps, ...)                                             \
    {                                                                          \
        "label", channel, UNITS(eps), 1, 0, 0, 0, {__VA_ARGS__}, 1             \
    }
#define LATTICE(eps, blocks, d, l)                                             \
    {                                                                          \
        "features", "laplace", UNITS(eps), blocks, 0, d, l, {{0}}, 0           \
    }
#define NUMBERS(channel, eps, blocks, d, l, delta)                             \
    {                                                                          \
        "features", channel, UNITS(eps), blocks, 0, d, l, {{0}}, 0,            \
            UNITS(delta)                                                       \
    }
/* One column, no encoder, one part. */
#define PLAIN(id, eps, one_column, ...)                                        \
    static const struct schema_column id##_column = one_column;                \
    static const struct compose_part id##_part = __VA_ARGS__;                  \
    static const struct compose_spec id = {                                    \
        "vector", "vectors", "none", UNITS(eps), &id##_column,                 \
        1,        NULL,      0,      &id##_part, 1}

static const char *vector_values[400];
static char vector_text[400][8];
static uint8_t vector_bytes[400];

PLAIN(flip_2, 1, CATEGORY("c", 2), SYMBOLS("flip", 1, {true, 0, 0}));
PLAIN(flip_4, 0.75, CATEGORY("c", 4), SYMBOLS("flip", 0.75, {true, 0, 0}));
PLAIN(flip_5, 1, CATEGORY("c", 5), SYMBOLS("flip", 1, {true, 0, 0}));
PLAIN(flip_256, 5, BYTES("b", 256), SYMBOLS("flip", 5, {false, 0, 256}));
PLAIN(flip_257, 12, BYTES("b", 257), SYMBOLS("flip", 12, {false, 0, 257}));
PLAIN(subset_10, 1, CATEGORY("c", 10), SYMBOLS("subset", 1, {true, 0, 0}));
PLAIN(subset_300, 0.5, CATEGORY("c", 300),
      SYMBOLS("subset", 0.5, {true, 0, 0}));
PLAIN(subset_400, 3, BYTES("b", 400), SYMBOLS("subset", 3, {false, 0, 400}));
PLAIN(laplace_2, 4, BYTES("b", 3), LATTICE(4, 1, 3, 16));
PLAIN(laplace_4, 1, BYTES("b", 3), LATTICE(1, 1, 3, 4096));
PLAIN(laplace_8, 0.000001, BYTES("b", 2), LATTICE(0.000001, 1, 2, 1048576));
PLAIN(laplace_ends, 4, NUMBER("n", 0, 1), LATTICE(4, 1, 1, 16));
PLAIN(laplace_70, 8, BYTES("b", 70), LATTICE(8, 1, 70, 1000));
PLAIN(blocks_30, 3, BYTES("b", 30), LATTICE(0.1, 30, 1, 50));

PLAIN(duchi_8, 1, BYTES("b", 8), NUMBERS("duchi", 1, 1, 8, 128, 0));
PLAIN(duchi_13, 4, BYTES("b", 13), NUMBERS("duchi", 4, 1, 13, 1048576, 0));
PLAIN(window_2, 2, NUMBER("n", 0, 1), NUMBERS("window", 2, 1, 1, 4096, 0));
PLAIN(window_4, 1.5, BYTES("b", 3), NUMBERS("window", 0.5, 3, 1, 32767, 0));
PLAIN(gaussian_2, 4, BYTES("b", 3),
      NUMBERS("gaussian", 4, 1, 3, 256, 0.000001));
PLAIN(gaussian_4, 0.5, BYTES("b", 4),
      NUMBERS("gaussian", 0.25, 2, 2, 4096, 0.001));

/* Pairs of two columns, and of a column and the largest of z. */
static const struct schema_column signs_even_columns[] = {CATEGORY("c", 10),
                                                          CATEGORY("d", 10)};
static const struct compose_part signs_even_part = {
    "both", "signs", UNITS(0.1), 1, 0, 0, 0, {{true, 0, 0}, {true, 1, 0}}, 2};
static const struct compose_spec signs_even = {
    "signs", "vectors", "none", UNITS(0.1),       signs_even_columns,
    2,       NULL,      0,      &signs_even_part, 1};
static const struct schema_column signs_odd_columns[] = {BYTES("b", 17),
                                                         CATEGORY("c", 9)};
static const struct compose_part signs_odd_part = {
    "both", "signs", UNITS(1), 1, 0, 0, 0, {{false, 0, 17}, {true, 1, 0}}, 2};
static const struct compose_spec signs_odd = {
    "signs", "vectors", "none", UNITS(1),        signs_odd_columns,
    2,       NULL,      0,      &signs_odd_part, 1};

/* A ball, a cube and two lines of one record, and a label. */
static const struct schema_column mixed_columns[] = {
    NUMBER("a", 10, 0.05), NUMBER("b", -5, 0.2), BYTES("c", 3),
    CATEGORY("d", 3)};
static const struct compose_part mixed_parts[] = {
    {"features", "gaussian", UNITS(1), 1, 0, 2, 64, {{0}}, 0, UNITS(0.000005)},
    {"features", "duchi", UNITS(1), 1, 2, 3, 4096, {{0}}, 0, 0},
    {"features", "window", UNITS(0.5), 2, 0, 1, 100, {{0}}, 0, 0},
    SYMBOLS("subset", 1, {true, 3, 0}),
};
static const struct compose_spec mixed = {
    "mixed", "vectors", "none", UNITS(4),    mixed_columns,
    4,       NULL,      0,      mixed_parts, 4};

static const float pair_weight[] = {-1, -0.5f, 0, 0.5f, 1};
static const float pair_bias[] = {0, 0.25f, 0.375f, 0.25f, 0};
static const struct layer pair_layer = {1, 5, ACTIVATION_NONE, pair_weight,
                                        pair_bias};
static const struct schema_column pair_columns[] = {NUMBER("n", 10, 0.125),
                                                    CATEGORY("c", 3)};
static const struct compose_part pair_parts[] = {
    {"both", "flip", UNITS(3.5), 1, 0, 0, 0, {{true, 1, 0}, {false, 0, 5}}, 2},
    {"both",
     "subset",
     UNITS(0.5),
     1,
     0,
     0,
     0,
     {{false, 1, 3}, {true, 1, 0}, {false, 0, 2}},
     3},
};
static const struct compose_spec pair = {
    "pair", "vectors",   "none", UNITS(4),   pair_columns,
    2,      &pair_layer, 1,      pair_parts, 2};

/* An image of 6 x 6 x 2 to five numbers: every kind of layer, a skip over two
   layers; and one of 5 x 7 x 3 with a stride, a wide kernel and a skip of its
   own input. */
#define VECTOR_WEIGHTS 900
static float image_weight[VECTOR_WEIGHTS];
#define WINDOW(kind, height, width, channels, filters, kernel, stride, pad,    \
               skip)                                                           \
    kind, {{height, width, channels}}, {{0, 0, filters}}, kernel, stride, pad, \
    {                                                                          \
        0, skip                                                                \
    }
static const struct layer image_layers[] = {
    {72, 144, ACTIVATION_RELU, image_weight, image_weight + 72,
     WINDOW(LAYER_CONV, 6, 6, 2, 4, 3, 1, 1, 0)},
    {144, 64, ACTIVATION_NONE, NULL, NULL,
     WINDOW(LAYER_POOL_MAX, 6, 6, 4, 0, 2, 2, 1, 0)},
    {64, 96, ACTIVATION_RELU, image_weight + 76, image_weight + 292,
     WINDOW(LAYER_CONV, 4, 4, 4, 6, 3, 1, 1, 0)},
    {96, 64, ACTIVATION_RELU, image_weight + 298, image_weight + 514,
     WINDOW(LAYER_CONV, 4, 4, 6, 4, 3, 1, 1, 2)},
    {64, 16, ACTIVATION_NONE, NULL, NULL,
     WINDOW(LAYER_POOL_MEAN, 4, 4, 4, 0, 3, 2, 1, 0)},
    {16, 5, ACTIVATION_NONE, image_weight + 518, image_weight + 598},
};
static const struct layer stride_layers[] = {
    {105, 24, ACTIVATION_RELU, image_weight + 600, image_weight + 750,
     WINDOW(LAYER_CONV, 5, 7, 3, 2, 5, 2, 2, 0)},
    {24, 24, ACTIVATION_NONE, image_weight + 752, image_weight + 770,
     WINDOW(LAYER_CONV, 3, 4, 2, 2, 3, 1, 1, 1)},
};
static const struct schema_column image_columns[] = {BYTES("image", 72),
                                                     CATEGORY("label", 3)};
static const struct schema_column stride_column = BYTES("image", 105);
static const struct compose_part image_parts[] = {
    {"both", "subset", UNITS(2), 1, 0, 0, 0, {{false, 0, 5}, {true, 1, 0}}, 2},
    LATTICE(2, 1, 3, 1000),
};
static const struct compose_part stride_part = LATTICE(16, 1, 24, 1000);
static const struct compose_spec image_spec = {
    "image", "vectors",    "none", UNITS(4),    image_columns,
    2,       image_layers, 6,      image_parts, 2};
static const struct compose_spec stride_spec = {
    "image", "vectors",     "none", UNITS(16),    &stride_column,
    1,       stride_layers, 2,      &stride_part, 1};

/* Version 2. A shortcut with a projection (layer 1 takes x too and is added by
   layer 2), an output that is added twice, a dense layer that adds its own
   input; weights of halves. */
static uint16_t half_weight[200];
static const struct layer shortcut_layers[] = {
    {32, 12, ACTIVATION_RELU, image_weight, image_weight + 54,
     WINDOW(LAYER_CONV, 4, 4, 2, 3, 3, 2, 1, 0)},
    {32,
     12,
     ACTIVATION_NONE,
     NULL,
     image_weight + 60,
     LAYER_CONV,
     {{4, 4, 2}},
     {{0, 0, 3}},
     1,
     2,
     0,
     {2, 0},
     true,
     .half = half_weight},
    {12,
     12,
     ACTIVATION_RELU,
     image_weight + 64,
     image_weight + 145,
     LAYER_CONV,
     {{2, 2, 3}},
     {{0, 0, 3}},
     3,
     1,
     1,
     {2, 1}},
    {12, 5, ACTIVATION_RELU, NULL, image_weight + 148, .bf16 = true,
     .half = half_weight + 6},
    {5, 5, ACTIVATION_NONE, image_weight + 153, image_weight + 178,
     .from = {0, 1}},
};
static const struct schema_column shortcut_column = BYTES("image", 32);
static const struct compose_part shortcut_part = LATTICE(4, 1, 5, 1000);
static const struct compose_spec shortcut = {
    "shortcut", "vectors",       "none", UNITS(4),       &shortcut_column,
    1,          shortcut_layers, 5,      &shortcut_part, 1};

/* Missing values told apart, a clipped number, a label compared with a class;
   what the auxiliary data cost, and an end. */
static const struct schema_column terms_columns[] = {
    {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 10, 0.125, true, true},
    {"c", SOTTO_COLUMN_CATEGORY, 4, vector_values, true, 0, 1, true, false},
    {"label", SOTTO_COLUMN_CATEGORY, 3, vector_values, false, 0, 1}};
static const struct compose_part terms_parts[] = {
    {"features", "laplace", UNITS(1), 2, 0, 1, 64, {{0}}, 0},
    {"both", "flip", UNITS(2), 1, 0, 0, 0, {{false, 2, 3, true, 2}}, 1},
    {"features", "subset", UNITS(1), 1, 0, 0, 0, {{true, 1, 0}}, 1}};
static const struct compose_spec terms = {.name = "terms",
                                          .campaign = "vectors",
                                          .auxiliary = "people who agreed",
                                          .eps = UNITS(5),
                                          .column = terms_columns,
                                          .columns = 3,
                                          .part = terms_parts,
                                          .parts = 3,
                                          .central_eps = {"3", 1},
                                          .central_delta = {"0.00001", 7},
                                          .expires = 1893456000};

/* Three codebooks, one of which is asked together with a label by lot, and a
   part behind it. */
static const struct schema_column book_columns[] = {
    {"b", SOTTO_COLUMN_BYTES, 15, NULL, false, 127.5, 1 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, vector_values, false, 0, 1}};
static const struct compose_part book_parts[] = {
    {"both",
     "subset",
     UNITS(2),
     1,
     0,
     0,
     0,
     {{false, 0, 5}, {true, 1, 0}},
     2,
     .books = 3},
    {"label", "flip", UNITS(1), 1, 0, 0, 0, {{true, 1, 0}}, 1}};
static const struct compose_spec books = {
    "books", "vectors", "none", UNITS(3),   book_columns,
    2,       NULL,      0,      book_parts, 2};

/* A clipped number whose scale can make it no number. */
static const struct schema_column steep_column = {
    "n", SOTTO_COLUMN_NUMBER, 1,     NULL, false,
    10,  (double)INFINITY,    false, true};
static const struct compose_part steep_part = LATTICE(1, 1, 1, 64);
static const struct compose_spec steep = {
    "steep", "vectors", "none", UNITS(1),    &steep_column,
    1,       NULL,      0,      &steep_part, 1};

/* A number of which the logarithm is told. */
static const struct schema_column log_column = {.name = "n",
                                                .kind = SOTTO_COLUMN_NUMBER,
                                                .count = 1,
                                                .shift = 10,
                                                .scale = 0.25,
                                                .missing = true,
                                                .log = true};
static const struct compose_part log_part = LATTICE(1, 1, 2, 64);
static const struct compose_spec logarithm = {
    "logarithm", "vectors", "none", UNITS(1),  &log_column,
    1,           NULL,      0,      &log_part, 1};

static const float nan_weight[] = {NAN, INFINITY, -INFINITY, 0};
static const float nan_bias[] = {0, NAN, 3e38f, -0.0f};
static const struct layer nan_layer = {1, 4, ACTIVATION_NONE, nan_weight,
                                       nan_bias};
static const struct schema_column nan_column = NUMBER("n", 0, 1);
static const struct compose_part nan_parts[] = {
    LATTICE(1, 2, 2, 64), SYMBOLS("flip", 1, {false, 0, 4})};
static const struct compose_spec hostile = {
    "hostile", "vectors",  "none", UNITS(3),  &nan_column,
    1,         &nan_layer, 1,      nan_parts, 2};

static const struct compose_part ball_parts[] = {
    NUMBERS("gaussian", 1, 1, 4, 64, 0.000001),
    NUMBERS("duchi", 1, 1, 4, 64, 0)};
static const struct compose_spec hostile_ball = {
    "hostile", "vectors",  "none", UNITS(2),   &nan_column,
    1,         &nan_layer, 1,      ball_parts, 2};

/* ---- Entropy ------------------------------------------------------------ */

/* Behind the id lie the tail of the tables and the draw of a hit: the first
   try of a draw below 3 is 0, which is rejected. */
static void
reject_once(uint8_t *entropy)
{
    memset(entropy + FIRST_DRAW + DRAW_SYMBOL_SIZE, 0, DRAW_BELOW_SIZE);
}

/* Every draw from a table is 2: below every threshold in use, and no tie. */
static void
draw_largest(uint8_t *entropy)
{
    memset(entropy + FIRST_DRAW, 0, ENTROPY_SIZE - FIRST_DRAW);
    for (size_t i = FIRST_DRAW; i < ENTROPY_SIZE; i += DRAW_SYMBOL_SIZE) {
        entropy[i] = 2;
    }
}

/* The same, but the sign's draw is 3/4: plus. */
static void
draw_largest_plus(uint8_t *entropy)
{
    draw_largest(entropy);
    entropy[FIRST_DRAW + DRAW_SYMBOL_SIZE - 1] = 0xc0;
}

/* ---- The cases ---------------------------------------------------------- */

#define TEXT(text)                                                             \
    {                                                                          \
        SOTTO_VALUE_TEXT, 0, text, sizeof(text) - 1                            \
    }
#define VALUE(x)                                                               \
    {                                                                          \
        SOTTO_VALUE_NUMBER, x, NULL, 0                                         \
    }
#define PIXELS(count)                                                          \
    {                                                                          \
        SOTTO_VALUE_BYTES, 0, vector_bytes, count                              \
    }
#define MISSING                                                                \
    {                                                                          \
        SOTTO_VALUE_MISSING, 0, NULL, 0                                        \
    }

static struct compose_spec everything_spec;

static const struct vector_case vector_cases[] = {
    {"flip-2", "two symbols", &flip_2, {TEXT("v0")}, 1, 0, NULL},
    {"flip-other",
     "an unknown category is the last symbol",
     &flip_5,
     {TEXT("elsewhere")},
     2,
     0,
     NULL},
    {"flip-256",
     "the most symbols in one byte; the largest of z",
     &flip_256,
     {PIXELS(256)},
     3,
     0,
     NULL},
    {"flip-257",
     "the fewest symbols in two bytes",
     &flip_257,
     {PIXELS(257)},
     4,
     0,
     NULL},
    {"flip-rejected",
     "a draw below 3 that is rejected and made again",
     &flip_4,
     {TEXT("v1")},
     5,
     0,
     reject_once},
    {"flip-zeros",
     "entropy all 00: the truth",
     &flip_5,
     {TEXT("v3")},
     UNSEEDED,
     0x00,
     NULL},
    {"flip-ones",
     "entropy all ff: the last of the others",
     &flip_5,
     {TEXT("v3")},
     UNSEEDED,
     0xff,
     NULL},
    {"subset-10",
     "a set of several symbols",
     &subset_10,
     {TEXT("v7")},
     6,
     0,
     NULL},
    {"subset-300",
     "a bitmap of 38 bytes, 4 bits of it unused",
     &subset_300,
     {TEXT("v299")},
     7,
     0,
     NULL},
    {"subset-400",
     "more entropy than the buffer holds: a second fetch",
     &subset_400,
     {PIXELS(400)},
     8,
     0,
     NULL},
    {"subset-ones",
     "entropy all ff",
     &subset_10,
     {TEXT("v0")},
     UNSEEDED,
     0xff,
     NULL},
    {"signs-10x10",
     "a pair, by signs of either; as many plus as minus",
     &signs_even,
     {TEXT("v7"), TEXT("v2")},
     31,
     0,
     NULL},
    {"signs-17x9",
     "signs of odd number: one more plus or minus, 14 bits unused",
     &signs_odd,
     {PIXELS(17), TEXT("v8")},
     32,
     0,
     NULL},
    {"signs-ones",
     "entropy all ff",
     &signs_odd,
     {PIXELS(17), TEXT("v0")},
     UNSEEDED,
     0xff,
     NULL},
    {"laplace-2", "numbers of two bytes", &laplace_2, {PIXELS(3)}, 9, 0, NULL},
    {"laplace-4",
     "numbers of four bytes",
     &laplace_4,
     {PIXELS(3)},
     10,
     0,
     NULL},
    {"laplace-8",
     "numbers of eight bytes: the smallest epsilon, the largest l",
     &laplace_8,
     {PIXELS(2)},
     11,
     0,
     NULL},
    {"laplace-low",
     "the most noise below: clamped",
     &laplace_ends,
     {VALUE(1)},
     12,
     0,
     draw_largest},
    {"laplace-high",
     "the most noise above: clamped",
     &laplace_ends,
     {VALUE(-1)},
     13,
     0,
     draw_largest_plus},
    {"laplace-zeros",
     "entropy all 00: ties, and a second tail drawn",
     &laplace_2,
     {PIXELS(3)},
     UNSEEDED,
     0x00,
     NULL},
    {"laplace-ones",
     "entropy all ff: no noise, so the lattice point shows",
     &laplace_70,
     {PIXELS(70)},
     UNSEEDED,
     0xff,
     NULL},
    {"laplace-70",
     "more than 64 numbers: the tables are made ready twice",
     &laplace_70,
     {PIXELS(70)},
     14,
     0,
     NULL},
    {"blocks-30",
     "thirty lattices of one number",
     &blocks_30,
     {PIXELS(30)},
     15,
     0,
     NULL},
    {"pair",
     "symbols from pairs and triples of factors",
     &pair,
     {VALUE(13), TEXT("v1")},
     16,
     0,
     NULL},
    {"everything",
     "every kind of column, activation and channel",
     &everything_spec,
     {VALUE(35), TEXT("clerk"), PIXELS(4), TEXT("yes")},
     17,
     0,
     NULL},
    {"everything-ones",
     "the same without noise on the lattices",
     &everything_spec,
     {VALUE(35), TEXT("clerk"), PIXELS(4), TEXT("yes")},
     UNSEEDED,
     0xff,
     NULL},
    {"missing",
     "nothing is there, and it is reported",
     &everything_spec,
     {MISSING, MISSING, MISSING, MISSING},
     18,
     0,
     NULL},
    {"unfit",
     "nothing fits: NaN, number for text, another size, bytes",
     &everything_spec,
     {VALUE(NAN), VALUE(3), PIXELS(5), PIXELS(3)},
     19,
     0,
     NULL},
    {"extreme",
     "a number far out of range",
     &everything_spec,
     {VALUE(1e300), TEXT(""), PIXELS(4), TEXT("no")},
     20,
     0,
     NULL},
    {"duchi-8",
     "an even number of signs: ties are drawn again",
     &duchi_8,
     {PIXELS(8)},
     21,
     0,
     NULL},
    {"duchi-13",
     "signs in two bytes, 3 bits of them unused; the largest l",
     &duchi_13,
     {PIXELS(13)},
     22,
     0,
     NULL},
    {"duchi-ones",
     "entropy all ff",
     &duchi_13,
     {PIXELS(13)},
     UNSEEDED,
     0xff,
     NULL},
    {"window-2",
     "one number in two bytes",
     &window_2,
     {VALUE(0.3)},
     23,
     0,
     NULL},
    {"window-4", "blocks of four bytes", &window_4, {PIXELS(3)}, 24, 0, NULL},
    {"window-ones",
     "entropy all ff: the last of those far from the truth",
     &window_2,
     {VALUE(-1)},
     UNSEEDED,
     0xff,
     NULL},
    {"gaussian-2",
     "a ball, with a delta; numbers of two bytes",
     &gaussian_2,
     {PIXELS(3)},
     25,
     0,
     NULL},
    {"gaussian-4",
     "two balls with numbers of four bytes",
     &gaussian_4,
     {PIXELS(4)},
     26,
     0,
     NULL},
    {"mixed",
     "a ball, a cube, two lines and a label",
     &mixed,
     {VALUE(22), VALUE(NAN), PIXELS(3), TEXT("v1")},
     27,
     0,
     NULL},
    {"hostile-ball",
     "NaN and infinities into a ball and a cube",
     &hostile_ball,
     {VALUE(2)},
     28,
     0,
     NULL},
    {"hostile",
     "an encoder that gives NaN and infinities",
     &hostile,
     {VALUE(2)},
     UNSEEDED,
     0xff,
     NULL},
    {"image",
     "convolutions, pools and a skip; pairs of a code and a label",
     &image_spec,
     {PIXELS(72), TEXT("v1")},
     41,
     0,
     NULL},
    {"image-stride",
     "a wide kernel with a stride, a skip of the layer's own input",
     &stride_spec,
     {PIXELS(105)},
     42,
     0,
     NULL},
    {"shortcut",
     "version 2: a shortcut with a projection, weights of halves",
     &shortcut,
     {PIXELS(32)},
     43,
     0,
     NULL},
    {"terms",
     "version 2: missing told apart, clipped, compared, expiring",
     &terms,
     {VALUE(1e9), TEXT("v1"), TEXT("v1")},
     44,
     0,
     NULL},
    {"terms-missing",
     "version 2: nothing is there, without noise on the lattices",
     &terms,
     {MISSING, MISSING, MISSING},
     UNSEEDED,
     0xff,
     NULL},
    {"terms-other",
     "version 2: nothing is missing or clipped, label and class differ",
     &terms,
     {VALUE(7.5), TEXT("v0"), TEXT("v1")},
     45,
     0,
     NULL},
    {"books",
     "version 2: one of three codebooks is asked, by lot",
     &books,
     {PIXELS(15), TEXT("v1")},
     46,
     0,
     NULL},
    {"books-ones",
     "version 2: entropy all ff, the last of three codebooks",
     &books,
     {PIXELS(15), TEXT("v1")},
     UNSEEDED,
     0xff,
     NULL},
    {"clip-nan",
     "version 2: a clipped number that is no number counts as 0",
     &steep,
     {VALUE(10)},
     UNSEEDED,
     0xff,
     NULL},
    {"log",
     "version 2: the logarithm of a number",
     &logarithm,
     {VALUE(84321.5)},
     UNSEEDED,
     0xff,
     NULL},
    {"log-negative",
     "version 2: the logarithm of a number below 0 has its sign",
     &logarithm,
     {VALUE(-0.75)},
     UNSEEDED,
     0xff,
     NULL},
    {"log-nan",
     "version 2: no number, so no logarithm: it is missing",
     &logarithm,
     {VALUE((double)NAN)},
     UNSEEDED,
     0xff,
     NULL},
};
#define VECTOR_CASES (sizeof vector_cases / sizeof vector_cases[0])

static void
cases_init(void)
{
    for (size_t i = 0; i < 400; i++) {
        (void)snprintf(vector_text[i], sizeof vector_text[i], "v%zu", i);
        vector_values[i] = vector_text[i];
        vector_bytes[i] = (uint8_t)(31 * i + 200);
    }
    fill_weights(image_weight, VECTOR_WEIGHTS, 77);
    for (size_t i = 0; i < 200; i++) {
        uint32_t bits;
        memcpy(&bits, &image_weight[400 + i], sizeof bits);
        half_weight[i] = (uint16_t)(bits >> 16);
    }
    everything_spec = *everything();
}

/* ---- Writing ------------------------------------------------------------ */

static json_t *
hex_of(const uint8_t *bytes, size_t size)
{
    char *text = malloc(2 * size + 1);
    json_t *string;
    assert_non_null(text);
    string = json_string(sodium_bin2hex(text, 2 * size + 1, bytes, size));
    free(text);
    return string;
}

static json_t *
base64_of(struct file file)
{
    size_t size =
        sodium_base64_encoded_len(file.size, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(size);
    json_t *string;
    assert_non_null(text);
    string = json_string(sodium_bin2base64(text, size, file.data, file.size,
                                           sodium_base64_VARIANT_ORIGINAL));
    free(text);
    return string;
}

/* null, {"number": x}, {"number": "nan"}, {"text": "..."}, {"bytes": hex} */
static json_t *
value_json(const struct sotto_value *value)
{
    switch (value->kind) {
    case SOTTO_VALUE_NUMBER:
        return isnan(value->number)
                   ? json_pack("{s:s}", "number", "nan")
                   : json_pack("{s:f}", "number", value->number);
    case SOTTO_VALUE_TEXT:
        return json_pack("{s:s}", "text", value->data);
    case SOTTO_VALUE_BYTES:
        return json_pack("{s:o}", "bytes", hex_of(value->data, value->size));
    default:
        return json_null();
    }
}

static json_t *
record_json(const struct vector_case *a_case)
{
    json_t *record = json_array();
    for (size_t i = 0; i < a_case->spec->columns; i++) {
        json_array_append_new(record, value_json(&a_case->record[i]));
    }
    return record;
}

static void
case_entropy(const struct vector_case *a_case, uint8_t *entropy)
{
    memset(entropy, a_case->fill, ENTROPY_SIZE);
    if (a_case->seed != UNSEEDED) {
        struct seeded seeded;
        seeded_init(&seeded, a_case->seed, 99);
        for (size_t i = 0; i < ENTROPY_SIZE; i++) {
            entropy[i] = (uint8_t)random_u32(&seeded.random);
        }
    }
    if (a_case->adjust != NULL) {
        a_case->adjust(entropy);
    }
}

/* The encoder's output as it stands in memory. */
static json_t *
z_json(const struct vector_case *a_case, struct sotto_client *client)
{
    size_t last = a_case->spec->layers - 1;
    json_t *z;
    schema_apply(&client->encoder, a_case->record);
    forward_run(&client->encoder);
    z = hex_of((const uint8_t *)client->encoder.z,
               sizeof(float) * a_case->spec->layer[last].out);
    device_wipe(client);
    return z;
}

static bool
has_images(const struct compose_spec *spec)
{
    return spec->layers > 0 && spec->layer[0].kind != LAYER_DENSE;
}

static json_t *
case_json(const struct vector_case *a_case)
{
    static uint8_t entropy[ENTROPY_SIZE];
    struct file file = file_make(a_case->spec);
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_client *client;
    uint8_t report[1024];
    char *line = NULL;
    size_t size;
    json_t *vector;
    assert_int_equal(sotto_mechanism_parse(file.data, file.size, a_case->name,
                                           &mechanism, NULL),
                     SOTTO_STATUS_OK);
    client = sotto_mechanism_client(mechanism);
    size = sotto_client_report_size(client);
    assert_true(size <= sizeof report);
    case_entropy(a_case, entropy);
    tape_start(entropy, sizeof entropy);
    assert_int_equal(sotto_client_privatise(client, a_case->record,
                                            a_case->spec->columns, report,
                                            size),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_json(mechanism, report, &line, NULL),
                     SOTTO_STATUS_OK);
    vector = json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:s}", "name", a_case->name,
                       "about", a_case->about, "mechanism", base64_of(file),
                       "record", record_json(a_case), "entropy",
                       hex_of(entropy, tape.used), "report",
                       hex_of(report, size), "line", line);
    assert_non_null(vector);
    if (has_images(a_case->spec)) {
        json_object_set_new(vector, "z", z_json(a_case, client));
    }
    free(line);
    sotto_mechanism_free(mechanism);
    free(file.data);
    return vector;
}

static int
write_vectors(const char *folder)
{
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < VECTOR_CASES; i++) {
        char path[4096];
        FILE *file;
        json_t *vector = case_json(&vector_cases[i]);
        (void)snprintf(path, sizeof path, "%s/%s.json", folder,
                       vector_cases[i].name);
        file = fopen(path, "w");
        if (file == NULL || json_dumpf(vector, file, JSON_INDENT(1)) != 0 ||
            fputc('\n', file) == EOF || fclose(file) != 0) {
            (void)fprintf(stderr, "%s: cannot be written\n", path);
            status = EXIT_FAILURE;
        }
        json_decref(vector);
    }
    return status;
}

#endif
