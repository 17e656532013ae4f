/*
 * campaign.c: a whole campaign, simulated in memory.
 *
 * A codebook is of columns or of an encoder's cells, as train chooses for the
 * epsilon and the number of people. The encoder is trained once, for an epsilon
 * in the middle and as many people as auxiliary records: so it does not depend
 * on what is simulated first. A mechanism is made once for every epsilon and
 * number of people.
 */
#include "experiment/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/population.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"

#define ENCODER_EPS "2" /* that a codebook's encoder is chosen for */
#define SETS_MAX 64u

/* A mechanism that was made. */
struct made {
    char eps[CAMPAIGN_EPS_SIZE];
    size_t people;
    struct sotto_mechanism *mechanism;
    size_t k, books; /* of a codebook; else 0 */
    char channel[16];
};

struct sotto_campaign {
    const struct sotto_table *aux;
    struct sotto_campaign_options options;
    bool codes;  /* it is a codebook */
    bool number; /* the label is one */
    struct sotto_mechanism *encoder;
    struct made *made;
    size_t count, room;
};

/* ---- Life cycle ---------------------------------------------------------- */

enum sotto_status
campaign_label(const struct sotto_table *table, const char *label,
               size_t *ret_column, struct sotto_error *err)
{
    size_t column = label != NULL ? sotto_table_find(table, label) : SIZE_MAX;
    if (column == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "there is no column \"%.80s\" to be the label",
                         label != NULL ? label : "");
    }
    if (sotto_table_kind(table, column) != SOTTO_COLUMN_CATEGORY &&
        sotto_table_kind(table, column) != SOTTO_COLUMN_NUMBER) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "column \"%.80s\" holds neither categories nor "
                         "numbers, and the label is to be one of several "
                         "classes, or a number",
                         label);
    }
    *ret_column = column;
    return SOTTO_STATUS_OK;
}

enum sotto_status
campaign_classes(const struct sotto_table *table, size_t column,
                 struct sotto_error *err)
{
    return sotto_table_kind(table, column) == SOTTO_COLUMN_CATEGORY
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "column \"%.80s\" does not hold categories, and the "
                           "label is to be one of several classes",
                           sotto_table_name(table, column));
}

void
sotto_campaign_free(struct sotto_campaign *campaign)
{
    for (size_t i = 0; campaign != NULL && i < campaign->count; i++) {
        sotto_mechanism_free(campaign->made[i].mechanism);
    }
    if (campaign != NULL) {
        sotto_mechanism_free(campaign->encoder);
        free(campaign->made);
    }
    free(campaign);
}

enum sotto_status
sotto_campaign_new(const struct sotto_table *aux,
                   const struct sotto_campaign_options *options,
                   struct sotto_campaign **ret_campaign,
                   struct sotto_error *err)
{
    const struct sotto_train_options check = {.eps = ENCODER_EPS,
                                              .label = options->label,
                                              .drop = options->drop,
                                              .drops = options->drops,
                                              .set = options->set,
                                              .sets = options->sets};
    struct sotto_campaign *campaign = NULL;
    size_t column = 0;
    enum sotto_status status =
        campaign_label(aux, options->label, &column, err);
    status = HOST_THEN(status, sotto_train_check(options->kind, &check, err));
    if (status == SOTTO_STATUS_OK && options->sets > SETS_MAX - 3) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0, "too many settings");
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    campaign = calloc(1, sizeof *campaign);
    if (campaign == NULL) {
        return host_fail_memory(err);
    }
    campaign->aux = aux;
    campaign->options = *options;
    campaign->codes = strcmp(options->kind, "codebook") == 0;
    campaign->number = sotto_table_kind(aux, column) == SOTTO_COLUMN_NUMBER;
    *ret_campaign = campaign;
    return SOTTO_STATUS_OK;
}

/* ---- The mechanism ------------------------------------------------------- */

static bool
has_setting(const char *kind, const char *name)
{
    struct sotto_setting_info info;
    bool found = false;
    for (size_t i = 0; !found && sotto_train_setting_at(kind, i, &info); i++) {
        found = strcmp(info.name, name) == 0;
    }
    return found;
}

/* A setting by which a codebook is of columns, or of cells. */
static const struct sotto_setting of_columns = {"candidates", "identity"};
static const struct sotto_setting of_cells = {"tree", "distances"};

/* Trains the kind for an epsilon and so many people, with one more setting
   unless it is NULL. */
