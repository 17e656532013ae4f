/*
 * cmd_store.c: sotto store: looking after a collector's store: whether it is
 * sound, ending a campaign, a copy to keep.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"

/* ---- check --------------------------------------------------------------- */

struct telling {
    bool json;
    size_t lines;
};

static void
tell_place(void *context, const char *text)
{
    struct telling *telling = context;
    telling->lines++;
    if (telling->json) {
        json_begin(stdout);
        json_text(stdout, "damaged", text);
        json_end(stdout);
    } else {
        (void)printf("%s\n", text);
    }
}

static void
print_damage(const struct sotto_store_damage *damage, bool json)
{
    if (json) {
        json_begin(stdout);
        json_size(stdout, "reports", (size_t)damage->reports);
        json_size(stdout, "places", (size_t)damage->places);
        json_end(stdout);
    } else if (damage->reports + damage->places == 0) {
        (void)printf("All that is kept is sound.\n");
    } else {
        (void)printf("%llu report%s damaged, and will be left out; %llu other "
                     "place%s.\n",
                     (unsigned long long)damage->reports,
                     damage->reports == 1 ? " is" : "s are",
                     (unsigned long long)damage->places,
                     damage->places == 1 ? "" : "s");
    }
}

static int
run_check(const struct cli_args *args, const char *url)
{
    struct telling telling = {cli_given(args, "json"), 0};
    struct sotto_store_damage damage = {0};
    struct sotto_error err = {0};
    if (sotto_store_check(url, tell_place, &telling, &damage, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    print_damage(&damage, telling.json);
    return damage.reports + damage.places == 0 ? CLI_EXIT_DONE
                                               : CLI_EXIT_FAILED;
}

/* ---- forget -------------------------------------------------------------- */

static int
run_forget(const struct cli_args *args, const char *url)
{
    struct sotto_store_forgotten counts = {0};
    struct sotto_error err = {0};
    if (args->words < 3) {
        return cli_bad("say which: sotto store forget URL M (a mechanism), or "
                       "its hash");
    }
    if (sotto_store_forget(url, args->word[2], &counts, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_size(stdout, "released", (size_t)counts.released);
        json_size(stdout, "batches", (size_t)counts.batches);
        json_size(stdout, "waiting", (size_t)counts.waiting);
        json_end(stdout);
    } else {
        (void)printf("Forgotten: %llu released reports in %llu batches and "
                     "%llu that waited. No report of this mechanism is taken "
                     "any more.\n",
                     (unsigned long long)counts.released,
                     (unsigned long long)counts.batches,
                     (unsigned long long)counts.waiting);
    }
    return CLI_EXIT_DONE;
}

/* ---- backup -------------------------------------------------------------- */

static int
run_backup(const struct cli_args *args, const char *url)
{
    struct sotto_error err = {0};
    if (args->words < 3) {
        return cli_bad("say where: sotto store backup URL FILE");
    }
    const char *to = args->word[2];
    if (sotto_store_backup(url, to, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_text(stdout, "backup", to);
        json_end(stdout);
    } else {
        (void)printf("Made %s and %s-tags: a store, to be kept together. It "
                     "has nothing of the window that is open.\n",
                     cli_shown(to), cli_shown(to));
    }
    return CLI_EXIT_DONE;
}

/* ---- The verb ------------------------------------------------------------ */

static const char *const actions[] = {"check", "forget", "backup"};

static int
run_store(const struct cli_args *args)
{
    const char *action = args->word[0], *url = args->word[1];
    if (strcmp(action, "check") == 0) {
        return args->words > 2 ? cli_bad("check takes one store")
                               : run_check(args, url);
    }
    if (strcmp(action, "forget") == 0) {
        return run_forget(args, url);
    }
    if (strcmp(action, "backup") == 0) {
        return run_backup(args, url);
    }
    const char *nearest = cli_nearest(action, actions, 3);
    return cli_bad("unknown action '%.80s': %s%s", action,
                   nearest != NULL ? "did you mean "
                                   : "say check, forget or backup",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {"check, forget or backup",
                                     "URL (sqlite:PATH)",
                                     "M (a mechanism), or FILE", NULL};

static const struct cli_option options[] = {
    CLI_OPTION_END,
};

#define ABOUT                                                                  \
    "'check' looks at all that a store keeps, also while a collector "         \
    "writes:\n"                                                                \
    "each payload by its checksum, each page of tags, and how pages hang\n"    \
    "together. It says what is damaged; exit status 1 if anything is. A\n"     \
    "damaged payload costs that one report.\n"                                 \
    "'forget' ends a campaign for good, with the collector stopped: its\n"     \
    "batches, what waits and its tags are deleted, and a collector refuses\n"  \
    "late reports with 410.\n"                                                 \
    "'backup' copies a store, also while a collector writes, to FILE and\n"    \
    "FILE-tags, without the window that is open, which has ids' tags beside\n" \
    "payloads. The copy is a store: to restore it, put both where the store\n" \
    "was.\n"

const struct cli_verb cmd_store = {
    .name = "store",
    .summary = "look after a collector's store",
    .usage = "check URL [--json]\n"
             "  sotto store forget URL M|HASH [--json]\n"
             "  sotto store backup URL FILE [--json]",
    .about = ABOUT,
    .example =
        "printf 'cm\\n171\\n184\\n' >heights.csv\n"
        "sotto train direct --data heights.csv --keep cm --range cm=50:250 \\\n"
        "    --eps 1 -o cm.sotto\n"
        "sotto keygen -o cm --no-password && sotto sign cm.sotto --key "
        "cm.key\n"
        "timeout 3 sotto serve --mechanism cm.sotto --pub cm.pub \\\n"
        "    --store sqlite:cm.db --listen 127.0.0.1:0 || true\n"
        "sotto store check sqlite:cm.db\n"
        "sotto store backup sqlite:cm.db cm-copy.db\n"
        "sotto store forget sqlite:cm.db cm.sotto\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .run = run_store,
};
