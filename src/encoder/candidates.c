/*
 * candidates.c: a list of encoders, read, checked, and chosen from.
 */
#include "encoder/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

/* ---- The list ------------------------------------------------------------ */

/* Cuts the text at the next `mark`; NULL: it was the last piece. */
static char *
cut_text(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at != NULL) {
        *at++ = '\0';
    }
    return at;
}

static bool
is_file(const char *name)
{
    static const char ending[] = ".sotto";
    size_t size = strlen(name), tail = sizeof ending - 1;
    return size > tail && strcmp(name + size - tail, ending) == 0;
}

/* Whether a kind has a representation of its own. */
static bool
is_learnt(const struct encoder *encoder)
{
    return encoder->kind.analyst != NULL && encoder->base == NULL;
}

/* Reads NAME=VALUE or, for a flag, NAME. */
static enum sotto_status
read_set(struct candidate *candidate, char *text, struct sotto_error *err)
{
    char *value = cut_text(text, '=');
    if (candidate->sets == CANDIDATE_SETS_MAX) {
        return settings_fail(err, "candidates",
                             "%s has more than %u settings of its own",
                             candidate->kind, CANDIDATE_SETS_MAX);
    }
    candidate->set[candidate->sets++] =
        (struct sotto_setting){text, value != NULL ? value : ""};
    return SOTTO_STATUS_OK;
}

/* Reads KIND:NAME=VALUE:... or a file's name; `kind` is a copy of the name. */
static enum sotto_status
read_candidate(struct candidate *candidate, const char *name, char *kind,
               struct sotto_error *err)
{
    const struct encoder *encoder;
    enum sotto_status status = SOTTO_STATUS_OK;
    char *rest;
    *candidate = (struct candidate){
        .name = name,
        .epochs = (double)NAN,
        .loss = (double)NAN,
        .marks = {(double)NAN, (double)NAN, (double)NAN, (double)NAN}};
    if (is_file(name)) {
        return SOTTO_STATUS_OK;
    }
    rest = cut_text(kind, ':');
    encoder = encoder_find(encoder_registry, kind);
    if (encoder == NULL || !is_learnt(encoder)) {
        return settings_fail(
            err, "candidates",
            "\"%.40s\" is neither a kind of encoder (pca, "
            "vlm, clm, identity) nor a mechanism's file (.sotto)",
            kind);
    }
    candidate->kind = kind;
    while (status == SOTTO_STATUS_OK && rest != NULL) {
        char *next = cut_text(rest, ':');
        status = read_set(candidate, rest, err);
        rest = next;
    }
    return status;
}

/* Counts those of its kind, and those with checkpoints, before it. */
static void
place_candidate(const struct candidates *candidates, struct candidate *at)
{
    for (const struct candidate *other = candidates->candidate; other < at;
         other++) {
        if (other->kind != NULL && at->kind != NULL) {
            at->again += strcmp(other->kind, at->kind) == 0;
            at->place +=
                encoder_find(encoder_registry, other->kind)->kind.trains;
        }
    }
}

enum sotto_status
candidates_init(struct candidates *candidates, const char *list,
                const struct setting *theirs, uint64_t seed,
                struct sotto_error *err)
{
    size_t size = strlen(list) + 1;
    enum sotto_status status = SOTTO_STATUS_OK;
    char *name, *kind;
    *candidates = (struct candidates){
        .theirs = theirs, .seed = seed, .text = malloc(2 * size)};
    if (candidates->text == NULL) {
        return host_fail_memory(err);
    }
    memcpy(candidates->text, list, size);
    memcpy(candidates->text + size, list, size);
    name = candidates->text;
    kind = candidates->text + size;
    while (status == SOTTO_STATUS_OK && name != NULL) {
        struct candidate *at = &candidates->candidate[candidates->count];
        char *next = cut_text(name, ','), *next_kind = cut_text(kind, ',');
        if (candidates->count == CANDIDATES_MAX) {
            return settings_fail(err, "candidates", "are more than %u",
                                 CANDIDATES_MAX);
        }
        status = read_candidate(at, name, kind, err);
        if (status == SOTTO_STATUS_OK) {
            place_candidate(candidates, at);
            candidates->count++;
        }
        name = next;
        kind = next_kind;
    }
    return status;
}

