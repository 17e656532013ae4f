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
#include "privacy/tape.h"

#include <stdlib.h>

#include "random/draw.h"

#define BITS 256u

enum kind { KIND_BELOW, KIND_BERNOULLI, KIND_SYMBOL, KIND_UNDER };

struct step {
    enum kind kind;
    uint32_t choices; /* bernoulli: its denominator */
    uint32_t choice;
    uint32_t argument; /* bernoulli: weight of 1; under: which threshold */
    const struct draw_threshold *table;
    mpz_t product, whole; /* of the weights, and of the totals, up to here */
};

struct tape {
    uint32_t count; /* steps recorded */
    uint32_t at;    /* steps replayed in this run */
    bool rejected;
    const char *fault;
    uint64_t escapes; /* answers given after a fault */
    mpz_t one, next;
    struct step step[TAPE_STEPS_MOST];
};

struct tape *
tape_new(void)
{
    struct tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) {
        return NULL;
    }
    mpz_init_set_ui(tape->one, 1);
    mpz_init(tape->next);
    for (uint32_t i = 0; i < TAPE_STEPS_MOST; i++) {
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
    for (uint32_t i = 0; i < TAPE_STEPS_MOST; i++) {
        mpz_clears(tape->step[i].product, tape->step[i].whole, NULL);
    }
    mpz_clears(tape->one, tape->next, NULL);
    free(tape);
}

static void
blame_sampler(struct tape *tape, const char *fault)
{
    if (tape->fault == NULL) {
        tape->fault = fault;
    }
}

/*
 * What is answered after a fault: 0 to n - 1 in no order, so that a sampler
 * that waits for some answer gets it, and ends. (The finalizer of splitmix64.)
 */
static uint32_t
escape_fault(struct tape *tape, uint32_t n)
{
    uint64_t x = ++tape->escapes * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((x ^ x >> 31) >> 32) % n;
}

/* ---- Weights ------------------------------------------------------------- */

/* S_i 2^256 of a table, where S_0 = 1. */
static void
threshold(const struct draw_threshold *table, uint32_t i, mpz_t ret)
{
    mpz_set_ui(ret, 1);
    if (i == 0) {
        mpz_mul_2exp(ret, ret, BITS);
        return;
    }
    mpz_set_ui(ret, table[i - 1].high);
    for (int j = 6; j >= 0; j--) {
        mpz_mul_2exp(ret, ret, j == 6 ? 8 : 32);
        mpz_add_ui(ret, ret, table[i - 1].low[j]);
    }
}

/* S_choice - S_(choice+1), where the one after the last is 0. */
static void
weigh_symbol(struct tape *tape, const struct step *step, uint32_t choice,
             mpz_t ret)
{
    threshold(step->table, choice, ret);
    if (choice + 1 < step->choices) {
        threshold(step->table, choice + 1, tape->next);
        mpz_sub(ret, ret, tape->next);
    }
    if (mpz_sgn(ret) < 0) {
        blame_sampler(tape, "a table's thresholds do not fall");
        mpz_set_ui(ret, 0);
    }
}

/* The weight of one choice: an integer, out of what set_whole multiplies by. */
static void
weigh_choice(struct tape *tape, const struct step *step, uint32_t choice,
             mpz_t ret)
{
    switch (step->kind) {
    case KIND_BELOW:
        mpz_set_ui(ret, 1);
        break;
    case KIND_BERNOULLI:
        mpz_set_ui(ret, choice == 1 ? step->argument
                                    : step->choices - step->argument);
        break;
    case KIND_SYMBOL:
        weigh_symbol(tape, step, choice, ret);
        break;
    case KIND_UNDER:
        threshold(step->table, step->argument, ret);
        if (choice == 0) {
            threshold(step->table, 0, tape->next);
            mpz_sub(ret, tape->next, ret);
        }
        break;
    }
}

static uint32_t
choices_of(const struct step *step)
{
    bool coin = step->kind == KIND_BERNOULLI || step->kind == KIND_UNDER;
    return coin ? 2 : step->choices;
}

