/*
 * demo_commands.c: the demo by hand: a shell script that makes every file again
 * with the other verbs, as mine-..., from the same digits and the same seed.
 * But for keys, signatures and the collector's store the files are the same,
 * byte for byte.
 */
#include <inttypes.h>

#include "demo/demo.h"

#define AUXILIARY "--data train-images.idx.gz --labels train-labels.idx.gz"
#define NAMED "--name '" DEMO_MECHANISM "' --campaign demo"

static void
put_training(FILE *to, const struct demo *demo)
{
    (void)fprintf(to,
                  "# The encoder that codes come from, learnt from auxiliary "
                  "images; of their labels\n# only the list is used: "
                  "which there are.\n"
                  "sotto train clm " AUXILIARY " \\\n"
                  "    --eps " DEMO_TRAIN_EPS " --d " DEMO_CODE_D
                  " --temperature " DEMO_TEMPERATURE " --epochs %" PRIu32
                  " --batch " DEMO_CODE_BATCH " --seed %" PRIu64 " \\\n"
                  "    " NAMED " -o mine-encoder.sotto\n",
                  demo->effort->epochs, demo->seed);
    (void)fprintf(to,
                  "# An encoder to " DEMO_D " numbers, to compare with.\n"
                  "sotto train vlm " AUXILIARY " \\\n"
                  "    --eps " DEMO_TRAIN_EPS " --lambda " DEMO_TRAIN_LAMBDA
                  " --d " DEMO_D " --hidden " DEMO_HIDDEN " --l " DEMO_RADIUS
                  " --eps-pre " DEMO_EPS_PRE " \\\n"
                  "    --epochs %" PRIu32 " --batch " DEMO_BATCH
                  " --seed %" PRIu64 " " NAMED
                  " \\\n    -o mine-numbers.sotto\n"
                  "sotto keygen -o mine\n",
                  demo->effort->numbers_epochs, demo->seed);
}

/* The mechanism of an epsilon. */
static void
put_mechanism(FILE *to, const struct demo *demo,
              const struct demo_budget *budget, enum demo_kind kind)
{
    if (kind == DEMO_KIND_CODES) {
        (void)fprintf(to,
                      "sotto train codebook " AUXILIARY " \\\n"
                      "    --encoder mine-encoder.sotto --eps %s --people %zu "
                      "--channel " DEMO_CHANNEL " --seed %" PRIu64 " \\\n"
                      "    " NAMED " -o mine-codes-%s.sotto\n",
                      budget->text, demo->effort->simulated, demo->seed,
                      budget->text);
    } else {
        (void)fprintf(to,
                      "sotto train vlm --from mine-numbers.sotto --eps %s "
                      "--lambda %g -o mine-numbers-%s.sotto\n",
                      budget->text, budget->setting->lambda, budget->text);
    }
}

/* Signed; the people's reports. */
static void
put_collection(FILE *to, const struct demo *demo,
               const struct demo_budget *budget, enum demo_kind kind)
{
    const char *name = demo_kind_name[kind];
    (void)fprintf(to,
                  "sotto sign mine-%s-%s.sotto --key mine.key\n"
                  "sotto privatise mine-%s-%s.sotto people-images.idx.gz "
                  "--labels people-labels.idx.gz \\\n"
                  "    --pub mine.pub --seed %" PRIu64 " -o mine-%s-%s.reports"
                  "\n",
                  name, budget->text, name, budget->text, demo->seed, name,
                  budget->text);
}

/* The headline's reports go to a collector. sotto send makes reports with the
   system's noise alone, through a ledger, so these are sent by other means. */
