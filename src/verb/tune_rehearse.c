/*
 * tune_rehearse.c: sotto tune simulate: all of it on a curator's table, beside
 * an oracle that sees clean accuracy.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/json_print.h"
#include "cli/watch.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/tune_verbs.h"

struct rehearsal {
    const struct cli_args *args;
    struct tune_order order;
    struct sotto_table *table, *aux;
    struct sotto_tune_simulation *simulation;
    uint64_t people, repeat, seed, threads;
    /* Over the repetitions. */
    double gap, gap_square, won, last, covered;
    size_t chosen[SOTTO_TUNE_CANDIDATES_MAX];
    struct sotto_tune_outcome outcome; /* of the last one */
    struct sotto_tune *tune;           /* likewise */
};

/* ---- Asking ---------------------------------------------------------------
 */

static int
train_all(struct rehearsal *all)
{
    struct watch watch;
    struct sotto_error err = {0};
    watch_start(&watch);
    const struct sotto_tune_people people = {.table = all->table,
                                             .aux = all->aux,
                                             .analyst = all->order.analyst,
                                             .people = (size_t)all->people,
                                             .seed = all->seed,
                                             .threads = (unsigned)all->threads,
                                             .watch = watch_port(&watch)};
    enum sotto_status status = sotto_tune_simulation_new(
        &all->order.options, &people, &all->simulation, &err);
    watch_end(&watch);
    return status == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : learning_fail(&err, cli_value(all->args, "data"));
}

static int
ask_all(struct rehearsal *all)
{
    for (uint64_t i = 0; i < all->repeat; i++) {
        struct sotto_tune_outcome *outcome = &all->outcome;
        struct sotto_error err = {0};
        sotto_tune_free(all->tune);
        all->tune = NULL;
        if (sotto_tune_simulation_run(all->simulation, all->seed + 1 + i,
                                      outcome, &all->tune,
                                      &err) != SOTTO_STATUS_OK) {
            return learning_fail(&err, cli_value(all->args, "data"));
        }
        double gap = outcome->best - outcome->clean;
        all->gap += gap;
        all->gap_square += gap * gap;
        all->won += outcome->won.reports > 0
                        ? outcome->won.share - outcome->clean
                        : 0; /* there was nothing to choose */
        all->last += outcome->final.share - outcome->clean;
        all->covered += outcome->final.low <= outcome->clean &&
                                outcome->clean <= outcome->final.high
                            ? 1
                            : 0;
        all->chosen[outcome->winner]++;
    }
    return CLI_EXIT_DONE;
}

/* ---- Telling --------------------------------------------------------------
 */

static void
tell_rehearsal_json(const struct rehearsal *all, size_t candidates)
{
    double n = (double)all->repeat;
    for (size_t i = 0; i < candidates; i++) {
        struct sotto_tune_candidate candidate;
        sotto_tune_candidate(all->tune, i, &candidate);
        json_begin(stdout);
        json_size(stdout, "candidate", i + 1);
        json_text(stdout, "of", all->order.options.path[candidate.mechanism]);
        for (size_t j = 0; j < candidate.sets; j++) {
            json_text(stdout, candidate.set[j].name, candidate.set[j].value);
        }
        json_number(stdout, "clean",
                    sotto_tune_simulation_clean(all->simulation, i));
        json_size(stdout, "chosen", all->chosen[i]);
        json_end(stdout);
    }
    json_begin(stdout);
    json_size(stdout, "repetitions", (size_t)all->repeat);
    json_size(stdout, "reporting", all->outcome.reports);
    json_size(stdout, "choosing", all->outcome.choosing);
    json_size(stdout, "measuring", all->outcome.final.reports);
    json_decimal(stdout, "eps", all->order.options.eps);
    json_number(stdout, "oracle", all->outcome.best);
    json_number(stdout, "gap", all->gap / n);
    json_number(stdout, "winner_bias", all->won / n);
    json_number(stdout, "final_bias", all->last / n);
    json_number(stdout, "covered", all->covered / n);
    json_end(stdout);
}

static void
tell_rehearsal(const struct rehearsal *all, size_t candidates)
{
    double n = (double)all->repeat, mean = all->gap / n;
    double spread = sqrt(fmax(0, all->gap_square / n - mean * mean));
    (void)printf("%9s  %8s  %8s\n", "candidate", "clean", "chosen");
    for (size_t i = 0; i < candidates; i++) {
        (void)printf("%9zu  %7.1f%%  %8zu  ", i + 1,
                     100 * sotto_tune_simulation_clean(all->simulation, i),
                     all->chosen[i]);
        tune_tell_candidate(stdout, all->tune, i);
        (void)printf("\n");
    }
    (void)printf("\nThe chosen one is %.2f points behind the oracle's on "
                 "average (deviation %.2f).\n"
                 "What its own answers say of it is too high by %.2f points, "
                 "what others say by %.2f;\ntheir 95%% intervals cover the "
                 "truth %.0f of %.0f times.\n",
                 100 * mean, 100 * spread, 100 * all->won / n,
                 100 * all->last / n, all->covered, n);
    (void)printf("spent     by %zu who report, the epsilon of a mechanism; "
                 "epsilon %s by each of\n          %zu who choose, and of "
                 "%zu who are asked about the winner\n",
                 all->outcome.reports, all->order.options.eps,
                 all->outcome.choosing, all->outcome.final.reports);
}

/* ---- The action -----------------------------------------------------------
 */

static int
read_tables(struct rehearsal *all)
{
    const char *data = cli_value(all->args, "data");
    const char *aux = cli_value(all->args, "aux");
    if (data == NULL) {
        return cli_bad("simulate needs --data F, records with labels in the "
                       "clear");
    }
    int status = records_read(all->args, data, cli_value(all->args, "labels"),
                              &all->table);
    if (aux != NULL) {
        status =
            CLI_THEN(status, records_read(all->args, aux, NULL, &all->aux));
    }
    if (status == CLI_EXIT_DONE && all->people == 0) {
        all->people = sotto_table_rows(all->table);
    }
    return status;
}

int
tune_rehearse(const struct cli_args *args)
{
    struct rehearsal all = {.args = args, .repeat = 1};
    if (!cli_whole(args, "people", 10, 100000000, &all.people) ||
        !cli_whole(args, "repeat", 1, 100000, &all.repeat) ||
        !cli_whole(args, "seed", 0, UINT64_MAX / 2, &all.seed) ||
        !cli_whole(args, "threads", 1, 64, &all.threads)) {
        return CLI_EXIT_BAD;
    }
    int status = tune_order_read(args, 1, &all.order);
    status = CLI_THEN(status, read_tables(&all));
    status = CLI_THEN(status, train_all(&all));
    status = CLI_THEN(status, ask_all(&all));
    if (status == CLI_EXIT_DONE) {
        struct sotto_tune_info info;
        sotto_tune_info(all.tune, &info);
        (cli_given(args, "json") ? tell_rehearsal_json
                                 : tell_rehearsal)(&all, info.candidates);
        cli_note("all of it is simulated: for planning and experiments");
    }
    sotto_tune_free(all.tune);
    sotto_tune_simulation_free(all.simulation);
    sotto_table_free(all.table);
    sotto_table_free(all.aux);
    tune_order_clear(&all.order);
    return status;
}
