/*
 * cmd_account.c: sotto account: what several reports of one person cost
 * together, by every method that applies.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/error.h"
#include "host/share.h"

#define NEARLY_ALL (SOTTO_UNIT / 1000 * 999)

/* What was asked. */
struct question {
    struct sotto_account_budget *budgets;
    size_t count;
    uint64_t slack;
    uint32_t k; /* of identical k-ary responses; 0: not said */
    bool slack_given;
    bool json;
};

enum method { BASIC, DRV, KOV, OPTIMAL, EXACT, METHODS };

struct answer {
    struct sotto_account_cost cost;
    bool known;
};

static const struct {
    const char *name;
    const char *use; /* what it holds for, where it is the best */
} methods[METHODS] = {
    [BASIC] = {"basic", "it needs no slack, and it is what a ledger adds up"},
    [DRV] = {"drv", "it holds for any mechanisms with these budgets"},
    [KOV] = {"kov", "it holds for any mechanisms with these budgets"},
    [OPTIMAL] = {"optimal", "no smaller epsilon holds at this delta for every "
                            "mechanism with\nthis budget"},
    [EXACT] = {"exact", "it is the true cost of k-ary randomised responses, "
                        "and holds for\nnothing else"},
};

/* ---- Answers ------------------------------------------------------------- */

static enum sotto_status
ask_method(const struct question *q, enum method method,
           struct sotto_account_cost *ret_cost, struct sotto_error *err)
{
    switch (method) {
    case BASIC:
        return sotto_account_basic(q->budgets, q->count, ret_cost, err);
    case DRV:
        return sotto_account_drv(q->budgets, q->count, q->slack, ret_cost, err);
    case KOV:
        return sotto_account_kov(q->budgets, q->count, q->slack, ret_cost, err);
    case OPTIMAL:
        return sotto_account_optimal(q->budgets, q->count, 2, q->slack,
                                     ret_cost, err);
    default:
        return sotto_account_optimal(q->budgets, q->count, q->k, q->slack,
                                     ret_cost, err);
    }
}

static bool
are_identical(const struct question *q)
{
    uint64_t times = 0;
    for (size_t i = 0; i < q->count; i++) {
        times += q->budgets[i].times;
        if (q->budgets[i].eps != q->budgets[0].eps ||
            q->budgets[i].delta != q->budgets[0].delta) {
            return false;
        }
    }
    return times <= SOTTO_ACCOUNT_TIMES_MAX;
}

static bool
is_applicable(const struct question *q, enum method method)
{
    if (method == BASIC) {
        return true;
    }
    return q->slack_given && (method < OPTIMAL || are_identical(q)) &&
           (method != EXACT || q->k != 0);
}

/* The smallest epsilon; of several, the simplest method. */
static enum method
find_best(const struct answer answers[METHODS])
{
    enum method found = BASIC;
    for (enum method m = DRV; m < METHODS; m++) {
        if (answers[m].known && answers[m].cost.eps < answers[found].cost.eps) {
            found = m;
        }
    }
    return found;
}

/* ---- Printing ------------------------------------------------------------ */

static void
put_json(const struct answer answers[METHODS])
{
    char text[SOTTO_UNITS_SIZE];
    for (enum method m = BASIC; m < METHODS; m++) {
        if (answers[m].known) {
            json_begin(stdout);
            json_text(stdout, "method", methods[m].name);
            (void)sotto_units_write(answers[m].cost.eps, text);
            json_decimal(stdout, "eps", text);
            (void)sotto_units_write(answers[m].cost.delta, text);
            json_decimal(stdout, "delta", text);
            json_end(stdout);
        }
    }
}

/* The best epsilon in words that people can check. */
static void
put_words(const struct sotto_account_cost *cost)
{
    static const struct {
        const char *name;
        uint64_t one_in;
    } guesses[] = {{"1 in 2", 2}, {"1 in 10", 10}, {"1 in 1,000", 1000}};
    bool bounded = true;
    (void)printf("\nAfter all of them a guess about a person can become:\n");
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        char most[SHARE_TEXT_SIZE];
        uint64_t units = sotto_guess_most(guesses[i].one_in, cost->eps);
        bool below = units <= NEARLY_ALL;
        share_write_most(units, most);
        bounded = bounded && below;
        (void)printf("  %-12s%s%s\n", guesses[i].name, below ? "at most " : "",
                     below ? most : "over 99.9%");
    }
    if (!bounded) {
        (void)printf("Over 99.9%% is no bound worth the name.\n");
    }
    if (cost->delta > 0) {
        (void)printf("With a probability of at most delta what is reported is "
                     "worth the plain answer.\n");
    }
}

