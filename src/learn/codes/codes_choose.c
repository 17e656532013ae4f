/*
 * codes_choose.c: how many codes, and by which channel.
 *
 * Many codes tell records apart better, and few get more reports each. A report
 * names a pair of code and label with the chance p if it is the true one, and
 * with q if not. Of n people, a code that a k-th of them have with one label is
 * named in n (q + (p - q) / k) reports on average, against n q for a pair that
 * nobody has, with a variance of about n q (1 - q): its signal-to-noise is
 *
 *     n g / k^2,      g = (p - q)^2 / (q (1 - q)).
 *
 * k is the largest for which it is CODES_CHOOSE_SIGNAL at least. g depends on k
 * a little, as the channel's pairs are k (K + 1); g / k^2 falls with k, so k is
 * found by halving. No label is looked at, and none made up.
 *
 * Two bounds hold. Codes must be as many as the K classes, so that each may
 * have its own; but where reports can tell so few apart that K is more than
 * CODES_CHOOSE_STRETCH times as many, that many. And they must be no more than
 * there are auxiliary records to learn each from, cells to put together, and
 * pairs in a channel. Where these cross, the latter holds.
 *
 * Where every column is a book, each of B columns has a B-th of the reports,
 * and a code of k a signal of n g / (B k^2). A column's codes are seldom pure
 * in a label, so more is asked: CODES_CHOOSE_COLUMN_SIGNAL. What two codes have
 * of one of K labels differs by a part of 2 / K of what a pure one would have:
 * if n g / (B K^2) is less than CODES_CHOOSE_COLUMN_LEAST, columns are lost in
 * noise: THIN.
 *
 * signs is worth more than subset at a small epsilon, but says nothing of the
 * labels' shares: it is taken where these are known to be even.
 */
#include "learn/codes/codes_choose.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/settings.h"
#include "learn/codes/smooth_leaves.h"

struct code_choosing {
    const struct channel *channel;
    size_t classes, people;
    uint64_t eps;
    void *own; /* the channel's */
};

/* ---- Information --------------------------------------------------------- */

/* g of the channel on the pairs of k codes; 0 where it cannot take them. */
static double
information_of(const struct code_choosing *choosing, size_t k)
{
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    size_t pairs = k * (choosing->classes + 1);
    if (pairs > CHANNEL_K_MAX ||
        channel_init(&instance, choosing->channel, (uint32_t)pairs, (uint32_t)k,
                     0, choosing->eps, 0, choosing->own) != SOTTO_STATUS_OK ||
        likelihood_init(&likelihood, &instance) != SOTTO_STATUS_OK) {
        return 0;
    }
    return 1 / likelihood.variance_other;
}

/* The most codes, from 2 to `most`, whose signal is enough. */
static size_t
count_informed(const struct code_choosing *choosing, size_t most)
{
    size_t least = 2;
    while (least < most) {
        size_t k = least + (most - least + 1) / 2;
        double g = information_of(choosing, k);
        if ((double)choosing->people * g >=
            CODES_CHOOSE_SIGNAL * (double)k * (double)k) {
            least = k;
        } else {
            most = k - 1;
        }
    }
    return least;
}

/* ---- The choice ---------------------------------------------------------- */

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static enum sotto_status
find_channel(struct code_choosing *choosing,
             const struct sotto_codebook_wanted *wanted,
             struct sotto_error *err)
{
    bool signs = wanted->balanced && choosing->eps < CODES_CHOOSE_EPS_SIGNS;
    const char *name = signs ? "signs" : "subset";
    name = wanted->channel != NULL ? wanted->channel : name;
    choosing->channel = channel_find(channel_exact, name, strlen(name));
    return choosing->channel != NULL &&
                   choosing->channel->domain == CHANNEL_DOMAIN_SYMBOLS
               ? SOTTO_STATUS_OK
               : settings_fail(err, "channel",
                               "\"%.40s\" is no channel for codes: take "
                               "subset, flip or signs",
                               name);
}

