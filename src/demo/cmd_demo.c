/*
 * cmd_demo.c: sotto demo: the whole story on embedded digits.
 *
 *     digits -> encoder -> cells -> for each epsilon: codes -> signature
 *            -> reports -> learning; and at the end report.html
 *
 * At one epsilon, the headline's, reports take the whole way: devices, HTTP, a
 * collector, its store.
 *
 * Every step goes through the public headers and leaves its file in the
 * folder, so that each can be done again by hand with the other verbs:
 * by-hand.sh does.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "demo/demo.h"
#include "host/settings.h"

#define SEED 1

/* ---- Telling ------------------------------------------------------------- */

/* Announces a step: on the terminal a line, else an object. */
__attribute__((format(printf, 3, 4))) static void
announce(struct demo_story *story, const char *step, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    progress_end(&story->watch.bar);
    if (cli_given(story->args, "json")) {
        json_begin(stdout);
        json_text(stdout, "step", step);
        json_text(stdout, "text", text);
        json_end(stdout);
    } else {
        (void)printf("  %-10s  %s\n", step, cli_shown(text));
    }
    (void)fflush(stdout);
}

static void
put_row_json(const struct demo *demo, const struct demo_budget *budget,
             const char *learner, double accuracy)
{
    json_begin(stdout);
    json_text(stdout, "learner", learner);
    if (budget != NULL) {
        json_number(stdout, "eps", budget->eps);
        json_size(stdout, "k", budget->k);
    } else {
        json_text(stdout, "eps", NULL);
    }
    json_number(stdout, "accuracy", accuracy);
    json_size(stdout, "test", demo->test);
    json_end(stdout);
}

static void
put_rows_json(const struct demo *demo)
{
    for (size_t i = 0; i < demo->budgets; i++) {
        for (size_t j = 0; j < DEMO_LEARNERS; j++) {
            put_row_json(demo, &demo->budget[i], demo_learner_name[j],
                         demo->budget[i].accuracy[j]);
        }
    }
    put_row_json(demo, NULL, "clean", demo->clean);
}

static void
put_rows(const struct demo *demo)
{
    (void)printf("\n  of %zu test digits read right, learning from %zu "
                 "people:\n\n"
                 "  %-10s %10s %12s %12s %18s\n",
                 demo->test, demo->people, "epsilon", "codes", "sotto",
                 "8 numbers", "noise ignored");
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)printf("  %-10s %10zu %11.1f%% %11.1f%% %17.1f%%\n", budget->text,
                     budget->k, 100 * budget->accuracy[DEMO_LEARNER_CODES],
                     100 * budget->accuracy[DEMO_LEARNER_NUMBERS],
                     100 * budget->accuracy[DEMO_LEARNER_PLAIN]);
    }
    (void)printf("  %-10s %10s %11.1f%%\n  %-10s %10s %11.1f%%\n", "no privacy",
                 "", 100 * demo->clean, "guessing", "", 100.0 / DEMO_CLASSES);
}

/* ---- Options ------------------------------------------------------------- */

/* One word of the list, with at most 12 digits behind the point: the library
   reads it exactly. */
static int
add_eps(struct demo *demo, const char *word, size_t size)
{
    struct demo_budget *budget = &demo->budget[demo->budgets];
    double eps = 0;
    if (demo->budgets == DEMO_BUDGETS_MAX || size == 0 ||
        size >= sizeof budget->text) {
        return cli_bad("--eps: up to %u epsilons with commas between, as 10,4",
                       DEMO_BUDGETS_MAX);
    }
    memcpy(budget->text, word, size);
    budget->text[size] = '\0';
    if (strspn(budget->text, "0123456789.") != size ||
        !setting_read_number(budget->text, &eps) || eps < 0.01 ||
        eps > CLI_EPS_MAX) {
        return cli_bad("--eps %s: each is a decimal from 0.01 to %d",
                       budget->text, CLI_EPS_MAX);
    }
    for (size_t i = 0; i < demo->budgets; i++) {
        if (strcmp(demo->budget[i].text, budget->text) == 0) {
            return cli_bad("--eps: %s is there twice", budget->text);
        }
    }
    budget->eps = eps;
    budget->setting = demo_setting(eps);
    demo->budgets++;
    return CLI_EXIT_DONE;
}

static int
read_options(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    const struct cli_args *args = story->args;
    int status = CLI_EXIT_DONE;
    demo->quick = cli_given(args, "quick");
    demo->effort = demo_effort(demo->quick);
    demo->folder =
        cli_given(args, "output") ? cli_value(args, "output") : "sotto-demo";
    demo->seed = SEED;
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &demo->seed)) {
        return CLI_EXIT_BAD;
    }
    if (strlen(demo->folder) > DEMO_PATH_SIZE - DEMO_NAME_SIZE) {
        return cli_bad("the folder's name is too long");
    }
    const char *at =
        cli_given(args, "eps") ? cli_value(args, "eps") : demo->effort->eps;
    while (at != NULL && status == CLI_EXIT_DONE) {
        size_t size = strcspn(at, ",");
        status = add_eps(demo, at, size);
        at = at[size] == ',' ? at + size + 1 : NULL;
    }
    return status;
}

