/*
 * demo_html.c: the demo's page: one file that needs nothing from anywhere:
 * no scripts, no fonts, no pictures but those drawn in it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/demo.h"
#include "cli/output_file.h"

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

/* Flip on k classes: e^eps / (e^eps + k - 1). */
double
demo_keep(const struct demo_budget *budget)
{
    return 1 / (1 + ((double)budget->classes - 1) * exp(-budget->eps_label));
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
put_opening(FILE *to, const struct demo *demo)
{
    const struct demo_budget *first = &demo->budget[0];
    char words[64];
    (void)fprintf(
        to,
        "<h1>Learning to read from digits nobody showed</h1>\n"
        "<p class=\"lead\">%zu people each hold one handwritten digit and what "
        "it says. Each sent one noisy report; the collector saw no image and "
        "no true label. <b>From reports with epsilon %s it learned to read "
        "%.1f%% of new digits right; with the noise on the pixels instead, "
        "%.1f%%; with no privacy at all, %.1f%%.</b></p>\n"
        "<div class=\"facts\">\n",
        demo->people, first->text, percent(first, DEMO_LEARNER_OURS),
        percent(first, DEMO_LEARNER_DIRECT), 100 * demo->clean);
    (void)snprintf(words, sizeof words, "%zu", demo->people);
    put_fact(to, words, "people, one report each");
    (void)snprintf(words, sizeof words, "%zu bytes", first->report_size);
    put_fact(to, words, "a report, whatever the digit is");
    (void)snprintf(words, sizeof words, "%u numbers", DEMO_D);
    put_fact(to, words, "and a label, each with noise: all that is sent");
    (void)snprintf(words, sizeof words, "%zu", demo->test);
    put_fact(to, words, "other digits measure it, so to about 3 points");
    (void)fprintf(to, "</div>\n");
    if (demo->quick) {
        (void)fprintf(to, "<section class=\"warn\"><b>A quick demo.</b> "
                          "Encoder and classifiers were hardly trained: the "
                          "accuracies say nothing. Leave --quick out.</section>"
                          "\n");
    }
    (void)fprintf(to,
                  "<section class=\"warn\"><b>Simulated.</b> So that the story "
                  "is the same every time, these reports draw their noise from "
                  "the seed %" PRIu64 ", through the samplers a device uses: "
                  "whoever knows the seed can undo it. They are marked, and "
                  "never to be sent. A device takes its noise from the "
                  "operating system.</section>\n",
                  demo->seed);
}

static void
put_steps(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>What happened</h2>\n<ol class=\"steps\">\n"
        "<li><b>Train</b>On %zu auxiliary images, a network learns to say an "
        "image in %u numbers that survive noise. Their labels are not "
        "used.</li>\n"
        "<li><b>Sign</b>The mechanism, one file of %zu kB, is signed and "
        "checked with collector.pub before any report is made; a device also "
        "pins the file's hash.</li>\n"
        "<li><b>Privatise</b>On each of %zu devices: %u numbers, clipped to a "
        "ball, noise added by exact integer arithmetic; the label "
        "flipped.</li>\n"
        "<li><b>Learn</b>The noise is known, so a classifier is fitted to what "
        "could have caused each report (Eq. 11), not to the report.</li>\n"
        "<li><b>Compare</b>With a learner that takes reports for the truth, "
        "with noise on all 196 pixels, and with no noise.</li>\n"
        "</ol>\n</section>\n",
        demo->auxiliary, DEMO_D, (demo->mechanism_size + 999) / 1000,
        demo->people, DEMO_D);
}

/* ---- Accuracy ------------------------------------------------------------ */

