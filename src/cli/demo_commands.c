/*
 * demo_commands.c: the demo by hand: a shell script that makes every file again
 * with the other verbs, as mine-..., from the same digits and the same seed.
 * But for keys and signatures the files are the same, byte for byte.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/demo.h"

static void
put_training(FILE *to, const struct demo *demo)
{
    (void)fprintf(to,
                  "# The encoder, from auxiliary images alone, and the "
                  "decoder for the analyst.\n"
                  "sotto train vlm --data train-images.idx.gz --labels "
                  "train-labels.idx.gz \\\n"
                  "    --eps " DEMO_TRAIN_EPS
                  " --lambda %g --d %u --hidden %u,%u --l %g --eps-pre %g \\\n"
                  "    --epochs %" PRIu32 " --batch %u --seed %" PRIu64
                  " --name '" DEMO_MECHANISM "' --campaign demo \\\n"
                  "    -o mine.sotto\n",
                  DEMO_TRAIN_LAMBDA, DEMO_D, DEMO_HIDDEN_FIRST,
                  DEMO_HIDDEN_SECOND, DEMO_RADIUS, DEMO_EPS_PRE,
                  demo->effort->epochs, DEMO_BATCH, demo->seed);
    (void)fprintf(to, "# Noise on the pixels, to compare with.\n"
                      "sotto train direct --data train-images.idx.gz --labels "
                      "train-labels.idx.gz \\\n"
                      "    --eps " DEMO_TRAIN_EPS
                      " --numbers duchi --name '" DEMO_MECHANISM
                      "' --campaign demo \\\n"
                      "    -o mine-direct.sotto\n"
                      "sotto keygen -o mine\n");
}

/* The same encoder at another epsilon, signed; the people's reports. */
static void
put_collection(FILE *to, const struct demo *demo, const char *kind,
               const char *from, const struct demo_budget *budget)
{
    (void)fprintf(to,
                  "sotto train %s --from %s --eps %s --lambda %g "
                  "-o mine-%s-%s.sotto\n"
                  "sotto sign mine-%s-%s.sotto --key mine.key\n",
                  strcmp(kind, "direct") == 0 ? kind : "vlm", from,
                  budget->text, budget->setting->lambda, kind, budget->text,
                  kind, budget->text);
    (void)fprintf(to,
                  "sotto privatise mine-%s-%s.sotto people-images.idx.gz "
                  "--labels people-labels.idx.gz \\\n"
                  "    --pub mine.pub --seed %" PRIu64 " -o mine-%s-%s.reports"
                  "\n",
                  kind, budget->text, demo->seed, kind, budget->text);
}

static void
put_fit(FILE *to, const struct demo *demo, const struct demo_budget *budget,
        enum demo_learner learner)
{
    const char *name = demo_learner_name[learner];
    const char *kind = learner == DEMO_LEARNER_DIRECT ? "direct" : "eps";
    struct sotto_fit_options options = demo_fit_options(demo, budget, learner);
    (void)fprintf(to, "sotto fit mine-%s-%s.sotto mine-%s-%s.reports %s \\\n",
                  kind, budget->text, kind, budget->text,
                  learner == DEMO_LEARNER_DIRECT
                      ? "--aux train-images.idx.gz --labels train-labels.idx.gz"
                      : "--analyst mine.analyst");
    if (options.objective == SOTTO_OBJECTIVE_PLAIN) {
        (void)fprintf(to, "    --objective plain");
    } else {
        (void)fprintf(to,
                      "    --epochs %" PRIu32 " --rate %g --decay %g "
                      "--batches %" PRIu32 " --restarts %" PRIu32
                      " --share-weight %g \\\n"
                      "    --balanced --entropy %g --validation 0 "
                      "--prior-most %zu",
                      options.epochs, options.rate, options.decay,
                      options.batches, options.restarts, options.marginal,
                      options.entropy, options.prior_most);
    }
    (void)fprintf(to,
                  " --seed %" PRIu64 " -o mine-%s-%s.model\n"
                  "sotto evaluate mine-%s-%s.model --data test-images.idx.gz "
                  "--labels test-labels.idx.gz\n",
                  demo->seed, name, budget->text, name, budget->text);
}

void
demo_commands(FILE *to, const struct demo *demo)
{
    put_training(to, demo);
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)fprintf(to,
                      "# Epsilon %s: ours, noise ignored, noise on the "
                      "pixels.\n",
                      budget->text);
        put_collection(to, demo, "eps", "mine.sotto", budget);
        put_fit(to, demo, budget, DEMO_LEARNER_OURS);
        put_fit(to, demo, budget, DEMO_LEARNER_PLAIN);
        put_collection(to, demo, "direct", "mine-direct.sotto", budget);
        put_fit(to, demo, budget, DEMO_LEARNER_DIRECT);
    }
    (void)fprintf(to,
                  "# What a device promises, and its reports as pictures.\n"
                  "sotto inspect mine-eps-%s.sotto\n"
                  "sotto decode mine-eps-%s.sotto mine-eps-%s.reports "
                  "--analyst mine.analyst -o mine-%s.npy\n",
                  demo->budget[0].text, demo->budget[0].text,
                  demo->budget[0].text, demo->budget[0].text);
}
