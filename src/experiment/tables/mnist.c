/*
 * mnist.c: MNIST: its files, the settings of its mechanisms, and its three
 * experiments with what the papers reached and what sotto must reach.
 *
 * P0 is Mansbridge and others, "Representation Learning for High-Dimensional
 * Data Collection under Local Differential Privacy"; P1 is Mansbridge's thesis,
 * "Representation Learning and Applications in Local Differential Privacy". P0
 * calls V-RLM what P1 calls VLM. All are means and standard deviations over
 * three trials; the numbers are copied as printed, in percent.
 */
#include <math.h>

#include "experiment/trial_learn.h"

#define PEOPLE 0.25 /* of either set: the people, and the classifier's test */
#define NOVEL_AUX (8.0 / 9)

/* ---- Files --------------------------------------------------------------- */

static const char *const files[] = {
    "train-images-idx3-ubyte", "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", NULL};

static enum sotto_status
read_mnist(struct data_records *data, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (data->train == NULL) {
        status = data_images_read(data, files[0], files[1], &data->train, err);
    }
    if (data->test == NULL && status == SOTTO_STATUS_OK) {
        status = data_images_read(data, files[2], files[3], &data->test, err);
    }
    return status;
}

/* ---- Settings ----------------------------------------------------------- */

/* P0 Table 7 has lambda 0.7 throughout, l from 5 to 10 and eps_pre from 33 down
   to 7; at none b is learnt, here small. docs/experiments.md tells how ours
   were found. */
/* clang-format off */
#define VLM "d=8 l=10 eps-pre="
#define VLM_STEPS " epochs=40 batch=128 rate=0.001"
#define LINEAR "linear d=8 l=10 "
#define LINEAR_STEPS " epochs=20 batch=128 rate=0.001"
#define PCA "d=8 inside=0.9"
#define CLM "d=8 l=10 eps-pre="
#define CLM_STEPS " epochs=12 batch=256 rate=0.003"

static const struct trial_encoder encoders[] = {
    /* mechanism     eps     lambda  label    kind   settings */
    {"vlm",          10,      0.7,  "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           8,      0.6,  "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           6,      0.55, "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           4,      0.45, "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           2,      0.45, "subset", "vlm", VLM "13" VLM_STEPS},
    {"vlm",           1,      0.5,  "subset", "vlm", VLM "7" VLM_STEPS},
    {"vlm",          INFINITY, 0.7, "flip",   "vlm", VLM "200" VLM_STEPS},
    {"vlm-linear",   10,      0.7,  "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    8,      0.6,  "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    6,      0.55, "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    4,      0.45, "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    2,      0.45, "subset", "vlm", LINEAR "eps-pre=13" LINEAR_STEPS},
    {"vlm-linear",    1,      0.5,  "subset", "vlm", LINEAR "eps-pre=7" LINEAR_STEPS},
    {"vlm-linear",   INFINITY, 0.7, "flip",   "vlm", LINEAR "learn-b" LINEAR_STEPS},
    {"pca",          10,      0.7,  "flip",   "pca", PCA},
    {"pca",           8,      0.6,  "flip",   "pca", PCA},
    {"pca",           6,      0.55, "flip",   "pca", PCA},
    {"pca",           4,      0.45, "flip",   "pca", PCA},
    {"pca",           2,      0.45, "subset", "pca", PCA},
    {"pca",           1,      0.5,  "subset", "pca", PCA},
    {"pca",          INFINITY, 0.7, "flip",   "pca", PCA},
    {"clm",          10,      0.7,  "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           8,      0.6,  "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           6,      0.55, "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           4,      0.45, "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           2,      0.45, "subset", "clm", CLM "13" CLM_STEPS},
    {"clm",           1,      0.5,  "subset", "clm", CLM "7" CLM_STEPS},
    {"clm",          INFINITY, 0.7, "flip",   "clm", "d=64 epochs=36 batch=256 rate=0.003"},
    {.eps = 0}};

/* mechanism, eps, level, epochs, rate, decay, prior_most, batches, restarts,
   smoothing, marginal, entropy, candidates, bootstrap, eq12. At the feature level, the decays
   are those of 0.01, 0.1, 1, 3, 10 and 30 with the best score on the validation
   reports, for one draw of one encoder. */
