/*
 * contrastive_options.c: what is asked of contrastive training, and what the
 * data makes of it.
 */
#include <string.h>

#include "encoder/contrastive.h"
#include "host/error.h"

#define UNITS_MAX 65536u
#define EPOCHS_MAX 1000000u
#define BATCH_MAX 8192u
#define CNN_SIDE 8u /* pixels: smaller images go through dense layers */

static const uint32_t hidden_default[] = {256, 256};
static const uint32_t widths_default[] = {16, 32, 64, 128};

static void
fill_defaults(struct sotto_clm_options *options)
{
    if (options->hidden == NULL) {
        options->hidden = hidden_default;
        options->hiddens = sizeof hidden_default / sizeof *hidden_default;
    }
    if (options->widths == NULL) {
        options->widths = widths_default;
        options->width_count = sizeof widths_default / sizeof *widths_default;
    }
    options->d = options->d > 0 ? options->d : 64;
    options->temperature = options->temperature != 0 ? options->temperature : 1;
    options->l = options->l != 0 ? options->l : 5;
    options->inside = options->inside != 0 ? options->inside : 0.9;
    options->epochs = options->epochs > 0 ? options->epochs : 12;
    options->batch = options->batch > 0 ? options->batch : 256;
    options->rate = options->rate != 0 ? options->rate : 0.003;
}

/* ---- Checks -------------------------------------------------------------- */

static bool
is_word(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0) {
        words++;
    }
    return *words != NULL;
}

static enum sotto_status
check_words(const struct sotto_clm_options *options, struct sotto_error *err)
{
    static const char *const networks[] = {"cnn", "mlp", NULL};
    static const char *const augments[] = {"line", "photo", "corrupt", NULL};
    if (options->network != NULL && !is_word(options->network, networks)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no network '%s': it is cnn or mlp",
                         host_shown(options->network));
    }
    if (options->augment != NULL && !is_word(options->augment, augments)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no augmentation '%s': it is line, photo or "
                         "corrupt",
                         host_shown(options->augment));
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_units(const uint32_t *units, size_t count, const char *what,
            struct sotto_error *err)
{
    bool fits = count >= 1 && count < LEARNT_LAYERS_MAX;
    for (size_t i = 0; fits && i < count; i++) {
        fits = units[i] >= 1 && units[i] <= UNITS_MAX;
    }
    return fits ? SOTTO_STATUS_OK
                : host_fail(err, SOTTO_STATUS_USAGE, 0,
                            "the %s are 1 to %u numbers, each from 1 to %u",
                            what, LEARNT_LAYERS_MAX - 1, UNITS_MAX);
}

static enum sotto_status
check_numbers(const struct sotto_clm_options *options, struct sotto_error *err)
{
    const struct {
        const char *name;
        double value, low, high;
    } number[] = {
        {"the temperature", options->temperature, 0.01, 100},
        {"l, the ball's radius,", options->l, 1e-3, 1e6},
        {"the training noise's epsilon",
         options->eps_pre != 0 ? options->eps_pre : 1, 1e-3, 1e6},
        {"the share of records inside the ball", options->inside, 1e-6, 1},
        {"the rate", options->rate, 1e-9, 10},
        {"the number of epochs", options->epochs, 1, EPOCHS_MAX},
        {"the batch", options->batch, 2, BATCH_MAX},
    };
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (!(number[i].value >= number[i].low &&
              number[i].value <= number[i].high)) { /* nor for a NaN */
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "%s is from %g to %.9g", number[i].name,
                             number[i].low, number[i].high);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
contrastive_options_fill(struct sotto_clm_options *options,
                         struct sotto_error *err)
{
    enum sotto_status status;
    fill_defaults(options);
    status = check_words(options, err);
    if (status == SOTTO_STATUS_OK) {
        status = check_units(options->hidden, options->hiddens,
                             "hidden layers' units", err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_units(options->widths, options->width_count,
                             "convolutions' channels", err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_numbers(options, err);
    }
    return status;
}

/* ---- What x allows ------------------------------------------------------- */

struct sotto_image
contrastive_image(const struct learnt *learnt)
{
    struct sotto_image image = {0, 0, 0};
    size_t inputs = 0;
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        if (i != learnt->label) {
            image = sotto_table_image(learnt->table, learnt->choice.kept[i]);
            inputs++;
        }
    }
    if (inputs != 1 || image.height < 2 || image.width < 2) {
        return (struct sotto_image){0, 0, 0};
    }
    return image;
}

enum sotto_status
contrastive_options_suit(struct sotto_clm_options *options,
                         const struct learnt *learnt, struct sotto_error *err)
{
    struct sotto_image image = contrastive_image(learnt);
    bool large = image.height >= CNN_SIDE && image.width >= CNN_SIDE;
    if (options->network == NULL) {
        options->network = large ? "cnn" : "mlp";
    }
    if (options->augment == NULL) {
        options->augment = image.height == 0     ? "corrupt"
                           : image.channels == 3 ? "photo"
                                                 : "line";
    }
    if (!large && strcmp(options->network, "cnn") == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a cnn is for one column of images of at least %ux%u "
                         "pixels, and nothing beside it but the label: take "
                         "mlp",
                         CNN_SIDE, CNN_SIDE);
    }
    if (image.height == 0 && strcmp(options->augment, "corrupt") != 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%s is for one column of images, and nothing beside "
                         "it but the label: take corrupt",
                         options->augment);
    }
    return SOTTO_STATUS_OK;
}
