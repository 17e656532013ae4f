/*
 * make_audit_mechanisms.c: writes mechanisms of the papers' sizes to time an
 * audit on; not a test.
 *
 *     make_audit_mechanisms FOLDER
 *
 *     codeword-subset.sotto   the largest of 50 encoder outputs x 10 labels:
 *     codeword-flip.sotto     500 symbols, eps 1
 *     codeword-subset-4.sotto the same at eps 4
 *     codeword-signs.sotto    10 of them x 10 labels, eps 0.1
 *     lattice.sotto           8 encoder outputs, laplace, l = 1024, eps 1
 *
 * The encoders are random: 64 pixels to 32 to 50, or to 8.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "compose_bytes.h"
#include "random/seeded.h"

#define PIXELS 64u
#define HIDDEN 32u
#define CODEWORDS 50u
#define LABELS 10u
#define LATENT 8u

static const char *const digits[] = {"0", "1", "2", "3", "4",
                                     "5", "6", "7", "8"};

static float weights[2][HIDDEN * PIXELS];
static const float bias[PIXELS];

static void
draw_weights(void)
{
    struct seeded seeded;
    seeded_init(&seeded, 1, 0);
    for (size_t i = 0; i < (size_t)2 * HIDDEN * PIXELS; i++) {
        double u = (double)random_u32(&seeded.random) * 0x1p-32;
        weights[i % 2][i / 2] = (float)((2 * u - 1) * 0.3);
    }
}

static int
write_mechanism(const char *folder, const char *name, uint32_t outputs,
                struct compose_part part)
{
    struct schema_column column[2] = {
        {"image", SOTTO_COLUMN_BYTES, PIXELS, NULL, true, 0, 1.0 / 255},
        {"label", SOTTO_COLUMN_CATEGORY, LABELS, digits, false, 0, 0}};
    struct layer layer[2] = {{.in = PIXELS,
                              .out = HIDDEN,
                              .activation = ACTIVATION_RELU,
                              .weight = weights[0],
                              .bias = bias},
                             {.in = HIDDEN,
                              .out = outputs,
                              .activation = ACTIVATION_NONE,
                              .weight = weights[1],
                              .bias = bias}};
    struct compose_spec spec = {name, "audit", "not used", part.eps, column,
                                2,    layer,   2,          &part,    1};
    struct sotto_error err;
    uint8_t *data = NULL;
    size_t size = 0;
    char path[4096];
    FILE *to;
    int good = 0;
    (void)snprintf(path, sizeof path, "%s/%s.sotto", folder, name);
    if (compose_bytes(&spec, &data, &size, &err) != SOTTO_STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", path, err.message);
        return 1;
    }
    to = fopen(path, "wb");
    if (to != NULL) {
        good = fwrite(data, 1, size, to) == size;
        good = fclose(to) == 0 && good;
    }
    free(data);
    (void)printf("%s%s\n", path, good ? "" : ": cannot be written");
    return !good;
}

int
main(int argc, char **argv)
{
    struct compose_part codeword = {
        .covers = "both",
        .channel = "subset",
        .eps = DECIMAL_UNIT,
        .blocks = 1,
        .factor = {{false, 0, CODEWORDS}, {true, 1, 0}},
        .factors = 2};
    struct compose_part lattice = {.covers = "features",
                                   .channel = "laplace",
                                   .eps = DECIMAL_UNIT,
                                   .blocks = 1,
                                   .d = LATENT,
                                   .l = 1024};
    struct compose_part flip = codeword, high = codeword, signs = codeword;
    flip.channel = "flip";
    high.eps = 4 * DECIMAL_UNIT;
    signs.channel = "signs";
    signs.eps = DECIMAL_UNIT / 10;
    signs.factor[0].k = LABELS;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: make_audit_mechanisms FOLDER\n");
        return 2;
    }
    draw_weights();
    return write_mechanism(argv[1], "codeword-subset", CODEWORDS, codeword) |
           write_mechanism(argv[1], "codeword-flip", CODEWORDS, flip) |
           write_mechanism(argv[1], "codeword-subset-4", CODEWORDS, high) |
           write_mechanism(argv[1], "codeword-signs", LABELS, signs) |
           write_mechanism(argv[1], "lattice", LATENT, lattice);
}
