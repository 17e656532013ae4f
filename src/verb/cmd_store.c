/*
 * cmd_store.c: sotto store: looking after a collector's store: whether it is
 * sound, ending a campaign, a copy to keep.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "mechanism/mechanism.h"
#include "store/store.h"

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
print_damage(const struct store_damage *damage, bool json)
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
    struct store_checker *checker = NULL;
    struct store_damage damage = {0};
    struct sotto_error err = {0};
    bool done = false;
    enum sotto_status status =
        store_checker_open(url, tell_place, &telling, &checker, &err);
    if (status == SOTTO_STATUS_OK) {
        status = store_checker_step(checker, SIZE_MAX, &damage, &done, &err);
    }
    store_checker_free(checker);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    print_damage(&damage, telling.json);
    return damage.reports + damage.places == 0 ? CLI_EXIT_DONE
                                               : CLI_EXIT_FAILED;
}

/* ---- forget -------------------------------------------------------------- */

/* The 64 hexadecimal digits of a hash; false: they are none. */
static bool
read_hash(const char *text, uint8_t hash[SOTTO_HASH_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 2 * (size_t)SOTTO_HASH_SIZE ||
        strspn(text, digits) != 2 * (size_t)SOTTO_HASH_SIZE) {
        return false;
    }
    for (size_t i = 0; i < SOTTO_HASH_SIZE; i++) {
        size_t high = (size_t)(strchr(digits, text[2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, text[2 * i + 1]) - digits);
        hash[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static enum sotto_status
find_hash(const char *text, uint8_t hash[SOTTO_HASH_SIZE],
          struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    if (read_hash(text, hash)) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sotto_mechanism_read(text, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        memcpy(hash, mechanism->shape.hash, SOTTO_HASH_SIZE);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

/* Whatever a store was made for, it may forget. */
static enum sotto_status
forget_campaign(const char *url, const uint8_t *hash,
                struct store_counts *ret_counts, struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    struct store *store = NULL;
    bool simulation = false;
    enum sotto_status status =
        store_reader_open(url, &reader, &simulation, err);
    store_reader_free(reader);
    if (status == SOTTO_STATUS_OK) {
        status = store_open(url, simulation, &store, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_forget(store, hash, ret_counts, err);
    }
    store_free(store);
    return status;
}

static int
run_forget(const struct cli_args *args, const char *url)
{
    struct store_counts counts = {0};
    uint8_t hash[SOTTO_HASH_SIZE];
    struct sotto_error err = {0};
    if (args->words < 3) {
        return cli_bad("say which: sotto store forget URL M (a mechanism), or "
                       "its hash");
    }
    if (find_hash(args->word[2], hash, &err) != SOTTO_STATUS_OK ||
        forget_campaign(url, hash, &counts, &err) != SOTTO_STATUS_OK) {
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
    if (store_backup(url, to, &err) != SOTTO_STATUS_OK) {
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
