#!/usr/bin/python3
"""test_collector.py: the collector over its socket: what every path answers,
what is judged how, duplicates, windows and batches, restarts, hot reload, and
the limits of what it takes."""
import concurrent.futures
import json
import os
import signal
import sqlite3
import subprocess

from collecting import (BINARY, LINES, TOKEN, Campaign, Collector, expect,
                        finish, scratch, sotto, until)

REPORTS = "/v1/campaigns/m/reports"


def test_paths(c, m):
    path = m.path.read_bytes()
    status, headers, body = c.ask("GET", "/v1/campaigns/m/mechanism")
    expect(status == 200 and body == path, "the mechanism's bytes")
    for name in ("ETag", "Last-Modified", "Set-Cookie", "Date", "Server"):
        expect(name not in headers, f"an answer has {name}")
    expect(headers["Cache-Control"] == "no-store", "no-store")
    # What a device could be told by changes nothing.
    again = c.ask("GET", "/v1/campaigns/m/mechanism", headers={
        "If-None-Match": "*", "If-Modified-Since":
        "Sun, 06 Nov 2050 08:49:37 GMT", "Cookie": "a=b",
        "Range": "bytes=0-1", "Accept-Language": "de"})
    expect((again[0], again[2]) == (200, path), "conditional headers count")
    expect(list(again[1].items()) == list(headers.items()), "headers differ")
    status, _, body = c.ask("GET", "/v1/campaigns/m/mechanism.minisig")
    expect(status == 200 and
           body == m.path.with_suffix(".sotto.minisig").read_bytes(),
           "the signature's bytes")
    status, headers, body = c.ask("HEAD", "/v1/campaigns/m/mechanism")
    expect((status, body, headers["Content-Length"]) ==
           (200, b"", str(len(path))), "HEAD")
    status, headers, body = c.ask("GET", "/healthz")
    expect((status, body) == (200, b"ok\n"), "healthz")
    for method, place, wanted in (
            ("GET", "/", 404), ("GET", "/v1/campaigns/x/mechanism", 404),
            ("GET", "/v1/campaigns/m/mechanisM", 404),
            ("GET", "/v1/campaigns/m", 404), ("GET", "/v1/campaigns/", 404),
            ("GET", "/v1/campaigns/m%00/mechanism", 404),
            ("GET", "/v1/campaigns/%6d/mechanism", 404),
            ("GET", "/v1/campaigns/../campaigns/m/mechanism", 404),
            ("GET", REPORTS, 405), ("PUT", REPORTS, 405),
            ("POST", "/healthz", 405), ("DELETE", "/v1/campaigns/m/mechanism",
                                        405),
            ("POST", "/v1/campaigns/x/reports", 404)):
        status, headers, body = c.ask(method, place)
        expect(status == wanted, f"{method} {place}: {status}, not {wanted}")
        expect(method == "HEAD" or "error" in json.loads(body), "no sentence")
        expect((status == 405) == ("Allow" in headers), "Allow")


def test_analyst(c):
    for path in ("/metrics", "/v1/campaigns/m/batches"):
        for given in (None, "Bearer wrong", "Bearer " + TOKEN + "x",
                      "Bearer " + TOKEN[:-1], "Basic " + TOKEN, TOKEN,
                      "Bearer "):
            status, headers, _ = c.ask(
                "GET", path, headers={"Authorization": given} if given else {})
            expect(status == 401 and "WWW-Authenticate" in headers,
                   f"{path} with {given}: {status}")
        expect(c.admin(path)[0] in (200, 204), path)
    for after in ("x", "-1", "", "1.5", "99999999999999999999999"):
        expect(c.admin(f"/v1/campaigns/m/batches?after={after}")[0] == 400,
               f"after={after}")
    expect(c.admin("/v1/campaigns/m/batches?after=18446744073709551615")[0] ==
           204, "a batch behind all")


