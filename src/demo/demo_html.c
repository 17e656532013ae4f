/*
 * demo_html.c: the demo's page: one file that needs nothing from anywhere:
 * no scripts, no fonts, no pictures but those drawn in it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output_file.h"
#include "demo/demo.h"

void
demo_html_text(FILE *to, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", to);
            break;
        case '<':
            (void)fputs("&lt;", to);
            break;
        case '>':
            (void)fputs("&gt;", to);
            break;
        case '"':
            (void)fputs("&quot;", to);
            break;
        default:
            (void)fputc(*text, to);
        }
    }
}

/* subset names w of n pairs, with the true one among them with probability
   w e^eps / (w e^eps + n - w). */
double
demo_keep(const struct demo_budget *budget)
{
    double w = (double)budget->named, n = (double)budget->pairs;
    return w / (w + (n - w) * exp(-budget->eps));
}

static double
percent(const struct demo_budget *budget, enum demo_learner learner)
{
    return 100 * budget->accuracy[learner];
}

/* ---- The top ------------------------------------------------------------- */

static void
put_head(FILE *to)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<title>sotto: the demo</title>\n<style>\n",
                to);
    demo_style(to);
    (void)fputs("</style>\n</head>\n<body>\n<main>\n", to);
}

static void
put_fact(FILE *to, const char *value, const char *what)
{
    (void)fprintf(to, "<div class=\"fact\"><b>");
    demo_html_text(to, value);
    (void)fprintf(to, "</b><span>");
    demo_html_text(to, what);
    (void)fprintf(to, "</span></div>\n");
}

static void
put_facts(FILE *to, const struct demo *demo, const struct demo_budget *budget)
{
    char words[64];
    (void)fprintf(to, "<div class=\"facts\">\n");
    (void)snprintf(words, sizeof words, "%zu", demo->people);
    put_fact(to, words, "people, one report each");
    (void)snprintf(words, sizeof words, "%zu codes", budget->k);
    put_fact(to, words, "an image is one of them, at this epsilon");
    (void)snprintf(words, sizeof words, "%zu bytes", budget->report_size);
    put_fact(to, words, "a report of code and label, whatever they are");
    (void)snprintf(words, sizeof words, "%zu", demo->test);
    put_fact(to, words, "other digits measure it, so to about 3 points");
    (void)fprintf(to, "</div>\n");
}

static void
put_opening(FILE *to, const struct demo *demo)
{
    const struct demo_budget *budget = demo_headline(demo);
    (void)fprintf(
        to,
        "<h1>Learning to read from digits nobody showed</h1>\n"
        "<p class=\"lead\">%zu people each hold one handwritten digit and what "
        "it says. Each sent one noisy report; the collector saw no image and "
        "no true label. <b>From reports with epsilon %s it learned to read "
        "%.1f%% of new digits right; with epsilon shared out between eight "
        "numbers and a label instead, %.1f%%; with no privacy at all, "
        "%.1f%%.</b></p>\n",
        demo->people, budget->text, percent(budget, DEMO_LEARNER_CODES),
        percent(budget, DEMO_LEARNER_NUMBERS), 100 * demo->clean);
    put_facts(to, demo, budget);
    if (demo->quick) {
        (void)fprintf(to, "<section class=\"warn\"><b>A quick demo.</b> "
                          "Encoders and classifiers were hardly trained: the "
                          "accuracies say nothing. Leave --quick out.</section>"
                          "\n");
    }
    (void)fprintf(to,
                  "<section class=\"warn\"><b>Simulated.</b> So that the story "
                  "is the same every time, these reports draw their noise from "
                  "the seed %" PRIu64 ", through the samplers a device uses: "
                  "whoever knows the seed can undo it. They are marked, and "
                  "no collector takes them but one for simulation. A device "
                  "takes its noise from the operating system.</section>\n",
                  demo->seed);
}

