/*
 * cmd_train.c: sotto train: makes a mechanism from auxiliary data.
 *
 * A kind is a row of `kinds` and a function in train.h.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "verb/records.h"
#include "verb/train_kinds.h"

static const struct {
    const char *name;
    int (*train)(const struct cli_args *args, const struct sotto_table *table);
} kinds[] = {
    {"direct", train_direct},
    {"vlm", train_vlm},
    {"pca", train_pca},
    {"clm", train_clm},
    {"codebook", train_codebook},
    {"code", NULL}, /* these two from a model: train_model */
    {"class", NULL},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Options that are not for every kind, and the kinds that take them; "from":
   also without data; "codebook-clm": codebook, where it trains its encoder. */
static const struct {
    const char *option, *kinds;
} special[] = {
    {"range", "direct"},
    {"numbers", "direct"},
    {"categories", "direct"},
    {"delta", "direct"},
    {"label-channel", "direct vlm pca clm from"},
    {"l", "direct vlm clm codebook-clm"},
    {"lambda", "vlm pca clm from"},
    {"d", "vlm pca clm codebook-clm"},
    {"steps", "vlm pca clm"},
    {"analyst", "vlm pca clm codebook"},
    {"threads", "vlm pca clm codebook"},
    {"from", "direct vlm pca clm codebook from"},
    {"hidden", "vlm clm codebook-clm"},
    {"linear", "vlm"},
    {"eps-pre", "vlm clm codebook-clm"},
    {"learn-b", "vlm"},
    {"autogen", "vlm"},
    {"epochs", "vlm clm codebook-clm"},
    {"batch", "vlm clm codebook-clm"},
    {"rate", "vlm clm codebook-clm"},
    {"patience", "vlm"},
    {"seed", "vlm clm codebook"},
    {"inside", "pca clm"},
    {"network", "clm codebook-clm"},
    {"widths", "clm codebook-clm"},
    {"residual", "clm codebook-clm"},
    {"augment", "clm codebook-clm"},
    {"temperature", "clm codebook-clm"},
    {"whiten", "pca"},
    {"data", "direct vlm pca clm codebook"},
    {"labels", "direct vlm pca clm codebook"},
    {"label", "direct vlm pca clm codebook"},
    {"label-values", "direct vlm pca clm codebook"},
    {"model", "code class"},
    {"keep", "direct vlm pca clm codebook-clm"},
    {"drop", "direct vlm pca clm codebook-clm"},
    {"category", "direct vlm pca clm codebook"},
    {"name", "direct vlm pca clm codebook"},
    {"campaign", "direct vlm pca clm codebook"},
    {"header", "direct vlm pca clm codebook"},
    {"encoder", "codebook"},
    {"classes", "codebook"},
    {"people", "codebook"},
    {"k", "codebook"},
    {"channel", "codebook code"},
    {"cells", "codebook"},
};

/* ---- The summary -------------------------------------------------------- */

void
train_json(FILE *to, const char *path, const struct sotto_mechanism_info *info)
{
    json_begin(to);
    json_text(to, "mechanism", path);
    json_text(to, "name", info->name);
    json_text(to, "campaign", info->campaign);
    json_number(to, "eps", info->eps);
    json_number(to, "delta", info->delta);
    json_size(to, "columns", info->columns);
    json_size(to, "report_size", info->report_size);
    json_text(to, "hash", info->hash);
}

void
train_text(FILE *to, const char *path, const struct sotto_mechanism_info *info)
{
    (void)fprintf(to, "Wrote ");
    cli_put(to, path, strlen(path));
    (void)fprintf(to,
                  ": %zu column%s, epsilon %s%s%s per report in all, %zu "
                  "bytes a report.\nMechanism %s\n"
                  "See what it promises with sotto inspect, then sign it.\n",
                  info->columns, info->columns == 1 ? "" : "s", info->eps_text,
                  info->delta > 0 ? " and delta " : "",
                  info->delta > 0 ? info->delta_text : "", info->report_size,
                  info->hash);
}

/* ---- Usage -------------------------------------------------------------- */