void
candidates_clear(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        sight_clear(&candidates->candidate[i].sight);
        sotto_mechanism_free(candidates->candidate[i].encoder);
    }
    free(candidates->text);
    *candidates = (struct candidates){0};
}

/* Whether a column goes into the encoder. */
static bool
is_input(const struct sotto_train_options *options, const char *name)
{
    bool out = options->label != NULL && strcmp(name, options->label) == 0;
    for (size_t i = 0; i < options->drops; i++) {
        out = out || strcmp(name, options->drop[i]) == 0;
    }
    if (options->schema != NULL) {
        const struct sotto_schema_column *as =
            sotto_schema_find(options->schema, name);
        out = out || as == NULL || as->use == SOTTO_SCHEMA_DROP;
    }
    return !out;
}

const char *
candidates_for(const struct sotto_table *table,
               const struct sotto_train_options *options)
{
    size_t inputs = 0, images = 0;
    if (sotto_table_rows(table) < SIGHT_RECORDS_LEAST) {
        return ENCODER_BASE;
    }
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        if (is_input(options, sotto_table_name(table, i))) {
            inputs++;
            images += sotto_table_image(table, i).height > 1;
        }
    }
    return inputs == 1 && images == 1 ? CANDIDATES_IMAGES : CANDIDATES_TABLE;
}

/* ---- The choice ---------------------------------------------------------- */

enum sotto_status
candidates_choose(struct candidates *candidates, struct sotto_error *err)
{
    struct sight sight[CANDIDATES_MAX] = {{0}};
    struct sight_marks marks[CANDIDATES_MAX];
    size_t from[CANDIDATES_MAX], count = 0;
    enum sotto_status status;
    for (size_t i = 0; i < candidates->count; i++) {
        if (candidates->candidate[i].encoder != NULL) {
            from[count] = i;
            sight[count++] = candidates->candidate[i].sight;
        }
    }
    status = sight_score(sight, count, marks, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        struct candidate *at = &candidates->candidate[from[i]];
        at->marks = marks[i];
        if (i == 0 || at->marks.score >
                          candidates->candidate[candidates->kept].marks.score) {
            candidates->kept = from[i];
        }
    }
    return status;
}

void
candidates_tell(const struct candidates *candidates,
                struct sotto_train_facts *facts)
{
    const struct candidate *kept = &candidates->candidate[candidates->kept];
    double mark[4][CANDIDATES_MAX];
    fact_say(facts, "Encoders to choose from, scored without labels:\n");
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *at = &candidates->candidate[i];
        bool there = at->encoder != NULL;
        mark[0][i] = there ? at->marks.score : 0;
        mark[1][i] = there ? at->marks.halves : 0;
        mark[2][i] = there ? at->marks.sees : 0;
        mark[3][i] = there ? at->marks.parts : 0;
        if (!there) {
            fact_say(facts, "  %-28.60s left out: not for these records\n",
                     at->name);
        } else {
            fact_say(facts, "  %-28.60s score %.3f%s\n", at->name,
                     at->marks.score, at == kept ? ", kept" : "");
        }
    }
    fact_numbers(facts, "candidate_scores", mark[0], candidates->count);
    fact_numbers(facts, "candidate_halves", mark[1], candidates->count);
    fact_numbers(facts, "candidate_sees", mark[2], candidates->count);
    fact_numbers(facts, "candidate_parts", mark[3], candidates->count);
    fact_whole(facts, "candidate_kept", candidates->kept);
    fact_text(facts, "candidate", kept->name);
}

json_t *
candidates_json(const struct candidates *candidates)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < candidates->count; i++) {
        const struct candidate *at = &candidates->candidate[i];
        json_t *one = json_pack(
            "{s:s, s:o}", "encoder", at->name, "score",
            isnan(at->marks.score) ? json_null() : json_real(at->marks.score));
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}