static void
put_steps(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>What happened</h2>\n<ol class=\"steps\">\n"
        "<li><b>Train</b>On %zu auxiliary images a network learns to know two "
        "distorted views of an image from all others. Of their labels it sees "
        "none.</li>\n"
        "<li><b>Cut</b>What it makes of them falls into %zu cells, and these "
        "into as many codes as an epsilon can tell apart: tried out on the "
        "auxiliary images, with made-up labels.</li>\n"
        "<li><b>Sign</b>Network, codes and noise are one file, signed, and "
        "checked with collector.pub before any report is made; a device also "
        "pins its hash.</li>\n"
        "<li><b>Privatise</b>For each of %zu people: the image's code and the "
        "label, as one pair, through one channel with all of epsilon.</li>\n"
        "<li><b>Collect</b>At epsilon %s, %zu devices queued their reports on "
        "disk and sent them over HTTP to a collector on this machine. It "
        "answered when they were on disk, then shuffled them and dropped their "
        "ids. Reports at any other epsilon go by file: a person "
        "is asked once.</li>\n"
        "<li><b>Learn</b>The channel is known, so the label of each code is "
        "found from all reports together; a classifier then learns codes "
        "and labels.</li>\n"
        "</ol>\n</section>\n",
        demo->auxiliary, demo->cells, demo->people, demo_headline(demo)->text,
        demo->devices);
}

/* ---- Accuracy ------------------------------------------------------------ */

static void
put_table(FILE *to, const struct demo *demo)
{
    (void)fprintf(to, "<div class=\"scroll\"><table>\n<tr><th>epsilon</th>"
                      "<th class=\"r\">codes</th>"
                      "<th class=\"r\">codes: sotto</th>"
                      "<th class=\"r\">8 numbers</th>"
                      "<th class=\"r\">noise ignored</th>"
                      "<th class=\"r\">a report of a code</th>"
                      "<th class=\"r\">of numbers</th></tr>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)fprintf(to,
                      "<tr><td>%s</td><td class=\"r\">%zu</td>"
                      "<td class=\"r hot\">%.1f%%</td>"
                      "<td class=\"r\">%.1f%%</td><td class=\"r\">%.1f%%</td>"
                      "<td class=\"r\">%zu bytes</td><td class=\"r\">%zu bytes"
                      "</td></tr>\n",
                      budget->text, budget->k,
                      percent(budget, DEMO_LEARNER_CODES),
                      percent(budget, DEMO_LEARNER_NUMBERS),
                      percent(budget, DEMO_LEARNER_PLAIN), budget->report_size,
                      budget->numbers_size);
    }
    (void)fprintf(to, "</table></div>\n");
}

static void
put_accuracy(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>Accuracy against epsilon</h2>\n"
        "<p class=\"soft\">How many of %zu clean test digits are read right by "
        "what was learnt from %zu reports; differences of less than four "
        "points say nothing.</p>\n<div class=\"key\">"
        "<span><i class=\"k-0\"></i>sotto: a code and the label as one, "
        "channel known</span>"
        "<span><i class=\"k-1\"></i>eight numbers and the label, noise known"
        "</span>"
        "<span><i class=\"k-2\"></i>the same reports, noise ignored</span>"
        "</div>\n",
        demo->test, demo->people);
    demo_plot_accuracy(to, demo);
    put_table(to, demo);
    (void)fprintf(
        to,
        "<p class=\"soft\">What is compared: the same people, the same "
        "auxiliary images, the same epsilon for image and label together. The "
        "eight numbers are those of a variational encoder, with noise on each "
        "and the label flipped; epsilon is shared out between them, and "
        "the one who knows the noise (%u network%s) has settings chosen for "
        "MNIST. Both who know it are told that all digits are equally "
        "frequent. What an encoder knows of digits counts, too: the "
        "contrastive one is told that a digit stays the same if turned or "
        "slanted a little, the variational one is not. Without privacy, a "
        "classifier learns from the contrastive encoder's numbers and the true "
        "labels of the same %zu people. They are few: with more of them, the "
        "eight numbers lose less. All of it is one encoder and one draw "
        "of the noise: at the smallest epsilons another <code>--seed</code> "
        "can come out thirty points lower.</p>\n"
        "<p><b>What a code does not keep.</b> It is one of a few: whatever "
        "tells two images of one code apart stays on the device, and the fewer "
        "codes, the more that is. These reports were asked for one label. "
        "Another question about the same images, such as who wrote them, "
        "cannot be answered from them later, nor can an image be made from "
        "one. The eight numbers keep more of an image, which is why they "
        "need more of epsilon.</p>\n</section>\n",
        demo->effort->restarts, demo->effort->restarts == 1 ? "" : "s",
        demo->people);
}

/* ---- People -------------------------------------------------------------- */

