/*
 * demo_style.c: how the demo's page looks: light and dark, wide and narrow.
 */
#include "demo/demo.h"

/* clang-format off */
static const char *const style[] = {
    ":root{color-scheme:light dark;--page:#f7f5f0;--card:#fffefb;--ink:#20262b;"
    "--soft:#5f6a72;--line:#e0dbd0;--one:#b5522b;--two:#2b6f77;--three:#8a7a2f;"
    "--code:#f1ede4}\n",
    "@media(prefers-color-scheme:dark){:root{--page:#12171b;--card:#1a2126;"
    "--ink:#e9e6df;--soft:#9aa5ac;--line:#313a41;--one:#f2976a;--two:#6cc4c9;"
    "--three:#d3c26b;--code:#12171b}}\n",
    "*{box-sizing:border-box}body{margin:0;background:var(--page);"
    "color:var(--ink);font:16px/1.55 system-ui,-apple-system,\"Segoe UI\","
    "sans-serif}main{max-width:900px;margin:0 auto;padding:44px 24px 64px}\n",
    "h1{font-size:34px;line-height:1.15;letter-spacing:-.015em;margin:0 0 10px}"
    "h2{font-size:20px;margin:0 0 6px}p{margin:0 0 12px}.soft,.lead{color:"
    "var(--soft)}.lead{font-size:18px;max-width:46em;margin-bottom:26px}"
    ".lead b{color:var(--ink)}"
    "section{background:var(--card);border:1px solid var(--line);"
    "border-radius:12px;padding:22px 24px;margin:18px 0}"
    "section>:last-child{margin-bottom:0}.warn{border-color:var(--one)}\n",
    ".facts{display:grid;grid-template-columns:repeat(4,1fr);gap:14px;"
    "margin:0 0 22px}.fact{border-top:3px solid var(--one);padding-top:8px}"
    ".fact b{display:block;font-size:27px;line-height:1.2;"
    "font-variant-numeric:tabular-nums}.fact span{color:var(--soft);"
    "font-size:14px;display:block;line-height:1.35}\n",
    "ol.steps{list-style:none;margin:0;padding:0;counter-reset:s;display:grid;"
    "grid-template-columns:repeat(3,1fr);gap:16px}ol.steps li{"
    "counter-increment:s;font-size:14px;line-height:1.45;color:var(--soft)}"
    "ol.steps li::before{content:counter(s);display:block;width:26px;"
    "height:26px;line-height:26px;text-align:center;border-radius:50%;"
    "background:var(--one);color:var(--card);font-weight:600;"
    "margin-bottom:8px}ol.steps b{color:var(--ink);display:block;"
    "font-size:15px}ul{margin:0 0 12px;padding-left:20px}li{margin:3px 0}\n",
    "svg.plot{width:100%;height:auto;display:block;margin-bottom:14px}"
    "svg text{font-size:14px;fill:var(--ink);paint-order:stroke;"
    "stroke:var(--card);stroke-width:4px}svg .tick{fill:var(--soft);"
    "font-size:13px}svg .middle{text-anchor:middle}svg .end{text-anchor:end}"
    ".grid{stroke:var(--line)}.limit{stroke:var(--soft);stroke-width:1.5;"
    "stroke-dasharray:5 4}\n",
    "polyline{fill:none;stroke-width:2.5;stroke-linejoin:round}"
    ".line-0{stroke:var(--one)}.line-1{stroke:var(--two)}.line-2{stroke:"
    "var(--three)}.dot-0,.dot-1,.dot-2{stroke:var(--card);stroke-width:1.5}"
    ".dot-0{fill:var(--one)}.dot-1{fill:var(--two)}.dot-2{fill:var(--three)}"
    ".key{display:flex;flex-wrap:wrap;gap:6px 20px;font-size:14px;color:"
    "var(--soft);margin:0 0 12px}.key i{display:inline-block;width:12px;"
    "height:12px;border-radius:50%;vertical-align:-1px;margin-right:7px}"
    ".k-0{background:var(--one)}.k-1{background:var(--two)}.k-2{"
    "background:var(--three)}\n",
    ".scroll{overflow-x:auto;margin:0 0 12px}table{border-collapse:collapse;"
    "width:100%;font-size:15px;margin:0 0 12px;"
    "font-variant-numeric:tabular-nums}th{text-align:left;color:var(--soft);"
    "font-weight:500;font-size:13px}td,th{padding:7px 14px 7px 0;border-bottom:"
    "1px solid var(--line);vertical-align:top}td:last-child,th:last-child{"
    "padding-right:0}.r{text-align:right}td.r,.whole{white-space:nowrap}.hot{color:var(--one);"
    "font-weight:600}sup{line-height:0}\n",
    "svg.digit{width:64px;height:64px;display:block;background:#11161a;"
    "border-radius:6px;margin:0 0 4px;fill:#f3efe6}figure{margin:0;"
    "font-size:12.5px;line-height:1.35;color:var(--soft)}figure b{"
    "color:var(--ink)}.people td{padding-bottom:12px}.people svg.digit{"
    "width:76px;height:76px}.own svg.digit{outline:2px solid var(--one);"
    "outline-offset:-2px}.cells{display:grid;"
    "grid-template-columns:repeat(10,1fr);gap:8px;margin:0 0 14px}"
    ".cells svg.digit{width:100%;height:auto}svg.report{width:132px;"
    "height:77px;display:block;background:var(--code);border:1px solid "
    "var(--line);border-radius:4px;fill:var(--ink)}.true{fill:var(--one);"
    "fill-opacity:.3}\n",
    "code,pre{font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,"
    "monospace}pre{background:var(--code);border:1px solid var(--line);"
    "border-radius:8px;padding:14px 16px;overflow-x:auto;margin:0 0 12px}"
    ".hash{color:var(--soft);font-size:12px;overflow-wrap:anywhere}footer{"
    "color:var(--soft);font-size:13.5px;margin-top:26px}\n",
    "@media(max-width:720px){.facts{grid-template-columns:1fr 1fr}"
    "ol.steps{grid-template-columns:1fr}.cells{"
    "grid-template-columns:repeat(5,1fr)}main{padding:28px 14px}"
    "section{padding:18px 16px}h1{font-size:28px}"
    "svg.plot text,svg.plot .tick{font-size:20px}}\n",
};
/* clang-format on */

/* Opacities of the grey levels 1 to 15. */
static void
put_levels(FILE *to)
{
    for (unsigned i = 1; i <= 15; i++) {
        (void)fprintf(to, ".g%u{fill-opacity:%.2f}", i, i / 15.0);
    }
    (void)fputc('\n', to);
}

void
demo_style(FILE *to)
{
    for (size_t i = 0; i < sizeof style / sizeof *style; i++) {
        (void)fputs(style[i], to);
    }
    put_levels(to);
}