static void
put_accuracy(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>Accuracy against epsilon</h2>\n"
        "<p class=\"soft\">How many of %zu clean test digits are read right by "
        "what was learnt from %zu reports. The same label noise for all "
        "three at one epsilon; differences of less than four points say "
        "nothing.</p>\n<div class=\"key\">"
        "<span><i class=\"k-0\"></i>sotto: learnt encoder, noise known</span>"
        "<span><i class=\"k-1\"></i>same reports, noise ignored</span>"
        "<span><i class=\"k-2\"></i>noise on the pixels, noise known</span>"
        "</div>\n",
        demo->test, demo->people);
    demo_plot_accuracy(to, demo);
    (void)fprintf(to,
                  "<div class=\"scroll\"><table>\n<tr><th>epsilon</th>"
                  "<th class=\"r\">sotto</th><th class=\"r\">noise ignored</th>"
                  "<th class=\"r\">noise on the pixels</th>"
                  "<th class=\"r\">a report</th>"
                  "<th class=\"r\">one of pixels</th></tr>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        (void)fprintf(to,
                      "<tr><td>%s</td><td class=\"r hot\">%.1f%%</td>"
                      "<td class=\"r\">%.1f%%</td><td class=\"r\">%.1f%%</td>"
                      "<td class=\"r\">%zu bytes</td><td class=\"r\">%zu bytes"
                      "</td></tr>\n",
                      budget->text, percent(budget, DEMO_LEARNER_OURS),
                      percent(budget, DEMO_LEARNER_PLAIN),
                      percent(budget, DEMO_LEARNER_DIRECT), budget->report_size,
                      budget->direct_size);
    }
    (void)fprintf(
        to,
        "</table></div>\n<p class=\"soft\">Without privacy, a classifier "
        "learns from the true numbers and labels of the same %zu people. They "
        "are few: with more of them, less is lost at a small epsilon. The "
        "noise on pixels is the duchi channel, made for many numbers at once, "
        "with the same share for the label; its learner weighs %zu auxiliary "
        "images for each report, ours %zu, since an image costs more time than "
        "%u numbers. The learners differ by more than what they make of the "
        "noise: the two that know it (%u network%s each) are told that all "
        "digits are equally frequent and have settings chosen for MNIST, ours "
        "at the larger epsilons also a weight on certainty, while the one that "
        "ignores the noise and the one without privacy are one network each "
        "with the settings any data gets.</p>\n</section>\n",
        demo->people, demo->effort->prior_direct, demo->effort->prior, DEMO_D,
        demo->effort->restarts, demo->effort->restarts == 1 ? "" : "s");
}

/* ---- People -------------------------------------------------------------- */

static void
put_report(FILE *to, const struct demo_report *report)
{
    (void)fprintf(to, "<td><figure>");
    demo_plot_digit(to, report->image, "what the report decodes to");
    (void)fprintf(to, "says <b>");
    demo_html_text(to, report->label);
    (void)fprintf(to, "</b><span class=\"numbers\">");
    for (size_t i = 0; i < DEMO_D; i++) {
        (void)fprintf(to, "%s%" PRId64, i > 0 ? " " : "", report->value[i]);
    }
    (void)fprintf(to, "</span></figure></td>");
}

static void
put_people(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>A few people, and what their reports give away"
        "</h2>\n"
        "<p class=\"soft\">The left column is here because this is a demo: "
        "in life it never leaves the device, and a person sends one report, "
        "not one for each epsilon. Under each: the label that was sent, and "
        "the numbers, out of \xc2\xb1"
        "4096 before the noise; the picture "
        "is what the analyst's decoder makes of those numbers.</p>\n"
        "<div class=\"scroll\"><table class=\"people\">\n<tr><th>stays on "
        "the device</th>");
    for (size_t i = 0; i < demo->budgets; i++) {
        (void)fprintf(to, "<th>report, epsilon %s</th>", demo->budget[i].text);
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
            put_report(to, &person->report[j]);
        }
        (void)fprintf(to, "</tr>\n");
    }
    (void)fprintf(to, "</table></div>\n</section>\n");
}