def test_reports(c, m):
    status, answer = c.send(m.new())
    expect((status, answer) == (200, {
        "accepted": 1, "duplicate": 0, "refused": 0, "duplicates": [],
        "refusals": []}), f"one report: {answer}")
    good, once = m.new(), m.new()
    foreign = once[:4] + os.urandom(32) + once[36:]
    simulated = b"SIM1" + m.new()[4:]
    impossible = m.new()[:52] + b"\xff" * (m.size - 52)
    odd = b"XXXX" + m.new()[4:]
    status, answer = c.send(good + foreign + simulated + impossible + odd +
                            good + m.new()[:-1])
    expect((status, answer["accepted"], answer["duplicates"]) == (200, 1, [5]),
           f"a mixture: {answer}")
    expect([(r["report"], r["code"]) for r in answer["refusals"]] == [
        (1, "hash"), (2, "simulated"), (3, "impossible"), (4, "malformed"),
        (6, "malformed")], f"refusals: {answer}")
    expect(all(r["why"] for r in answer["refusals"]), "no why")
    expect(c.send(good)[1]["duplicate"] == 1, "sent again")
    # The id decides, whatever the rest is.
    other = good[:52] + m.new()[52:]
    expect(c.send(other)[1]["duplicate"] == 1, "an id with another payload")


def test_lines(c, m):
    line = json.loads(m.line)

    def made(**changes):
        return json.dumps({**line, "id": os.urandom(16).hex(), **changes})

    whole = made()
    body = "\n".join([
        whole, "", made(mechanism="00" * 32), made(simulated=True),
        made(parts=[[0], [99]]), made(parts=[[0]]), made(id="x"), "{", "[]",
        "nonsense \\ \" \x01 é", whole, made()])
    status, answer = c.send(body.encode(), LINES)
    expect(status == 200 and answer["accepted"] == 2 and
           answer["duplicates"] == [9], f"lines: {answer}")
    expect([(r["report"], r["code"]) for r in answer["refusals"]] == [
        (1, "hash"), (2, "simulated"), (3, "impossible"), (4, "impossible"),
        (5, "malformed"), (6, "malformed"), (7, "malformed"),
        (8, "malformed")], f"refusals of lines: {answer}")
    expect(c.send(whole.encode() + b"\r\n", LINES + "; charset=utf-8")[1]
           ["duplicate"] == 1, "a line with parameters")
    expect(c.send(b"\n".join([b"{"] * 10000), LINES)[1]["refused"] == 10000,
           "many bad lines")


def test_bad_bodies(c, m):
    connection = c.connect()
    for body, kind, wanted in (
            (b"", BINARY, 400), (b"", LINES, 400), (b"\n \n", LINES, 400),
            (b"<html>", BINARY, 400), (b"x\ny", LINES, 400),
            (m.report, "text/plain", 415), (m.report, "", 415),
            (m.report, BINARY + "x", 415), (m.line.encode(), BINARY, 400),
            (m.new(10001), BINARY, 413), (b"{}\n" * 10001, LINES, 413)):
        status, answer = c.send(body, kind, connection=connection)
        expect(status == wanted and answer["error"],
               f"{len(body)} bytes of {kind}: {status}, not {wanted}")
    expect(c.ask("POST", REPORTS, m.report, {
        "Content-Type": BINARY, "Content-Encoding": "gzip"})[0] == 415, "gzip")
    expect(c.send(m.new(10000), connection=connection)[1]["accepted"] == 10000,
           "10,000 reports on a connection that saw all that")
    connection.close()
    head = (f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\n"
            f"Content-Type: {BINARY}\r\n").encode()
    for more, wanted in (
            (b"Content-Length: 4194305\r\n\r\n", b" 413 "),
            (b"\r\n", b" 411 "),
            (b"Transfer-Encoding: chunked\r\n\r\n1\r\nS\r\n0\r\n\r\n",
             b" 411 ")):
        got = c.raw(head + more, timeout=30)  # it closes by itself
        expect(wanted in got[:20], f"{more}: {got[:60]}")
        expect(b"\r\nConnection: close\r\n" in got, "it stays open")


def test_concurrent(c, m):
    """One id from many sides at a time: it counts once."""
    for _ in range(20):
        body = m.new(3)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _, b=body: c.send(b)[1], range(8)))
        expect(sum(a["accepted"] for a in answers) == 3 and
               sum(a["duplicate"] for a in answers) == 21, f"{answers}")


