/*
 * papers.c: what the papers reached, and what sotto must reach.
 *
 * P0 is Mansbridge and others, "Representation Learning for High-Dimensional
 * Data Collection under Local Differential Privacy"; P1 is Mansbridge's thesis,
 * "Representation Learning and Applications in Local Differential Privacy". P0
 * calls V-RLM what P1 calls VLM. All are means and standard deviations over
 * three trials; the numbers are copied as printed, in percent.
 */
#include "experiment/tables/papers.h"

#include <math.h>
#include <string.h>

#define COLLECTION "mnist-collection"
#define NOVEL "mnist-novel"
#define PRIVATE "mnist-private"
#define NOVEL_AUX (8.0 / 9)

const double papers_eps[PAPERS_COLUMNS] = {10, 8, 6, 4, 2, 1, INFINITY};

/* clang-format off */
static const struct papers_row rows[] = {
    {COLLECTION, "vlm", "latent", 0.75, "V-RLM", "P0 Table 1",
     {86.1, 82.1, 72.8, 61.3, 35.3, 16.9, 94.9},
     { 1.0,  1.6,  3.2,  2.8,  9.7,  1.3,  0.2}},
    {COLLECTION, "vlm", "feature", 0.75, "VLM, feature level", "P1 Table 4.2",
     {70.2, 64.4, 50.5, 45.6, 25.7, 19.5, 90.4},
     { 3.8,  4.9,  3.4,  0.9,  6.9,  9.1,  0.7}},
    {COLLECTION, "vlm-linear", "latent", 0.75, "Linear VLM", "P1 Table 4.4",
     {54.1, 31.3, 25.1, 22.5, 10.5, 10.3, 85.9},
     { 3.2,  2.2,  1.8,  3.2,  1.7,  1.7,  0.2}},
    {COLLECTION, "pca", "latent", 0.75, "PCA", "P0 Table 10",
     {17.3, 15.1, 15.0, 14.8, 15.1, 15.7, 86.4},
     { 8.1,  4.9,  5.4,  4.9,  5.6,  6.6,  0.3}},
    {COLLECTION, "vlm", "latent", 0.50, "V-RLM, 50%", "P0 Table 9",
     {86.4, 84.0, 78.0, 61.6, 35.2, 14.1, NAN},
     { 0.2,  1.0,  3.1,  2.3,  1.7,  1.9, NAN}},
    {COLLECTION, "vlm", "latent", 0.25, "V-RLM, 25%", "P0 Table 9",
     {85.1, 81.9, 75.4, 60.5, 44.8, 16.3, NAN},
     { 0.2,  0.5,  2.7,  3.5,  4.0,  0.8, NAN}},
    {COLLECTION, "vlm", "latent", 0.10, "V-RLM, 10%", "P0 Table 9",
     {81.1, 77.4, 67.9, 57.6, 37.9, 18.0, NAN},
     { 1.8,  1.7,  1.4,  3.5,  1.4,  2.7, NAN}},
    /* Of Table 1 as well: what the papers' best is compared with. */
    {COLLECTION, "codebook", "latent", 0.75, "V-RLM", "P0 Table 1",
     {86.1, 82.1, 72.8, 61.3, 35.3, 16.9, 94.9},
     { 1.0,  1.6,  3.2,  2.8,  9.7,  1.3,  0.2}},
    {COLLECTION, NULL, "latent", 0.75, "PrivUnit", "P0 Table 1",
     {38.2, 15.1, 12.4,  9.2,  9.5, 11.3, 96.0},
     { 4.6,  4.2,  1.6,  2.6,  2.9,  4.5,  0.4}},
    {COLLECTION, NULL, "latent", 0.75, "Duchi", "P0 Table 1",
     {13.9, 14.3, 13.3, 14.1, 14.0, 10.0, 96.0},
     { 4.5,  5.0,  3.8,  4.9,  5.6,  1.1,  0.4}},
    {COLLECTION, NULL, "latent", 0.75, "Laplace", "P0 Table 1",
     { 9.2,  9.8, 10.6, 10.0,  9.0, 10.0, 96.0},
     { 1.4,  2.8,  0.3,  0.6,  1.1,  0.8,  0.4}},
    {NOVEL, "vlm", "latent", NOVEL_AUX, "V-RLM", "P0 Table 2",
     {84.0, 80.9, 82.5, 80.7, 72.4, 55.8, 94.0},
     { 0.3,  1.8,  0.5,  0.3,  0.5,  8.7,  0.4}},
    {NOVEL, "codebook", "latent", NOVEL_AUX, "V-RLM", "P0 Table 2",
     {84.0, 80.9, 82.5, 80.7, 72.4, 55.8, 94.0},
     { 0.3,  1.8,  0.5,  0.3,  0.5,  8.7,  0.4}},
    {NOVEL, NULL, "latent", NOVEL_AUX, "PrivUnit", "P0 Table 2",
     {77.6, 71.0, 75.3, 54.5, 54.4, 54.6, 97.8},
     { 8.1,  2.6,  4.2,  3.9,  8.3, 10.1,  0.3}},
    {NOVEL, NULL, "latent", NOVEL_AUX, "Duchi", "P0 Table 2",
     {69.7, 68.7, 70.5, 66.5, 58.9, 50.4, 97.8},
     { 1.6,  3.1,  2.5,  6.5,  8.6,  0.2,  0.3}},
    {NOVEL, NULL, "latent", NOVEL_AUX, "Laplace", "P0 Table 2",
     {47.0, 47.3, 48.5, 48.7, 49.6, 48.5, 97.8},
     { 4.4,  4.0,  2.1,  2.0,  1.0,  2.2,  0.3}},
    {PRIVATE, "vlm", "latent", 0.75, "V-RLM", "P0 Table 4",
     {42.3, 37.7, 31.7, 20.1, 10.5, 10.2, 94.9},
     { 0.5,  0.5,  1.2,  0.6,  0.6,  0.5,  0.2}},
    {PRIVATE, "codebook", "latent", 0.75, "V-RLM", "P0 Table 4",
     {42.3, 37.7, 31.7, 20.1, 10.5, 10.2, 94.9},
     { 0.5,  0.5,  1.2,  0.6,  0.6,  0.5,  0.2}},
    {PRIVATE, "class-flip", "latent", 0.75, "V-RLM", "P0 Table 4",
     {42.3, 37.7, 31.7, 20.1, 10.5, 10.2, 94.9},
     { 0.5,  0.5,  1.2,  0.6,  0.6,  0.5,  0.2}},
    {PRIVATE, NULL, "latent", 0.75, "PrivUnit", "P0 Table 4",
     { 9.6, 10.0, 10.3, 11.0, 10.3, 10.8, 96.0},
     { 0.3,  1.3,  0.4,  0.7,  0.2,  1.2,  0.4}},
    {PRIVATE, NULL, "latent", 0.75, "Duchi", "P0 Table 4",
     {10.1, 10.1, 10.4, 10.1,  9.7, 10.2, 96.0},
     { 0.4,  0.3,  0.1,  0.9,  0.9,  0.7,  0.4}},
    {PRIVATE, NULL, "latent", 0.75, "Laplace", "P0 Table 4",
     {10.1, 10.7, 11.0,  9.8,  9.9, 10.6, 96.0},
     { 0.3,  0.8,  0.5,  0.9,  0.3,  1.3,  0.4}},
    {PRIVATE, NULL, "latent", 0.75, "their maximum, Eq. 13", "P0 Table 4",
     {80.7, 69.3, 53.8, 36.0, 20.0, 14.2, 100},
     { NAN,  NAN,  NAN,  NAN,  NAN,  NAN,  NAN}},
};

