/*
 * cmd_store.c: sotto store: looking after a collector's store: whether it is
 * sound, repairing it, ending a campaign, a copy to keep.
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
        json_size(stdout, "sealed", (size_t)damage->sealed);
        json_end(stdout);
        return;
    }
    if (damage->sealed > 0) {
        (void)printf(
            "sealed: %llu row%s, looked at by %s alone\n",
            (unsigned long long)damage->sealed, damage->sealed == 1 ? "" : "s",
            damage->sealed == 1 ? "its collector" : "their collectors");
    }
    if (damage->reports + damage->places == 0) {
        (void)printf(damage->sealed > 0 ? "All else that is kept is sound.\n"
                                        : "All that is kept is sound.\n");
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
    if (sotto_store_check(url, cli_value(args, "window-keys"), tell_place,
                          &telling, &damage, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    print_damage(&damage, telling.json);
    return damage.reports + damage.places == 0 ? CLI_EXIT_DONE
                                               : CLI_EXIT_FAILED;
}

/* ---- repair -------------------------------------------------------------- */

static void
print_repaired(const char *url, const struct sotto_store_repaired *repaired,
               bool json)
{
    const char *path = strchr(url, ':') + 1;
    if (json) {
        json_begin(stdout);
        json_bool(stdout, "sound", repaired->sound);
        if (!repaired->sound) {
            json_size(stdout, "released", (size_t)repaired->released);
            json_size(stdout, "waiting", (size_t)repaired->waiting);
            json_size(stdout, "lost", (size_t)repaired->lost);
        }
        if (!repaired->sound || repaired->mended > 0) {
            json_size(stdout, "pages_mended", (size_t)repaired->mended);
        }
        if (!repaired->sound) {
            json_size(stdout, "pages_damaged", (size_t)repaired->damaged);
            json_size(stdout, "tag_pages_lost", (size_t)repaired->tags);
        }
        json_end(stdout);
        return;
    }
    if (repaired->sound) {
        (void)printf("There is nothing %sto repair; nothing %swas changed.\n",
                     repaired->mended > 0 ? "else " : "",
                     repaired->mended > 0 ? "else " : "");
        return;
    }
    (void)printf(
        "Saved: %llu released reports, and %llu that wait. Lost: %llu "
        "report%s that are known of, and %llu page%s of tags.\n",
        (unsigned long long)repaired->released,
        (unsigned long long)repaired->waiting,
        (unsigned long long)repaired->lost, repaired->lost == 1 ? "" : "s",
        (unsigned long long)repaired->tags, repaired->tags == 1 ? "" : "s");
    (void)printf("The damaged store is kept as %s.damaged, with its log as "
                 "%s.damaged-wal. They may hold ids' tags beside payloads, and "
                 "the order in which reports came: remove both when all is "
                 "well.\n",
                 cli_shown(path), cli_shown(path));
}

static int
run_repair(const struct cli_args *args, const char *url)
{
    struct telling telling = {cli_given(args, "json"), 0};
    struct sotto_store_repaired repaired = {0};
    struct sotto_error err = {0};
    if (sotto_store_repair(url, tell_place, &telling, &repaired, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    print_repaired(url, &repaired, telling.json);
    return CLI_EXIT_DONE;
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

static const char *const actions[] = {"check", "repair", "forget", "backup"};

static int
run_store(const struct cli_args *args)
{
    const char *action = args->word[0], *url = args->word[1];
    if (strcmp(action, "check") == 0) {
        return args->words > 2 ? cli_bad("check takes one store")
                               : run_check(args, url);
    }
    if (cli_given(args, "window-keys")) {
        return cli_bad("--window-keys is for check alone");
    }
    if (strcmp(action, "repair") == 0) {
        return args->words > 2 ? cli_bad("repair takes one store")
                               : run_repair(args, url);
    }
    if (strcmp(action, "forget") == 0) {
        return run_forget(args, url);
    }
    if (strcmp(action, "backup") == 0) {
        return run_backup(args, url);
    }
    const char *nearest = cli_nearest(action, actions, 4);
    return cli_bad("unknown action '%.80s': %s%s", action,
                   nearest != NULL ? "did you mean "
                                   : "say check, repair, forget or backup",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {"check, repair, forget or backup",
                                     "URL (sqlite:PATH, postgres://...)",
                                     "M (a mechanism), or FILE", NULL};

static const struct cli_option options[] = {
    {0, false, false, "window-keys", "DIR",
     "check, postgres: the folder of keys of a collector\n"
     "that does not run, to look into what waits of it"},
    CLI_OPTION_END,
};

#define ABOUT                                                                  \
    "'check' looks at all that a store keeps, also while a collector "         \
    "writes:\n"                                                                \
    "each payload and each page by its checksum, tags, the log, and how\n"     \
    "pages hang together. It says what is damaged; exit status 1 if\n"         \
    "anything is. A damaged payload costs that one report. On a server, "      \
    "what\n"                                                                   \
    "waits is sealed: it is counted, and opened with --window-keys.\n"         \
    "'repair' writes a damaged store anew, with the collector stopped: what\n" \
    "is on pages that are sound, what payloads' own checksums save of "        \
    "others,\n"                                                                \
    "and tags likewise. The damaged store is kept as PATH.damaged. A sound\n"  \
    "store is left as it is.\n"                                                \
    "'forget' ends a campaign for good, with the collector stopped, or on a\n" \
    "server beside collectors: its batches, what waits and its tags are\n"     \
    "deleted, and a collector refuses late reports with 410.\n"                \
    "'backup' copies a store, also while a collector writes, to FILE and\n"    \
    "FILE-tags, without the window that is open, which has ids' tags beside\n" \
    "payloads. The copy is a store: to restore it, put both where the store\n" \
    "was. A store on a server is backed up by the server's own tools.\n"

const struct cli_verb cmd_store = {
    .name = "store",
    .summary = "look after a collector's store",
    .usage = "check URL [--window-keys DIR] [--json]\n"
             "  sotto store repair URL [--json]\n"
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
        "sotto store repair sqlite:cm.db\n"
        "sotto store backup sqlite:cm.db cm-copy.db\n"
        "sotto store forget sqlite:cm.db cm.sotto\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .run = run_store,
};
