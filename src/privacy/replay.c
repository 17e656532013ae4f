/*
 * replay.c: searching for records that leave their domain.
 *
 * Sensitivity is a property of the domain, not of the data (invariant 1): this
 * attack tries to show otherwise. It looks at the points the device would add
 * noise to, for hostile records, for records that climb away from the ones seen
 * before, and for hostile outputs of the encoder itself, as hostile weights
 * could give; and at the reports, which must lie in the valid set and in their
 * own bytes.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"
#include "privacy/points.h"
#include "random/seeded.h"

#define RECORDS 400u      /* hostile ones, the first of them fixed */
#define OUTPUTS 400u      /* hostile outputs of the encoder */
#define CLIMBS 1000u      /* steps of the climb */
#define ARCHIVE 24u       /* points kept of a part */
#define PARTS_CLIMBED 16u /* a climb takes long: the first few parts */
#define CANARY 64u        /* bytes behind a report that must stay */

/* Points seen of a part's first block, the farthest apart. */
struct archive {
    uint32_t count;
    int32_t *point;
};

struct replay {
    struct sotto_audit *audit;
    struct sotto_mechanism *mechanism;
    struct hostile *hostile;
    struct archive *archive; /* one a part */
    uint8_t *report;
    uint64_t outside; /* points outside their domain */
    uint64_t invalid; /* reports outside the valid set */
    uint64_t points, reports, done;
    uint32_t culprit; /* part of the first point outside */
};

static void
count_try(struct replay *replay)
{
    replay->done++;
    if (replay->done % 64 == 0) {
        size_t parts = replay->mechanism->shape.parts;
        uint64_t climbed = parts < PARTS_CLIMBED ? parts : PARTS_CLIMBED;
        audit_progress(replay->audit, "replay", replay->done,
                       RECORDS + OUTPUTS + climbed * CLIMBS);
    }
}

/* ---- Distances ----------------------------------------------------------- */

/* The farthest that q is from a point kept; keeps it if it adds to that. */
static double
compare_archive(struct replay *replay, size_t part, const int32_t *q, bool keep)
{
    const struct shape_part *shape = &replay->mechanism->shape.part[part];
    const struct channel_instance *own = shape->instance;
    struct archive *archive = &replay->archive[part];
    size_t width = shape->width;
    double farthest = 0;
    for (uint32_t i = 0; i < archive->count; i++) {
        double apart =
            points_distance(own, q, archive->point + (size_t)i * width);
        farthest = fmax(farthest, apart);
    }
    if (keep && archive->point != NULL &&
        (archive->count < 2 ||
         farthest > replay->audit->part[part].sensitivity_found)) {
        uint32_t at = archive->count < ARCHIVE ? archive->count++ : ARCHIVE - 1;
        memcpy(archive->point + (size_t)at * width, q, width * sizeof *q);
    }
    if (keep) {
        replay->audit->part[part].sensitivity_found =
            fmax(replay->audit->part[part].sensitivity_found, farthest);
    }
    return farthest;
}

/* ---- Looking at a record ------------------------------------------------- */

/* All points of the record that is encoded. */
static void
look_at_points(struct replay *replay)
{
    const struct shape *shape = &replay->mechanism->shape;
    for (uint32_t i = 0; i < shape->parts; i++) {
        const struct shape_part *part = &shape->part[i];
        for (size_t j = 0; j < part->blocks * part->books; j++) {
            const int32_t *q = stages_point(replay->mechanism, i,
                                            j / part->books, j % part->books);
            replay->points++;
            if (!points_inside(part->instance, q)) {
                if (replay->outside++ == 0) {
                    replay->culprit = i;
                }
                /* Two such points may lie twice as far apart. */
                replay->audit->part[i].sensitivity_found =
                    fmax(replay->audit->part[i].sensitivity_found,
                         2 * points_distance(part->instance, q, NULL));
            }
            if (j == 0) {
                (void)compare_archive(replay, i, q, true);
            }
        }
    }
}

