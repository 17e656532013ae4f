#!/usr/bin/python3
"""test_abuse.py: requests that are slow, cut, malformed, huge or random: the
collector never answers with a failure of its own, never dies, and goes on
serving others."""
import os
import random
import socket
import time

from collecting import (BINARY, SLOW, SOTTO, Campaign, Collector, expect,
                        failures, finish, scratch, sotto, status_of, until)
from mutations import Crowd, Maker

REPORTS = "/v1/campaigns/m/reports"
# 505 is what HTTP has for a version that is not 1.x, and the library's answer;
# no other status from 500 on.
RIGHT = {None, 200, 204, 400, 401, 404, 405, 408, 411, 413, 414, 415, 422, 431,
         505}


def request(body, more=b"", path=REPORTS, length=None):
    length = len(body) if length is None else length
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {BINARY}\r\n"
            f"Content-Length: {length}\r\n").encode() + more + b"\r\n" + body


def open_socket(c):
    s = socket.create_connection(("127.0.0.1", c.port), 10)
    s.settimeout(10 * SLOW)
    return s


def read_all(s):
    got = b""
    try:
        while piece := s.recv(65536):
            got += piece
    except OSError:
        pass
    return got


def drip(c, data, pause=0.05, seconds=8):
    """Byte by byte: how long the collector bears it, and what it says."""
    begin = time.monotonic()
    with open_socket(c) as s:
        s.setblocking(False)
        got = b""
        for at in range(len(data)):
            try:
                s.send(data[at:at + 1])
            except OSError:
                break
            try:
                piece = s.recv(4096)
                got += piece
                if not piece or got:
                    break
            except BlockingIOError:
                pass
            except OSError:
                break
            if time.monotonic() - begin > seconds * SLOW:
                return None, got
            time.sleep(pause)
        return time.monotonic() - begin, got


def test_slow(m):
    c = Collector(m, "--request-time", 1, "--idle-time", 2, store="slow.db")
    body = request(m.new() * 50)
    head = b"POST " + REPORTS.encode() + b" HTTP/1.1\r\n" + b"X: y\r\n" * 90
    line = b"GET /" + b"a" * 400
    for what, data in (("a body", body), ("headers", head), ("a line", line)):
        took, got = drip(c, data)
        expect(took is not None and took < 4 * SLOW, f"{what} dripped: {took}")
        expect(status_of(got) in (None, 408), f"{what} dripped: {got}")
    got = c.raw(body[:200])
    expect(status_of(got) == 408 and got.endswith(b'now"}'), f"408: {got}")
    # In later requests of a connection, too: behind the first line.
    with open_socket(c) as s:
        s.sendall(request(m.new()))
        expect(status_of(s.recv(4096)) == 200, "the first")
        s.sendall(body[:200])
        begin = time.monotonic()
        expect(status_of(read_all(s)) == 408, "the second was waited for")
        expect(time.monotonic() - begin < 4 * SLOW, "the second: too late")
    # Silence: a new connection, and one between requests.
    for first in (b"", request(m.new())):
        with open_socket(c) as s:
            s.sendall(first)
            begin = time.monotonic()
            read_all(s)
            expect(time.monotonic() - begin < 6 * SLOW, "silence was borne")
    expect(c.metric("connections_late_total") >= 5, "late ones are counted")
    expect(c.send(m.new())[1]["accepted"] == 1, "others")
    expect(c.stop() == 0, c.said())


def test_limits(m):
    """So many connections in all and of an address; the rest is shut out, and
    let in when there is room."""
    c = Collector(m, "--connections", 10, "--per-address", 6, store="limit.db")
    held = [open_socket(c) for _ in range(6)]
    for s in held:  # fast enough not to give way for half a minute
        s.sendall(request(b"", length=200000) + b"STO1" + b"x" * 120000)
    time.sleep(0.2)
    with open_socket(c) as s:
        try:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            expect(s.recv(4096) == b"", "a seventh")
        except ConnectionError:
            pass
    for s in held:
        s.sendall(b"x" * (200000 - 120004))
        expect(status_of(s.recv(4096)) == 200, "one within the limit")
        s.close()
    expect(until(lambda: c.raw(b"GET /healthz HTTP/1.0\r\n\r\n", 3)[9:12] ==
                 b"200"), "no room again")
    expect(c.metric("connections_turned_away_total") >= 1, "not counted")
    c.stop()


