/*
 * codes_same.c: whether two mechanisms give every record the same code.
 *
 * Columns that the encoder does not take, the label's say, may differ; those
 * that it takes must come in the same order, and be read the same.
 */
#include <string.h>

#include "learn/codes.h"

/* The next column from `i` that fills entries of x. */
static size_t
next_input(const struct sotto_client *client, size_t i)
{
    while (i < client->sizes.columns && client->column[i].inputs == 0) {
        i++;
    }
    return i;
}

/* Bytes of a column's name and of its categories, if it has any. */
static size_t
text_size(const struct device_column *column)
{
    size_t words =
        column->kind == DEVICE_COLUMN_CATEGORY ? column->count : (size_t)1;
    const char *text = (const char *)column->text;
    for (; words > 0; words--) {
        text += strlen(text) + 1;
    }
    return (size_t)(text - (const char *)column->text);
}

static bool
same_column(const struct sotto_client *a, size_t i,
            const struct sotto_client *b, size_t j)
{
    const struct device_column *x = &a->column[i], *y = &b->column[j];
    return x->kind == y->kind && x->count == y->count &&
           x->inputs == y->inputs && text_size(x) == text_size(y) &&
           memcmp(x->text, y->text, text_size(x)) == 0 &&
           a->shift[i] == b->shift[j] && a->scale[i] == b->scale[j];
}

static bool
same_inputs(const struct sotto_client *a, const struct sotto_client *b)
{
    size_t i = next_input(a, 0), j = next_input(b, 0);
    bool same = true;
    while (same && i < a->sizes.columns && j < b->sizes.columns) {
        same = same_column(a, i, b, j);
        i = next_input(a, i + 1);
        j = next_input(b, j + 1);
    }
    return same && i == a->sizes.columns && j == b->sizes.columns;
}

static bool
same_layer(const struct device_layer *x, const struct device_layer *y)
{
    return x->in == y->in && x->out == y->out && x->kind == y->kind &&
           x->activation == y->activation && x->kernel == y->kernel &&
           x->stride == y->stride && x->pad == y->pad && x->skip == y->skip &&
           x->image.height == y->image.height &&
           x->image.width == y->image.width &&
           x->image.channels == y->image.channels &&
           x->made.channels == y->made.channels &&
           layer_biases(x) == layer_biases(y) && layer_fan(x) == layer_fan(y);
}

static bool
same_weights(const struct device_layer *x, const struct device_layer *y)
{
    size_t biases = layer_biases(x), weights = biases * layer_fan(x);
    return biases == 0 ||
           (memcmp(x->weight, y->weight, weights * sizeof(float)) == 0 &&
            memcmp(x->bias, y->bias, biases * sizeof(float)) == 0);
}

bool
codes_same_layers(const struct sotto_mechanism *a,
                  const struct sotto_mechanism *b, uint32_t layers)
{
    bool same = a->client->sizes.layers >= layers &&
                b->client->sizes.layers >= layers &&
                same_inputs(a->client, b->client);
    for (uint32_t i = 0; same && i < layers; i++) {
        const struct device_layer *x = &a->client->layer[i];
        const struct device_layer *y = &b->client->layer[i];
        same = same_layer(x, y) && same_weights(x, y);
    }
    return same;
}

/* Where the code is among the outputs; NULL: there is none. */
static const struct device_factor *
code_of(const struct sotto_client *client)
{
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct device_part *part = &client->part[i];
        if (part->place == NULL && part->factors > 0 &&
            !part->factor[0].is_column) {
            return &part->factor[0];
        }
    }
    return NULL;
}

bool
codes_same(const struct sotto_mechanism *a, const struct sotto_mechanism *b)
{
    const struct device_factor *x = code_of(a->client);
    const struct device_factor *y = code_of(b->client);
    return x != NULL && y != NULL && codes_is(a) && codes_is(b) &&
           x->at == y->at && x->k == y->k &&
           a->client->sizes.layers == b->client->sizes.layers &&
           codes_same_layers(a, b, a->client->sizes.layers);
}
