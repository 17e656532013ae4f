#!/usr/bin/python3
"""test_handler.py: what one client's requests can take from the others: memory
for bodies, for answers that nobody reads, for batches; connections; and heads
that two readers could read in two ways."""
import json
import os
import re
import signal
import socket
import time

from collecting import (BINARY, LINES, SLOW, TOKEN, Campaign, Collector, expect,
                        finish, scratch, sotto, status_of, until)

REPORTS = "/v1/campaigns/m/reports"
MIB = 1 << 20
LONG = MIB // 2  # bytes of a long body; a little more than half of them, so
HALF = LONG // 2 + 9000  # that there is room for all


def head(length, kind=BINARY, more=b""):
    return (f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {length}\r\n").encode() + more + b"\r\n"


def get(path, more=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + more + b"\r\n"


def open_socket(c, source="127.0.0.1", room=None):
    s = socket.socket()
    if room is not None:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    s.settimeout(10 * SLOW)
    s.bind((source, 0))
    s.connect(("127.0.0.1", c.port))
    return s


def ask_from(c, source, data):
    """What comes back to an address of its own."""
    with open_socket(c, source) as s:
        try:
            s.sendall(data)
            return s.recv(65536)
        except OSError:
            return b""


def peak(c):
    """MiB of memory that it ever had."""
    with open(f"/proc/{c.process.pid}/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) >> 10
    return 0


def test_bodies(m):
    """Half-sent bodies of one address: short reports of that address are taken
    all the while, and long ones of others. Bytes count as they come: what is
    only announced takes nothing."""
    c = Collector(m, "--body-most", LONG, "--request-time", 60, store="b.db")
    honest, long = m.new(), m.new(LONG // m.size)
    announced = [open_socket(c) for _ in range(100)]
    for s in announced:
        s.sendall(head(LONG))
    expect(c.send(long)[0] == 200, "announced bytes count")
    held = []

    def hold_more():
        held.append(open_socket(c))
        held[-1].sendall(head(LONG) + b"STO1" + b"x" * HALF)

    for _ in range(64):
        hold_more()
    # Sixteen are within the share, or fewer where two were refused at a time;
    # those that are refused are told so at their end.
    expect(until(lambda: c.send(long)[0] == 503 or hold_more()),
           "a share has no end")
    for _ in range(5):
        status, answer = c.send(honest)
        expect(status == 200, f"a short one: {status}, {answer}")
    status, answer = c.send(long)
    expect(status == 503 and "at once" in answer["error"], f"{status}")
    got = ask_from(c, "127.0.0.2", head(len(long)) + long)
    expect(status_of(got) == 200, f"another address: {got[:200]}")
    found = [finish_body(s) for s in held]
    expect(found.count(503) in range(30, len(held)) and found.count(200) > 0,
           f"half-sent: {found}")
    for s in announced + held:
        s.close()
    expect(until(lambda: c.send(long)[0] == 200), "memory is not given back")
    expect(c.stop() == 0, c.said())


def finish_body(s):
    """The status that a half-sent body of test_bodies gets in the end."""
    s.sendall(b"x" * (LONG - 4 - HALF))
    return status_of(s.recv(4096))


def answered(s):
    s.setblocking(False)
    try:
        return s.recv(1, socket.MSG_PEEK) != b""
    except OSError:
        return False


def test_unread(m):
    """Long answers that nobody reads: the bodies they are for are gone by then,
    so that twice as many are within the share as if they were not."""
    c = Collector(m, "--body-most", 8 * MIB, "--reports-most", 150000,
                  "--waiting-most", 150000, store="u.db")
    body = b"STO1" + b"x" * (8 * MIB - 4)
    held, found = [], []
    for _ in range(14):
        s = open_socket(c, room=2048)
        s.sendall(head(len(body)) + body)
        found.append(status_of(s.recv(64)))
        held.append(s)
    expect(found == [200] * 14, f"{found}")
    expect(c.send(m.new())[0] == 200, "short ones")
    got = ask_from(c, "127.0.0.2", head(len(body)) + body)
    expect(status_of(got) == 200, f"another address: {got[:200]}")
    for s in held:
        s.close()
    expect(until(lambda: c.send(body)[0] == 200), "not given back")
    expect(c.stop() == 0, c.said())


def test_lines(m):
    """A line longer than any report is not parsed."""
    c = Collector(m, store="l.db")
    before = peak(c)
    line = b'{"parts":[' + b"{}," * (4 * MIB // 3 - 20) + b"{}]}"
    status, answer = c.send(line, LINES)
    expect(status == 200 and answer["refusals"][0]["code"] == "malformed" and
           "another mechanism" in answer["refusals"][0]["why"], f"{answer}")
    if SLOW == 1:
        expect(peak(c) - before < 40, f"{peak(c) - before} MiB for a line")
    expect(c.stop() == 0, c.said())


def test_many_refusals(m):
    """However long the answer: those that are good are stored and told so."""
    c = Collector(m, "--reports-most", 1000000, "--waiting-most", 1000000,
                  "--body-most", 64 * MIB,
                  store="r.db")
    count = 500000
    good = json.loads(m.line)
    good["id"] = os.urandom(16).hex()
    body = json.dumps(good).encode() + b"\n" + b"{\n" * count
    status, answer = c.send(body, LINES)
    expect(status == 200 and answer["accepted"] == 1 and
           answer["refused"] == count, f"{status}: {str(answer)[:200]}")
    expect(c.stop() == 0, c.said())


def test_idle(m):
    """Connections between requests give way to others."""
    c = Collector(m, "--connections", 20, "--per-address", 10, store="i.db")
    held = [open_socket(c, f"127.0.0.{2 + i // 10}") for i in range(20)]
    for s in held:
        s.sendall(get(b"/healthz"))
        expect(status_of(s.recv(4096)) == 200, "one of many")
    for i in range(8):
        got = ask_from(c, "127.0.0.9", get(b"/healthz"))
        expect(status_of(got) == 200, f"newcomer {i} is shut out")
    expect(c.send(m.new())[0] == 200, "reports are shut out")
    for s in held:
        s.close()
    expect(c.stop() == 0, c.said())


def test_heads(m):
    """400 and the end, wherever it goes: nothing behind it is a request."""
    c = Collector(m, "--window", 2, store="h.db")
    auth = b"Authorization: Bearer " + TOKEN.encode()
    report, behind = m.new(), get(b"/v1/campaigns/m/mechanism.minisig")
    size = str(m.size).encode()
    for data in (
            head(m.size, more=b"Content-Length: 3\r\n") + report,
            head(m.size, more=b"content-length: " + size + b"\r\n") + report,
            head(m.size, more=b"Transfer-Encoding: chunked\r\n") +
            b"0\r\n\r\n",
            head(m.size, more=b"Transfer-Encoding: identity\r\n") + report,
            head(m.size, more=b"Content-Type: text/plain\r\n") + report,
            head(m.size, more=b"Content-Encoding: identity\r\n"
                 b"Content-Encoding: gzip\r\n") + report,
            head(f"{m.size}\0x") + report,
            head(m.size, BINARY + "\0x") + report,
            get(b"/healthz", b"Content-Length: 5\r\n"
                b"Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n",
            get(b"/nowhere", b"Content-Length: 0\r\nContent-Length: 0\r\n"),
            get(b"/healthz", b"Host: y\r\n"),
            get(b"/healthz\0/x"), get(b"/healthz?a\0b"),
            get(b"/healthz\0?a=b"), get(b"/v1/campaigns/m\0/mechanism"),
            get(b"/metrics", auth + b"\0junk\r\n"),
            get(b"/metrics", auth + b"\0junk\r\nX: y\r\n"),
            get(b"/metrics", auth + b"\r\n" + auth + b"\r\n"),
            head(m.size, more=b"Transfer-Encoding : chunked\r\n") + report,
            head(m.size, more=b"Transfer-Encoding\t: chunked\r\n") + report,
            head(m.size, more=b"X: y\rTransfer-Encoding: chunked\r\n") +
            report,
            head(m.size, more=b"\x0bTransfer-Encoding: chunked\r\n") + report,
            head(m.size, more=b"Transfer-Encoding;: chunked\r\n") + report,
            head(m.size, more=b"Transfer_Encoding: chunked\r\n") + report,
            head(m.size, more=b"X: y\r\n Transfer-Encoding: chunked\r\n") +
            report,
            head(m.size, more=b"X: y\nTransfer-Encoding: chunked\r\n") +
            report,
            head(m.size, more=b"X: \x01\r\n") + report,
            head(m.size, more=b"Content_Length: 3\r\n") + report,
            head(f"0{m.size}") + report,
            get(b"/healthz", b"Content-Length : 35\r\n"),
            get(b"/healthz", b"Transfer-Encoding: gzip, chunked\r\n"),
            get(b"/healthz", b"Transfer-Encoding: identity\r\n"),
            get(b"/healthz", b"X: y\r\n\tz\r\n"),
            get(b"/healthz\x01"), get(b"/healthz\xff"),
            b"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /healthz HTTP/1.1 \r\nHost: x\r\n\r\n",
            b"GET /healthz HTTP/1.1\nHost: x\r\n\r\n",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n\n",
            b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\r\n",
            b"GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"):
        got = c.raw(data + behind, 2 * SLOW)
        expect(status_of(got) == 400 and got.count(b"HTTP/1.1 ") == 1 and
               re.search(b"\r\nConnection: close\r\n", got, re.I),
               f"{data}: {got[:200]}")
    # The library answers this one itself, or just ends it.
    got = c.raw(get(b"/healthz x") + behind, 2 * SLOW)
    expect(status_of(got) in (400, None) and got.count(b"HTTP/1.1 ") < 3,
           f"a blank in a target: {got}")
    # Chunks where none are taken are answered, and the end too.
    got = c.raw(get(b"/healthz", b"Transfer-Encoding: chunked\r\n") +
                b"0\r\n\r\n" + behind, 2 * SLOW)
    expect(status_of(got) == 200 and got.count(b"HTTP/1.1 ") == 1, f"{got}")
    # What looks a little like it, and is fine.
    for data in (get(b"/healthz?a=b&c", b"Cookie: a=b; c=d\r\n"
                     b"X: \t y \r\nConnection: close\r\n"),
                 get(b"/healthz", b"Connection: close\r\nAccept: a\r\n"
                     b"Accept: b\r\nX:\r\n"),
                 b"GET /healthz HTTP/1.0\r\n\r\n"):
        expect(status_of(c.raw(data, 1 * SLOW)) == 200, f"{data}")
    expect(c.send(report)[1]["accepted"] == 1, "a report of those counted")
    expect(c.metric('refused_total{what="request",why="head"}') > 30,
           "they are not counted")
    expect(until(lambda: " heads-ambiguous: " in c.said()), "not said")
    expect(c.said().count("heads-ambiguous") == 1, "said more than once")
    expect(c.stop() == 0, c.said())


def test_batches(m):
    """So many batches in memory, then 503; an ended campaign's stay."""
    c = Collector(m, "--window", 1, "--batch-min", 2, store="t.db")
    for _ in range(5):
        expect(c.send(m.new(10000))[0] == 200, "10,000")
    expect(until(lambda: c.metric(
        'campaign_reports{campaign="m",at="released"}') == 50000, 30),
        "none released")
    auth = b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
    held = [open_socket(c, room=2048) for _ in range(12)]
    for s in held:
        s.sendall(get(b"/v1/campaigns/m/batches", auth))
    expect(until(lambda: all(map(answered, held))), "no answer")
    found = []
    for s in held:
        s.setblocking(True)
        found.append(status_of(s.recv(64)))
    expect(found.count(200) == 8 and found.count(503) == 4, f"{found}")
    status, headers, data = c.admin("/v1/campaigns/m/batches")
    expect(status == 503 and headers["Retry-After"] and b"batches" in data,
           f"a ninth: {status}, {data[:200]}")
    for s in held:
        s.close()
    expect(until(lambda: c.admin("/v1/campaigns/m/batches")[0] == 200),
           "batches are not let go of")
    whole = c.admin("/v1/campaigns/m/batches")[2]
    # It ends; another takes its place, and not its name.
    other = m.folder / "mechanisms" / "other.sotto"
    kept = m.path.read_bytes(), m.path.with_suffix(".sotto.minisig").read_bytes()
    m.make(other, 3)
    m.path.unlink()
    m.path.with_suffix(".sotto.minisig").unlink()
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: c.ask("GET", "/v1/campaigns/m/mechanism")[0] == 404),
           "it did not end")
    expect(c.send(m.new())[0] == 404, "it takes reports")
    expect(c.admin("/v1/campaigns/m/batches")[2] == whole, "its batches")
    expect(c.ask("GET", "/v1/campaigns/m/batches")[0] == 401, "without a token")
    m.make(m.path, 4)
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: "name of its own" in c.said()), "it was replaced")
    expect(c.ask("GET", "/v1/campaigns/m/mechanism")[0] == 404, "other bytes")
    m.path.write_bytes(kept[0])
    m.path.with_suffix(".sotto.minisig").write_bytes(kept[1])
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: c.send(m.new())[0] == 200), "it did not come back")
    expect(c.stop() == 0, c.said())


def main():
    with scratch() as folder:
        m = Campaign(folder)
        for test in (test_bodies, test_unread, test_lines, test_many_refusals,
                     test_idle, test_heads, test_batches):
            begin = time.monotonic()
            test(m)
            print(f"{test.__name__}: {time.monotonic() - begin:.1f} s")
    finish()


main()