static void
put_table(const struct question *q, const struct answer answers[METHODS])
{
    char eps[SOTTO_UNITS_SIZE], delta[SOTTO_UNITS_SIZE];
    (void)printf("%-8s  %-22s  %s\n", "method", "epsilon", "delta");
    for (enum method m = BASIC; m < METHODS; m++) {
        if (answers[m].known) {
            (void)sotto_units_write(answers[m].cost.eps, eps);
            (void)sotto_units_write(answers[m].cost.delta, delta);
            (void)printf("%-8s  %-22s  %s\n", methods[m].name, eps, delta);
        }
    }
    enum method m = find_best(answers);
    (void)printf("\nUse %s: %s.\n", methods[m].name, methods[m].use);
    if (!q->slack_given) {
        (void)printf("With a slack, such as --delta 0.000001, many small "
                     "budgets may cost less.\n");
    } else if (m != BASIC) {
        (void)printf("A ledger adds up by basic, whatever is used here.\n");
    }
    put_words(&answers[m].cost);
}

/* ---- The question -------------------------------------------------------- */

static int
read_words(const struct cli_args *args, struct question *q)
{
    struct sotto_error err = {0};
    if (args->words == 0) {
        return cli_bad("a budget is missing: write E, E:D, ExN or E:DxN, such "
                       "as 0.5x20, or give --mechanism M --times N");
    }
    if (cli_given(args, "times")) {
        return cli_bad("--times goes with --mechanism: behind a budget write "
                       "x and how often, such as 0.5x20");
    }
    q->budgets = calloc(args->words, sizeof *q->budgets);
    if (q->budgets == NULL) {
        return cli_no_memory();
    }
    for (; q->count < args->words; q->count++) {
        if (sotto_account_budget_parse(args->word[q->count],
                                       q->budgets + q->count,
                                       &err) != SOTTO_STATUS_OK) {
            return cli_bad("%s", err.message);
        }
    }
    return CLI_EXIT_DONE;
}