/* KINDS, and a message, for one that is none. */
static size_t
find_kind(const char *name)
{
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, kinds[i].name) == 0) {
            return i;
        }
    }
    const char *nearest = cli_nearest(name, names, KINDS);
    (void)cli_bad("unknown kind '%.80s': %s%s%sthis version has: direct, vlm, "
                  "pca, clm, codebook, code, class",
                  name, nearest != NULL ? "did you mean " : "",
                  nearest != NULL ? nearest : "", nearest != NULL ? "? " : "");
    return KINDS;
}

/* Whether `word` is one of the words of `list`. */
static bool
is_listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        size_t next = strcspn(at, " ");
        if (next == size && strncmp(at, word, size) == 0) {
            return true;
        }
        at += next;
    }
    return false;
}

static int
check_special(const struct cli_args *args)
{
    bool from = cli_given(args, "from");
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const char *option = special[i].option;
        if (!cli_given(args, option)) {
            continue;
        }
        bool kept = from && is_listed(special[i].kinds, "from");
        bool encoder = strcmp(args->word[0], "codebook") == 0 &&
                       is_listed(special[i].kinds, "codebook-clm");
        if (encoder && cli_given(args, "encoder")) {
            return cli_bad("--%s is for training an encoder, and --encoder "
                           "names one: leave one of them out",
                           option);
        }
        if (!is_listed(special[i].kinds, args->word[0]) && !kept && !encoder) {
            return cli_bad("--%s is not for %s: leave it out", option,
                           args->word[0]);
        }
        if (from && !kept) {
            return cli_bad("--from trains nothing, it changes the budget "
                           "alone: leave --%s out",
                           option);
        }
    }
    if (is_listed("code class", args->word[0])) {
        return cli_given(args, "model")
                   ? CLI_EXIT_DONE
                   : cli_bad("--model MODEL is missing: see sotto train "
                             "--help");
    }
    if (!from && !cli_given(args, "data")) {
        return cli_bad("--data FILE is missing: see sotto train --help");
    }
    return CLI_EXIT_DONE;
}

static int
check_usage(const struct cli_args *args)
{
    const char *const inputs[] = {
        cli_value(args, "data"), cli_value(args, "labels"),
        cli_value(args, "encoder"), cli_value(args, "from"),
        cli_value(args, "model")};
    double eps;
    int status = check_special(args);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (cli_given(args, "labels") && cli_given(args, "label")) {
        return cli_bad("--labels names a file, --label a column of the data: "
                       "give one of them");
    }
    if (cli_given(args, "labels") && cli_given(args, "label-values")) {
        return cli_bad("--label-values is for data without labels, --labels "
                       "gives them: give one of them");
    }
    if (!cli_eps(args, "eps", &eps)) {
        return CLI_EXIT_BAD;
    }
    return output_file_check(cli_value(args, "output"), inputs,
                             sizeof inputs / sizeof *inputs);
}

/* ---- The verb ----------------------------------------------------------- */

static int
run(const struct cli_args *args)
{
    struct sotto_table *table = NULL;
    size_t kind = find_kind(args->word[0]);
    int status = kind < KINDS ? check_usage(args) : CLI_EXIT_BAD;
    if (status == CLI_EXIT_DONE && cli_given(args, "model")) {
        return train_model(args);
    }
    if (status == CLI_EXIT_DONE && cli_given(args, "from")) {
        return train_from(args);
    }
    if (status == CLI_EXIT_DONE) {
        status = records_read(args, cli_value(args, "data"),
                              cli_value(args, "labels"), &table);
    }
    if (status == CLI_EXIT_DONE) {
        status = train_categories(args, table);
    }
    if (status == CLI_EXIT_DONE) {
        status = train_declare(args, table);
    }
    if (status == CLI_EXIT_DONE) {
        status = kinds[kind].train(args, table);
    }
    sotto_table_free(table);
    return status;
}

static const char *const wanted[] = {"KIND", NULL};