/* ---- Steps --------------------------------------------------------------- */

static int
step_folder(struct demo_story *story)
{
    int status = demo_folder_make(story->demo.folder);
    return status == CLI_EXIT_DONE
               ? demo_folder_clear(&story->demo, DEMO_CAMPAIGNS,
                                   demo_kind_name[DEMO_KIND_CODES])
               : status;
}

static int
step_digits(struct demo_story *story)
{
    int status = demo_unpack(story);
    if (status == CLI_EXIT_DONE) {
        announce(story, "digits",
                 "%zu are public (auxiliary), %zu stand for people, %zu are "
                 "for testing; 14 x 14 pixels",
                 story->demo.auxiliary, story->demo.people, story->demo.test);
    }
    return status;
}

static int
step_encoder(struct demo_story *story)
{
    int status = demo_train_codes(story);
    if (status == CLI_EXIT_DONE) {
        announce(story, "encoder",
                 "learnt from the auxiliary images without labels; they fall "
                 "into %zu cells, which codes are put together from",
                 story->demo.cells);
        status = demo_train_numbers(story);
    }
    if (status == CLI_EXIT_DONE) {
        announce(story, "numbers",
                 "a second encoder, to " DEMO_D " numbers, to compare with");
    }
    return status;
}

static int
step_signature(struct demo_story *story)
{
    int status = demo_keys(story);
    if (status == CLI_EXIT_DONE) {
        announce(story, "signature",
                 "what follows is signed with collector.key, and checked with "
                 "collector.pub before any report is made; a device also pins "
                 "the file's hash");
    }
    return status;
}