/* Moves a step to its first possible choice at or after `choice`. */
static bool
choose_branch(struct tape *tape, struct step *step, uint32_t choice)
{
    mpz_srcptr product = step == tape->step ? tape->one : step[-1].product;
    for (; choice < choices_of(step); choice++) {
        weigh_choice(tape, step, choice, step->product);
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
    if (step->kind == KIND_SYMBOL || step->kind == KIND_UNDER) {
        mpz_mul_2exp(step->whole, whole, BITS);
    } else {
        mpz_mul_ui(step->whole, whole, step->choices);
    }
}

/* ---- Playing ------------------------------------------------------------- */

static void
record_step(struct tape *tape, struct step *step, const struct step *asked)
{
    tape->count++;
    step->kind = asked->kind;
    step->choices = asked->choices;
    step->argument = asked->argument;
    step->table = asked->table;
    set_whole(tape, step);
    if (!choose_branch(tape, step, 0)) {
        blame_sampler(tape,
                      "it drew from a table without a single possible outcome");
        step->choice = 0;
    }
}

/* Replays the next step, or records `asked` as a new one. */
static uint32_t
play_step(void *context, const struct step *asked)
{
    struct tape *tape = context;
    struct step *step;
    if (tape->at == TAPE_STEPS_MOST) {
        blame_sampler(tape, "it draws without end");
        return escape_fault(tape, choices_of(asked));
    }
    step = &tape->step[tape->at++];
    if (tape->at > tape->count) {
        record_step(tape, step, asked);
    }
    if (step->kind != asked->kind || step->choices != asked->choices ||
        step->argument != asked->argument || step->table != asked->table) {
        blame_sampler(tape,
                      "given the same answers, it asked another question");
        return escape_fault(tape, choices_of(asked));
    }
    return step->choice;
}

static uint32_t
play_below(void *context, uint32_t n)
{
    struct step asked = {.kind = KIND_BELOW, .choices = n};
    if (n == 0) {
        blame_sampler(context, "it drew from nothing");
        return 0;
    }
    return play_step(context, &asked);
}

static uint32_t
play_bernoulli(void *context, uint32_t numerator, uint32_t denominator)
{
    struct step asked = {
        .kind = KIND_BERNOULLI, .choices = denominator, .argument = numerator};
    if (denominator == 0 || numerator > denominator) {
        blame_sampler(context, "it drew with what is no probability");
        return 0;
    }
    return play_step(context, &asked);
}

static uint32_t
play_symbol(void *context, const struct draw_threshold *table, uint32_t size)
{
    struct step asked = {
        .kind = KIND_SYMBOL, .choices = size + 1, .table = table};
    return play_step(context, &asked);
}

static uint32_t
play_under(void *context, const struct draw_threshold *table, uint32_t index)
{
    struct step asked = {.kind = KIND_UNDER,
                         .choices = DRAW_FULL,
                         .argument = index,
                         .table = table};
    if (index > DRAW_FULL) {
        blame_sampler(context, "it drew with what is no probability");
        return 0;
    }
    return play_step(context, &asked);
}

static void
play_rejected(void *context)
{
    struct tape *tape = context;
    tape->rejected = true;
}

/* No sampler may take bytes past the primitives. */
static int
escape_bytes(void *context, void *buffer, size_t size)
{
    uint8_t *bytes = buffer;
    blame_sampler(context, "it took random bytes past the exact primitives");
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)escape_fault(context, 256);
    }
    return 0;
}

/* ---- The tape ------------------------------------------------------------ */

void
tape_random(struct tape *tape, struct random *ret_random)
{
    static const struct draw_tape primitives = {
        .below = play_below,
        .bernoulli = play_bernoulli,
        .symbol = play_symbol,
        .under = play_under,
        .rejected = play_rejected,
    };
    static uint8_t nothing[24];
    random_init(ret_random, nothing, sizeof nothing, escape_bytes, tape);
    ret_random->tape = &primitives;
}

bool
tape_next(struct tape *tape)
{
    if (tape->at != tape->count) {
        blame_sampler(tape, "given the same answers, it asked fewer questions");
    }
    tape->at = 0;
    tape->rejected = false;
    while (tape->count > 0 && tape->fault == NULL) {
        struct step *last = &tape->step[tape->count - 1];
        if (choose_branch(tape, last, last->choice + 1)) {
            return true;
        }
        tape->count--;
    }
    return false;
}

void
tape_rewind(struct tape *tape)
{
    tape->at = 0;
    tape->count = 0;
    tape->rejected = false;
}

const char *
tape_fault(const struct tape *tape)
{
    return tape->fault;
}

uint32_t
tape_steps(const struct tape *tape)
{
    return tape->at;
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

bool
tape_rejected(const struct tape *tape)
{
    return tape->rejected;
}

/* FNV-1a over what is public about each call. */
uint64_t
tape_shape(const struct tape *tape)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < tape->at; i++) {
        const struct step *step = &tape->step[i];
        uint64_t word[3] = {step->kind, step->choices,
                            (uint64_t)(uintptr_t)step->table};
        for (int j = 0; j < 3; j++) {
            hash = (hash ^ word[j]) * UINT64_C(0x1000001b3);
        }
    }
    return hash;
}