/* Smaller epsilons than the papers', that we have something to reach at. */
const double papers_small[PAPERS_SMALL] = {0.5, 0.25};

/* What the project asks of itself; the papers' row or a little more. */
static const struct {
    const char *experiment, *mechanism, *level;
    double aux_share;
    double accuracy[PAPERS_COLUMNS];
    double small[PAPERS_SMALL];
} reach[] = {
    {COLLECTION, "vlm", "latent", 0.75, {86, 82, 75, 62, 40, 18, 95},
     {NAN, NAN}},
    {COLLECTION, "codebook", "latent", 0.75,
     {97.5, 97.5, 97, 96.5, 95.5, 94, 98.5}, {87, 46}},
    {PRIVATE, "codebook", "latent", 0.75,
     {93.5, 90.5, 82, 60, 29, 17.3, NAN}, {NAN, NAN}},
    {PRIVATE, "class-flip", "latent", 0.75,
     {95.5, 93, 85, 62, 30, 17.6, NAN}, {NAN, NAN}},
};

#define ENCODER                                                                \
    "Beside the papers: the epsilon and the share of unlabelled auxiliary "    \
    "images are the same; ours is a convolutional encoder, theirs a "          \
    "multilayer perceptron; and where k is near the number of classes, a "     \
    "report keeps little but the class."

