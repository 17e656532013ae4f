/*
 * tape.c: the primitives of random/draw.h on a tape that takes every branch.
 *
 * The tape holds the choices made on the current branch. A run replays them
 * from the start; past their end, a call takes its first possible choice and
 * records it. tape_next drops the steps that have no further choice, and moves
 * the last one left on.
 *
 *     below 5   bernoulli 1/3   symbol of {S_1, S_2}        numerator
 *        2            1              0             1 * 1 * (2^256 - S_1)
 *        2            1              1             1 * 1 * (S_1 - S_2)
 *       ...
 *        3            0              0             1 * 2 * (2^256 - S_1)
 */
#include "tape.h"

#include <stdlib.h>

#include "random/draw.h"

#define STEPS_MAX 64u
#define BITS 256u

enum kind { KIND_BELOW, KIND_BERNOULLI, KIND_SYMBOL };

struct step {
    enum kind kind;
    uint32_t choices;
    uint32_t choice;
    uint32_t first;                         /* symbol: where its table starts */
    uint32_t numerator;                     /* bernoulli: weight of 1 */
    const struct draw_threshold *threshold; /* symbol: its table */
    mpz_t product, whole; /* of the weights, and of the totals, up to here */
};

struct tape {
    uint32_t count; /* steps recorded */
    uint32_t at;    /* steps replayed in this run */
    mpz_t one;
    struct step step[STEPS_MAX];
};

/* A test whose sampler breaks the tape's rules can say nothing: stop. */
static void
insist(bool holds)
{
    if (!holds) {
        abort();
    }
}

struct tape *
tape_new(void)
{
    struct tape *tape = calloc(1, sizeof *tape);
    insist(tape != NULL);
    mpz_init_set_ui(tape->one, 1);
    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        mpz_inits(tape->step[i].product, tape->step[i].whole, NULL);
    }
    return tape;
}

void
tape_free(struct tape *tape)
{
    if (tape == NULL) {
        return;
    }
    for (uint32_t i = 0; i < STEPS_MAX; i++) {
        mpz_clears(tape->step[i].product, tape->step[i].whole, NULL);
    }
    mpz_clear(tape->one);
    free(tape);
}

/* No sampler may take bytes past the primitives. */
static int
refuse(void *context, void *buffer, size_t size)
{
    (void)context;
    (void)buffer;
    (void)size;
    abort();
}

void
tape_random(struct tape *tape, struct random *ret_random)
{
    random_init(ret_random, NULL, 0, refuse, tape);
}

/* S_i 2^256 of a symbol's table, where S_0 = 1 and the one after the last 0. */
static void
edge(const struct step *step, uint32_t i, mpz_t ret)
{
    mpz_set_ui(ret, i == 0);
    if (i == 0) {
        mpz_mul_2exp(ret, ret, BITS);
    } else if (i < step->choices) {
        const struct draw_threshold *t = &step->threshold[i - 1];
        mpz_set_ui(ret, t->high);
        for (int j = 6; j >= 0; j--) {
            insist(j < 6 || t->low[j] < 0x100);
            mpz_mul_2exp(ret, ret, j == 6 ? 8 : 32);
            mpz_add_ui(ret, ret, t->low[j]);
        }
    }
}

/* The weight of one choice: an integer, out of what set_whole multiplies by. */
static void
weigh(const struct step *step, uint32_t choice, mpz_t ret)
{
    mpz_t next;
    switch (step->kind) {
    case KIND_BELOW:
        mpz_set_ui(ret, 1);
        break;
    case KIND_BERNOULLI:
        mpz_set_ui(ret, choice == 1 ? step->numerator
                                    : step->choices - step->numerator);
        break;
    case KIND_SYMBOL:
        mpz_init(next);
        edge(step, choice, ret);
        edge(step, choice + 1, next);
        insist(mpz_cmp(ret, next) >= 0);
        mpz_sub(ret, ret, next);
        mpz_clear(next);
        break;
    }
}

/* Bernoulli keeps its denominator in `choices` but has two of them. */
static uint32_t
choices_of(const struct step *step)
{
    return step->kind == KIND_BERNOULLI ? 2 : step->choices;
}