/* The whole way, and the report: its size, its validity, nothing behind it. */
static enum sotto_status
look_at_report(struct replay *replay, const struct sotto_value *values,
               struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = replay->mechanism;
    size_t size = mechanism->shape.report_size;
    enum sotto_status status;
    bool good;
    memset(replay->report, 0xc5, size + CANARY);
    status = sotto_client_privatise(mechanism->client, values,
                                    mechanism->shape.schema.columns,
                                    replay->report, size);
    if (status == SOTTO_STATUS_ENTROPY) {
        return host_fail(err, status, 0, "%s", sotto_status_message(status));
    }
    good = status == SOTTO_STATUS_OK &&
           stages_valid(mechanism, replay->report, size) &&
           memcmp(replay->report, REPORT_MAGIC, REPORT_MAGIC_SIZE) == 0;
    for (size_t i = 0; i < CANARY; i++) {
        good = good && replay->report[size + i] == 0xc5;
    }
    replay->reports++;
    replay->invalid += !good;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
try_records(struct replay *replay, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint64_t i = 0; status == SOTTO_STATUS_OK && i < RECORDS; i++) {
        const struct sotto_value *values = hostile_record(replay->hostile, i);
        stages_encode(replay->mechanism, values);
        look_at_points(replay);
        status = look_at_report(replay, values, err);
        count_try(replay);
    }
    return status;
}

/* ---- Climbing ------------------------------------------------------------ */

/* How far the encoder's own output is from the origin: where the points are
   the same, it tells up from down. */
static double
measure_spread(const struct sotto_mechanism *mechanism,
               const struct shape_part *part)
{
    const float *output = stages_z(mechanism) + part->from;
    double sum = 0;
    for (uint32_t i = 0; part->numbers && i < part->instance->size; i++) {
        double z = (double)output[i];
        sum += isfinite(z) ? fmin(fabs(z), 1e6) : 0;
    }
    return sum;
}

/* Whether the record's point is no nearer to the others than `*best`; then it
   stays, and else its last change is taken back. */
static bool
try_step(struct replay *replay, uint32_t part, const struct sotto_value *values,
         double *best)
{
    struct sotto_mechanism *mechanism = replay->mechanism;
    const struct shape_part *own = &mechanism->shape.part[part];
    double height;
    stages_encode(mechanism, values);
    look_at_points(replay);
    height = compare_archive(replay, part, stages_point(mechanism, part, 0, 0),
                             false) +
             1e-7 * measure_spread(mechanism, own);
    if (height < *best) {
        hostile_undo(replay->hostile);
        return false;
    }
    *best = height;
    return true;
}

/* From a random record: a column is drawn anew, or moved a little, up or else
   down, whichever takes its point farther from the others. */
static void
climb_part(struct replay *replay, uint32_t part)
{
    struct hostile *hostile = replay->hostile;
    struct seeded seeded;
    double best = -1;
    seeded_init(&seeded, replay->audit->options.seed, UINT64_C(1) << 40 | part);
    (void)hostile_record(hostile, HOSTILE_KINDS + part);
    for (uint32_t i = 0; i < CLIMBS; i++) {
        uint64_t draw = (uint64_t)random_u32(&seeded.random) << 32 |
                        random_u32(&seeded.random);
        if (i % 2 == 0) {
            (void)try_step(replay, part, hostile_mutate(hostile, draw), &best);
        } else if (!try_step(replay, part, hostile_nudge(hostile, draw, true),
                             &best)) {
            (void)try_step(replay, part, hostile_nudge(hostile, draw, false),
                           &best);
        }
        count_try(replay);
    }
}

/* ---- Hostile outputs of the encoder -------------------------------------- */