static enum sotto_status
prepare_choice(struct code_choosing *choosing,
               const struct sotto_codebook *codebook,
               const struct sotto_codebook_wanted *wanted,
               struct sotto_error *err)
{
    enum sotto_status status;
    choosing->classes = wanted->classes > 0 ? wanted->classes
                                            : sotto_codebook_classes(codebook);
    choosing->people = wanted->people > 0 ? wanted->people : codebook->records;
    if (choosing->classes < 2) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "the number of codes cannot be chosen for %zu class%s: "
                      "at least 2; say how many classes there are, or give k "
                      "and channel",
                      choosing->classes, choosing->classes == 1 ? "" : "es"),
            err, "classes");
    }
    if (CHANNEL_K_MAX / (choosing->classes + 1) < 2) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, choosing->classes,
                      "%zu classes are too many for a code and a label "
                      "together: at most %u pairs",
                      choosing->classes, CHANNEL_K_MAX),
            err, "classes");
    }
    status =
        decimal_read_eps(wanted->eps, strlen(wanted->eps), &choosing->eps, err);
    return HOST_THEN(status, find_channel(choosing, wanted, err));
}

/* Finds the most codes that there may be, and why. */
static size_t
count_most(const struct sotto_codebook *codebook, size_t pairs,
           enum sotto_codebook_bound *ret_bound)
{
    size_t most = codebook->records / CODES_CHOOSE_RECORDS;
    *ret_bound = SOTTO_CODEBOOK_RECORDS;
    if (most > codebook_cells_most(codebook)) {
        most = codebook_cells_most(codebook);
        *ret_bound = SOTTO_CODEBOOK_CELLS;
    }
    if (most > pairs) {
        most = pairs;
        *ret_bound = SOTTO_CODEBOOK_PAIRS;
    }
    return most > 2 ? most : 2;
}

/* Takes what information allows, within the bounds. */
static void
choose_number(const struct code_choosing *choosing,
              const struct sotto_codebook *codebook,
              struct sotto_codebook_choice *choice)
{
    size_t pairs = CHANNEL_K_MAX / (choosing->classes + 1);
    enum sotto_codebook_bound above;
    size_t most = count_most(codebook, pairs, &above);
    size_t least = choosing->classes;
    choice->informed = count_informed(choosing, pairs);
    least = smaller(least, CODES_CHOOSE_STRETCH * choice->informed);
    choice->k = choice->informed;
    choice->bound = choice->informed < pairs ? SOTTO_CODEBOOK_INFORMATION
                                             : SOTTO_CODEBOOK_PAIRS;
    if (choice->k < least) {
        choice->k = least;
        choice->bound = SOTTO_CODEBOOK_CLASSES;
    }
    if (choice->k > most) {
        choice->k = most;
        choice->bound = above;
    }
    choice->least = choosing->classes;
    choice->people = choosing->people;
}

/* The signal of a code, of k, where each of the columns is a book. */
static double
column_signal(const struct code_choosing *choosing, size_t columns, size_t k)
{
    return (double)choosing->people * information_of(choosing, k) /
           ((double)columns * (double)k * (double)k);
}

/* Takes as many codes of every column as information allows. */
static void
choose_of_columns(const struct code_choosing *choosing,
                  const struct sotto_codebook *codebook,
                  struct sotto_codebook_choice *choice)
{
    size_t columns = codebook->columns, most = CODES_CHOOSE_COLUMN_K;
    size_t pairs = CHANNEL_K_MAX / (choosing->classes + 1);
    size_t records = codebook->records / CODES_CHOOSE_RECORDS;
    double mixed = 2 / (double)choosing->classes;
    bool thin = column_signal(choosing, columns, 2) * mixed * mixed <
                    CODES_CHOOSE_COLUMN_LEAST ||
                choosing->people / columns < CODES_CHOOSE_COLUMN_PEOPLE;
    most = smaller(smaller(most, pairs), records);
    most = smaller(most, codebook_columns_most(codebook));
    choice->k = 2;
    while (choice->k < most &&
           column_signal(choosing, columns, choice->k + 1) >=
               CODES_CHOOSE_COLUMN_SIGNAL) {
        choice->k++;
    }
    thin = thin ||
           !smooth_leaves_plain_cheap(codebook->records, columns * choice->k,
                                      choosing->classes);
    choice->bound = thin ? SOTTO_CODEBOOK_THIN : SOTTO_CODEBOOK_COLUMNS;
    choice->informed = choice->k;
    choice->least = choosing->classes;
    choice->people = choosing->people;
}