def test_shapes(c, m):
    """What is no HTTP, or not quite."""
    report = m.new()
    for data in (
            b"", b"\r\n", b"\n\n\n", b"\0" * 100, b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 200,
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"GET " + b"/a" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 70000 +
            b"\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
            b"GET / HTTP/1.1\r\nHost x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\n : y\r\n\r\n",
            request(report, length=-1), request(report, length="0x10"),
            request(report, length="1e3"), request(report, length=" "),
            request(report, length=2 ** 64), request(report, length=2 ** 63),
            request(report, length="99999999999999999999999999"),
            request(report, more=b"Content-Length: 3\r\n"),
            request(report, more=b"Transfer-Encoding: chunked\r\n"),
            request(report, more=b"Transfer-Encoding: gzip\r\n"),
            request(report, more=b"Expect: 100-continue\r\n"),
            request(report, more=b"Expect: nonsense\r\n"),
            request(report, path="/v1/campaigns/m/reports?x=%00&after=1"),
            request(report, path="http://x/v1/campaigns/m/reports"),
            request(report, path="*"), request(report, path="/\xff"),
            request(report, path="")):
        got = c.raw(data, timeout=0.5 * SLOW, half_close=True)
        expect(status_of(got) in RIGHT, f"{data[:60]}: {got[:80]}")
    expect(c.alive(), "it is gone")
    # Lengths that are not those of the body: the rest is no request.
    got = c.raw(request(report, length=m.size - 1), 1 * SLOW, half_close=True)
    expect(got.count(b"HTTP/1.1 200") == 1, f"a length too short: {got}")
    got = c.raw(request(report, length=m.size + 9), 1 * SLOW, half_close=True)
    expect(b" 200 " not in got, f"a length too long: {got}")
    chunks = (f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nContent-Type: {BINARY}"
              "\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    for tail in (b"%x\r\n" % m.size + report + b"\r\n0\r\n\r\n", b"zz\r\n",
                 b"ffffffffffffffffff\r\n", b"-1\r\n"):
        expect(status_of(c.raw(chunks + tail, 1 * SLOW)) in (400, 411, 413),
               f"chunks {tail[:20]}")


def test_pipelining(c, m):
    bodies = [m.new() for _ in range(30)]
    got = c.raw(b"".join(request(b) for b in bodies) +
                b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                timeout=10 * SLOW)
    expect(got.count(b'{"accepted":1,') == 30 and got.endswith(b"ok\n"),
           f"pipelined: {got.count(b'accepted')}")


def test_cut(c, m):
    """Cut in mid-body, with what was sent before it wholly there: it counts
    for nothing."""
    body = m.new(4)
    for at in (1, 60, len(request(body)) - 1):
        c.raw(request(body)[:at], timeout=0.2, half_close=True)
    for _ in range(50):
        s = open_socket(c)
        s.sendall(request(body)[:200])
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     b"\1\0\0\0\0\0\0\0")
        s.close()
    # The answer is not waited for.
    for _ in range(50):
        s = open_socket(c)
        s.sendall(request(m.new()))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                     b"\1\0\0\0\0\0\0\0")
        s.close()
    expect(c.send(body)[1]["accepted"] == 4, "a cut body counted")


def go_in(c, data):
    """Sends and goes, in one packet: then the server is not told twice."""
    with open_socket(c) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        s.sendall(data)


def test_gone(m):
    """Those who go in a body are noticed long before their time is over, and
    hold up no stop; one who only pauses is waited for."""
    c = Collector(m, "--request-time", 60, store="gone.db")
    data = request(m.new(4))
    with open_socket(c) as slow:
        slow.sendall(data[:200])
        for at in (1, 150, 200, len(data) - 1) * 10:
            go_in(c, data[:at])
        expect(until(lambda: c.metric("connections") == 2, 5),
               f"{c.metric('connections')} connections, not 2")
        time.sleep(1)
        slow.sendall(data[200:])
        got = slow.recv(4096)
        expect(b'"accepted":4,' in got, f"a pause: {got}")
    expect(c.metric("connections_late_total") == 0, "none was late")
    go_in(c, data[:200])
    begin = time.monotonic()
    expect(c.stop() == 0, c.said())
    took = time.monotonic() - begin
    expect(took < 3.5 * SLOW, f"it took {took:.1f} s to stop")