/* Moves a step to its first possible choice at or after `choice`. */
static bool
choose(struct tape *tape, struct step *step, uint32_t choice)
{
    mpz_srcptr product = step == tape->step ? tape->one : step[-1].product;
    for (; choice < choices_of(step); choice++) {
        weigh(step, choice, step->product);
        if (mpz_sgn(step->product) > 0) {
            mpz_mul(step->product, step->product, product);
            step->choice = choice;
            return true;
        }
    }
    return false;
}

static void
set_whole(struct tape *tape, struct step *step)
{
    mpz_srcptr whole = step == tape->step ? tape->one : step[-1].whole;
    if (step->kind == KIND_SYMBOL) {
        mpz_mul_2exp(step->whole, whole, BITS);
    } else {
        mpz_mul_ui(step->whole, whole, step->choices);
    }
}

/* Replays the next step, or records `asked` as a new one. */
static uint32_t
play(struct random *random, const struct step *asked)
{
    struct tape *tape = random->context;
    struct step *step = &tape->step[tape->at++];
    insist(tape->at <= STEPS_MAX);
    if (tape->at > tape->count) {
        tape->count++;
        step->kind = asked->kind;
        step->choices = asked->choices;
        step->first = asked->first;
        step->numerator = asked->numerator;
        step->threshold = asked->threshold;
        set_whole(tape, step);
        insist(choose(tape, step, 0));
    }
    insist(step->kind == asked->kind && step->choices == asked->choices &&
           step->numerator == asked->numerator &&
           step->threshold == asked->threshold);
    return step->choice;
}

bool
tape_next(struct tape *tape)
{
    insist(tape->at == tape->count);
    tape->at = 0;
    while (tape->count > 0) {
        struct step *last = &tape->step[tape->count - 1];
        if (choose(tape, last, last->choice + 1)) {
            return true;
        }
        tape->count--;
    }
    return false;
}

mpz_srcptr
tape_numerator(const struct tape *tape)
{
    return tape->at == 0 ? tape->one : tape->step[tape->at - 1].product;
}

mpz_srcptr
tape_denominator(const struct tape *tape)
{
    return tape->at == 0 ? tape->one : tape->step[tape->at - 1].whole;
}

/* FNV-1a over what is public about each call. */
uint64_t
tape_shape(const struct tape *tape)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < tape->at; i++) {
        const struct step *step = &tape->step[i];
        uint64_t word[3] = {step->kind, step->choices, step->first};
        for (int j = 0; j < 3; j++) {
            hash = (hash ^ word[j]) * UINT64_C(0x1000001b3);
        }
    }
    return hash;
}

/* ---- The primitives ------------------------------------------------------ */

uint32_t
draw_below(struct random *random, uint32_t n)
{
    struct step asked = {.kind = KIND_BELOW, .choices = n};
    insist(n >= 1);
    return play(random, &asked);
}

uint32_t
draw_bernoulli(struct random *random, uint32_t numerator, uint32_t denominator)
{
    struct step asked = {
        .kind = KIND_BERNOULLI, .choices = denominator, .numerator = numerator};
    insist(denominator >= 1 && numerator <= denominator);
    return play(random, &asked);
}

/* The edges are noise that only draw_symbol may look at: poison. */
void
draw_tables(struct random *random, const struct draw_threshold *threshold,
            uint32_t count, struct draw_tables *ret_tables)
{
    (void)random;
    insist(count <= DRAW_THRESHOLDS_MAX);
    ret_tables->threshold = threshold;
    ret_tables->count = count;
    ret_tables->spent = UINT32_MAX;
    for (uint32_t i = 0; i < DRAW_THRESHOLDS_MAX; i++) {
        ret_tables->edge[i] = UINT64_MAX;
    }
}

uint32_t
draw_symbol(struct random *random, struct draw_tables *tables, uint32_t first,
            uint32_t size)
{
    struct step asked = {.kind = KIND_SYMBOL,
                         .choices = size + 1,
                         .first = first,
                         .threshold = tables->threshold + first};
    insist(size == DRAW_SMALL || size == DRAW_FULL);
    insist(first + size <= tables->count);
    return play(random, &asked);
}