/* Chooses how many books; without an epsilon, or a label, one. */
static enum sotto_status
choose_books(const struct sotto_codebook *codebook,
             const struct sotto_codebook_wanted *wanted,
             struct sotto_codebook_choice *choice, struct sotto_error *err)
{
    size_t classes = wanted->classes > 0 ? wanted->classes
                                         : sotto_codebook_classes(codebook);
    enum sotto_status status = SOTTO_STATUS_OK;
    uint64_t eps = 0;
    choice->books = wanted->books > 0 ? wanted->books : 1;
    if (codebook->columns > 0) {
        choice->books = codebook->columns;
        return wanted->books == 0 || wanted->books == codebook->columns
                   ? SOTTO_STATUS_OK
                   : settings_fail(err, "books",
                                   "cannot be %zu: each of the %zu columns "
                                   "that vary has one; leave it out",
                                   wanted->books, codebook->columns);
    }
    if (wanted->books == 0 && wanted->eps != NULL &&
        codebook->label != SIZE_MAX) {
        status = decimal_read_eps(wanted->eps, strlen(wanted->eps), &eps, err);
        choice->books = codebook_books_for(eps, classes);
    }
    return status;
}

/* Takes more books where the records allow fewer codes than there are classes,
   and reports could tell more apart: what one book cannot name, several can. */
static void
add_books(const struct code_choosing *choosing,
          struct sotto_codebook_choice *choice)
{
    size_t books = smaller(choice->informed / choice->k, CODES_CHOOSE_BOOKS);
    bool few = choice->bound == SOTTO_CODEBOOK_RECORDS &&
               choice->k < choosing->classes;
    bool learnable = codebook_books_for(0, choosing->classes) > 1;
    if (few && learnable && books > choice->books) {
        choice->books = books;
    }
}

/* Takes k and channel as they are given; without a label any k does. */
static enum sotto_status
choose_given(const struct sotto_codebook *codebook,
             const struct sotto_codebook_wanted *wanted,
             struct sotto_codebook_choice *ret_choice, struct sotto_error *err)
{
    struct sotto_codebook_choice choice = {
        .k = wanted->k > 0 ? wanted->k
                           : smaller(sotto_codebook_cells(codebook),
                                     CODES_CHOOSE_K_DEFAULT),
        .channel = wanted->channel != NULL ? wanted->channel : "subset"};
    enum sotto_status status = choose_books(codebook, wanted, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_choice = choice;
    }
    return status;
}

enum sotto_status
sotto_codebook_choose(struct sotto_codebook *codebook,
                      const struct sotto_codebook_wanted *wanted,
                      struct sotto_codebook_choice *ret_choice,
                      struct sotto_error *err)
{
    struct code_choosing choosing = {0};
    struct sotto_codebook_choice choice = {0};
    enum sotto_status status;
    if (codebook->label == SIZE_MAX ||
        (wanted->k > 0 && wanted->channel != NULL)) {
        return choose_given(codebook, wanted, ret_choice, err);
    }
    status = prepare_choice(&choosing, codebook, wanted, err);
    status = HOST_THEN(status, choose_books(codebook, wanted, &choice, err));
    if (status != SOTTO_STATUS_OK || choosing.channel == NULL) {
        return status;
    }
    choosing.own = calloc(choosing.channel->own_size / 8 + 1, sizeof(uint64_t));
    if (choosing.own == NULL) {
        return host_fail_memory(err);
    }
    choice.channel = choosing.channel->name;
    if (wanted->k > 0) {
        choice.k = wanted->k;
    } else if (codebook->columns > 0) {
        choose_of_columns(&choosing, codebook, &choice);
    } else {
        choose_number(&choosing, codebook, &choice);
    }
    if (wanted->k == 0 && wanted->books == 0 && codebook->columns == 0) {
        add_books(&choosing, &choice);
    }
    free(choosing.own);
    *ret_choice = choice;
    return SOTTO_STATUS_OK;
}
