/*
 * judge.c: a body of reports, each judged by itself.
 */
#include "collector/judge.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "mechanism/report_json.h"
#include "mechanism/stages.h"

static const struct {
    const char *name, *why;
} verdicts[JUDGE_VERDICTS + 1] = {
    {"accepted", ""},
    {"duplicate", ""},
    {"hash", "it was made by another mechanism; fetch this campaign's again"},
    {"malformed", "it is cut short or does not start as reports do"},
    {"impossible", "no device sends this payload; make the report again"},
    {"simulated", "a collector takes either simulated reports or real ones, "
                  "and this is of the other kind"},
    {"pending", ""},
};

const char *
judge_verdict_name(enum judge_verdict verdict)
{
    return verdicts[verdict].name;
}

static bool
refuse_report(uint8_t verdict)
{
    return verdict >= JUDGE_HASH && verdict <= JUDGE_SIMULATED;
}

/* ---- Verdicts ------------------------------------------------------------ */

static enum sotto_status
make_room(struct judge *judge, size_t count, struct sotto_error *err)
{
    judge->verdict = count == 1 ? &judge->one : malloc(count);
    if (judge->verdict == NULL) {
        return host_fail_memory(err);
    }
    judge->count = count;
    return SOTTO_STATUS_OK;
}

static void
settle_report(struct judge *judge, size_t at, enum judge_verdict verdict)
{
    judge->verdict[at] = (uint8_t)verdict;
    judge->found[verdict]++;
}

/* What the first REPORT_HEADER_SIZE bytes say; PENDING: nothing against it. */
static enum judge_verdict
judge_header(const struct sotto_mechanism *mechanism, const uint8_t *report,
             bool simulation)
{
    bool simulated = sotto_report_simulated(report);
    if (!simulated && memcmp(report, REPORT_MAGIC, REPORT_MAGIC_SIZE) != 0) {
        return JUDGE_MALFORMED;
    }
    if (memcmp(report + REPORT_MAGIC_SIZE, mechanism->shape.hash,
               SOTTO_HASH_SIZE) != 0) {
        return JUDGE_HASH;
    }
    return simulated != simulation ? JUDGE_SIMULATED : JUDGE_PENDING;
}

/* A whole report of the mechanism's size. */
static enum judge_verdict
judge_report(const struct sotto_mechanism *mechanism, const uint8_t *report,
             bool simulation)
{
    enum judge_verdict verdict = judge_header(mechanism, report, simulation);
    if (verdict == JUDGE_PENDING &&
        !stages_valid(mechanism, report, mechanism->shape.report_size)) {
        verdict = JUDGE_IMPOSSIBLE;
    }
    return verdict;
}

static enum sotto_status
fail_most(size_t most, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                     "a request holds at most %zu reports; send them in "
                     "several",
                     most);
}

/* ---- Binary -------------------------------------------------------------- */

/* The report that the body ends in, cut short: another mechanism's may be
   shorter, so its hash is looked at where it is there. */
static enum judge_verdict
judge_rest(const struct sotto_mechanism *mechanism, const uint8_t *rest,
           size_t size)
{
    if (size >= REPORT_HEADER_SIZE &&
        judge_header(mechanism, rest, false) == JUDGE_HASH) {
        return JUDGE_HASH;
    }
    return JUDGE_MALFORMED;
}

static bool
begins_like_one(const uint8_t *data, size_t size)
{
    return size >= REPORT_MAGIC_SIZE &&
           (memcmp(data, REPORT_MAGIC, REPORT_MAGIC_SIZE) == 0 ||
            sotto_report_simulated(data));
}

static enum sotto_status
judge_binary(struct judge *judge, const struct sotto_mechanism *mechanism,
             bool simulation, const uint8_t *body, size_t size, size_t most,
             struct sotto_error *err)
{
    size_t each = judge->each, whole = size / each, rest = size % each;
    enum sotto_status status;
    bool any = false;
    if (whole + (rest > 0 ? 1 : 0) > most) {
        return fail_most(most, err);
    }
    status = make_room(judge, whole + (rest > 0 ? 1 : 0), err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    judge->reports = body;
    for (size_t i = 0; i < whole; i++) {
        any = any || begins_like_one(body + i * each, each);
        settle_report(judge, i,
                      judge_report(mechanism, body + i * each, simulation));
    }
    if (rest > 0) {
        any = any || begins_like_one(body + whole * each, rest);
        settle_report(judge, whole,
                      judge_rest(mechanism, body + whole * each, rest));
    }
    return any ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "this is no list of reports: a report starts with "
                           "STO1, or SIM1 if it is simulated");
}