/* What must be said beside a comparison. */
static const struct {
    const char *experiment, *mechanism, *text;
} notes[] = {
    {COLLECTION, "codebook", ENCODER},
    {NOVEL, "codebook", ENCODER " As theirs, only people of the new class are "
     "asked: the label's epsilon is unbounded."},
    {NOVEL, "vlm", "As in the papers, only people of the new class are asked: "
     "the label's epsilon is unbounded."},
    {NOVEL, "codebook-label", "Everyone reports image and label together, "
     "which the papers' protocol does not ask for: their numbers are not "
     "comparable."},
    {NOVEL, "vlm-label", "Everyone reports image and label together, which "
     "the papers' protocol does not ask for: their numbers are not "
     "comparable."},
    {PRIVATE, "codebook", ENCODER " Their maximum (Eq. 13) approximates the "
     "best of the Laplace channel, not of local privacy: that is "
     "e^eps / (e^eps + 9), for eps_test 99.2, 96.8, 88.1, 64.6, 31.1 and 18.3, "
     "and a discrete channel passes Eq. 13 in every column."},
    {PRIVATE, "class-flip", ENCODER " The classifier that was learnt is sent "
     "to devices, which report its class and nothing else: good for this one "
     "question. Their maximum (Eq. 13) approximates the best of the Laplace "
     "channel, not of local privacy: that is e^eps / (e^eps + 9), for eps_test "
     "99.2, 96.8, 88.1, 64.6, 31.1 and 18.3."},
};
/* clang-format on */

/* 17.3 / 100 is not the number nearest to 0.173; 173 / 1000 is. */
double
papers_fraction(double percent)
{
    return nearbyint(10 * percent) / 1000;
}

const struct papers_row *
papers_at(size_t i)
{
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

size_t
papers_column(double eps)
{
    size_t i = 0;
    while (i < PAPERS_COLUMNS && papers_eps[i] != eps) {
        i++;
    }
    return i;
}

const struct papers_row *
papers_find(const char *experiment, const char *mechanism, const char *level,
            double aux_share)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].mechanism != NULL &&
            strcmp(rows[i].experiment, experiment) == 0 &&
            strcmp(rows[i].mechanism, mechanism) == 0 &&
            strcmp(rows[i].level, level) == 0 &&
            rows[i].aux_share == aux_share) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *
papers_beside(const char *experiment, const char *mechanism)
{
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (strcmp(notes[i].experiment, experiment) == 0 &&
            strcmp(notes[i].mechanism, mechanism) == 0) {
            return notes[i].text;
        }
    }
    return NULL;
}

double
papers_reach(const char *experiment, const char *mechanism, const char *level,
             double aux_share, double eps)
{
    size_t column = papers_column(eps);
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++) {
        if (strcmp(reach[i].experiment, experiment) != 0 ||
            strcmp(reach[i].mechanism, mechanism) != 0 ||
            strcmp(reach[i].level, level) != 0 ||
            reach[i].aux_share != aux_share) {
            continue;
        }
        if (column < PAPERS_COLUMNS) {
            return papers_fraction(reach[i].accuracy[column]);
        }
        for (size_t j = 0; j < PAPERS_SMALL; j++) {
            if (papers_small[j] == eps) {
                return papers_fraction(reach[i].small[j]);
            }
        }
    }
    return NAN;
}