static enum sotto_status
train(const struct sotto_campaign *campaign, const char *eps, size_t people,
      const struct sotto_setting *more, struct sotto_train_facts *facts,
      struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_campaign_options *from = &campaign->options;
    struct sotto_setting set[SETS_MAX];
    char seed[24], number[24];
    struct sotto_train_options options = {.eps = eps,
                                          .label = from->label,
                                          .drop = from->drop,
                                          .drops = from->drops,
                                          .schema = from->schema,
                                          .set = set,
                                          .sets = from->sets,
                                          .encoder = campaign->encoder,
                                          .threads = from->threads,
                                          .watch = from->watch};
    (void)snprintf(seed, sizeof seed, "%ju", (uintmax_t)from->seed);
    (void)snprintf(number, sizeof number, "%zu", people);
    for (size_t i = 0; i < from->sets; i++) {
        set[i] = from->set[i];
    }
    if (has_setting(from->kind, "seed")) {
        set[options.sets++] = (struct sotto_setting){"seed", seed};
    }
    if (campaign->codes) {
        set[options.sets++] = (struct sotto_setting){"people", number};
    }
    if (more != NULL) {
        set[options.sets++] = *more;
        options.encoder = more == &of_columns ? NULL : options.encoder;
    }
    return sotto_train(campaign->aux, from->kind, &options, NULL, NULL, facts,
                       ret_mechanism, err);
}

static const char *
fact_text_of(const struct sotto_train_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->facts; i++) {
        if (strcmp(facts->fact[i].name, name) == 0) {
            return facts->fact[i].text;
        }
    }
    return "";
}

static size_t
fact_whole_of(const struct sotto_train_facts *facts, const char *name)
{
    double number = sotto_train_fact(facts, name);
    return isnan(number) ? 0 : (size_t)number;
}

/* Whether nothing is asked for that only codes of cells have. */
static bool
may_be_columns(const struct sotto_campaign *campaign)
{
    static const char *const cells[] = {"k",    "books",      "cells",  "tree",
                                        "unit", "candidates", "encoder"};
    bool may = campaign->codes;
    for (size_t i = 0; i < campaign->options.sets; i++) {
        for (size_t j = 0; j < sizeof cells / sizeof *cells; j++) {
            may = may && strcmp(campaign->options.set[i].name, cells[j]) != 0;
        }
    }
    return may;
}

/* Makes a codebook of columns, if train would for so many people; else sets
   nothing. */
static enum sotto_status
make_columns(const struct sotto_campaign *campaign, const char *eps,
             size_t people, struct sotto_train_facts *facts,
             struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status =
        train(campaign, eps, people, &of_columns, facts, &mechanism, err);
    if (status == SOTTO_STATUS_OK && !(sotto_train_fact(facts, "thin") > 0) &&
        strcmp(fact_text_of(facts, "tree"), "columns") == 0) {
        *ret_mechanism = mechanism;
        return status;
    }
    sotto_mechanism_free(mechanism);
    memset(facts, 0, sizeof *facts);
    return status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_STOPPED
               ? status
               : SOTTO_STATUS_OK;
}

/* Makes a codebook of cells, or another kind. */
static enum sotto_status
make_other(struct sotto_campaign *campaign, const char *eps, size_t people,
           struct sotto_train_facts *facts,
           struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_setting *more =
        may_be_columns(campaign) ? &of_cells : NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (campaign->codes && campaign->encoder == NULL) {
        status = train(campaign, ENCODER_EPS, sotto_table_rows(campaign->aux),
                       more, NULL, &campaign->encoder, err);
    }
    return HOST_THEN(
        status, train(campaign, eps, people, NULL, facts, ret_mechanism, err));
}

/* Makes the mechanism for an epsilon and so many people. */
static enum sotto_status
make(struct sotto_campaign *campaign, const char *eps, size_t people,
     const struct made **ret_made, struct sotto_error *err)
{
    struct sotto_train_facts *facts = calloc(1, sizeof *facts);
    struct made *all = host_grow(campaign->made, sizeof *all, campaign->count,
                                 &campaign->room);
    struct made made = {.people = people};
    enum sotto_status status = SOTTO_STATUS_OK;
    campaign->made = all != NULL ? all : campaign->made;
    if (facts == NULL || all == NULL) {
        free(facts);
        return host_fail_memory(err);
    }
    (void)snprintf(made.eps, sizeof made.eps, "%s", eps);
    if (may_be_columns(campaign)) {
        status =
            make_columns(campaign, eps, people, facts, &made.mechanism, err);
    }
    if (status == SOTTO_STATUS_OK && made.mechanism == NULL) {
        status = make_other(campaign, eps, people, facts, &made.mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        made.k = fact_whole_of(facts, "k");
        made.books = fact_whole_of(facts, "books");
        (void)snprintf(made.channel, sizeof made.channel, "%s",
                       fact_text_of(facts, "channel"));
        campaign->made[campaign->count] = made;
        *ret_made = &campaign->made[campaign->count++];
    }
    free(facts);
    return status;
}

static enum sotto_status
find(struct sotto_campaign *campaign, const char *eps, size_t people,
     const struct made **ret_made, struct sotto_error *err)
{
    if (strlen(eps) >= CAMPAIGN_EPS_SIZE) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "epsilon '%.60s' is too long a number", eps);
    }
    people = campaign->codes ? people : 0; /* others do not depend on it */
    for (size_t i = 0; i < campaign->count; i++) {
        const struct made *made = &campaign->made[i];
        if (made->people == people && strcmp(made->eps, eps) == 0) {
            *ret_made = made;
            return SOTTO_STATUS_OK;
        }
    }
    return make(campaign, eps, people, ret_made, err);
}