def test_batches(m):
    """A window's reports come out whole, shuffled, under new ids."""
    c = Collector(m, "--window", 1, "--batch-min", 50, store="w.db")
    body = m.new(40)
    expect(c.send(body)[1]["accepted"] == 40, "40")
    expect(until(lambda: c.metric("windows_total") == 1), "no window ended")
    expect(c.admin("/v1/campaigns/m/batches")[0] == 204,
           "fewer than batch-min came out")
    more = m.new(60)
    expect(c.send(more)[1]["accepted"] == 60, "60")
    expect(until(lambda: c.admin("/v1/campaigns/m/batches")[0] == 200, 20),
           "no batch")
    status, headers, data = c.admin("/v1/campaigns/m/batches?after=0")
    number = headers["Sotto-Batch"]
    expect(status == 200 and number == "1" and len(data) == 100 * m.size,
           f"a batch of {len(data) / m.size}")
    ids = {data[i + 36:i + 52] for i in range(0, len(data), m.size)}
    sent = {(body + more)[i + 36:i + 52] for i in range(0, len(data), m.size)}
    expect(len(ids) == 100 and not ids & sent, "ids came out")
    expect(c.admin(f"/v1/campaigns/m/batches?after={number}")[0] == 204,
           "another one")
    expect(c.send(body)[1]["duplicate"] == 40, "known behind a window")
    # While it is being written: by a file, and by a verb.
    out = m.folder / "out.bin"
    text = sotto("export", m.path, "--store", f"sqlite:{c.store}", "-o", out)
    expect("100 released reports" in text and out.stat().st_size ==
           100 * m.size, f"export: {text}")
    pulled = m.folder / "pulled.bin"
    sotto("export", m.path, "--from",
          f"http://127.0.0.1:{c.port}/v1/campaigns/m", "--admin-token-file",
          m.folder / "token", "-o", pulled)
    expect(pulled.read_bytes() == out.read_bytes(), "other reports over HTTP")
    expect("100 reports" in sotto("decode", m.path, f"sqlite:{c.store}"),
           "decode from a store")
    expect(until(lambda: c.metric(
        'campaign_reports{campaign="m",at="released"}') == 100),
        "the count of released ones")
    expect(c.metric("windows_total") == 2, "windows without reports count")
    expect(c.metric("clean_age_seconds") < 60 and
           c.metric("move_failures_total") == 0, "what the mover counts")
    expect(c.stop() == 0, "it stopped with a failure")


def test_restart(m):
    """What was answered is there, whatever ended the collector."""
    body = m.new(100)
    c = Collector(m, store="restart.db")
    expect(c.send(body)[1]["accepted"] == 100, "100")
    second = subprocess.run(
        [os.environ["SOTTO"], "serve", "--mechanism", str(m.path), "--pub",
         str(m.pub),
         "--store", f"sqlite:{c.store}", "--listen", "127.0.0.1:0"],
        capture_output=True, check=False, timeout=60)
    expect(second.returncode == 1, f"two writers: {second.stderr}")
    c.kill()
    c = Collector(m, store="restart.db")
    expect(c.send(body)[1]["duplicate"] == 100, "after a kill")
    more = m.new(10)
    expect(c.send(more)[1]["accepted"] == 10, "10")
    expect(c.stop(signal.SIGINT) == 0, "SIGINT")
    c = Collector(m, store="restart.db")
    expect(c.send(body + more)[1]["duplicate"] == 110, "after a stop")
    expect(c.stop() == 0, "SIGTERM")


def test_lives(m):
    """A window ends with the life that fills it, or when the next one begins:
    what connects ids with payloads is gone."""

    def kept(table):
        store = sqlite3.connect(f"file:{c.store}?mode=ro", uri=True)
        count = store.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        store.close()
        return count

    def incoming():
        return kept("incoming_0") + kept("incoming_1")

    c = Collector(m, store="lives.db")
    expect(c.metric("windows_total") == 0, "a start is no window")
    expect(c.send(m.new(40))[1]["accepted"] == 40, "40")
    expect(incoming() > 0, "the window is open")
    expect(c.stop() == 0, "SIGTERM")
    expect((incoming(), kept("held")) == (0, 40), "a stop leaves the window")
    c = Collector(m, store="lives.db")
    expect(c.send(m.new(5))[1]["accepted"] == 5, "5")
    c.kill()
    expect(incoming() > 0, "a kill ends nothing")
    c = Collector(m, store="lives.db")
    expect(until(lambda: (incoming(), kept("held")) == (0, 45)),
           "a start leaves the window of a kill")
    expect(until(lambda: c.metric("windows_total") == 1), "it is not counted")
    expect(c.stop() == 0 and "before" not in c.said(), c.said())