static void
put_people(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>A few people, and what their reports give away"
        "</h2>\n"
        "<p class=\"soft\">The left column is here because this is a demo: "
        "in life it never leaves the device, and a person sends one report, "
        "not one for each epsilon. A report names some of all pairs of a code "
        "and a label: a column for each code, a row for each label, 0 at the "
        "top, \xe2\x80\x9cother\xe2\x80\x9d at the bottom, what is named "
        "filled. The true pair is in the tinted row, if it is named at all."
        "</p>\n<div class=\"scroll\"><table class=\"people\">\n<tr><th>stays "
        "on the device</th>");
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)fprintf(to, "<th>report, epsilon %s:<br>%zu of %zu pairs</th>",
                      budget->text, budget->named, budget->pairs);
    }
    (void)fprintf(to, "</tr>\n");
    for (size_t i = 0; i < demo->persons; i++) {
        const struct demo_person *person = &demo->person[i];
        (void)fprintf(to, "<tr><td class=\"own\"><figure>");
        demo_plot_digit(to, person->image, "the person's digit");
        (void)fprintf(to, "is <b>");
        demo_html_text(to, person->label);
        (void)fprintf(to, "</b></figure></td>");
        for (size_t j = 0; j < demo->budgets; j++) {
            (void)fprintf(to, "<td>");
            demo_plot_report(to, &person->report[j], demo->budget[j].k,
                             person->symbol);
            (void)fprintf(to, "</td>");
        }
        (void)fprintf(to, "</tr>\n");
    }
    (void)fprintf(to, "</table></div>\n</section>\n");
}

static void
put_cells(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to, "<section>\n<h2>Together they say more</h2>\n"
            "<p class=\"soft\">Each picture is the mean of the auxiliary "
            "images of one code, which the collector had before anybody "
            "reported. What it did not have is the label below: that is what "
            "all reports together say, and how sure it is of it. Noise that "
            "hides one person cancels out over many.</p>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        size_t shown = budget->k < DEMO_CELLS ? budget->k : DEMO_CELLS;
        (void)fprintf(to, "<p><b>epsilon %s</b>, ", budget->text);
        if (shown < budget->k) {
            (void)fprintf(to, "the %zu commonest of %zu codes", shown,
                          budget->k);
        } else {
            (void)fprintf(to, "all %zu codes", budget->k);
        }
        (void)fprintf(to, "</p>\n<div class=\"cells\">\n");
        for (size_t j = 0; j < shown; j++) {
            const struct demo_cell *cell = &demo->cell[i][j];
            (void)fprintf(to, "<figure>");
            demo_plot_digit(to, cell->image, "the mean image of a code");
            (void)fprintf(to, "<b>");
            demo_html_text(to, cell->label);
            (void)fprintf(to, "</b> %.0f%%</figure>\n", 100 * cell->sure);
        }
        (void)fprintf(to, "</div>\n");
    }
    (void)fprintf(to, "</section>\n");
}

/* ---- What epsilon means -------------------------------------------------- */

/* The most that even odds can become, in per cent; never said to be more
   certain than it is, nor certain. */
static double
belief(double eps)
{
    return fmin(ceil(1e5 / (1 + exp(-eps))) / 1e3, 99.999);
}

static void
put_meaning_row(FILE *to, const struct demo_budget *budget)
{
    double odds = exp(budget->eps);
    (void)fprintf(to,
                  "<tr><td><b>%s</b></td><td class=\"r\">%.*f</td>"
                  "<td class=\"r\">%.5g%%</td><td class=\"r\">%.4g</td>"
                  "<td class=\"r\">%zu of %zu</td><td class=\"r\">%.1f%%</td>"
                  "</tr>\n",
                  budget->text, odds < 100 ? 2 : 0, odds, belief(budget->eps),
                  tanh(budget->eps / 2), budget->named, budget->pairs,
                  100 * demo_keep(budget));
}

