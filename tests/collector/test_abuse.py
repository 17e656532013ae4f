#!/usr/bin/python3
"""test_abuse.py: requests that are slow, cut, malformed, huge or random: the
collector never answers with a failure of its own, never dies, and goes on
serving others."""
import os
import random
import socket
import time

from collecting import (BINARY, LINES, SLOW, Campaign, Collector, expect,
                        finish, scratch, status_of, until)

REPORTS = "/v1/campaigns/m/reports"
# 505 is what HTTP has for a version that is not 1.x.
RIGHT = {None, 200, 204, 400, 401, 404, 405, 408, 411, 413, 414, 415, 431, 501,
         503, 505}


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
    for s in held:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        expect(status_of(s.recv(4096)) == 200, "one within the limit")
    with open_socket(c) as s:
        try:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            expect(s.recv(4096) == b"", "a seventh")
        except ConnectionError:
            pass
    for s in held:
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


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = bytes(rng.randrange(256)
                                for _ in range(rng.randrange(1, 9)))
        elif kind == 2:
            del data[at:at + rng.randrange(1, 30)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(60)]
        else:
            data[at:at] = rng.choice((b"\r\n", b"\0", b": ", b"\r\n\r\n", b"9",
                                      b"-1", b"STO1", b'{"', b"%00", b"HTTP/"))
    return bytes(data)


def test_mutations(c, m):
    seed = int(os.environ.get("SOTTO_TEST_SEED", "1"))
    rng = random.Random(seed)
    line = m.line.encode() + b"\n"
    seeds = [
        request(m.new(2)),
        (f"POST {REPORTS} HTTP/1.1\r\nHost: x\r\nContent-Type: {LINES}\r\n"
         f"Content-Length: {2 * len(line)}\r\n\r\n").encode() + line * 2,
        b"GET /v1/campaigns/m/mechanism HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /v1/campaigns/m/batches?after=1 HTTP/1.1\r\nHost: x\r\n"
        b"Authorization: Bearer abc\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    sockets = []
    for i in range(3000 // SLOW):
        data = mutate(rng, rng.choice(seeds))
        s = open_socket(c)
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        sockets.append((data, s))
        if len(sockets) == 50:
            end = time.monotonic() + 0.3 * SLOW  # for all of them together
            for data, s in sockets:
                s.settimeout(max(0.005, end - time.monotonic()))
                got = read_all(s)
                s.close()
                expect(status_of(got) in RIGHT, f"{i}: {data}: {got[:100]}")
            sockets = []
            expect(c.alive(), f"gone after {i} of seed {seed}")
    for _, s in sockets:
        s.close()
    expect(c.send(m.new())[1]["accepted"] == 1, "after all that")


def main():
    with scratch() as folder:
        m = Campaign(folder)
        c = Collector(m, "--request-time", 5)
        test_shapes(c, m)
        test_pipelining(c, m)
        test_cut(c, m)
        test_mutations(c, m)
        expect(c.metric('answers_total{class="5xx"}') == 0, "a 5xx")
        expect(until(lambda: c.metric("connections") == 1),
               f"{c.metric('connections')} stay open")
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        test_limits(m)
        test_slow(m)
    finish()


main()
