/*
 * contrastive_settings.c: what is asked of contrastive training, and what the
 * data makes of it.
 */
#include <string.h>

#include "encoder/contrastive.h"

#define CNN_SIDE 8u /* pixels: smaller images go through dense layers */
#define L_DEFAULT 5
#define INSIDE_DEFAULT 0.9
#define EPOCHS_LEAST 12u
#define EPOCHS_MOST 300u
#define SEEN 1620000u /* records, over all epochs */
#define AT(field) offsetof(struct contrastive_settings, field)

const struct setting contrastive_settings[] = {
    LEARNT_SETTINGS(contrastive_settings, "64"),
    SETTING("network", WORD, AT(network), 0, 0, NULL, "cnn|mlp",
            "convolutions or dense layers (cnn for images of\n"
            "at least 8x8 pixels)"),
    SETTING("hidden", LIST, AT(hidden), 1, 65536, "256,256", NULL,
            "mlp: units of the encoder's layers"),
    SETTING("widths", LIST, AT(widths), 1, 65536, "16,32,64,128", NULL,
            "cnn: channels of the convolutions"),
    SETTING("residual", FLAG, AT(residual), 0, 0, NULL, NULL,
            "cnn: two more convolutions a level, for\n"
            "photographs"),
    SETTING("augment", WORD, AT(augment), 0, 0, NULL, "line|photo|corrupt",
            "how two views of a record differ (photo for\n"
            "images in colour, line for others, corrupt for\n"
            "what is no image)"),
    SETTING("temperature", NUMBER, AT(temperature), 0.01, 100, "1", NULL,
            "of the loss"),
    SETTING("l", NUMBER, AT(l), 0.001, 1000000, NULL, NULL,
            "the radius that the encoder learns in under\n"
            "noise (5)"),
    SETTING("eps-pre", NUMBER, AT(eps_pre), 0.001, 1000000, NULL, NULL,
            "training noise is that of a report at this\n"
            "epsilon (none)"),
    {.name = "inside",
     SETTING_NUMBER,
     AT(inside),
     0.000001,
     1,
     NULL,
     "the share of records that are not clipped (0.9)",
     .late = true},
    SETTING("epochs", WHOLE, AT(epochs), 1, 1000000, NULL, NULL,
            "passes over the data (as many as see 1,620,000\n"
            "records, 36 of 45,000, but from 12 to 300)"),
    SETTING("batch", WHOLE, AT(batch), 2, 8192, "256", NULL,
            "records in a step"),
    SETTING("rate", NUMBER, AT(rate), 0.000000001, 10, "0.003", NULL,
            "Adam's rate"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    SETTING_END};

enum sotto_status
contrastive_settings_check(struct contrastive_settings *set,
                           struct sotto_error *err)
{
    enum sotto_status status = learnt_settings_check(&set->common, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (set->l > 0 && !(set->eps_pre > 0)) {
        return settings_fail(err, "l",
                             "is the ball that eps-pre puts noise in: give "
                             "both or neither");
    }
    if (set->inside > 0 && set->eps_pre > 0) {
        return settings_fail(err, "inside",
                             "is for an encoder without noise, and with "
                             "eps-pre it learns what to leave inside the ball: "
                             "leave one of them out");
    }
    set->l = set->l > 0 ? set->l : L_DEFAULT;
    set->inside = set->inside > 0 ? set->inside : INSIDE_DEFAULT;
    return set->eps_pre > 0
               ? learnt_channel_check_pre(&set->common, set->eps_pre, err)
               : SOTTO_STATUS_OK;
}

/* ---- What x allows ------------------------------------------------------- */

struct sotto_image
contrastive_image(const struct learnt *learnt)
{
    struct sotto_image image = {0, 0, 0};
    size_t inputs = 0;
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        if (i != learnt->label) {
            image =
                sotto_table_image(learnt->job->table, learnt->choice.kept[i]);
            inputs++;
        }
    }
    if (inputs != 1 || image.height < 2 || image.width < 2) {
        return (struct sotto_image){0, 0, 0};
    }
    return image;
}

/* Small tables need more epochs, not fewer: what counts is how many steps there
   are, up to where an epoch more teaches nothing. */
static uint32_t
choose_epochs(size_t n)
{
    size_t epochs = (SEEN + n / 2) / n;
    return epochs < EPOCHS_LEAST  ? EPOCHS_LEAST
           : epochs > EPOCHS_MOST ? EPOCHS_MOST
                                  : (uint32_t)epochs;
}

enum sotto_status
contrastive_settings_suit(struct contrastive_settings *set,
                          const struct learnt *learnt, struct sotto_error *err)
{
    struct sotto_image image = contrastive_image(learnt);
    bool large = image.height >= CNN_SIDE && image.width >= CNN_SIDE;
    if (set->epochs == 0) {
        set->epochs = choose_epochs(learnt->n);
    }
    if (set->network == NULL) {
        set->network = large ? "cnn" : "mlp";
    }
    if (set->augment == NULL) {
        set->augment = image.height == 0     ? "corrupt"
                       : image.channels == 3 ? "photo"
                                             : "line";
    }
    if (!large && strcmp(set->network, "cnn") == 0) {
        return settings_fail(
            err, "network",
            "cnn is for one column of images of at least %ux%u "
            "pixels, and nothing beside it but the label: take "
            "mlp",
            CNN_SIDE, CNN_SIDE);
    }
    if (image.height == 0 && strcmp(set->augment, "corrupt") != 0) {
        return settings_fail(
            err, "augment",
            "%s is for one column of images, and nothing beside "
            "it but the label: take corrupt",
            set->augment);
    }
    return SOTTO_STATUS_OK;
}
