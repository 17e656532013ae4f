/*
 * demo_html.c: the demo's page: one file that needs nothing from anywhere:
 * no scripts, no fonts, no pictures but those drawn in it.
 */
#include <math.h>
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

/* ---- Style -------------------------------------------------------------- */

static const char *const style[] = {
    ":root{color-scheme:light dark;--page:#f7f5f0;--card:#fffefb;--ink:#20262b;"
    "--soft:#5f6a72;--line:#e0dbd0;--track:#ebe7dd;--one:#b5522b;"
    "--wash:rgba(181,82,43,.28);--two:#2b6f77;--truth:#20262b;"
    "--bar:#b9b3a5;--code:#f1ede4}\n",
    "@media(prefers-color-scheme:dark){:root{--page:#12171b;--card:#1a2126;"
    "--ink:#e9e6df;--soft:#9aa5ac;--line:#313a41;"
    "--track:#2a3339;--one:#f2976a;--wash:rgba(242,151,106,.30);--two:#6cc4c9;"
    "--truth:#f4f1ea;--bar:#59646c;--code:#12171b}}\n",
    "*{box-sizing:border-box}body{margin:0;background:var(--page);"
    "color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\","
    "sans-serif}main{max-width:860px;margin:0 auto;padding:44px 24px 64px}\n",
    "h1{font-size:34px;line-height:1.15;letter-spacing:-.015em;margin:0 0 10px}"
    "h2{font-size:20px;margin:0 0 6px}p{margin:0 0 12px}.soft,.lead{color:"
    "var(--soft)}.lead{font-size:18px;max-width:46em;margin-bottom:26px}"
    "section{background:var(--card);border:1px solid var(--line);"
    "border-radius:12px;padding:22px 24px;margin:18px 0}"
    "section>:last-child{margin-bottom:0}\n",
    ".facts{display:grid;grid-template-columns:repeat(4,1fr);gap:14px;"
    "margin:0 0 22px}.fact{border-top:3px solid var(--one);padding-top:8px}"
    ".fact b{display:block;font-size:27px;line-height:1.2;"
    "font-variant-numeric:tabular-nums}.fact span{color:var(--soft);"
    "font-size:14px;display:block;line-height:1.35}\n",
    "ol.steps{list-style:none;margin:0;padding:0;counter-reset:s;display:grid;"
    "grid-template-columns:repeat(5,1fr);gap:16px}ol.steps li{"
    "counter-increment:s;font-size:14px;line-height:1.45;color:var(--soft)}"
    "ol.steps li::before{content:counter(s);display:block;width:26px;"
    "height:26px;line-height:26px;text-align:center;border-radius:50%;"
    "background:var(--one);color:var(--card);font-weight:600;"
    "margin-bottom:8px}ol.steps b{color:var(--ink);display:block;"
    "font-size:15px}\n",
    "blockquote{margin:0 0 14px;padding:2px 0 2px 16px;border-left:3px solid "
    "var(--one);font-size:18px}ul{margin:0 0 12px;padding-left:20px}"
    "li{margin:3px 0}\n",
    ".key{display:flex;flex-wrap:wrap;gap:6px 20px;font-size:14px;color:"
    "var(--soft);margin:0 0 12px}.key i{display:inline-block;"
    "vertical-align:-1px;margin-right:7px}.k-dot{width:11px;height:11px;"
    "border-radius:50%;background:var(--one)}.k-wash{width:22px;height:10px;"
    "background:var(--wash);border-radius:2px}.k-truth{width:3px;height:14px;"
    "background:var(--truth)}.k-bar{width:12px;height:12px;"
    "background:var(--bar);border-radius:2px}.k-est{width:12px;height:12px;"
    "background:var(--one);border-radius:2px}.k-whisker{width:2px;height:14px;"
    "background:var(--truth)}.k-track{width:22px;height:10px;"
    "background:var(--track);border-radius:2px}\n",
    "svg{width:100%;height:auto;display:block;overflow:visible;"
    "margin-bottom:14px}"
    "svg text{font-size:14px;fill:var(--ink);paint-order:stroke;"
    "stroke:var(--card);stroke-width:4px}svg .tick,svg .legend{"
    "fill:var(--soft);font-size:13px}svg .middle{text-anchor:middle}"
    "svg .end{text-anchor:end}.track{fill:var(--track)}.interval{"
    "fill:var(--wash)}.estimate{fill:var(--one);stroke:var(--card);"
    "stroke-width:1.5}.truth{stroke:var(--truth);stroke-width:3;"
    "stroke-linecap:round}.truth-bar{fill:var(--bar)}.estimate-bar{"
    "fill:var(--one)}.whisker{stroke:var(--truth);stroke-width:2}"
    ".grid{stroke:var(--line)}.axis{stroke:var(--soft)}.first-line{"
    "stroke:var(--one);stroke-width:2.5}.second-line{stroke:var(--two);"
    "stroke-width:2.5}.second-dot{fill:var(--two);stroke:var(--card);"
    "stroke-width:1.5}\n",
    "table{border-collapse:collapse;width:100%;font-size:15px;margin:0 0 12px;"
    "font-variant-numeric:tabular-nums}th{text-align:left;color:var(--soft);"
    "font-weight:500;font-size:13px}td,th{padding:7px 14px 7px 0;border-bottom:"
    "1px solid var(--line);vertical-align:top}td:last-child,th:last-child{"
    "padding-right:0}.r{text-align:right}.hot{color:var(--one);"
    "font-weight:600}\n",
    "code,pre{font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"
    "monospace}pre{background:var(--code);border:1px solid var(--line);"
    "border-radius:8px;padding:14px 16px;overflow-x:auto;margin:0 0 12px}"
    ".wrap{white-space:pre-wrap;overflow-wrap:anywhere}.hash{color:"
    "var(--soft);font-size:12px;overflow-wrap:anywhere}footer{color:"
    "var(--soft);font-size:13.5px;margin-top:26px}.warn{border-color:"
    "var(--one)}\n",
    ("@media(max-width:720px){.facts{grid-template-columns:1fr 1fr}"
     "ol.steps{grid-template-columns:1fr}main{padding:28px 14px}}\n"),
};