/* ---- Lines --------------------------------------------------------------- */

static bool
is_blank(const uint8_t *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            return false;
        }
    }
    return true;
}

/* The next line that is not blank; NULL: there is none. */
static const uint8_t *
next_line(const uint8_t **at, const uint8_t *end, size_t *ret_size)
{
    while (*at < end) {
        const uint8_t *line = *at;
        const uint8_t *stop = memchr(line, '\n', (size_t)(end - line));
        size_t size = (size_t)((stop != NULL ? stop : end) - line);
        *at = stop != NULL ? stop + 1 : end;
        if (!is_blank(line, size)) {
            *ret_size = size;
            return line;
        }
    }
    return NULL;
}

static enum sotto_status
count_lines(const uint8_t *body, size_t size, size_t most, size_t *ret_count,
            struct sotto_error *err)
{
    const uint8_t *at = body, *line;
    size_t count = 0, length = 0;
    bool any = false;
    for (line = next_line(&at, body + size, &length); line != NULL;
         line = next_line(&at, body + size, &length)) {
        any = any || memchr(line, '{', length) != NULL;
        count++;
    }
    if (!any) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "this is no list of reports: a line must hold one "
                         "report as a JSON object");
    }
    if (count > most) {
        return fail_most(most, err);
    }
    *ret_count = count;
    return SOTTO_STATUS_OK;
}

static void
explain_refusal(struct judge *judge, const char *why)
{
    if (judge->why == NULL) {
        judge->why = calloc(JUDGE_WHY_MOST, sizeof *judge->why);
    }
    if (judge->why != NULL && judge->whys < JUDGE_WHY_MOST) {
        size_t size = strnlen(why, JUDGE_WHY_SIZE - 1);
        memcpy(judge->why[judge->whys], why, size);
        judge->whys++;
    }
}

/* Room for one more report behind the others; NULL: no memory. */
static uint8_t *
next_slot(struct judge *judge)
{
    if (judge->own_room - judge->own_size < judge->each) {
        size_t room = 2 * judge->own_room + judge->each;
        uint8_t *moved = host_wipe_resize(judge->own, judge->own_size, room);
        if (moved == NULL) {
            return NULL;
        }
        judge->own = moved;
        judge->own_room = room;
    }
    return judge->own + judge->own_size;
}