static float
hostile_float(uint32_t kind, uint32_t i, struct seeded *seeded)
{
    static const float some[] = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 -1.0f,
                                 FLT_MAX,
                                 -FLT_MAX,
                                 (float)INFINITY,
                                 -(float)INFINITY,
                                 (float)NAN,
                                 FLT_TRUE_MIN,
                                 -FLT_MIN,
                                 0x1.fffffep-1f,
                                 0x1.000002p0f,
                                 1e-20f,
                                 31.999998f,
                                 -1e20f};
    uint32_t count = sizeof some / sizeof some[0];
    uint32_t bits = random_u32(&seeded->random);
    float value;
    if (kind < count) {
        return some[kind]; /* all alike */
    }
    if (kind < 2 * count) {
        return i == bits % 8 ? some[kind - count] : 0; /* nearly all zero */
    }
    if (kind % 3 == 0) {
        return some[bits % count];
    }
    memcpy(&value, &bits, sizeof value); /* any bit pattern at all */
    return kind % 3 == 1 ? value : (float)(int32_t)bits * 0x1p-30f;
}

static void
try_outputs(struct replay *replay)
{
    struct sotto_mechanism *mechanism = replay->mechanism;
    for (uint32_t i = 0; i < OUTPUTS; i++) {
        struct seeded seeded;
        seeded_init(&seeded, replay->audit->options.seed,
                    UINT64_C(1) << 41 | i);
        stages_encode(mechanism, hostile_record(replay->hostile, i));
        for (uint32_t j = 0; j < mechanism->shape.z; j++) {
            stages_z(mechanism)[j] = hostile_float(i, j, &seeded);
        }
        look_at_points(replay);
        count_try(replay);
    }
}

/* ---- All of it ----------------------------------------------------------- */

static void
judge_replay(struct replay *replay)
{
    struct sotto_audit *audit = replay->audit;
    if (replay->outside > 0) {
        const struct sotto_audit_part *part = &audit->part[replay->culprit];
        audit_note(audit, "replay", true,
                   "part %u (%s): %llu of %llu points lie outside the domain; "
                   "two may be %.6g apart where %.6g is stated",
                   replay->culprit + 1, part->channel,
                   (unsigned long long)replay->outside,
                   (unsigned long long)replay->points, part->sensitivity_found,
                   part->sensitivity_stated);
    }
    if (replay->invalid > 0) {
        audit_note(audit, "replay", true,
                   "%llu of %llu reports are missing, outside the valid set or "
                   "overrun their bytes",
                   (unsigned long long)replay->invalid,
                   (unsigned long long)replay->reports);
    }
    audit_note(audit, "replay", false,
               "looked at %llu points before noise and %llu reports",
               (unsigned long long)replay->points,
               (unsigned long long)replay->reports);
}

static bool
set_up_replay(struct replay *replay)
{
    const struct shape *shape = &replay->mechanism->shape;
    bool good;
    replay->hostile =
        hostile_new(replay->audit->mechanism, replay->audit->options.seed);
    replay->archive = calloc(shape->parts, sizeof *replay->archive);
    replay->report = malloc(shape->report_size + CANARY);
    good = replay->hostile != NULL && replay->archive != NULL &&
           replay->report != NULL;
    for (uint32_t i = 0; good && i < shape->parts; i++) {
        replay->archive[i].point =
            calloc(ARCHIVE * shape->part[i].width, sizeof(int32_t));
        good = replay->archive[i].point != NULL;
    }
    return good;
}

static void
clear_replay(struct replay *replay)
{
    for (uint32_t i = 0;
         replay->archive != NULL && i < replay->mechanism->shape.parts; i++) {
        free(replay->archive[i].point);
    }
    free(replay->archive);
    free(replay->report);
    hostile_free(replay->hostile);
}

enum sotto_status
audit_replay(struct sotto_audit *audit, struct sotto_error *err)
{
    struct replay replay = {.audit = audit, .mechanism = audit->mechanism};
    enum sotto_status status =
        set_up_replay(&replay) ? SOTTO_STATUS_OK : host_fail_memory(err);
    status = HOST_THEN(status, try_records(&replay, err));
    for (uint32_t i = 0; status == SOTTO_STATUS_OK && i < audit->info.parts &&
                         i < PARTS_CLIMBED;
         i++) {
        climb_part(&replay, i);
    }
    if (status == SOTTO_STATUS_OK) {
        try_outputs(&replay);
        judge_replay(&replay);
    }
    clear_replay(&replay);
    return status;
}
