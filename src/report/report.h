/*
 * report.h: making and checking reports.
 *
 *     z, symbols --domain--> q --channel--> report
 *
 * Where a part has several codebooks, a lot says which one is asked. It is
 * drawn uniformly in report_begin, which sees no record, and sent in clear:
 * the report (b, r) has probability p_b(r | q_b) / books, so that its epsilon
 * is the largest of the books', which all have the same channel.
 *
 * From here on the instructions executed depend on neither the record nor the
 * noise (invariant 7). With the channels and what they draw from, this folder
 * is all that epsilon rests on: it knows neither the file that it was read
 * from nor the encoder that z comes from.
 */
#ifndef SOTTO_REPORT_REPORT_H
#define SOTTO_REPORT_REPORT_H

#include "channel/channel.h"
#include "random/random.h"
#include "report/domain.h"
#include "sotto/client.h"

#define REPORT_MAGIC_SIZE 4u
#define REPORT_HEADER_SIZE (REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE + SOTTO_ID_SIZE)
#define REPORT_MAGIC "STO1"
#define REPORT_MAGIC_SIMULATED "SIM1"
#define REPORT_FACTORS_MAX 4u
#define REPORT_BOOKS_MAX 256u        /* the lot is a byte */
#define REPORT_POINTS_MAX (1u << 16) /* domains of one report */

/* One factor of a symbol: a category column, or the largest of k outputs; or
   (k = 2) whether the largest of `choices` outputs is the symbol of `column`.
 */
struct report_factor {
    bool is_column, equal;
    uint32_t at; /* the column, or the first entry of z */
    uint32_t k;
    uint32_t column, choices; /* `equal` */
};

/* One channel and where its q comes from; `blocks` domains in a row. */
struct report_part {
    struct channel_instance instance;
    uint32_t blocks;
    uint32_t from;          /* numbers: first entry of z */
    domain_function *place; /* numbers: z to q; NULL for symbols */
    uint32_t factors;       /* symbols: how many */
    uint32_t books; /* symbols: of so many runs of outputs, one behind the
                       other, the lot's is taken; 0: there is one */
    struct report_factor factor[REPORT_FACTORS_MAX];
    const char *covers; /* "features", "label" or "both": its maker's word */
};

/* What reports of a mechanism are made of, and the record at hand. */
struct report_plan {
    uint8_t hash[SOTTO_HASH_SIZE]; /* the mechanism's */
    uint32_t parts;
    uint32_t books; /* those of the part that has books; 0: none */
    struct report_part *part;
    size_t size;           /* bytes of a report */
    float *const *z;       /* where the encoder leaves its output */
    const int32_t *symbol; /* of each category column */
    int32_t *q;            /* the point at hand */
};

/* Bytes of a report; 0 if beyond REPORT_POINTS_MAX domains. */
size_t report_measure(const struct report_plan *plan, uint64_t *ret_entropy);
/* Bytes in front of the parts: the header, and the lot where there is one. */
static inline size_t
report_start(const struct report_plan *plan)
{
    return REPORT_HEADER_SIZE + (plan->books > 0 ? 1u : 0u);
}

/* Begins a report with all that no record has a say in: the header, the id and
   the lot. To be called before the record is read. */
void report_begin(const struct report_plan *plan, struct entropy *entropy,
                  uint8_t *ret_report);
/* Makes the parts of a report that was begun, of z and the symbols. */
void report_finish(const struct report_plan *plan, struct entropy *entropy,
                   uint8_t *report);
/* Takes the same steps for a simulation: another type of source, another
   mark. */
void report_simulate(const struct report_plan *plan,
                     struct simulation *simulation, uint8_t *ret_report);
/* The lot of a valid report; 0 where none is drawn. */
uint32_t report_book(const struct report_plan *plan, const uint8_t *report);
/* Puts the point of a part's block in plan->q, as that book has it. */
void report_point(const struct report_plan *plan,
                  const struct report_part *part, uint32_t block,
                  uint32_t book);
/* Tells whether the bytes are a report of this mechanism, simulated or not. */
bool report_valid(const struct report_plan *plan, const uint8_t *report,
                  size_t size);
/* Tells whether it bears the mark of a simulation: never to be released. */
bool report_simulated(const uint8_t *report);

#endif
