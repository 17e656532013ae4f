#!/usr/bin/python3
"""test_pages.py: the collector's pages to look at: who gets one, what a browser
may do with it, that it is whole HTML and asks nobody for anything, and that it
says nothing of when a report came."""
import base64
import html.parser
import json
import re
import time

from collecting import (BINARY, TOKEN, Campaign, Collector, expect, finish,
                        scratch, sotto, until)

VOID = {"meta", "path", "rect", "circle", "br"}


class Whole(html.parser.HTMLParser):
    """Every tag that begins ends, in order; and what a page refers to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.refers, self.tags = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src", "action", "srcset", "xlink:href"):
                self.refers.append(value)
            if name.startswith("on") or name == "style":
                self.faults.append(f"{tag} {name}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append("/" + tag)


def check_page(text, what):
    page = Whole(text)
    expect(not page.faults, f"{what}: {page.faults}")
    expect(len(text.encode()) < 100000, f"{what} has {len(text)} characters")
    expect(all(r.startswith(("/v1/page", "#")) for r in page.refers),
           f"{what} refers to {page.refers}")
    expect(not {"script", "img", "link", "iframe", "form"} & set(page.tags),
           f"{what}: {set(page.tags)}")
    expect(not re.search(r"https?:|url\(|@import|\{\{", text), what)


def basic(password, name="me"):
    code = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"Authorization": "Basic " + code}


def get(collector, path="/v1/page", headers=None):
    status, headers, body = collector.ask(
        "GET", path, headers=basic(TOKEN) if headers is None else headers)
    return status, headers, body.decode()


def text_of(collector, path="/v1/page"):
    return get(collector, path)[2]


with scratch() as folder:
    campaign = Campaign(folder)
    plan = campaign.folder / "mechanisms" / "m.plan"
    plan.write_text("".join(
        json.dumps({"kind": "direct", "eps": 2, "people": n, "silent": 0,
                    "lying": 0, "accuracy": a, "low": a - .1, "high": a})
        + "\n" for n, a in ((100, .6), (10000, .9))))
    collector = Collector(campaign, "--window", 3, "--batch-min", 100)

    # ---- Who may look ----
    until(lambda: get(collector)[0] == 200)
    status, headers, body = get(collector, headers={})
    asks = headers.get_all("WWW-Authenticate")
    expect(status == 401 and any(a.startswith("Basic ") for a in asks)
           and "Bearer" in asks, f"without a token: {status} {asks}")
    expect(TOKEN not in body and "<" not in body, "a refusal with a page")
    for wrong in (basic("another"), basic(""), {"Authorization": "Basic !"},
                  {"Authorization": "Bearer " + TOKEN + "x"}):
        expect(get(collector, headers=wrong)[0] == 401, f"taken: {wrong}")
    bearer = {"Authorization": "Bearer " + TOKEN}
    expect(get(collector, headers=bearer)[0] == 200, "Bearer")
    expect(get(collector, headers=basic(TOKEN, ""))[0] == 200, "no name")
    for path in ("/metrics", "/v1/campaigns/m/batches"):  # no browser's
        expect(collector.ask("GET", path, headers=basic(TOKEN))[0] == 401,
               f"{path} takes a password")
    expect(collector.ask("POST", "/v1/page", b"x", basic(TOKEN))[0] == 405,
           "POST")
    expect(get(collector, "/v1/page/none")[0] == 404, "a campaign there is not")
    expect(get(collector, "/v1/pages")[0] == 404, "another path")

    # ---- What a browser may do ----
    status, headers, body = get(collector)
    policy = headers["Content-Security-Policy"]
    expect(headers["Content-Type"] == "text/html; charset=utf-8" and
           headers["Cache-Control"] == "no-store" and
           headers["X-Content-Type-Options"] == "nosniff" and
           headers["Referrer-Policy"] == "no-referrer" and
           "default-src 'none'" in policy and "'unsafe" not in policy and
           "style-src 'sha256-" in policy and headers["Set-Cookie"] is None,
           f"headers: {headers}")
    check_page(body, "the page before any report")
    expect("Nothing yet" in body and "Whatever one person" in body, body)
    expect("Expected accuracy" in body and "90.0% with 10,000" in body, "plan")

    # ---- Nothing of when a report came ----
    def windows():
        return collector.metric("windows_total")

    def settled():
        """The page a while after a window, so that it is of its end."""
        time.sleep(1.5)
        return text_of(collector)

    collector.send(campaign.new(150))
    expect(until(lambda: ">150<" in text_of(collector)), "the first batch")
    before, count = settled(), windows()
    changed, seen = 0, 0
    collector.send(campaign.new(7))
    other = bytearray(campaign.new(1))
    other[4] ^= 1
    collector.send(bytes(other))
    while windows() == count:
        now = text_of(collector)
        if windows() == count:
            changed += now != before
            seen += 1
    expect(changed == 0 and seen > 3, f"{changed} of {seen} within a window")
    expect(until(lambda: ">7<" in text_of(collector)), "7 wait")
    after = settled()
    expect(re.search(r"of another mechanism</th><td class=\"r\">1<", after),
           "what was refused")
    check_page(after, "the page")
    expect("From 150 reports" in after, "estimates of what is released alone")
    expect(get(collector, "/v1/page/m")[0] == 200, "the campaign's own page")
    check_page(text_of(collector, "/v1/page/m"), "the campaign's own page")

    # ---- The same figures as decode's, whose page is like it ----
    sotto("export", campaign.path, "--store", f"sqlite:{collector.store}", "-o",
          campaign.folder / "r")
    sotto("decode", campaign.path, campaign.folder / "r", "--html",
          campaign.folder / "r.html", "--plan", plan)
    own = (campaign.folder / "r.html").read_text()
    check_page(own, "decode's page")
    rows = re.compile(r"<tbody>.*?</tbody>", re.S)
    expect(rows.findall(own)[:2] == rows.findall(after)[:2] and
           len(rows.findall(own)) >= 2, "decode says something else")

    # ---- Reloading: what is known stays, a new campaign has a page ----
    campaign.make(campaign.folder / "mechanisms" / "n.sotto", 3)
    collector.process.send_signal(1)
    expect(until(lambda: "/v1/page/n" in text_of(collector)), "two campaigns")
    check_page(text_of(collector), "the page of two")
    one = text_of(collector, "/v1/page/m")
    expect("From 150 reports" in one and 'href="/v1/page"' in one, one)
    expect("Nothing yet" in text_of(collector, "/v1/page/n"), "the new one")
    expect(collector.stop() == 0, "it does not stop")

    # ---- A life later all of it is read again ----
    again = Collector(campaign, "--window", 3, "--batch-min", 100)
    expect(until(lambda: "From 150" in text_of(again, "/v1/page/m")), "again")

    # ---- Of a window that is open nothing is told, whenever one ends ----
    waiting, end = set(), time.monotonic() + 7
    while time.monotonic() < end:
        again.send(campaign.new(100))
        time.sleep(.02)  # a window that is full would end by itself
        page = text_of(again, "/v1/page/m")
        if "From 150 reports" not in page:  # all of a window was released
            waiting |= set(re.findall(r"last window</dt><dd>([\d,]+)<", page))
    expect(waiting == {"0"}, f"waiting, while reports come: {waiting}")
    expect(again.stop() == 0, "it does not stop")
    plan.write_text("{\n")
    wrong = sotto("serve", "--mechanism", campaign.folder / "mechanisms",
                  "--pub", campaign.pub, "--store",
                  f"sqlite:{campaign.folder}/other.db", status=2)
    expect("m.plan" in wrong and "line 1" in wrong, wrong)
    plan.unlink()

    # ---- A password is for TLS and loopback alone ----
    proxied = Collector(campaign, "--plain-behind-proxy", store="p.db")
    until(lambda: get(proxied, headers=bearer)[0] == 200)
    status, headers, _ = get(proxied)
    expect(status == 401 and headers.get_all("WWW-Authenticate") == ["Bearer"],
           f"behind a proxy: {status}")
    expect(get(proxied, headers=bearer)[0] == 200, "Bearer behind a proxy")
    expect(proxied.stop() == 0, "it does not stop")
finish()
