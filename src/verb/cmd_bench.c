/*
 * cmd_bench.c: sotto bench: prints the benchmarks' rows.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"

/* A number, or null where there is no peer. */
static void
peer_number(const struct sotto_bench_row *row, const char *key, double number)
{
    if (row->missing != NULL) {
        json_text(stdout, key, NULL);
    } else {
        json_number(stdout, key, number);
    }
}

/* What was timed as a whole, beside a peer. */
static void
whole_json(const struct sotto_bench_row *row)
{
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "setting", row->setting);
    json_size(stdout, "batch", row->batch);
    json_number(stdout, "ours", row->ours);
    peer_number(row, "peer", row->peer);
    json_number(stdout, "limit", row->limit);
    peer_number(row, "ratio_peer", row->ratio_peer);
    json_number(stdout, "ratio_limit", row->ratio_limit);
    json_number(stdout, "memory_ours", row->memory_ours);
    peer_number(row, "memory_peer", row->memory_peer);
    json_text(stdout, "against", row->against);
    if (row->missing != NULL) {
        json_text(stdout, "install", row->missing);
    }
    json_end(stdout);
    (void)fflush(stdout);
}

/* Seconds, or milliseconds if there is less than one. */
static void
print_time(const char *what, double seconds)
{
    bool long_one = seconds >= 1;
    (void)printf("  %-10s %9.2f %-2s", what, long_one ? seconds : 1e3 * seconds,
                 long_one ? "s" : "ms");
}

static void
whole_text(const struct sotto_bench_row *row)
{
    (void)printf("%s, %s, batches of %zu\n", row->name, row->setting,
                 row->batch);
    print_time("sotto", row->ours);
    (void)printf("  %7.0f MB\n", row->memory_ours / 1e6);
    if (row->missing != NULL) {
        (void)printf("  %-10s not here: install %s\n", row->against,
                     row->missing);
    } else {
        print_time(row->against, row->peer);
        (void)printf("  %7.0f MB  %.2f times as long\n", row->memory_peer / 1e6,
                     row->ratio_peer);
    }
    print_time("limit", row->limit);
    (void)printf("  %.2f of sotto's time\n", row->ratio_limit);
    (void)fflush(stdout);
}

/* Reports a second through a collector, beside its store alone. */
static void
collector_json(const struct sotto_bench_row *row)
{
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "setting", row->setting);
    json_text(stdout, "store", row->store);
    json_size(stdout, "batch", row->batch);
    json_number(stdout, "ours", row->ours);
    json_number(stdout, "limit", row->limit);
    json_number(stdout, "ratio_limit", row->ratio_limit);
    json_number(stdout, "p99_ms", row->p99_ms);
    json_number(stdout, "group", row->group);
    json_number(stdout, "flushes", row->flushes);
    json_end(stdout);
    (void)fflush(stdout);
}

static void
collector_text(const struct sotto_bench_row *row)
{
    (void)printf("%s, %s, %s, requests of %zu\n", row->name, row->store,
                 row->setting, row->batch);
    (void)printf("  %-10s %9.0f reports a second, 99%% of requests within "
                 "%.1f ms\n",
                 "sotto", row->ours, row->p99_ms);
    (void)printf("  %-10s %9.0f reports a second, by %s: %.2f of it\n", "limit",
                 row->limit, row->against, row->ratio_limit);
    (void)printf("  %-10s %9.0f flushes a second alone; %.0f reports shared "
                 "one\n",
                 "disk", row->flushes, row->group);
    (void)fflush(stdout);
}

/* A collector whose store has grown to some size. */
static void
growth_json(const struct sotto_bench_row *row)
{
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "setting", row->setting);
    json_number(stdout, "rate", row->rate);
    json_number(stdout, "p99_ms", row->p99_ms);
    json_number(stdout, "start_s", row->start_s);
    json_number(stdout, "memory_ours", row->memory_ours);
    json_number(stdout, "bytes", row->bytes);
    json_end(stdout);
    (void)fflush(stdout);
}