/* The budget of one report, and k where all of it is one k-ary response. */
static enum sotto_status
mechanism_budget(const struct sotto_mechanism *mechanism, struct question *q,
                 struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    sotto_mechanism_info(mechanism, &info);
    enum sotto_status status =
        sotto_account_budget_parse(info.eps_text, q->budgets, err);
    status = HOST_THEN(
        status, sotto_delta_parse(info.delta_text, &q->budgets->delta, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    sotto_mechanism_part(mechanism, 0, &part);
    if (info.parts == 1 && part.blocks == 1 &&
        strcmp(part.channel, "flip") == 0) {
        q->k = (uint32_t)part.size;
    }
    return SOTTO_STATUS_OK;
}

static int
read_mechanism(const struct cli_args *args, struct question *q)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    uint64_t times = 1;
    int status = CLI_EXIT_DONE;
    if (args->words > 0 || cli_given(args, "k")) {
        return cli_bad("--mechanism says what a report costs: leave out %s",
                       args->words > 0 ? "the budgets" : "--k");
    }
    if (!cli_whole(args, "times", 1, UINT32_MAX, &times)) {
        return CLI_EXIT_BAD;
    }
    q->budgets = calloc(1, sizeof *q->budgets);
    if (q->budgets == NULL) {
        return cli_no_memory();
    }
    q->count = 1;
    if (sotto_mechanism_read(cli_value(args, "mechanism"), &mechanism, &err) !=
            SOTTO_STATUS_OK ||
        mechanism_budget(mechanism, q, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    q->budgets->times = (uint32_t)times;
    sotto_mechanism_free(mechanism);
    return status;
}

static int
read_k(const struct cli_args *args, struct question *q)
{
    uint64_t k = 0;
    if (!cli_given(args, "k")) {
        return CLI_EXIT_DONE;
    }
    if (!cli_whole(args, "k", 2, UINT32_MAX, &k)) {
        return CLI_EXIT_BAD;
    }
    if (q->count != 1) {
        return cli_bad("--k says that all are identical responses: '%.80s' is "
                       "one budget too many, write one with xN",
                       args->word[1]);
    }
    if (q->budgets[0].delta > 0) {
        return cli_bad("'%.80s': a k-ary response has a delta of 0: leave the "
                       "delta out, or --k",
                       args->word[0]);
    }
    if (!q->slack_given) {
        return cli_bad("--k needs --delta: at a delta of 0 the budgets add up "
                       "whatever k is");
    }
    if (q->budgets[0].times > SOTTO_ACCOUNT_TIMES_MAX) {
        return cli_bad("'%.80s': the exact cost is computed for at most %u "
                       "responses: write fewer, or leave out --k",
                       args->word[0], SOTTO_ACCOUNT_TIMES_MAX);
    }
    q->k = (uint32_t)k;
    return CLI_EXIT_DONE;
}

static int
read_question(const struct cli_args *args, struct question *q)
{
    const char *slack = cli_value(args, "delta");
    struct sotto_error err = {0};
    q->json = cli_given(args, "json");
    q->slack_given = slack != NULL;
    if (slack != NULL &&
        sotto_delta_parse(slack, &q->slack, &err) != SOTTO_STATUS_OK) {
        return cli_bad("--delta %s", err.message);
    }
    int status = cli_given(args, "mechanism") ? read_mechanism(args, q)
                                              : read_words(args, q);
    return status == CLI_EXIT_DONE ? read_k(args, q) : status;
}

static int
run_account(const struct cli_args *args)
{
    struct question q = {0};
    struct answer answers[METHODS] = {0};
    struct sotto_error err = {0};
    int status = read_question(args, &q);
    for (enum method m = BASIC; status == CLI_EXIT_DONE && m < METHODS; m++) {
        answers[m].known = is_applicable(&q, m);
        if (answers[m].known &&
            ask_method(&q, m, &answers[m].cost, &err) != SOTTO_STATUS_OK) {
            status = cli_fail(&err);
        }
    }
    if (status == CLI_EXIT_DONE) {
        if (q.json) {
            put_json(answers);
        } else {
            put_table(&q, answers);
        }
    }
    free(q.budgets);
    return status;
}

static const char *const wanted[] = {"E[:D][xN] (a budget)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "delta", "D",
     "what may be added to delta for a smaller epsilon:\nbelow 1"},
    {0, false, false, "k", "K",
     "the budget is that of K-ary randomised responses:\n"
     "print their exact cost, too"},
    {0, false, false, "mechanism", "M",
     "take the budget of a report from this mechanism"},
    {0, false, false, "times", "N", "how many reports of one person (1)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_account = {
    .name = "account",
    .summary = "say what several reports of one person cost together",
    .usage = "E[:D][xN]... [--delta D] [--k K] [--json]\n"
             "  sotto account --mechanism M [--times N] [--delta D] [--json]",
    .about =
        "A budget is an epsilon E, with a delta D if there is one, spent N "
        "times. Prints\n"
        "what all of them cost one person together:\n"
        "  basic    the sums; what a ledger adds up\n"
        "  drv      Dwork, Rothblum and Vadhan's advanced composition\n"
        "  kov      Kairouz, Oh and Viswanath's; never above drv\n"
        "  optimal  the least for any mechanisms with the same budget\n"
        "  exact    the least for K-ary randomised responses\n"
        "All but basic add the slack --delta to the deltas. All are rounded "
        "up, and hold\n"
        "even if a mechanism is chosen by what those before it said; but if "
        "that decides\n"
        "how much is spent next, only basic holds.\n",
    .example = "sotto account 4 0.5x20 1:0.000001x3 --delta 0.000001\n"
               "sotto account 0.1x52 --delta 0.000001 --k 10\n",
    .wanted = wanted,
    .optional = 1,
    .more = true,
    .options = options,
    .run = run_account,
};