/* ---- Parts of the page --------------------------------------------------- */

static void
put_head(FILE *to)
{
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<title>sotto: the demo</title>\n<style>\n",
                to);
    for (size_t i = 0; i < sizeof style / sizeof *style; i++) {
        (void)fputs(style[i], to);
    }
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

static const struct demo_row *
first_mean(const struct demo *demo)
{
    const struct demo_row *row = demo->row;
    while (row + 1 < demo->row + demo->rows && row->category[0] != '\0') {
        row++;
    }
    return row;
}

static void
put_opening(FILE *to, const struct demo *demo)
{
    char words[64];
    double half = demo_half_width(demo, first_mean(demo), (double)demo->people);
    (void)fprintf(to,
                  "<h1>What %zu people said, in a low voice</h1>\n"
                  "<p class=\"lead\">Each person's device added noise to their "
                  "own medical record before anything left it. The collector "
                  "never saw a record%s.</p>\n<div class=\"facts\">\n",
                  demo->people,
                  half < 0.25 ? ", and still learned what the group looks like"
                              : "; at this epsilon, from so few people, it "
                                "learned little about the group either");
    (void)snprintf(words, sizeof words, "%zu", demo->people);
    put_fact(to, words, "people, one report each");
    put_fact(to, demo->eps, "epsilon a report, all answers together");
    (void)snprintf(words, sizeof words, "%zu bytes", demo->report_size);
    put_fact(to, words, "a report, whatever the record holds");
    (void)snprintf(words, sizeof words, "%zu of %zu", demo->covered,
                   demo->rows);
    put_fact(to, words, "95% intervals hold the truth");
    (void)fprintf(to, "</div>\n");
    if (demo->simulated) {
        (void)fprintf(to,
                      "<section class=\"warn\"><b>Simulated.</b> These reports "
                      "come from the seed %ju, not from the operating system's "
                      "entropy: whoever knows the seed can undo the noise. "
                      "They are for experiments and are never to be "
                      "sent.</section>\n",
                      (uintmax_t)demo->seed);
    }
}