/* ---- A run --------------------------------------------------------------- */

static enum sotto_status
learn(const struct sotto_campaign *campaign, struct sotto_mechanism *mechanism,
      const struct sotto_table *answers, uint64_t seed,
      struct sotto_model **ret_model, struct sotto_fit_info *info,
      struct sotto_error *err)
{
    const struct sotto_campaign_options *from = &campaign->options;
    struct sotto_setting *set = calloc(from->fits + 1, sizeof *set);
    struct sotto_report_reader *reader = NULL;
    char text[24];
    struct sotto_fit_options options = {.set = set,
                                        .sets = from->fits + 1,
                                        .threads = from->threads,
                                        .watch = from->watch};
    enum sotto_status status =
        set != NULL
            ? population_report(mechanism, answers, seed, false, from->threads,
                                &from->watch, &reader, err)
            : host_fail_memory(err);
    (void)snprintf(text, sizeof text, "%ju", (uintmax_t)seed);
    for (size_t i = 0; set != NULL && i < from->fits; i++) {
        set[i] = from->fit[i];
    }
    if (set != NULL) {
        set[from->fits] = (struct sotto_setting){"seed", text};
    }
    status = HOST_THEN(status, sotto_fit(mechanism, reader, NULL, campaign->aux,
                                         &options, ret_model, info, err));
    sotto_report_reader_free(reader);
    free(set);
    return status;
}

static enum sotto_status
copy_mechanism(const struct sotto_mechanism *mechanism,
               struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    size_t size = 0;
    const uint8_t *bytes = sotto_mechanism_bytes(mechanism, &size);
    return sotto_mechanism_parse(bytes, size, "simulated campaign",
                                 ret_mechanism, err);
}

enum sotto_status
sotto_campaign_simulate(
    struct sotto_campaign *campaign, const struct sotto_table *people,
    const struct sotto_table *test, const struct sotto_campaign_run *run,
    struct sotto_campaign_outcome *ret_outcome, struct sotto_model **ret_model,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_campaign_outcome outcome = {.k = 0};
    struct sotto_fit_info info = {0};
    struct sotto_table *answers = NULL;
    struct sotto_model *model = NULL;
    const struct made *made = NULL;
    double start;
    enum sotto_status status = campaign_people_take(
        people, campaign->options.label, run, &answers, &outcome.asked, err);
    status =
        HOST_THEN(status, find(campaign, run->eps, outcome.asked, &made, err));
    if (status != SOTTO_STATUS_OK || made == NULL) {
        sotto_table_free(answers);
        return status;
    }
    start = host_seconds();
    status = learn(campaign, made->mechanism, answers, run->seed, &model, &info,
                   err);
    status = HOST_THEN(
        status,
        campaign->number
            ? sotto_campaign_score_number(model, test, &outcome.number, err)
            : sotto_campaign_score(model, test, &outcome.score, err));
    if (status == SOTTO_STATUS_OK && ret_mechanism != NULL) {
        status = copy_mechanism(made->mechanism, ret_mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        outcome.reports = sotto_table_rows(answers);
        outcome.k = made->k;
        outcome.books = made->books;
        memcpy(outcome.channel, made->channel, sizeof outcome.channel);
        outcome.right = info.right;
        outcome.right_low = info.right_low;
        outcome.right_high = info.right_high;
        outcome.seconds = host_seconds() - start;
        *ret_outcome = outcome;
    }
    if (status == SOTTO_STATUS_OK && ret_model != NULL) {
        *ret_model = model;
        model = NULL;
    }
    sotto_model_free(model);
    sotto_table_free(answers);
    return status;
}