static void
growth_text(const struct sotto_bench_row *row)
{
    (void)printf("%-16s %10.0f a second, 99%% within %.0f ms; started in "
                 "%.2f s; %.0f MB in memory, %.1f bytes of disk a report\n",
                 row->setting, row->rate, row->p99_ms, row->start_s,
                 row->memory_ours / 1e6, row->bytes);
    (void)fflush(stdout);
}

static void
row_json(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    if (row->store != NULL) {
        collector_json(row);
        return;
    }
    if (row->bytes > 0) {
        growth_json(row);
        return;
    }
    if (row->batch > 0) {
        whole_json(row);
        return;
    }
    json_begin(stdout);
    json_text(stdout, "name", row->name);
    json_text(stdout, "setting", row->setting);
    json_number(stdout, "rate", row->rate);
    json_number(stdout, "microseconds", row->microseconds);
    if (row->ratio > 0) {
        json_number(stdout, "ratio", row->ratio);
        json_text(stdout, "against", row->against);
    }
    if (row->memory_ours > 0) {
        json_number(stdout, "memory_ours", row->memory_ours);
    }
    if (row->verdict != NULL) {
        json_number(stdout, "runs", (double)row->runs);
        json_number(stdout, "t", row->t);
        json_text(stdout, "verdict", row->verdict);
    }
    json_end(stdout);
    (void)fflush(stdout);
}

static void
row_text(void *context, const struct sotto_bench_row *row)
{
    bool *started = context;
    if (row->store != NULL) {
        collector_text(row);
        return;
    }
    if (row->bytes > 0) {
        growth_text(row);
        return;
    }
    if (row->batch > 0) {
        whole_text(row);
        return;
    }
    if (!*started) {
        (void)printf("%-22s %-30s %12s %12s  %s\n", "what", "setting",
                     "per second", "us each",
                     row->verdict != NULL   ? "Welch's t"
                     : row->memory_ours > 0 ? "memory"
                                            : "ratio");
        *started = true;
    }
    (void)printf("%-22s %-30s %12.0f %12.3f", row->name, row->setting,
                 row->rate, row->microseconds);
    if (row->ratio > 0 && row->against != NULL) {
        (void)printf("  %.2f against %s", row->ratio, row->against);
    }
    if (row->memory_ours > 0) {
        (void)printf("  %.1f MB", row->memory_ours / 1e6);
    }
    if (row->verdict != NULL) {
        (void)printf("  %+.2f in %zu runs: %s", row->t, row->runs,
                     row->verdict);
    }
    (void)printf("\n");
    (void)fflush(stdout);
}

static int
run_bench(const struct cli_args *args)
{
    const char *name = args->words > 0 ? args->word[0] : NULL;
    bool started = false;
    struct sotto_error err = {0};
    uint64_t millions = 10;
    if (cli_given(args, "millions")) {
        if (name == NULL || strcmp(name, "collector-growth") != 0) {
            return cli_bad("--millions is for collector-growth");
        }
        if (!cli_whole(args, "millions", 1, 100000, &millions)) {
            return CLI_EXIT_BAD;
        }
        return cli_exit(
            sotto_bench_growth(millions,
                               cli_given(args, "json") ? row_json : row_text,
                               &started, &err),
            &err);
    }
    return cli_exit(
        sotto_bench_run(name, cli_given(args, "json") ? row_json : row_text,
                        &started, &err),
        &err);
}

static const char *const wanted[] = {"NAME", NULL};

static const struct cli_option options[] = {
    {0, false, false, "millions", "N",
     "collector-growth: so many million reports (10)"},
    CLI_OPTION_END,
};

static const struct cli_word benchmarks = {.at = sotto_bench_at};

const struct cli_verb cmd_bench = {
    .name = "bench",
    .summary = "time what matters on this machine",
    .usage = "[NAME] [--millions N] [--json]",
    .about =
        "Runs the benchmark of that name, or all but those that take minutes. "
        "Answers are\nchecked before they are timed: exit status 1 if one is "
        "wrong. One thread, unless\nsaid otherwise.\n",
    .example = "sotto bench\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .words = &benchmarks,
    .computes = true,
    .run = run_bench,
};
