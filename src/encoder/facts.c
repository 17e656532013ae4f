/*
 * facts.c: what training came to, by name, and in words.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "encoder/encoder.h"

static struct sotto_fact *
add(struct sotto_train_facts *facts, const char *name,
    enum sotto_fact_kind kind)
{
    /* The last one is written over: what does not fit is our own mistake. */
    size_t at =
        facts->facts < SOTTO_FACTS_MAX ? facts->facts++ : SOTTO_FACTS_MAX - 1;
    struct sotto_fact *fact = &facts->fact[at];
    *fact = (struct sotto_fact){.kind = kind, .numbers = 1};
    (void)snprintf(fact->name, sizeof fact->name, "%s", name);
    return fact;
}

void
fact_number(struct sotto_train_facts *facts, const char *name, double number)
{
    add(facts, name, SOTTO_FACT_NUMBER)->number[0] = number;
}

void
fact_whole(struct sotto_train_facts *facts, const char *name, uint64_t whole)
{
    add(facts, name, SOTTO_FACT_WHOLE)->number[0] = (double)whole;
}

void
fact_flag(struct sotto_train_facts *facts, const char *name, bool truth)
{
    add(facts, name, SOTTO_FACT_FLAG)->number[0] = truth ? 1 : 0;
}

void
fact_numbers(struct sotto_train_facts *facts, const char *name,
             const double *number, size_t count)
{
    struct sotto_fact *fact = add(facts, name, SOTTO_FACT_NUMBERS);
    fact->numbers =
        count < SOTTO_FACT_NUMBERS_MAX ? count : SOTTO_FACT_NUMBERS_MAX;
    memcpy(fact->number, number, fact->numbers * sizeof *number);
}

void
fact_text(struct sotto_train_facts *facts, const char *name, const char *text)
{
    struct sotto_fact *fact = add(facts, name, SOTTO_FACT_TEXT);
    (void)snprintf(fact->text, sizeof fact->text, "%s", text);
}

void
fact_say(struct sotto_train_facts *facts, const char *format, ...)
{
    size_t size = strlen(facts->said);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(facts->said + size, sizeof facts->said - size, format,
                    list);
    va_end(list);
}

double
sotto_train_fact(const struct sotto_train_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->facts; i++) {
        if (strcmp(facts->fact[i].name, name) == 0 &&
            facts->fact[i].kind != SOTTO_FACT_TEXT) {
            return facts->fact[i].number[0];
        }
    }
    return NAN;
}