static void
put_steps(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>What happened</h2>\n<ol class=\"steps\">\n"
        "<li><b>Fit</b>The first %zu of %zu public records give the ranges and "
        "categories: the auxiliary data.</li>\n"
        "<li><b>Sign</b>The mechanism, one file, is signed, and checked with "
        "collector.pub before any report is made; a device also pins the "
        "file's hash.</li>\n"
        "<li><b>Privatise</b>On each of %zu devices: %zu answers, noise added "
        "by exact integer arithmetic.</li>\n"
        "<li><b>Collect</b>Only the reports travel: %zu bytes each, the same "
        "for everyone.</li>\n"
        "<li><b>Estimate</b>The noise is known, so its effect on averages is "
        "too: estimates with intervals.</li>\n"
        "</ol>\n</section>\n",
        demo->auxiliary, demo->auxiliary + demo->people, demo->people,
        demo->answers, demo->report_size);
}

/* The most that even odds can become, in per cent, rounded up. */
static double
belief(double eps)
{
    return ceil(1000 / (1 + exp(-eps))) / 10;
}

static void
put_promise(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>The promise</h2>\n"
        "<blockquote>Whatever a report says, it could have come from anybody: "
        "no report is more than e<sup>%s</sup> \xe2\x89\x88 %.3g times "
        "likelier "
        "from one record than from any other.</blockquote>\n"
        "<ul>\n<li>It needs no trust in the collector, and no later computer "
        "or data set weakens it.</li>\n"
        "<li>Epsilon %s is split evenly: %.3g for each of the %zu answers. "
        "Someone who was undecided (50%%) about a person's diagnosis can be at "
        "most %.4g%% sure after seeing that answer, and at most %.4g%% sure "
        "after seeing the whole report, however the other answers may hint at "
        "it.</li>\n"
        "<li>It holds for one report. Each further report of the same person "
        "spends as much again.</li>\n"
        "<li>The auxiliary records get no guarantee: their ranges stand in the "
        "mechanism. They are public.</li>\n</ul>\n</section>\n",
        demo->eps, exp(demo->eps_total), demo->eps, demo->eps_each,
        demo->answers, belief(demo->eps_label), belief(demo->eps_total));
}

static void
put_means(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to, "<section>\n<h2>Three averages, from the reports alone</h2>\n"
            "<p class=\"soft\">Each line runs over the column's public range. "
            "The truth is known here only because this is a demo.</p>\n"
            "<div class=\"key\"><span><i class=\"k-dot\"></i>estimate</span>"
            "<span><i class=\"k-wash\"></i>95%% interval</span>"
            "<span><i class=\"k-truth\"></i>truth</span>"
            "<span><i class=\"k-track\"></i>public range</span></div>\n");
    demo_plot_means(to, demo);
    (void)fprintf(to, "</section>\n");
}

static void
put_frequencies(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>The diagnosis</h2>\n"
        "<p class=\"soft\">Each device told the true diagnosis only some of "
        "the time, and otherwise another one at random; (other) is there for "
        "records that hold neither. Estimates are unbiased, and so can fall "
        "below 0%%.</p>\n"
        "<div class=\"key\"><span><i class=\"k-bar\"></i>truth</span>"
        "<span><i class=\"k-est\"></i>estimate</span>"
        "<span><i class=\"k-whisker\"></i>95%% interval</span></div>\n");
    demo_plot_frequencies(to, demo);
    (void)fprintf(to, "</section>\n");
}

static void
put_cell(FILE *to, const char *class, const char *text)
{
    (void)fprintf(to, "<td%s>", class);
    demo_html_text(to, text);
    (void)fprintf(to, "</td>");
}

static void
put_person(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to, "<section>\n<h2>One person</h2>\n"
            "<p class=\"soft\">In real life nobody sees these two columns "
            "side by side: the left one never leaves the device.</p>\n"
            "<table>\n<tr><th>column</th><th class=\"r\">the record</th>"
            "<th class=\"r\">what the report says</th></tr>\n");
    for (size_t i = 0; i < demo->fields; i++) {
        (void)fprintf(to, "<tr>");
        put_cell(to, "", demo->field[i].name);
        put_cell(to, " class=\"r\"", demo->field[i].record);
        put_cell(to, " class=\"r hot\"", demo->field[i].report);
        (void)fprintf(to, "</tr>\n");
    }
    (void)fprintf(to,
                  "</table>\n<p>All that is sent, as JSON (%zu bytes in its "
                  "binary form):</p>\n<pre class=\"wrap\">",
                  demo->report_size);
    demo_html_text(to, demo->report_json);
    (void)fprintf(to, "</pre>\n</section>\n");
}