static enum sotto_status
judge_line(struct judge *judge, const struct sotto_mechanism *mechanism,
           bool simulation, const uint8_t *line, size_t size, size_t at,
           int64_t *values, struct sotto_error *err)
{
    struct sotto_error cause = {0};
    uint8_t *report = next_slot(judge);
    enum judge_verdict verdict;
    enum sotto_status status;
    if (report == NULL) {
        return host_fail_memory(err);
    }
    memset(report, 0, judge->each);
    status = report_json_read(mechanism, (const char *)line, size, values,
                              report, &cause);
    if (status == SOTTO_STATUS_MEMORY) {
        explicit_bzero(report, judge->each);
        return host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        verdict = judge_report(mechanism, report, simulation);
    } else if (status == SOTTO_STATUS_PIN) {
        verdict = JUDGE_HASH;
    } else { /* the header was right: the beginning stands */
        verdict = report[0] != 0 ? JUDGE_IMPOSSIBLE : JUDGE_MALFORMED;
    }
    if (verdict == JUDGE_PENDING) {
        judge->own_size += judge->each;
    } else {
        explicit_bzero(report, judge->each);
        explain_refusal(judge, status == SOTTO_STATUS_OK ? verdicts[verdict].why
                                                         : cause.message);
    }
    settle_report(judge, at, verdict);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
judge_lines(struct judge *judge, const struct sotto_mechanism *mechanism,
            bool simulation, const uint8_t *body, size_t size, size_t most,
            struct sotto_error *err)
{
    const uint8_t *at = body, *line;
    size_t count = 0, length = 0;
    int64_t *values = NULL;
    enum sotto_status status = count_lines(body, size, most, &count, err);
    status = HOST_THEN(status, make_room(judge, count, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    values = calloc(report_json_values(mechanism), sizeof *values);
    if (values == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        line = next_line(&at, body + size, &length);
        status = judge_line(judge, mechanism, simulation, line, length, i,
                            values, err);
    }
    judge->reports = judge->own;
    host_wipe_free(values, report_json_values(mechanism) * sizeof *values);
    return status;
}

enum sotto_status
judge_body(struct judge *judge, const struct sotto_mechanism *mechanism,
           enum judge_form form, bool simulation, const uint8_t *body,
           size_t size, size_t most, struct sotto_error *err)
{
    memset(judge, 0, sizeof *judge);
    judge->form = form;
    judge->each = mechanism->shape.report_size;
    if (size == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the body is empty: it must hold a report or more");
    }
    return form == JUDGE_BINARY ? judge_binary(judge, mechanism, simulation,
                                               body, size, most, err)
                                : judge_lines(judge, mechanism, simulation,
                                              body, size, most, err);
}

void
judge_clear(struct judge *judge)
{
    if (judge->verdict != &judge->one) {
        free(judge->verdict);
    }
    host_wipe_free(judge->own, judge->own_size);
    host_wipe_free(judge->why, JUDGE_WHY_MOST * sizeof *judge->why);
    memset(judge, 0, sizeof *judge);
}

/* ---- The store's word ---------------------------------------------------- */

bool
judge_next(const struct judge *judge, size_t *at, size_t *slot,
           const uint8_t **ret_report)
{
    while (*at < judge->count && judge->verdict[*at] != JUDGE_PENDING) {
        /* What the store has settled already had a slot, too. */
        *slot += judge->verdict[*at] <= JUDGE_DUPLICATE ? 1 : 0;
        (*at)++;
    }
    if (*at == judge->count) {
        return false;
    }
    *ret_report = judge->reports +
                  (judge->form == JUDGE_BINARY ? *at : *slot) * judge->each;
    return true;
}

void
judge_settle(struct judge *judge, size_t at, bool duplicate)
{
    judge->found[JUDGE_PENDING]--;
    settle_report(judge, at, duplicate ? JUDGE_DUPLICATE : JUDGE_ACCEPTED);
}

void
judge_unsettle(struct judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->verdict[i] <= JUDGE_DUPLICATE) {
            judge->found[judge->verdict[i]]--;
            settle_report(judge, i, JUDGE_PENDING);
        }
    }
}

/* ---- The answer ---------------------------------------------------------- */

/* Plain letters alone: what a message quotes is a client's. */
static void
write_why(const char *why, struct host_text *text)
{
    for (; *why != '\0'; why++) {
        char c = *why;
        if (c == '"' || c == '\\') {
            host_text_add(text, "\\", 1);
        }
        host_text_add(text, c >= ' ' && c <= '~' ? &c : "?", 1);
    }
}

static void
write_refusal(const struct judge *judge, size_t at, size_t nth,
              struct host_text *text)
{
    uint8_t verdict = judge->verdict[at];
    host_text_print(text, "%s{\"report\":%zu,\"code\":\"%s\"",
                    nth > 0 ? "," : "", at, verdicts[verdict].name);
    if (nth < JUDGE_WHY_MOST) {
        host_text_print(text, ",\"why\":\"");
        write_why(nth < judge->whys ? judge->why[nth] : verdicts[verdict].why,
                  text);
        host_text_add(text, "\"", 1);
    }
    host_text_add(text, "}", 1);
}

size_t
judge_answer_most(size_t refused, size_t others)
{
    static const char head[] = "{\"accepted\":,\"duplicate\":,\"refused\":,"
                               "\"duplicates\":[],\"refusals\":[]}\n";
    static const char refusal[] = ",{\"report\":,\"code\":\"impossible\"}";
    static const char why[] = ",\"why\":\"\"";
    size_t digits = 1;
    size_t whys = refused < JUDGE_WHY_MOST ? refused : JUDGE_WHY_MOST;
    for (size_t rest = refused + others; rest >= 10; rest /= 10) {
        digits++;
    }
    return sizeof head + 3 * digits + others * (1 + digits) +
           refused * (sizeof refusal + digits) +
           whys * (sizeof why + 2 * (size_t)JUDGE_WHY_SIZE);
}

void
judge_write(const struct judge *judge, struct host_text *text)
{
    size_t accepted = judge->found[JUDGE_ACCEPTED];
    size_t duplicate = judge->found[JUDGE_DUPLICATE], nth = 0;
    host_text_print(text,
                    "{\"accepted\":%zu,\"duplicate\":%zu,\"refused\":%zu,"
                    "\"duplicates\":[",
                    accepted, duplicate, judge->count - accepted - duplicate);
    for (size_t i = 0; duplicate > 0 && i < judge->count; i++) {
        if (judge->verdict[i] == JUDGE_DUPLICATE) {
            host_text_print(text, "%s%zu", nth++ > 0 ? "," : "", i);
        }
    }
    host_text_print(text, "],\"refusals\":[");
    nth = 0;
    for (size_t i = 0; i < judge->count; i++) {
        if (refuse_report(judge->verdict[i])) {
            write_refusal(judge, i, nth++, text);
        }
    }
    host_text_print(text, "]}\n");
}