static void
put_meaning(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>What each epsilon means</h2>\n"
        "<p>Whatever a report says, it is at most e<sup>epsilon</sup> times as "
        "likely from one digit and label as from any other. Take the worst "
        "adversary: they know everything but which of two digits a person has, "
        "find both equally likely, and see the report. This is the most it can "
        "tell them, with any computer, now or later:</p>\n"
        "<div class=\"scroll\"><table>\n<tr><th>epsilon</th>"
        "<th class=\"r\">odds change at most by</th><th class=\"r\">50%% "
        "becomes at most</th><th class=\"r\">advantage over a guess</th>"
        "<th class=\"r\">pairs named</th><th class=\"r\">the true one is "
        "among them</th></tr>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        put_meaning_row(to, &demo->budget[i]);
    }
    (void)fprintf(
        to,
        "</table></div>\n<ul>\n"
        "<li>Odds: at epsilon 1, one to one becomes at most 2.7 to one; at 2, "
        "7.4 to one. At 8 it is 2,981 to one: such a promise deters curiosity, "
        "not a determined enemy. It is shown since the research reports "
        "it.</li>\n"
        "<li>The advantage is (e<sup>epsilon</sup> \xe2\x88\x92 1) / "
        "(e<sup>epsilon</sup> + 1): how much more often than by tossing a coin "
        "the best adversary is right, 0 never and 1 always.</li>\n"
        "<li>It holds for one report. Each further report of the same person "
        "spends as much again; the ledger keeps count.</li>\n</ul>\n");
    (void)fprintf(
        to,
        "<p><b>What is not protected.</b> The %zu auxiliary images get no "
        "guarantee at all: encoder and codes were learnt from them, and the "
        "analyst files tell of them one by one. They must be public, or "
        "their owners must have agreed. What a report does not hide either: "
        "that a person took part, when, and from which address.</p>\n"
        "</section>\n",
        demo->auxiliary);
}

/* ---- Files and commands -------------------------------------------------- */

static void
put_files(FILE *to, const struct demo *demo)
{
    (void)fprintf(to, "<section>\n<h2>The files</h2>\n<div class=\"scroll\">"
                      "<table>\n<tr><th>file and SHA-256</th><th>what it is"
                      "</th><th class=\"r\">bytes</th></tr>\n");
    for (size_t i = 0; i < demo->files; i++) {
        const struct demo_file *file = &demo->file[i];
        (void)fprintf(to,
                      "<tr><td><code>%s</code><div class=\"hash\"><code>%s"
                      "</code></div></td><td>%s</td><td class=\"r\">%zu</td>"
                      "</tr>\n",
                      file->name, file->hash, file->what, file->size);
    }
    (void)fprintf(to, "</table></div>\n<p class=\"soft\">Not listed: labels, "
                      "signatures, the other models, "
                      "<code>collector.key</code>, the secret half, and "
                      "<code>" DEMO_STORE "</code>, the collector's store: "
                      "its keys and order are random, so it is another one "
                      "every time, and the model the same. The last "
                      "signature's trusted comment: <code>");
    demo_html_text(to, demo->comment);
    (void)fprintf(to, "</code></p>\n</section>\n");
}

static void
put_commands(FILE *to, const struct demo *demo)
{
    char *text = NULL;
    size_t size = 0;
    FILE *room = open_memstream(&text, &size);
    if (room == NULL) {
        return;
    }
    demo_commands(room, demo);
    if (fclose(room) == 0) {
        (void)fprintf(
            to,
            "<section>\n<h2>By hand</h2>\n<p class=\"soft\">In the folder "
            "of this page; the same is in <code>by-hand.sh</code>. The "
            "files come out the same, byte for byte, but for keys, "
            "signatures and the collector's store. Leave <code>--seed</code> "
            "out of "
            "<code>privatise</code> for real noise. To attack a mechanism: "
            "<code>sotto audit codes-%s.sotto</code>, which takes minutes."
            "</p>\n<pre>",
            demo->budget[0].text);
        demo_html_text(to, text);
        (void)fprintf(to, "</pre>\n</section>\n");
    }
    free(text);
}

static void
put_footer(FILE *to)
{
    (void)fprintf(
        to,
        "<footer>Data: digits of the MNIST database of handwritten digits, "
        "by Yann LeCun, Corinna Cortes and Christopher J. C. Burges, CC "
        "BY-SA 3.0; 10,000 of them, made smaller. Made by sotto " SOTTO_VERSION
        ".</footer>\n</main>\n</body>\n</html>\n");
}

bool
demo_html_write(const struct demo *demo, const char *path)
{
    struct output_file file;
    if (!output_file_open(&file, path)) {
        return false;
    }
    put_head(file.stream);
    put_opening(file.stream, demo);
    put_steps(file.stream, demo);
    put_accuracy(file.stream, demo);
    put_people(file.stream, demo);
    put_cells(file.stream, demo);
    put_meaning(file.stream, demo);
    put_files(file.stream, demo);
    put_commands(file.stream, demo);
    put_footer(file.stream);
    return output_file_commit(&file);
}