static void
put_means(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to, "<section>\n<h2>Together they say more</h2>\n"
            "<p class=\"soft\">The mean of each digit's numbers over all "
            "reports, the wrong labels' share taken out (how often they come "
            "is known), and decoded. Noise that hides one person cancels out "
            "over many: the fewer the people or the smaller epsilon, the less "
            "so.</p>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        (void)fprintf(to, "<p><b>epsilon %s</b></p>\n<div class=\"means\">\n",
                      demo->budget[i].text);
        for (size_t j = 0; j < DEMO_CLASSES; j++) {
            const struct demo_mean *mean = &demo->mean[i][j];
            (void)fprintf(to, "<figure>");
            demo_plot_digit(to, mean->image, "the mean of a digit");
            (void)fprintf(to, "<b>");
            demo_html_text(to, mean->label);
            (void)fprintf(to, "</b> named by %zu</figure>\n", mean->reports);
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
                  "<tr><td><b>%s</b></td><td class=\"whole\">%.3g for the "
                  "image<br>%.3g for the label"
                  "</td><td class=\"r\">%.*f</td><td class=\"r\">%.5g%%</td>"
                  "<td class=\"r\">%.4g</td><td class=\"r\">%.5g%%</td>"
                  "<td class=\"r\">%.1f%%</td></tr>\n",
                  budget->text, budget->eps_record, budget->eps_label,
                  odds < 100 ? 2 : 0, odds, belief(budget->eps),
                  tanh(budget->eps / 2), belief(budget->eps_label),
                  100 * demo_keep(budget));
}

static void
put_meaning(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>What each epsilon means</h2>\n"
        "<p>Whatever a report says, it is at most e<sup>epsilon</sup> times as "
        "likely from one digit as from any other. Take the worst adversary: "
        "they know everything but which of two digits a person has, find both "
        "equally likely, and see the report. This is the most it can tell "
        "them, with any computer, now or later:</p>\n<div class=\"scroll\">"
        "<table>\n<tr><th>epsilon</th><th>spent on</th><th class=\"r\">odds "
        "change at most by</th><th class=\"r\">50%% becomes at most</th>"
        "<th class=\"r\">advantage over a guess</th><th class=\"r\">the "
        "same by the label's answer alone</th><th class=\"r\">label sent is "
        "true</th></tr>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        put_meaning_row(to, &demo->budget[i]);
    }
    (void)fprintf(
        to,
        "</table></div>\n<ul>\n"
        "<li>Odds: at epsilon 2, one to one becomes at most 7.4 to one. At 10 "
        "it is 22,026 to one: such a promise deters curiosity, not a "
        "determined "
        "enemy. It is shown since the research reports it.</li>\n"
        "<li>The advantage is (e<sup>epsilon</sup> \xe2\x88\x92 1) / "
        "(e<sup>epsilon</sup> + 1): how much more often than by tossing a coin "
        "the best adversary is right, 0 never and 1 always.</li>\n"
        "<li>The label goes through randomised response over %zu answers (ten "
        "digits and \xe2\x80\x9cother\xe2\x80\x9d): the last column is how "
        "often it is left as it was.</li>\n"
        "<li>It holds for one report. Each further report of the same person "
        "spends as much again; the ledger keeps count.</li>\n</ul>\n",
        demo->budget[0].classes);
    (void)fprintf(
        to,
        "<p><b>What is not protected.</b> The %zu auxiliary images get no "
        "guarantee at all: encoder, decoder and prior were learnt from them, "
        "and the analyst file tells of them one by one. They must be public, "
        "or "
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
                      "signatures, the other models, and "
                      "<code>collector.key</code>, the secret half. The last "
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
            "files come out the same, byte for byte, but for keys and "
            "signatures. Leave <code>--seed</code> out of "
            "<code>privatise</code> for real noise. To attack a mechanism: "
            "<code>sotto audit eps-%s.sotto</code>, which takes minutes."
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
    put_means(file.stream, demo);
    put_meaning(file.stream, demo);
    put_files(file.stream, demo);
    put_commands(file.stream, demo);
    put_footer(file.stream);
    return output_file_commit(&file);
}