/* What follows from the codes' reports. */
static int
learn_from_codes(struct demo_story *story, size_t at,
                 struct sotto_mechanism *mechanism,
                 const struct sotto_report_reader *reader)
{
    char path[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct demo_budget *budget = &story->demo.budget[at];
    struct sotto_analyst *analyst = NULL;
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    (void)demo_place(
        &story->demo,
        demo_name(demo_kind_name[DEMO_KIND_CODES], budget, "analyst", name),
        path);
    if (sotto_analyst_read(path, &analyst, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int status = demo_people(story, at, mechanism);
    status = CLI_THEN(status, demo_learn(story, budget, DEMO_LEARNER_CODES,
                                         mechanism, analyst, reader, &model));
    status = CLI_THEN(status, demo_cells(story, at, analyst, model));
    if (status == CLI_EXIT_DONE && at == 0) {
        status = demo_learn_clean(story, mechanism);
    }
    sotto_model_free(model);
    sotto_analyst_free(analyst);
    return status;
}

static int
learn_from_numbers(struct demo_story *story, size_t at,
                   struct sotto_mechanism *mechanism,
                   const struct sotto_report_reader *reader)
{
    struct demo_budget *budget = &story->demo.budget[at];
    int status = demo_learn(story, budget, DEMO_LEARNER_NUMBERS, mechanism,
                            story->analyst, reader, NULL);
    return status == CLI_EXIT_DONE
               ? demo_learn(story, budget, DEMO_LEARNER_PLAIN, mechanism,
                            story->analyst, reader, NULL)
               : status;
}

/* Mechanism, reports, learning. */
static int
tell_budget(struct demo_story *story, enum demo_kind kind, size_t at)
{
    struct demo_budget *budget = &story->demo.budget[at];
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_report_reader *reader = NULL;
    int status = demo_mechanism(story, kind, budget, &mechanism);
    status =
        CLI_THEN(status, demo_collect(story, kind, budget, mechanism, &reader));
    status = CLI_THEN(status,
                      kind == DEMO_KIND_CODES
                          ? learn_from_codes(story, at, mechanism, reader)
                          : learn_from_numbers(story, at, mechanism, reader));
    sotto_report_reader_free(reader);
    sotto_mechanism_free(mechanism);
    return status;
}

/* How an epsilon's reports were collected. */
static void
tell_collected(struct demo_story *story, const struct demo_budget *budget)
{
    const struct demo *demo = &story->demo;
    if (budget == demo_headline(demo)) {
        announce(story, "collector",
                 "at epsilon %s, %zu devices sent the reports in %zu "
                 "requests to one on loopback; the model was learnt from "
                 "its store, which shuffled them and dropped their ids",
                 budget->text, demo->devices, demo->requests);
    }
}

static int
step_budgets(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; i < demo->budgets && status == CLI_EXIT_DONE; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        char step[48];
        status = tell_budget(story, DEMO_KIND_CODES, i);
        status = CLI_THEN(status, tell_budget(story, DEMO_KIND_NUMBERS, i));
        if (status == CLI_EXIT_DONE) {
            (void)snprintf(step, sizeof step, "epsilon %s", budget->text);
            announce(story, step,
                     "%zu codes; %zu reports of %zu bytes (SIMULATED "
                     "from the seed: not private), and a model learnt "
                     "from them",
                     budget->k, demo->people, budget->report_size);
            tell_collected(story, budget);
        }
    }
    return status;
}

/* ---- The page ------------------------------------------------------------ */

static int
list_files(struct demo *demo)
{
    static const struct {
        const char *name, *what;
    } names[] = {
        {"train-images.idx.gz", "auxiliary images, which get no protection"},
        {"people-images.idx.gz", "the people; in life these stay with them"},
        {"test-images.idx.gz", "clean images to measure with"},
        {"encoder.sotto", "the encoder that codes come from"},
        {"collector.pub", "the public key"},
    };
    static const struct {
        const char *kind, *ending, *what;
    } kinds[] = {
        {"codes", "sotto", "the mechanism at this epsilon, for devices"},
        {"codes", "analyst", "auxiliary codes, for the analyst alone"},
        {"codes", "reports", "what the collector gets"},
        {"codes", "model", "learnt from reports, knowing the channel"},
    };
    int status = CLI_EXIT_DONE;
    for (size_t i = 0;
         i < sizeof names / sizeof *names && status == CLI_EXIT_DONE; i++) {
        status = demo_list(demo, names[i].name, names[i].what);
    }
    for (size_t i = 0; i < demo->budgets; i++) {
        for (size_t j = 0;
             j < sizeof kinds / sizeof *kinds && status == CLI_EXIT_DONE; j++) {
            char name[DEMO_NAME_SIZE];
            if (&demo->budget[i] == demo_headline(demo) &&
                strcmp(kinds[j].ending, "reports") == 0) {
                continue; /* they are in the store, which is never the same */
            }
            status = demo_list(demo,
                               demo_name(kinds[j].kind, &demo->budget[i],
                                         kinds[j].ending, name),
                               kinds[j].what);
        }
    }
    return status;
}

static int
step_page(struct demo_story *story)
{
    int status = list_files(&story->demo);
    return status == CLI_EXIT_DONE ? demo_page_write(&story->demo) : status;
}

static void
put_end(const struct demo_story *story)
{
    char page[DEMO_PATH_SIZE], commands[DEMO_PATH_SIZE];
    (void)demo_place(&story->demo, "report.html", page);
    (void)demo_place(&story->demo, "by-hand.sh", commands);
    if (cli_given(story->args, "json")) {
        put_rows_json(&story->demo);
        json_begin(stdout);
        json_text(stdout, "page", page);
        json_text(stdout, "commands", commands);
        json_end(stdout);
        return;
    }
    put_rows(&story->demo);
    (void)printf(
        "\nEvery step by hand: %s\nThe whole story, with pictures: %s\n",
        cli_shown(commands), cli_shown(page));
}

/* ---- The verb ------------------------------------------------------------ */

static int
tell_story(struct demo_story *story)
{
    int (*const steps[])(struct demo_story *) = {step_folder,  step_digits,
                                                 step_encoder, step_signature,
                                                 step_budgets, step_page};
    int status = CLI_EXIT_DONE;
    watch_start(&story->watch);
    for (size_t i = 0;
         i < sizeof steps / sizeof *steps && status == CLI_EXIT_DONE; i++) {
        status = steps[i](story);
    }
    watch_end(&story->watch);
    if (status == CLI_EXIT_DONE) {
        put_end(story);
    }
    return status;
}

static int
run_demo(const struct cli_args *args)
{
    struct demo_story *story = calloc(1, sizeof *story);
    if (story == NULL) {
        return cli_no_memory();
    }
    story->args = args;
    int status = read_options(story);
    status = CLI_THEN(status, tell_story(story));
    sotto_analyst_free(story->analyst);
    sotto_mechanism_free(story->numbers);
    sotto_codebook_free(story->codebook);
    sotto_table_free(story->test);
    sotto_table_free(story->people);
    sotto_table_free(story->auxiliary);
    free(story);
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {'o', false, false, "output", "DIR",
     "the folder for all files (sotto-demo)"},
    {0, false, false, "eps", "E,E,...",
     "privacy budgets of a report, record and label\n"
     "together (4,2,1; with --quick 4)"},
    {0, false, false, "quick", NULL,
     "train little: to see it run, not to see it work"},
    {0, false, false, "seed", "S",
     "of training, learning and the simulated reports (1)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_demo = {
    .name = "demo",
    .summary = "the whole story on embedded digits, with a page to look at",
    .usage = "[-o DIR] [--eps E,E,...] [--quick] [--seed S]",
    .about =
        "On handwritten digits that the program carries: learns an encoder "
        "from auxiliary\nimages without labels, cuts it into codes, signs the "
        "mechanism, collects code\nand label of 9,000 people in one report "
        "each at several epsilons, learns to read\ndigits from the reports, "
        "and compares with eight numbers and a label in place of\nthe code, "
        "with a learner that ignores their noise, and with the truth; on "
        "the\nterminal and in DIR/report.html. At one epsilon the reports are "
        "sent over HTTP\nby 900 devices of ten people each to a collector "
        "on this machine. Reports\nare simulated from the seed, so that the "
        "story is the same "
        "every time: they are\nnot private. DIR/by-hand.sh does it with other "
        "verbs.\n",
    .example = "sotto demo --quick -o my-demo\n",
    .wanted = wanted,
    .options = options,
    .computes = true,
    .run = run_demo,
};