static const struct cli_option options[] = {
    {0, false, false, "data", "FILE",
     "auxiliary records, best public ones: CSV, IDX or\n"
     ".npy, also gzipped; or a folder of PNG files, best\n"
     "with one in it for each class"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "label", "COL", "the column of the data that is a label"},
    {0, false, false, "label-values", "V,V,...",
     "data without labels: what people's labels may be, in\n"
     "the column --label (label)"},
    {0, true, false, "eps", "E",
     "privacy budget of a report, all its answers together:\n"
     "a decimal from 0.000001 to 32"},
    {0, false, true, "keep", "COL",
     "use this column, and no others but those kept and\n"
     "the label"},
    {0, false, true, "drop", "COL", "leave this column out"},
    {0, false, true, "category", "COL",
     "this column of numbers holds categories"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    {0, false, false, "name", "TEXT", "a name for people (the kind)"},
    {0, false, false, "campaign", "TEXT",
     "the campaign it counts in (the name)"},
    {'o', true, false, "output", "M.sotto", "the mechanism to write"},
    {0, false, true, "range", "COL=LOW:HIGH",
     "direct: a number's public range; else it is taken\n"
     "from the data"},
    {0, false, false, "numbers", "CHANNEL",
     "direct: laplace, window, duchi or gaussian (laplace)"},
    {0, false, false, "categories", "CHANNEL", "direct: flip or subset (flip)"},
    {0, false, false, "label-channel", "CHANNEL",
     "the label's: flip or subset for a category (flip);\n"
     "direct: also window for a number, and that by\n"
     "default"},
    {0, false, false, "delta", "D",
     "direct with gaussian: the report's delta, a decimal\n"
     "far below one in the number of people"},
    {0, false, false, "l", "N",
     "direct: steps from the middle of a range to its end\n"
     "(4096; with gaussian 256); vlm, clm: the radius\n"
     "that the encoder learns in (5)"},
    {0, false, false, "lambda", "V",
     "vlm, pca, clm: the record's share of epsilon, the\n"
     "rest is the label's (0.7)"},
    {0, false, false, "d", "N",
     "vlm, pca, clm: numbers in the representation (8; clm\n"
     "64)"},
    {0, false, false, "steps", "N",
     "vlm, pca, clm: the lattice's radius (4096)"},
    {0, false, false, "analyst", "FILE",
     "vlm, pca, clm, codebook: where what is for the\n"
     "analyst goes (M.analyst)"},
    {0, false, false, "from", "M.sotto",
     "this mechanism, of the same KIND, at another --eps\n"
     "and --lambda, without training; its analyst file\n"
     "stays"},
    {0, false, false, "model", "MODEL",
     "code, class: the model of a codebook that is to\n"
     "classify what is sent"},
    {0, false, false, "hidden", "N,N,...",
     "vlm: units of the encoder's layers; the decoder has\n"
     "them backwards (400,150,50); clm with mlp: (256,256)"},
    {0, false, false, "linear", NULL, "vlm: no hidden layer"},
    {0, false, false, "eps-pre", "E",
     "vlm: training noise is that of a report at this\n"
     "epsilon (3.3 times --eps, at least 7); clm: (none)"},
    {0, false, false, "learn-b", NULL, "vlm: the training noise is learnt"},
    {0, false, false, "autogen", "M",
     "vlm: reconstruction counts 1 + M times (0)"},
    {0, false, false, "epochs", "N",
     "vlm, clm: passes over the data (60; clm 12)"},
    {0, false, false, "batch", "N",
     "vlm, clm: records in a step (64; clm 256)"},
    {0, false, false, "rate", "R", "vlm, clm: Adam's rate (0.001; clm 0.003)"},
    {0, false, false, "patience", "N",
     "vlm: stop after N epochs without a better score on\n"
     "a tenth of the rows (never)"},
    {0, false, false, "seed", "S",
     "vlm, clm, codebook: the same seed, the same file (0)"},
    {0, false, false, "inside", "V",
     "pca, clm: the share of records that are not clipped\n"
     "(0.9)"},
    {0, false, false, "whiten", NULL, "pca: components to unit variance first"},
    {0, false, false, "network", "cnn|mlp",
     "clm: convolutions or dense layers (cnn for images of\n"
     "at least 8x8 pixels)"},
    {0, false, false, "widths", "N,N,...",
     "clm with cnn: channels of the convolutions\n"
     "(16,32,64,128)"},
    {0, false, false, "residual", NULL,
     "clm with cnn: two more convolutions a level, for\n"
     "photographs"},
    {0, false, false, "augment", "KIND",
     "clm: how two views of a record differ: line, photo or\n"
     "corrupt (photo for images in colour, line for others,\n"
     "corrupt for what is no image)"},
    {0, false, false, "temperature", "T", "clm: of the loss (1)"},
    {0, false, false, "encoder", "M.sotto",
     "codebook: the mechanism whose columns and encoder it\n"
     "takes, of vlm, pca or clm (one is trained first, with\n"
     "the options of clm)"},
    {0, false, false, "k", "N",
     "codebook: how many codes (chosen; without a label 32)"},
    {0, false, false, "channel", "CHANNEL",
     "codebook: subset, flip, or with a label signs\n"
     "(chosen; without a label subset); code: flip or\n"
     "subset (the one the model expects more of)"},
    {0, false, false, "classes", "N",
     "codebook: classes to choose for (the label's)"},
    {0, false, false, "people", "N",
     "codebook: how many will report, to choose for (as\n"
     "many as there are auxiliary records)"},
    {0, false, false, "cells", "N",
     "codebook: cells that codes are put together from\n"
     "(500, but one for 20 records at most)"},
    {0, false, false, "threads", "N",
     "vlm, pca, clm, codebook: the result does not depend\n"
     "on it (all cores)"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_train = {
    .name = "train",
    .summary = "make a mechanism from auxiliary data",
    .usage = "KIND --data F [--label COL] --eps E [OPTIONS] -o M.sotto",
    .about =
        "KIND is one of:\n"
        "  direct  columns go straight through channels, the budget split "
        "evenly between\n          them, numbers with noise and categories by "
        "randomised response: so\n          keep few columns, or send numbers "
        "together with --numbers duchi. A\n          number as the label is "
        "the target of a regression.\n"
        "  vlm     an encoder to a few numbers, learnt together with a decoder "
        "under the\n          noise to come; for images and wide tables. Also "
        "writes M.analyst. If\n          stopped (Ctrl-C, a crash), the same "
        "command goes on where it was.\n"
        "  pca     the first principal components, as a baseline.\n"
        "  clm     an encoder that brings two distorted views of a record "
        "together, and\n          keeps other records apart; for images. "
        "Goes on as vlm does.\n"
        "  codebook  which of k cells of an encoder's representation a record "
        "lies in,\n          reported as one with the label: for learning at "
        "a small epsilon. Tells\n          little of a record but its "
        "class. Without --encoder one is trained\n          first, as clm "
        "does it, and goes on as vlm does.\n"
        "  code    from --model, for private inference: the code alone, by "
        "flip or\n          subset.\n"
        "  class   from --model: what its network says, computed on the "
        "device, by flip.\n"
        "What is learnt or fitted comes from the data, which gets no "
        "protection by that:\nuse public records, not those to be protected. "
        "The first example gives every\nrange, and its categories are the two "
        "words everybody knows for a diagnosis, B\nand M: so it tells of no "
        "record.\n",
    .example =
        "sotto train direct --data data/wdbc.csv --label diagnosis "
        "--eps 4 \\\n    --keep radius_mean --range radius_mean=5:30 "
        "\\\n    --keep texture_mean --range texture_mean=5:45 "
        "-o wdbc.sotto\n"
        "sotto train vlm --data data/wdbc.csv --label diagnosis --eps 8 "
        "\\\n    --d 2 --hidden 32 --epochs 20 -o wdbc-vlm.sotto\n"
        "sotto train vlm --from wdbc-vlm.sotto --eps 4 -o wdbc-vlm4.sotto\n"
        "sotto train codebook --data data/wdbc.csv --label diagnosis --eps 1 "
        "\\\n    --encoder wdbc-vlm.sotto -o wdbc-codes.sotto\n"
        "sotto train codebook --data data/wdbc.csv --label diagnosis --eps 1 "
        "\\\n    --d 8 --epochs 4 -o wdbc-both.sotto\n",
    .wanted = wanted,
    .options = options,
    .run = run,
};
