#!/usr/bin/python3
"""test_disk_full.py: a disk that takes nothing: 503 with Retry-After, nothing
counts that was not answered with success, and all goes on when there is room.
A limit on the size of files stands for the full disk."""
import resource

from collecting import (BINARY, Campaign, Collector, expect, finish, scratch,
                        until)


def fill(c, full):
    """The store's log needs more than a page; messages do not."""
    _, hard = resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(c.process.pid, resource.RLIMIT_FSIZE,
                     (4000 if full else hard, hard))


def test_reports(m):
    c = Collector(m)
    first, body = m.new(10), m.new(20)
    expect(c.send(first)[1]["accepted"] == 10, "before")
    fill(c, True)
    status, headers, data = c.ask("POST", "/v1/campaigns/m/reports", body,
                                  {"Content-Type": BINARY})
    expect(status == 503 and int(headers["Retry-After"]) > 0 and
           b"error" in data, f"full: {status} {data}")
    expect(c.ask("GET", "/healthz")[0] == 503, "healthy with a full disk")
    expect(c.ask("GET", "/v1/campaigns/m/mechanism")[0] == 200, "reading")
    expect(until(lambda: "takes nothing" in c.said()), "it says nothing")
    # Whoever asks for its health first must get to send some day.
    expect(until(lambda: c.ask("GET", "/healthz")[0] == 200, 12), "for ever")
    expect(c.send(body)[0] == 503, "again")
    fill(c, False)
    expect(until(lambda: c.send(body)[0] == 200), "no recovery")
    expect(c.send(first + body)[1]["duplicate"] == 30, "all of it, once")
    expect(c.ask("GET", "/healthz")[0] == 200, "healthy again")
    expect(until(lambda: "takes reports again" in c.said()), "not said")
    expect(c.said().count("takes nothing") == 1, "it says so all the time")
    expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")


def test_window(m):
    """A window that cannot be moved on is moved when there is room."""
    c = Collector(m, "--window", 1, "--batch-min", 2, store="window.db")
    expect(c.send(m.new(30))[1]["accepted"] == 30, "before")
    fill(c, True)
    expect(until(lambda: "not moved on" in c.said()), "it says nothing")
    status, _, body = c.ask("GET", "/healthz")
    expect(status == 200 and body.startswith(b"ok, but "), f"health: {body}")
    fill(c, False)
    expect(until(lambda: c.metric(
        'campaign_reports{campaign="m",at="released"}') == 30, 20),
        "the window did not move")
    expect(until(lambda: c.ask("GET", "/healthz")[2] == b"ok\n"),
           "healthy again")
    expect(c.metric("move_failures_total") > 0, "failures are not counted")
    said = c.said()
    expect(said.count("not moved on") == 1 and "takes nothing" not in said and
           said.count("moved on again") == 1, f"it says: {said}")
    expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")


def main():
    with scratch() as folder:
        m = Campaign(folder)
        test_reports(m)
        test_window(m)
    finish()


main()
