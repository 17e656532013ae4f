/*
 * witness.h: somebody outside who remembers every report that was released,
 * and afterwards compares the ledger with it.
 *
 * People are asked QUESTIONS questions, three in each of three campaigns, each
 * a mechanism of its own that costs epsilon 1. The caps are 2 in a campaign
 * and 4 in all, so both bind.
 */
#ifndef SOTTO_TESTS_WITNESS_H
#define SOTTO_TESTS_WITNESS_H

#include "ledger_fixture.h"

#define CAMPAIGNS 3u
#define QUESTIONS 9u
#define LIFETIME_CAP 4
#define CAMPAIGN_CAP 2
#define WITNESS_REPORT_MAX 80u

static const char *const campaign_name[CAMPAIGNS] = {"spring", "summer",
                                                     "autumn"};

struct witness {
    size_t people, report_size;
    uint8_t mechanism[QUESTIONS][SOTTO_HASH_SIZE];
    bool (*known)[QUESTIONS];
    uint8_t (*report)[QUESTIONS][WITNESS_REPORT_MAX];
    size_t released, different; /* reports seen first; seen with other bytes */
};

static inline void
witness_new(struct witness *w, size_t people, size_t report_size)
{
    memset(w, 0, sizeof *w);
    w->people = people;
    w->report_size = report_size;
    w->known = calloc(people, sizeof *w->known);
    w->report = calloc(people, sizeof *w->report);
    assert_non_null(w->known);
    assert_non_null(w->report);
    assert_true(report_size <= WITNESS_REPORT_MAX);
}

static inline void
witness_clear(struct witness *w)
{
    free(w->known);
    free(w->report);
}

static inline size_t
witness_name(size_t person, char name[32])
{
    return (size_t)snprintf(name, 32, "person %zu", person);
}

/* A report came out. */
static inline void
witness_see(struct witness *w, size_t person, size_t question,
            const uint8_t *report)
{
    if (w->known[person][question]) {
        w->different +=
            memcmp(w->report[person][question], report, w->report_size) != 0;
        return;
    }
    memcpy(w->report[person][question], report, w->report_size);
    w->known[person][question] = true;
    w->released++;
}

/* What the ledger says of one person. */
struct account {
    const struct witness *w;
    size_t person;
    size_t rows, faults;
    bool kept[QUESTIONS];
    double campaign[CAMPAIGNS];
};

static inline int
hex_value(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The question that a mechanism asks; QUESTIONS: none. */
static inline size_t
question_of(const struct witness *w, const char *hex)
{
    uint8_t hash[SOTTO_HASH_SIZE];
    size_t q = 0;
    for (size_t i = 0; i < sizeof hash; i++) {
        hash[i] =
            (uint8_t)(16 * hex_value(hex[2 * i]) + hex_value(hex[2 * i + 1]));
    }
    while (q < QUESTIONS && memcmp(w->mechanism[q], hash, sizeof hash) != 0) {
        q++;
    }
    return q;
}

static inline void
take_row(void *context, const struct sotto_ledger_row *row)
{
    struct account *a = context;
    size_t q = question_of(a->w, row->mechanism);
    a->rows++;
    if (q == QUESTIONS || row->report_size != a->w->report_size ||
        strcmp(row->campaign, campaign_name[q / 3]) != 0 || a->kept[q] ||
        strcmp(row->cost.eps_text, "1") != 0 ||
        memcmp(row->report + REPORT_MAGIC_SIZE, a->w->mechanism[q],
               SOTTO_HASH_SIZE) != 0) {
        a->faults++; /* a charge without its report, or twice */
        return;
    }
    a->kept[q] = true;
    a->campaign[q / 3] += row->cost.eps;
    if (a->w->known[a->person][q] &&
        memcmp(a->w->report[a->person][q], row->report, row->report_size) !=
            0) {
        a->faults++; /* it would send another one next time */
    }
}

/* What in the ledger contradicts what was seen, and how many rows it has. */
static inline size_t
witness_faults(const struct witness *w, struct sotto_ledger *ledger,
               size_t *ret_rows)
{
    size_t faults = 0;
    *ret_rows = 0;
    for (size_t p = 0; p < w->people; p++) {
        struct account a = {.w = w, .person = p};
        double total = 0;
        char name[32];
        size_t size = witness_name(p, name);
        faults += sotto_ledger_export(ledger, name, size, take_row, &a, NULL) !=
                  SOTTO_STATUS_OK;
        for (size_t q = 0; q < QUESTIONS; q++) {
            faults += w->known[p][q] && !a.kept[q]; /* forgotten */
        }
        for (size_t c = 0; c < CAMPAIGNS; c++) {
            faults += a.campaign[c] > CAMPAIGN_CAP;
            total += a.campaign[c];
        }
        faults += total > LIFETIME_CAP;
        faults += a.faults;
        *ret_rows += a.rows;
    }
    return faults;
}

/* The same numbers on every machine. */
static inline uint64_t
shuffle(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