static void
put_people(FILE *to, const struct demo *demo)
{
    (void)fprintf(
        to,
        "<section>\n<h2>More people, less blur</h2>\n"
        "<p class=\"soft\">Half the width of the 95%% interval by the noise "
        "alone falls with the square root of the number of people. With "
        "100,000 "
        "people at the same epsilon, an average would be known to "
        "\xc2\xb1%.2g%% of its range.</p>\n",
        100 * demo_half_width(demo, first_mean(demo), 1e5));
    demo_plot_people(to, demo);
    (void)fprintf(
        to,
        "<p class=\"soft\">Why only %zu of the 31 columns? The budget is "
        "split evenly between them. Asking for all 31 would make each "
        "interval about %.0f times as wide.</p>\n</section>\n",
        demo->answers, 31.0 / (double)demo->answers);
}

static void
put_files(FILE *to, const struct demo *demo)
{
    (void)fprintf(to, "<section>\n<h2>The files</h2>\n<table>\n<tr><th>file "
                      "and SHA-256</th><th>what it is</th>"
                      "<th class=\"r\">bytes</th></tr>\n");
    for (size_t i = 0; i < demo->files; i++) {
        const struct demo_file *file = &demo->file[i];
        (void)fprintf(to,
                      "<tr><td><code>%s</code><div class=\"hash\"><code>%s"
                      "</code></div></td><td>%s</td><td class=\"r\">%zu</td>"
                      "</tr>\n",
                      file->name, file->hash, file->what, file->size);
    }
    (void)fprintf(to,
                  "</table>\n<p class=\"soft\">Not listed: "
                  "<code>collector.key</code>, the secret half. The mechanism "
                  "calls itself <code class=\"hash\">%s</code> (BLAKE2b-256), "
                  "and every report names it.</p>\n"
                  "<p class=\"soft\">The signature's trusted comment: "
                  "<code>",
                  demo->hash);
    demo_html_text(to, demo->comment);
    (void)fprintf(to, "</code></p>\n</section>\n");
}

static void
put_commands(FILE *to, const struct demo *demo)
{
    char seed[40] = "";
    if (demo->simulated) {
        (void)snprintf(seed, sizeof seed, " --seed %ju", (uintmax_t)demo->seed);
    }
    (void)fprintf(to,
                  "<section>\n<h2>By hand</h2>\n<p class=\"soft\">In the "
                  "folder of this page:</p>\n<pre>"
                  "sotto train direct --data auxiliary.csv --label "
                  "diagnosis --eps %s",
                  demo->eps);
    for (size_t i = 0; demo_features[i] != NULL; i++) {
        (void)fprintf(to, "%s --keep %s", i == 0 ? " \\\n   " : "",
                      demo_features[i]);
    }
    (void)fprintf(to,
                  " -o mine.sotto\n"
                  "sotto keygen -o mine\n"
                  "sotto sign mine.sotto --key mine.key\n"
                  "sotto verify mine.sotto --pub mine.pub\n"
                  "sotto inspect mine.sotto\n"
                  "sotto privatise mine.sotto people.csv --pub mine.pub%s -o "
                  "mine.reports\n"
                  "sotto decode mine.sotto mine.reports -o mine.csv</pre>\n"
                  "</section>\n",
                  seed);
}

static void
put_footer(FILE *to)
{
    (void)fprintf(
        to, "<footer>Data: Breast Cancer Wisconsin (Diagnostic), W. Wolberg, "
            "O. Mangasarian, N. Street and W. Street, UCI Machine Learning "
            "Repository, CC BY 4.0; a header was added, the id column removed. "
            "Made by sotto " SOTTO_VERSION ".</footer>\n"
            "</main>\n</body>\n</html>\n");
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
    put_promise(file.stream, demo);
    put_means(file.stream, demo);
    put_frequencies(file.stream, demo);
    put_person(file.stream, demo);
    put_people(file.stream, demo);
    put_files(file.stream, demo);
    put_commands(file.stream, demo);
    put_footer(file.stream);
    return output_file_commit(&file);
}
