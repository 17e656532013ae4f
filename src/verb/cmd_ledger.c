/*
 * cmd_ledger.c: sotto ledger: making a ledger, and what it keeps of a person.
 */
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json_print.h"

#define TIME_SIZE 24u

static void
put_budget(FILE *to, const struct sotto_ledger_amount *budget)
{
    (void)fprintf(to, "epsilon %s", budget->eps_text);
    if (budget->delta > 0) {
        (void)fprintf(to, " and delta %s", budget->delta_text);
    }
}

static void
put_campaign_cap(FILE *to, const struct sotto_ledger_amount *cap)
{
    if (cap->eps_text[0] == '\0') {
        (void)fprintf(to, "what the first mechanism costs");
    } else {
        put_budget(to, cap);
    }
}

/* A cap in JSON: null where a campaign's first mechanism decides. */
static void
put_cap_json(FILE *to, const char *key, double cap, const char *text)
{
    if (text[0] == '\0') {
        json_text(to, key, NULL);
    } else {
        json_number(to, key, cap);
    }
}

/* ---- new ---------------------------------------------------------------- */

/* The caps as the new ledger itself has them. */
static int
tell_caps(const char *path, bool json)
{
    struct sotto_ledger *ledger = NULL;
    struct sotto_ledger_amount lifetime, campaign;
    struct sotto_error err = {0};
    if (sotto_ledger_open(path, &ledger, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_ledger_caps(ledger, &lifetime, &campaign);
    sotto_ledger_free(ledger);
    if (json) {
        json_begin(stdout);
        json_text(stdout, "ledger", path);
        json_number(stdout, "lifetime_eps", lifetime.eps);
        json_number(stdout, "lifetime_delta", lifetime.delta);
        put_cap_json(stdout, "campaign_eps", campaign.eps, campaign.eps_text);
        put_cap_json(stdout, "campaign_delta", campaign.delta,
                     campaign.delta_text);
        json_end(stdout);
        return CLI_EXIT_DONE;
    }
    (void)printf("Made %s and, to be kept with it and kept secret, "
                 "%s.secret.\nA person may spend ",
                 cli_shown(path), cli_shown(path));
    put_campaign_cap(stdout, &campaign);
    (void)printf(" in a campaign, ");
    put_budget(stdout, &lifetime);
    (void)printf(" in all.\n");
    return CLI_EXIT_DONE;
}

static int
run_new(const struct cli_args *args, const char *path)
{
    const struct sotto_ledger_caps caps = {
        cli_value(args, "lifetime-eps"), cli_value(args, "lifetime-delta"),
        cli_value(args, "campaign-eps"), cli_value(args, "campaign-delta")};
    struct sotto_error err = {0};
    if (caps.lifetime_eps == NULL) {
        return cli_bad("a new ledger needs --lifetime-eps E: the most that a "
                       "person may ever spend");
    }
    if (cli_given(args, "person") || cli_given(args, "reports")) {
        return cli_bad("--person and --reports are for 'sotto ledger show'");
    }
    if (sotto_ledger_create(path, &caps, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    return tell_caps(path, cli_given(args, "json"));
}

/* ---- show --------------------------------------------------------------- */

struct show {
    const struct cli_args *args;
    struct sotto_ledger *ledger;
    const char *person;
    FILE *to;
    char campaign[512]; /* of the last row */
    size_t rows;
    bool failed; /* a balance could not be read: the error is in err */
    struct sotto_error err;
};

static void
write_time(int64_t seconds, char text[TIME_SIZE])
{
    time_t at = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&at, &parts) == NULL ||
        strftime(text, TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        (void)snprintf(text, TIME_SIZE, "at an unknown time");
    }
}

static void
put_balance_json(FILE *to, const char *campaign,
                 const struct sotto_ledger_amount *spent,
                 const struct sotto_ledger_amount *cap,
                 const struct sotto_ledger_amount *left)
{
    json_begin(to);
    json_text(to, "kind", campaign != NULL ? "campaign" : "lifetime");
    json_text(to, "campaign", campaign);
    json_number(to, "eps", spent->eps);
    json_number(to, "delta", spent->delta);
    put_cap_json(to, "eps_cap", cap->eps, cap->eps_text);
    put_cap_json(to, "delta_cap", cap->delta, cap->delta_text);
    json_number(to, "eps_left", left->eps);
    json_number(to, "delta_left", left->delta);
    json_end(to);
}

/* What is spent and left in a campaign, or in all (NULL). */
static void
put_balance(struct show *show, const char *campaign)
{
    struct sotto_ledger_amount spent, left, lifetime, each;
    if (sotto_ledger_balance(show->ledger, show->person, strlen(show->person),
                             campaign, &spent, &left,
                             &show->err) != SOTTO_STATUS_OK) {
        show->failed = true;
        return;
    }
    sotto_ledger_caps(show->ledger, &lifetime, &each);
    const struct sotto_ledger_amount *cap =
        campaign != NULL ? &each : &lifetime;
    if (cli_given(show->args, "json")) {
        put_balance_json(show->to, campaign, &spent, cap, &left);
        return;
    }
    if (campaign != NULL) {
        (void)fprintf(show->to, "Campaign \"");
        cli_put(show->to, campaign, strlen(campaign));
        (void)fprintf(show->to, "\": ");
    } else {
        (void)fprintf(show->to, "In all: ");
    }
    put_budget(show->to, &spent);
    (void)fprintf(show->to, " spent of at most ");
    put_campaign_cap(show->to, cap);
    (void)fprintf(show->to, "; left: ");
    put_budget(show->to, &left);
    (void)fprintf(show->to, ".\n");
}

/* A report may have megabytes: straight to the stream. */
static void
put_hex(FILE *to, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        (void)fprintf(to, "%02x", data[i]);
    }
}

static void
put_row_json(const struct show *show, const struct sotto_ledger_row *row,
             const char *time)
{
    json_begin(show->to);
    json_text(show->to, "kind", "charge");
    json_text(show->to, "campaign", row->campaign);
    json_text(show->to, "charged_at", time);
    json_number(show->to, "eps", row->cost.eps);
    json_number(show->to, "delta", row->cost.delta);
    json_text(show->to, "eps_text", row->cost.eps_text);
    json_text(show->to, "delta_text", row->cost.delta_text);
    json_text(show->to, "mechanism", row->mechanism);
    json_text(show->to, "id", row->id);
    json_size(show->to, "report_size", row->report_size);
    if (cli_given(show->args, "reports")) {
        (void)fprintf(show->to, ", \"report\": \"");
        put_hex(show->to, row->report, row->report_size);
        (void)fprintf(show->to, "\"");
    }
    json_end(show->to);
}

static void
put_row_text(const struct show *show, const struct sotto_ledger_row *row,
             const char *time)
{
    (void)fprintf(show->to, "  %s  ", time);
    put_budget(show->to, &row->cost);
    (void)fprintf(show->to,
                  "\n    mechanism  %s\n    report     %s, %zu bytes\n",
                  row->mechanism, row->id, row->report_size);
    if (cli_given(show->args, "reports")) {
        (void)fprintf(show->to, "    sent       ");
        put_hex(show->to, row->report, row->report_size);
        (void)fputc('\n', show->to);
    }
}

/* Rows come by campaign: each begins with what is left in it. */
static void
put_row(void *context, const struct sotto_ledger_row *row)
{
    struct show *show = context;
    char time[TIME_SIZE];
    if (show->rows == 0 || strncmp(show->campaign, row->campaign,
                                   sizeof show->campaign - 1) != 0) {
        put_balance(show, row->campaign);
        (void)snprintf(show->campaign, sizeof show->campaign, "%s",
                       row->campaign);
    }
    show->rows++;
    write_time(row->charged_at, time);
    if (cli_given(show->args, "json")) {
        put_row_json(show, row, time);
    } else {
        put_row_text(show, row, time);
    }
}

static int
run_show(const struct cli_args *args, const char *path)
{
    struct show show = {
        .args = args, .person = cli_value(args, "person"), .to = stdout};
    static const char *const others[] = {"lifetime-eps", "lifetime-delta",
                                         "campaign-eps", "campaign-delta"};
    if (show.person == NULL) {
        return cli_bad("show needs --person P: the ledger knows nobody by "
                       "name, so it cannot list them");
    }
    for (size_t i = 0; i < 4; i++) {
        if (cli_given(args, others[i])) {
            return cli_bad("--%s is for 'sotto ledger new': caps never change",
                           others[i]);
        }
    }
    if (sotto_ledger_open(path, &show.ledger, &show.err) != SOTTO_STATUS_OK) {
        return cli_fail(&show.err);
    }
    show.failed =
        sotto_ledger_export(show.ledger, show.person, strlen(show.person),
                            put_row, &show, &show.err) != SOTTO_STATUS_OK ||
        show.failed;
    if (!show.failed && show.rows == 0 && !cli_given(args, "json")) {
        (void)printf("Nothing was asked of this person.\n");
    }
    if (!show.failed) {
        put_balance(&show, NULL);
    }
    sotto_ledger_free(show.ledger);
    return show.failed ? cli_fail(&show.err) : CLI_EXIT_DONE;
}

/* ---- The verb ----------------------------------------------------------- */

static int
run_ledger(const struct cli_args *args)
{
    static const char *const actions[] = {"new", "show"};
    const char *action = args->word[0];
    if (strcmp(action, "new") == 0) {
        return run_new(args, args->word[1]);
    }
    if (strcmp(action, "show") == 0) {
        return run_show(args, args->word[1]);
    }
    const char *nearest = cli_nearest(action, actions, 2);
    return cli_bad("unknown action '%.80s': %s%s", action,
                   nearest != NULL ? "did you mean " : "say new or show",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {"new or show", "L (a ledger)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "lifetime-eps", "E",
     "new: the most epsilon a person may ever spend, from\n"
     "0.000001 to 1000000"},
    {0, false, false, "lifetime-delta", "D",
     "new: likewise delta (0: pure mechanisms alone)"},
    {0, false, false, "campaign-eps", "E",
     "new: the most in one campaign (what the campaign's\n"
     "first mechanism costs)"},
    {0, false, false, "campaign-delta", "D",
     "new: likewise delta (beside --campaign-eps, the\n"
     "lifetime's)"},
    {0, false, false, "person", "P", "show: whose, as --person of privatise"},
    {0, false, false, "reports", NULL, "show: also the bytes that were sent"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_ledger = {
    .name = "ledger",
    .summary = "remember who was asked, what it cost and what was sent",
    .usage = "new L --lifetime-eps E [OPTIONS]\n"
             "  sotto ledger show L --person P [--reports]",
    .about = "A ledger keeps a person to one report for each campaign, unless "
             "they agree to a\n"
             "second mechanism (--again of send and privatise), and refuses "
             "what would cost\n"
             "more than its caps. 'new' makes one: L, and L.secret and L.mark "
             "beside it, which\n"
             "L is of no use without: an L that was put back from a backup "
             "asks nobody new.\n"
             "The caps stay as they are made. 'show' tells a person what was "
             "asked, what it\n"
             "cost, what was sent and what is left. People are in L only as "
             "hashes, so it\n"
             "cannot list them.\n",
    .example =
        "printf 'name,age\\nann,31\\nbob,47\\n' >people.csv\n"
        "sotto train direct --data people.csv --keep age --range age=0:100 \\\n"
        "    --eps 1 -o age.sotto\n"
        "sotto ledger new my.ledger --lifetime-eps 10 --campaign-eps 2\n"
        "sotto privatise age.sotto people.csv --ledger my.ledger \\\n"
        "    --person name -o age.reports\n"
        "sotto ledger show my.ledger --person ann\n",
    .wanted = wanted,
    .options = options,
    .run = run_ledger,
};