static void
put_sending(FILE *to, const struct demo *demo, const struct demo_budget *budget)
{
    char name[DEMO_NAME_SIZE];
    (void)demo_campaign(budget, name);
    (void)fprintf(
        to,
        "# They go to a collector for simulation. The demo's devices have a "
        "queue each and\n# send as sotto send does, which has real noise "
        "alone: here curl sends them all.\n"
        "mkdir -p mine-campaigns && rm -f mine.db* mine.port\n"
        "cp mine-codes-%s.sotto mine-campaigns/%s.sotto\n"
        "cp mine-codes-%s.sotto.minisig mine-campaigns/%s.sotto.minisig\n",
        budget->text, name, budget->text, name);
    (void)fprintf(
        to,
        "sotto serve --mechanism mine-campaigns --pub mine.pub \\\n"
        "    --store sqlite:mine.db --listen 127.0.0.1:0 --port-file mine.port "
        "\\\n    --simulation --window 1 --batch-min %zu &\n"
        "collector=$!\ntrap 'kill $collector' EXIT\n"
        "while [ ! -s mine.port ] && kill -0 $collector; do sleep 0.1; done\n"
        "curl -sS --fail -H 'Content-Type: application/octet-stream' \\\n"
        "    --data-binary @mine-codes-%s.reports \\\n"
        "    http://127.0.0.1:\"$(cat mine.port)\"/v1/campaigns/%s/reports\n",
        demo->people, budget->text, name);
    (void)fprintf(
        to,
        "# Released when the window ends, shuffled, with other ids.\n"
        "until sotto export mine-codes-%s.sotto --store sqlite:mine.db "
        "--simulation \\\n    -o mine-codes-%s.released; do\n"
        "    kill -0 $collector\n    sleep 1\n"
        "done\nkill $collector\ntrap - EXIT\nwait $collector\n",
        budget->text, budget->text);
}

static void
put_options(FILE *to, const struct sotto_fit_options *options,
            enum demo_learner learner)
{
    if (learner == DEMO_LEARNER_CODES) {
        (void)fprintf(to, "    --balanced");
    } else if (learner == DEMO_LEARNER_PLAIN) {
        (void)fprintf(to, "    --objective plain");
    } else {
        (void)fprintf(to,
                      "    --epochs %" PRIu32 " --rate %g --decay %g "
                      "--batches %" PRIu32 " --restarts %" PRIu32
                      " --share-weight %g \\\n"
                      "    --balanced --entropy %g --validation 0 "
                      "--prior-most %zu",
                      options->epochs, options->rate, options->decay,
                      options->batches, options->restarts, options->marginal,
                      options->entropy, options->prior_most);
    }
}

static void
put_fit(FILE *to, const struct demo *demo, const struct demo_budget *budget,
        enum demo_learner learner)
{
    const char *name = demo_learner_name[learner], *eps = budget->text;
    bool codes = learner == DEMO_LEARNER_CODES;
    const char *kind =
        demo_kind_name[codes ? DEMO_KIND_CODES : DEMO_KIND_NUMBERS];
    struct sotto_fit_options options = demo_fit_options(demo, budget, learner);
    (void)fprintf(to, "sotto fit mine-%s-%s.sotto ", kind, eps);
    if (codes && budget == demo_headline(demo)) {
        (void)fprintf(to, "sqlite:mine.db");
    } else {
        (void)fprintf(to, "mine-%s-%s.reports", kind, eps);
    }
    (void)fprintf(to, " --analyst mine-%s%s%s.analyst \\\n", kind,
                  codes ? "-" : "", codes ? eps : "");
    put_options(to, &options, learner);
    (void)fprintf(to,
                  " --seed %" PRIu64 " -o mine-%s-%s.model\n"
                  "sotto evaluate mine-%s-%s.model --data test-images.idx.gz "
                  "--labels test-labels.idx.gz\n",
                  demo->seed, name, eps, name, eps);
}

void
demo_commands(FILE *to, const struct demo *demo)
{
    put_training(to, demo);
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)fprintf(to, "# Epsilon %s: codes.\n", budget->text);
        put_mechanism(to, demo, budget, DEMO_KIND_CODES);
        put_collection(to, demo, budget, DEMO_KIND_CODES);
        if (budget == demo_headline(demo)) {
            put_sending(to, demo, budget);
        }
        put_fit(to, demo, budget, DEMO_LEARNER_CODES);
        (void)fprintf(to, "# Numbers; then as if there were no noise.\n");
        put_mechanism(to, demo, budget, DEMO_KIND_NUMBERS);
        put_collection(to, demo, budget, DEMO_KIND_NUMBERS);
        put_fit(to, demo, budget, DEMO_LEARNER_NUMBERS);
        put_fit(to, demo, budget, DEMO_LEARNER_PLAIN);
    }
    (void)fprintf(to,
                  "# What a device promises.\n"
                  "sotto inspect mine-codes-%s.sotto\n",
                  demo->budget[0].text);
}