def test_waiting(m):
    """No body is taken that could never wait for the disk."""
    words = (os.environ["SOTTO"], "serve", "--mechanism", str(m.path), "--pub",
             str(m.pub), "--store", f"sqlite:{m.folder / 'waiting.db'}",
             "--listen", "127.0.0.1:0")
    for more in (("--waiting-most", "9999"), ("--reports-most", "65537")):
        done = subprocess.run((*words, *more), capture_output=True,
                              check=False, timeout=60)
        expect(done.returncode == 2 and b"may wait for the disk" in done.stderr,
               f"{more}: {done}")
    c = Collector(m, "--waiting-most", 100, "--reports-most", 100,
                  store="waiting.db")
    expect(c.send(m.new(100))[1]["accepted"] == 100, "as many as may wait")
    expect(c.send(m.new(101))[0] == 413, "more than a body has")
    expect(c.stop() == 0, "it stopped with a failure")


def test_quick_stop(m):
    """A signal at once, in whatever thread it arrives, is a signal to stop."""
    for _ in range(8):
        c = Collector(m, store="quick.db")
        expect(c.stop() == 0, "killed by a signal when it had just started")


def test_reload(m):
    """SIGHUP: campaigns begin and end; a mistake changes nothing."""
    c = Collector(m, store="reload.db")
    folder = m.path.parent
    new = folder / "spring-2.sotto"
    m.make(new, 1)
    expect(c.ask("GET", "/v1/campaigns/spring-2/mechanism")[0] == 404, "before")
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: c.ask("GET", "/v1/campaigns/spring-2/mechanism")[0] ==
                 200), "a new campaign")
    report = m.reports(new)[0]
    expect(c.send(report, name="spring-2")[1]["accepted"] == 1, "its reports")
    expect(c.send(report)[1]["refusals"][0]["code"] == "hash", "elsewhere")
    expect(c.send(m.new())[1]["accepted"] == 1, "the old one goes on")
    # Another mechanism under a name that devices have fetched; no signature.
    was = m.path.read_bytes(), m.path.with_suffix(".sotto.minisig").read_bytes()
    m.make(m.path, 3)
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: "another mechanism than before" in c.said()),
           "a name's mechanism was replaced")
    expect(c.ask("GET", "/v1/campaigns/m/mechanism")[2] == was[0], "served")
    m.path.write_bytes(was[0])
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: c.said().count("all goes on as before") == 2),
           "a wrong signature")
    m.path.with_suffix(".sotto.minisig").write_bytes(was[1])
    for path in (new, new.with_suffix(".sotto.minisig")):
        path.unlink()
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: c.ask("POST", "/v1/campaigns/spring-2/reports")[0] ==
                 404), "a campaign that ended")
    expect(c.send(m.new())[1]["accepted"] == 1, "the other one goes on")
    expect(c.stop() == 0, "it stopped with a failure")
    expect(report.hex() not in c.said() and "127.0.0.1" not in c.said(),
           "the log tells")


def test_simulation(m):
    c = Collector(m, "--simulation", store="simulated.db")
    expect(c.send(m.new())[1]["refusals"][0]["code"] == "simulated", "a real one")
    expect(c.send(b"SIM1" + m.new()[4:])[1]["accepted"] == 1, "a simulated one")
    c.stop()


def main():
    with scratch() as folder:
        m = Campaign(folder)
        c = Collector(m)
        expect(c.first == f"listening on 127.0.0.1:{c.port}\n", c.first)
        test_paths(c, m)
        test_analyst(c)
        test_reports(c, m)
        test_lines(c, m)
        test_bad_bodies(c, m)
        test_concurrent(c, m)
        expect(c.alive(), "it is gone")
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        test_batches(m)
        test_restart(m)
        test_lives(m)
        test_waiting(m)
        test_quick_stop(m)
        test_reload(m)
        test_simulation(m)
    finish()


main()
