/*
 * hostile_encoders.h: encoders made to take longer for some records than for
 * others, each with the audit's attack on time.
 *
 *     tiny         weights as small as devices allow: subnormal numbers for one
 *                  record and none for another, but for the flush (F1)
 *     saturating   sigmoids and tanhs at either end, or in the middle
 *     zeros        a ReLU's zeros for half of the records, to branch by
 *     mixed        huge and tiny weights in turn: infinities, no numbers
 *     deep         64 layers that shrink a record, each by a little
 */
#ifndef SOTTO_TESTS_HOSTILE_ENCODERS_H
#define SOTTO_TESTS_HOSTILE_ENCODERS_H

#include "privacy/audit_fixture.h"

#define HOSTILE_WIDTH 128u
#define HOSTILE_LAYERS 64u

struct hostile_encoder {
    const char *name;
    uint32_t layers;
    enum activation activation[2]; /* of layers in turn */
    float weight[2][2];            /* of layers in turn, and of places */
};

static const struct hostile_encoder hostile_encoders[] = {
    {"tiny",
     6,
     {ACTIVATION_NONE, ACTIVATION_NONE},
     {{0x1p-50f, 0x1p-50f}, {0x1p-50f, 0x1p-50f}}},
    {"saturating",
     6,
     {ACTIVATION_SIGMOID, ACTIVATION_TANH},
     {{1e30f, -1e30f}, {-1e4f, 1e3f}}},
    {"zeros", 6, {ACTIVATION_RELU, ACTIVATION_RELU}, {{1, 1}, {0.5f, 0.25f}}},
    {"mixed",
     6,
     {ACTIVATION_NONE, ACTIVATION_RELU},
     {{3e38f, 0x1p-50f}, {0x1p-50f, -3e38f}}},
    {"deep",
     HOSTILE_LAYERS,
     {ACTIVATION_NONE, ACTIVATION_NONE},
     {{0x1p-10f, 0x1p-10f}, {0x1p-10f, 0x1p-10f}}},
};
#define HOSTILE_ENCODERS (sizeof hostile_encoders / sizeof *hostile_encoders)

static inline struct sotto_mechanism *
hostile_encoder_open(const struct hostile_encoder *encoder)
{
    static float weight[2][HOSTILE_WIDTH * HOSTILE_WIDTH];
    static const float bias[HOSTILE_WIDTH];
    struct layer layer[HOSTILE_LAYERS];
    struct schema_column column = {
        "hiv", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    struct compose_part part = {.covers = "features",
                                .channel = "flip",
                                .eps = UNITS(0.1),
                                .blocks = 1,
                                .factors = 1,
                                .factor = {{false, 0, 2}}};
    struct compose_spec spec = {.name = encoder->name,
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = UNITS(0.1),
                                .column = &column,
                                .columns = 1,
                                .layer = layer,
                                .layers = encoder->layers,
                                .part = &part,
                                .parts = 1};
    for (size_t i = 0; i < (size_t)HOSTILE_WIDTH * HOSTILE_WIDTH; i++) {
        weight[0][i] = encoder->weight[0][i % 2];
        weight[1][i] = encoder->weight[1][i % 2];
    }
    for (uint32_t i = 0; i < encoder->layers; i++) {
        layer[i] =
            (struct layer){i == 0 ? 1 : HOSTILE_WIDTH, HOSTILE_WIDTH,
                           encoder->activation[i % 2], weight[i % 2], bias};
    }
    return mechanism_of(&spec);
}

/* Whether the audit finds that its time, or its numbers, tell of a record. */
static inline bool
hostile_encoder_tells(const struct hostile_encoder *encoder)
{
    struct sotto_mechanism *mechanism = hostile_encoder_open(encoder);
    struct sotto_audit_options options = {.seed = 3};
    struct sotto_audit *audit = audit_begin(mechanism, &options);
    struct sotto_error err;
    assert_int_equal(audit_stopwatch(audit, &err), SOTTO_STATUS_OK);
    const char *found = violation_by(audit, "time");
    print_message("%s: %s\n", encoder->name,
                  found != NULL ? found : "nothing found");
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
    return found != NULL;
}

#endif