static const struct trial_fit fits[] = {
    {NULL, 10, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.06, 1, 0, false},
    {NULL,  8, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.05, 1, 0, false},
    {NULL,  6, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.03, 1, 0, false},
    {NULL,  4, SOTTO_LEVEL_LATENT, 30, 0.02, 0.5, 20000, 10, 1, 0, 0.1, 0.01, 1, 0, false},
    {NULL,  2, SOTTO_LEVEL_LATENT, 800, 0.02, 0.5, 1500,  1, 16, 0, 0.1, 1e-3, 16, 0.5, false},
    {NULL,  1, SOTTO_LEVEL_LATENT, 400, 0.02, 1.0, 1500,  1, 16, 0, 0.1, 0, 16, 1, false},
    {NULL, INFINITY, SOTTO_LEVEL_LATENT, 0, 0, -1, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {"vlm", INFINITY, SOTTO_LEVEL_LATENT, 0, 0, -1, 0, 0, 8, 0, -1, -1, 1, 0, false},
    {NULL, 10, SOTTO_LEVEL_FEATURE, 0, 0, 3, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {NULL, 1, SOTTO_LEVEL_FEATURE, 0, 0, 10, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {NULL, INFINITY, SOTTO_LEVEL_FEATURE, 0, 0, -1, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {.eps = 0}};
/* clang-format on */

const struct data_set data_set_mnist = {.name = "mnist",
                                        .files = files,
                                        .form = "the four IDX files",
                                        .read = read_mnist,
                                        .encoders = encoders,
                                        .fits = fits};

/* ---- The papers' numbers ------------------------------------------------ */

/* clang-format off */
static const struct papers_row collection_papers[] = {
    {"vlm codebook", "latent", 0.75, "V-RLM", "P0 Table 1",
     {86.1, 82.1, 72.8, 61.3, 35.3, 16.9, 94.9},
     { 1.0,  1.6,  3.2,  2.8,  9.7,  1.3,  0.2}},
    {"vlm", "feature", 0.75, "VLM, feature level", "P1 Table 4.2",
     {70.2, 64.4, 50.5, 45.6, 25.7, 19.5, 90.4},
     { 3.8,  4.9,  3.4,  0.9,  6.9,  9.1,  0.7}},
    {"vlm-linear", "latent", 0.75, "Linear VLM", "P1 Table 4.4",
     {54.1, 31.3, 25.1, 22.5, 10.5, 10.3, 85.9},
     { 3.2,  2.2,  1.8,  3.2,  1.7,  1.7,  0.2}},
    {"pca", "latent", 0.75, "PCA", "P0 Table 10",
     {17.3, 15.1, 15.0, 14.8, 15.1, 15.7, 86.4},
     { 8.1,  4.9,  5.4,  4.9,  5.6,  6.6,  0.3}},
    {"vlm", "latent", 0.50, "V-RLM, 50%", "P0 Table 9",
     {86.4, 84.0, 78.0, 61.6, 35.2, 14.1, NAN},
     { 0.2,  1.0,  3.1,  2.3,  1.7,  1.9, NAN}},
    {"vlm", "latent", 0.25, "V-RLM, 25%", "P0 Table 9",
     {85.1, 81.9, 75.4, 60.5, 44.8, 16.3, NAN},
     { 0.2,  0.5,  2.7,  3.5,  4.0,  0.8, NAN}},
    {"vlm", "latent", 0.10, "V-RLM, 10%", "P0 Table 9",
     {81.1, 77.4, 67.9, 57.6, 37.9, 18.0, NAN},
     { 1.8,  1.7,  1.4,  3.5,  1.4,  2.7, NAN}},
    {"privunit2 privunitg", "latent", 0.75, "PrivUnit", "P0 Table 1",
     {38.2, 15.1, 12.4,  9.2,  9.5, 11.3, 96.0},
     { 4.6,  4.2,  1.6,  2.6,  2.9,  4.5,  0.4}},
    {"duchi", "latent", 0.75, "Duchi", "P0 Table 1",
     {13.9, 14.3, 13.3, 14.1, 14.0, 10.0, 96.0},
     { 4.5,  5.0,  3.8,  4.9,  5.6,  1.1,  0.4}},
    {"laplace", "latent", 0.75, "Laplace", "P0 Table 1",
     { 9.2,  9.8, 10.6, 10.0,  9.0, 10.0, 96.0},
     { 1.4,  2.8,  0.3,  0.6,  1.1,  0.8,  0.4}},
    {.name = NULL}};

static const struct papers_row novel_papers[] = {
    {"vlm codebook", "latent", NOVEL_AUX, "V-RLM", "P0 Table 2",
     {84.0, 80.9, 82.5, 80.7, 72.4, 55.8, 94.0},
     { 0.3,  1.8,  0.5,  0.3,  0.5,  8.7,  0.4}},
    {NULL, "latent", NOVEL_AUX, "PrivUnit", "P0 Table 2",
     {77.6, 71.0, 75.3, 54.5, 54.4, 54.6, 97.8},
     { 8.1,  2.6,  4.2,  3.9,  8.3, 10.1,  0.3}},
    {NULL, "latent", NOVEL_AUX, "Duchi", "P0 Table 2",
     {69.7, 68.7, 70.5, 66.5, 58.9, 50.4, 97.8},
     { 1.6,  3.1,  2.5,  6.5,  8.6,  0.2,  0.3}},
    {NULL, "latent", NOVEL_AUX, "Laplace", "P0 Table 2",
     {47.0, 47.3, 48.5, 48.7, 49.6, 48.5, 97.8},
     { 4.4,  4.0,  2.1,  2.0,  1.0,  2.2,  0.3}},
    {.name = NULL}};

static const struct papers_row private_papers[] = {
    {"vlm codebook class-flip", "latent", 0.75, "V-RLM", "P0 Table 4",
     {42.3, 37.7, 31.7, 20.1, 10.5, 10.2, 94.9},
     { 0.5,  0.5,  1.2,  0.6,  0.6,  0.5,  0.2}},
    {NULL, "latent", 0.75, "PrivUnit", "P0 Table 4",
     { 9.6, 10.0, 10.3, 11.0, 10.3, 10.8, 96.0},
     { 0.3,  1.3,  0.4,  0.7,  0.2,  1.2,  0.4}},
    {NULL, "latent", 0.75, "Duchi", "P0 Table 4",
     {10.1, 10.1, 10.4, 10.1,  9.7, 10.2, 96.0},
     { 0.4,  0.3,  0.1,  0.9,  0.9,  0.7,  0.4}},
    {NULL, "latent", 0.75, "Laplace", "P0 Table 4",
     {10.1, 10.7, 11.0,  9.8,  9.9, 10.6, 96.0},
     { 0.3,  0.8,  0.5,  0.9,  0.3,  1.3,  0.4}},
    {NULL, "latent", 0.75, "their maximum, Eq. 13, as printed", "P0 Table 4",
     {80.7, 69.3, 53.8, 36.0, 20.0, 14.2, 100},
     { NAN,  NAN,  NAN,  NAN,  NAN,  NAN,  NAN}},
    {.name = NULL}};
/* clang-format on */

/* ---- Mechanisms --------------------------------------------------------- */

#define ENCODER                                                                \
    "Beside the papers: the epsilon and the share of unlabelled auxiliary "    \
    "images are the same; ours is a convolutional encoder, theirs a "          \
    "multilayer perceptron; and where k is near the number of classes, a "     \
    "report keeps little but the class."
#define NEW_ONLY                                                               \
    "only people of the new class are asked: the label's epsilon is "          \
    "unbounded."
#define EVERYONE                                                               \
    "Everyone reports image and label together, which the papers' protocol "   \
    "does not ask for: their numbers are not comparable."
#define MAXIMUM                                                                \
    " Their maximum (Eq. 13) approximates the best of the Laplace channel, "   \
    "not of local privacy: that is e^eps / (e^eps + 9)"

/* What the papers compare with: images as they are, 784 numbers, by a channel;
   and, which they do not, vlm's eight numbers likewise. */
#define IDEALISED                                                              \
    "piecewise, hybrid, privunit2 and privunitg work in floating point: no "   \
    "device may run them."
#define PIXELS(named)                                                          \
    {                                                                          \
        .name = (named), .settings = "pca", .how = EXPERIMENT_RAW,             \
        .channel = (named), .beside = IDEALISED                                \
    }
#define NUMBERS_OF_VLM(named)                                                  \
    {                                                                          \
        .name = "vlm-" named, .settings = "vlm", .channel = (named),           \
        .beside = IDEALISED                                                    \
    }

static const struct experiment_mechanism collection_mechanisms[] = {
    {.name = "vlm", .settings = "vlm", .reach = {86, 82, 75, 62, 40, 18, 95}},
    {.name = "vlm-linear", .settings = "vlm-linear"},
    {.name = "pca", .settings = "pca"},
    {.name = "vlm-float", .settings = "vlm", .how = EXPERIMENT_FLOATS},
    {.name = "clm", .settings = "clm"},
    {.name = "codebook",
     .settings = "clm",
     .how = EXPERIMENT_CODES,
     .reach = {97.5, 97.5, 97, 96.5, 95.5, 94, 98.5},
     .small = {87, 46},
     .beside = ENCODER},
    {.name = "vlm-codebook", .settings = "vlm", .how = EXPERIMENT_CODES},
    {.name = "pca-codebook", .settings = "pca", .how = EXPERIMENT_CODES},
    PIXELS("laplace"),
    PIXELS("duchi"),
    PIXELS("piecewise"),
    PIXELS("hybrid"),
    PIXELS("privunit2"),
    PIXELS("privunitg"),
    NUMBERS_OF_VLM("duchi"),
    NUMBERS_OF_VLM("piecewise"),
    NUMBERS_OF_VLM("hybrid"),
    NUMBERS_OF_VLM("privunit2"),
    NUMBERS_OF_VLM("privunitg"),
    {.name = NULL}};

static const struct experiment_mechanism novel_mechanisms[] = {
    {.name = "vlm", .settings = "vlm", .beside = "As in the papers, " NEW_ONLY},
    {.name = "codebook",
     .settings = "clm",
     .how = EXPERIMENT_CODES,
     .beside = ENCODER " As theirs, " NEW_ONLY},
    {.name = "vlm-label",
     .settings = "vlm",
     .how = EXPERIMENT_LABELS,
     .beside = EVERYONE},
    {.name = "codebook-label",
     .settings = "clm",
     .how = EXPERIMENT_CODES | EXPERIMENT_LABELS,
     .beside = EVERYONE},
    {.name = NULL}};

static const struct experiment_mechanism private_mechanisms[] = {
    {.name = "codebook",
     .settings = "clm",
     .how = EXPERIMENT_CODES,
     .reach = {93.5, 90.5, 82, 60, 29, 17.3},
     .beside = ENCODER MAXIMUM
     ", and a discrete channel passes Eq. 13 in every column."},
    {.name = "class-flip",
     .settings = "clm",
     .how = EXPERIMENT_CODES | EXPERIMENT_CLASS,
     .reach = {95.5, 93, 85, 62, 30, 17.6},
     .beside = ENCODER
     " The classifier that was learnt is sent to devices, which report its "
     "class and nothing else: good for this one question." MAXIMUM "."},
    {.name = "vlm", .settings = "vlm"},
    {.name = NULL}};

/* ---- Experiments -------------------------------------------------------- */

const struct experiment experiment_mnist_collection = {
    .name = "mnist-collection",
    .about =
        "MNIST. Of the 60,000 training images 75% (or the auxiliary share), "
        "without labels, train the mechanism; 25% are people, who "
        "privatise image and label with it; a tenth of them may validate or "
        "choose between classifiers, as privately. 2,500 of the 10,000 test "
        "images, clean, test the "
        "classifier that was learnt from the reports.",
    .help =
        "of MNIST's training images 75% without labels train the mechanism,\n"
        "25% are people who report image and label through it, and a\n"
        "classifier learnt from their reports is tested on 2,500 clean test\n"
        "images. Mechanisms: vlm, vlm-linear, pca, clm; codebook,\n"
        "vlm-codebook and pca-codebook, which report one of k codes, k\n"
        "chosen by simulation; vlm-float: vlm with noise in floating point,\n"
        "to compare with. What the papers compare with, of the images as\n"
        "they are: laplace, duchi, piecewise, hybrid, privunit2, privunitg;\n"
        "and of vlm's numbers: vlm-duchi and so on.",
    .data = &data_set_mnist,
    .protocol = &protocol_collection,
    .classes = 10,
    .mechanisms = collection_mechanisms,
    .aux_share = 1 - PEOPLE,
    .aux_share_most = 1 - PEOPLE,
    .papers = collection_papers,
};

const struct experiment experiment_mnist_novel = {
    .name = "mnist-novel",
    .about =
        "MNIST, whether an image is a 9. 8/9 of the training images of 0 to 8, "
        "without labels, train the mechanism, which never sees a 9; the other "
        "ninth and all 9s are people. Of the test images all 9s and a ninth of "
        "the others test the classifier, clean: half of them 9s. The papers "
        "ask people of the new class alone, so that taking part tells the "
        "label (label epsilon: unbounded); with -label everyone reports image "
        "and label together at epsilon.",
    .help =
        "whether it is a 9, by mechanisms that never saw one: vlm, codebook;\n"
        "vlm-label and codebook-label, where everyone's label is private,\n"
        "too.",
    .data = &data_set_mnist,
    .protocol = &protocol_novel,
    .classes = 2,
    .novel = "9",
    .mechanisms = novel_mechanisms,
    .aux_share = NOVEL_AUX,
    .aux_share_most = NOVEL_AUX,
    .papers = novel_papers,
};

const struct experiment experiment_mnist_private = {
    .name = "mnist-private",
    .about =
        "MNIST, splits as in mnist-collection. epsilon is what people spend on "
        "their reports, image and label together, of which the classifier is "
        "learnt. Then each of 2,500 test images is privatised by itself, at "
        "0.7 epsilon, and its class is told from that one report; at none, "
        "from the image.",
    .help =
        "test images are privatised, too, at 0.7 of epsilon: codebook, vlm,\n"
        "and class-flip, where devices have the classifier and report its\n"
        "class.",
    .data = &data_set_mnist,
    .protocol = &protocol_private,
    .classes = 10,
    .mechanisms = private_mechanisms,
    .aux_share = 1 - PEOPLE,
    .aux_share_most = 1 - PEOPLE,
    .papers = private_papers,
};