def is_sanitized():
    with open(SOTTO, "rb") as file:
        return b"__asan_init" in file.read()


def test_mutations(m):
    """Every request is answered or its connection closed, with nothing but what
    is RIGHT; what was accepted is what was stored, and no memory is lost, if the
    program was built to notice. SOTTO_REQUESTS: how many (SOTTO_FULL: 200,000);
    SOTTO_TEST_SEED: of the generator."""
    full = bool(os.environ.get("SOTTO_FULL"))
    count = int(os.environ.get("SOTTO_REQUESTS",
                               200000 if full else 3000 // SLOW))
    rng = random.Random(int(os.environ.get("SOTTO_TEST_SEED", "1")))
    c = Collector(m, "--request-time", 2, "--idle-time", 3, "--window", 1,
                  "--batch-min", 2, "--connections", 4000, "--per-address",
                  4000, store="mutations.db")

    def look(sent):
        expect(c.alive(), f"gone after {sent}")
        expect(c.ask("GET", "/healthz")[0] == 200, f"ill after {sent}")
        expect(len(crowd.wrong) < 20, "more is wrong than is worth counting")
        if failures:
            finish()

    crowd = Crowd(c.port, Maker(m, rng), rng, 400, RIGHT, 60 * SLOW)
    crowd.run(count, look)
    for how, data, got in crowd.wrong[:20]:
        expect(False, f"{how}: {data[:400]}: {got[:200]}")
    look(count)
    expect(c.send(m.new(2))[1]["accepted"] == 2, "after all that")
    ours = crowd.accepted + 2
    accepted = c.metric('reports_total{verdict="accepted"}')
    stored = 'campaign_reports{campaign="m",at="%s"}'
    expect(until(lambda: c.metric(stored % "released") == accepted, 30),
           f"{accepted} accepted, {c.metric(stored % 'released')} released, "
           f"{c.metric(stored % 'waiting')} waiting")
    # Who goes too early is not answered.
    expect(ours <= accepted, f"{ours} answered, {accepted} accepted")
    expect(ours > count // 10, f"only {ours} of them were right")
    expect(c.metric('answers_total{class="5xx"}') == 0, "a 5xx of ours")
    expect(until(lambda: c.metric("connections") == 1),
           f"{c.metric('connections')} stay open")
    expect(c.stop() == 0, f"it stopped ill: {c.said()}")
    expect("anitizer" not in c.said() and "runtime error" not in c.said(),
           c.said())
    sotto("export", m.path, "--store", f"sqlite:{c.store}", "-o",
          m.folder / "all")
    exported = (m.folder / "all").stat().st_size // m.size
    expect(exported == accepted, f"{exported} exported, {accepted} accepted")
    tell(crowd, count, ours, accepted, exported)


def tell(crowd, count, ours, accepted, exported):
    print(f"mutated requests: {count}"
          f"{', address sanitizer' if is_sanitized() else ''}")
    for status, number in sorted(crowd.statuses.items(), key=str):
        print(f"  answered {status}: {number}")
    print(f"  connections left after all answers: {crowd.ends['answered']}, "
          f"closed by the collector: {crowd.ends['closed']}, reset by it: "
          f"{crowd.ends['reset']}, cut by the client: {crowd.ends['ours']}, "
          f"neither: {crowd.ends['never']}")
    print(f"  reports accepted in answers that arrived: {ours}, accepted by "
          f"the collector: {accepted}, exported from the store: {exported}")


def main():
    with scratch() as folder:
        m = Campaign(folder)
        c = Collector(m, "--request-time", 5)
        test_shapes(c, m)
        test_pipelining(c, m)
        test_cut(c, m)
        expect(c.metric('answers_total{class="5xx"}') == 0, "a 5xx")
        expect(until(lambda: c.metric("connections") == 1),
               f"{c.metric('connections')} stay open")
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        test_limits(m)
        test_slow(m)
        test_gone(m)
        test_mutations(m)
    finish()


main()
