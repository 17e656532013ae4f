/*
 * fuzz_analyst.c: analyst_parse on whole files. The first byte says whether the
 * header's length is as it stands in the rest, or put right: most inputs fail
 * there otherwise. What is read must decode and describe itself, and its prior
 * must lie in a lattice that an int32_t can count.
 */
#include <stdlib.h>
#include <string.h>

#include "encoder/analyst.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile double sink; /* keeps the reads */

static void
use(const struct sotto_analyst *analyst)
{
    size_t width = sotto_analyst_width(analyst);
    size_t points = sotto_analyst_points(analyst);
    size_t x_width = sotto_analyst_x_width(analyst);
    size_t z_width = sotto_analyst_z_width(analyst), own = 0;
    uint32_t layers = 0;
    const float *z_all = analyst_representation(analyst, &own, &layers);
    double sum = 0;
    if (width == 0) {
        abort();
    }
    for (size_t i = 0; i < points * width; i++) {
        sum += sotto_analyst_prior(analyst)[i];
    }
    for (size_t i = 0; z_all != NULL && i < points * own; i++) {
        sum += (double)z_all[i];
    }
    sink = sum;
    if (x_width > 0 && x_width < 4096 && z_width < 64) {
        double z[64] = {1, -1};
        float *x = malloc(x_width * sizeof *x);
        if (x != NULL &&
            sotto_analyst_decode(analyst, z, 1, x, NULL) == SOTTO_STATUS_OK) {
            sink = (double)x[x_width - 1];
        }
        free(x);
    }
}

static void
describe(const struct sotto_analyst *analyst)
{
    for (int json = 0; json < 2; json++) {
        char *text = NULL;
        if (sotto_analyst_describe(analyst, json != 0, &text, NULL) ==
            SOTTO_STATUS_OK) {
            sink = (double)strlen(text);
        }
        free(text);
    }
}

static void
parse(const uint8_t *file, size_t size)
{
    struct sotto_analyst *analyst = NULL;
    struct sotto_error err;
    if (analyst_parse(file, size, "fuzz.analyst", &analyst, &err) ==
        SOTTO_STATUS_OK) {
        use(analyst);
        describe(analyst);
    } else if (analyst != NULL) {
        abort();
    }
    sotto_analyst_free(analyst);
}

/* Where the header, a JSON object on one line, ends: behind the last brace that
   is followed by blanks up to a multiple of 8, or 0. */
static size_t
header_end(const uint8_t *text, size_t size)
{
    size_t depth = 0, at = 0;
    for (; at < size; at++) {
        depth += text[at] == '{';
        depth -= text[at] == '}' && depth > 0;
        if (text[at] == '}' && depth == 0) {
            break;
        }
    }
    for (at += at < size; at < size && text[at] == ' '; at++) {
    }
    return at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        parse(data + 1, size - 1);
        return 0;
    }
    uint8_t *file = malloc(size - 1);
    if (file == NULL) {
        return 0;
    }
    memcpy(file, data + 1, size - 1);
    size_t header = header_end(file + 8, size - 9);
    for (size_t i = 0; i < 8; i++) {
        file[i] = (uint8_t)((uint64_t)header >> (8 * i));
    }
    parse(file, size - 1);
    free(file);
    return 0;
}
