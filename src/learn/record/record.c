/*
 * record.c: the learner for reports about the label alone, of records that the
 * collector holds.
 */
#include "learn/record/record.h"

#include "host/error.h"

#define OWN_FIELDS 1u

static bool
takes_label(const struct sotto_mechanism *mechanism)
{
    return mechanism->device.terms->label_only &&
           mechanism->shape.label_part != SIZE_MAX;
}

static enum sotto_status
fit_clean(struct sotto_model *model, const struct learn_job *job,
          struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    (void)model;
    (void)job;
    (void)ret_info;
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "a mechanism for the label only is learnt from by its "
                     "reports");
}

/* ---- Records ------------------------------------------------------------- */

static enum sotto_status
predict_records(struct sotto_model *model, const struct sotto_table *table,
                double *ret_p, struct sotto_error *err)
{
    return model_predict_logits(model, model->mechanism, table, ret_p, err);
}

/* ---- Reports ------------------------------------------------------------- */

static enum sotto_status
check_reports(const struct sotto_model *model,
              const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    (void)model;
    (void)mechanism;
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "the model takes records in the clear: reports about the "
                     "label alone say nothing of a record");
}

static enum sotto_status
predict_private(struct sotto_model *model,
                const struct sotto_mechanism *mechanism, const uint8_t *reports,
                size_t n, /* a learner's. NOLINTNEXTLINE(*-non-const-*) */
                double *ret_p, struct sotto_error *err)
{
    (void)reports;
    (void)n;
    (void)ret_p;
    return check_reports(model, mechanism, err);
}

/* ---- Files and devices --------------------------------------------------- */

static enum sotto_status
get_device(const struct sotto_model *model, size_t network,
           struct device_net *ret_net, struct sotto_error *err)
{
    size_t layers = model->mechanism->shape.layers;
    enum sotto_status status = device_net_init(ret_net, layers, 0, err);
    (void)network;
    if (status == SOTTO_STATUS_OK) {
        device_net_add_encoder(ret_net, model->mechanism, layers);
    }
    return status;
}

static void
write_model(const struct sotto_model *model, struct model_tensors *to)
{
    bool other = model->classes == record_classes(model->mechanism, true);
    model_tensors_say(to, "other", json_boolean(other));
}

static enum sotto_status
read_model(struct sotto_model *model, const struct safetensors *file,
           struct sotto_error *err)
{
    const json_t *metadata = safetensors_metadata(file);
    const json_t *other = json_object_get(metadata, "other");
    const struct shape *shape = &model->mechanism->shape;
    if (!json_is_boolean(other) || safetensors_count(file) != 1 ||
        json_object_size(metadata) != model_fields(metadata) + OWN_FIELDS) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "what it says of itself is not a model's");
    }
    model->classes = record_classes(model->mechanism, json_is_true(other));
    model->column = shape->label;
    return shape->layers > 0 && shape->z == model->classes
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "its network has %zu outputs for %zu classes",
                           shape->z, model->classes);
}

static void
free_nothing(void *own)
{
    (void)own;
}

static const struct setting settings[] = {
    LEARN_SETTING("hidden", SETTING_LIST, hidden_list, 1, 65536, NULL,
                  "units of the hidden layers, where records are no\n"
                  "images (50)"),
    LEARN_SETTING("linear", SETTING_FLAG, linear, 0, 0, NULL,
                  "no hidden layer"),
    LEARN_SETTING("other", SETTING_FLAG, other, 0, 0, NULL,
                  "learn one more class, for missing or unknown labels;\n"
                  "always so where the label has one category only"),
    LEARN_SETTING("epochs", SETTING_WHOLE, epochs, 1, 100000, NULL,
                  "passes over the reports; else chosen (30 for images;\n"
                  "16 from an encoder's weights)"),
    LEARN_SETTING("rate", SETTING_NUMBER, rate, 1e-9, 10, NULL,
                  "Adam's; else chosen"),
    LEARN_SETTING("decay", SETTING_NUMBER, decay, 0, 1000, NULL,
                  "weight decay; else chosen"),
    LEARN_SETTING("views", SETTING_NUMBER, views, 0, 1, "0.5",
                  "strength of the images' distortions; 0: none"),
    LEARN_SETTING("validation", SETTING_NUMBER, validation, 0, 0.8, "0.05",
                  "share of the reports that only score; none do where\n"
                  "they would be fewer than 500"),
    LEARN_SETTING("seed", SETTING_SEED, seed, 0, 0, "0",
                  "the same seed, the same model"),
    SETTING_END};

const struct learner learner_record = {
    .name = "record",
    .about =
        "for a label alone, of records that you hold: fits a network on the\n"
        "record itself to what the reports say of its label.",
    .settings = settings,
    .takes = takes_label,
    .fit = record_fit,
    .fit_clean = fit_clean,
    .predict = predict_records,
    .check_reports = check_reports,
    .predict_private = predict_private,
    .device = get_device,
    .write = write_model,
    .read = read_model,
    .free = free_nothing,
};
