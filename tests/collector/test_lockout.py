#!/usr/bin/python3
"""test_lockout.py: crowds of silent and slow connections, of few addresses and
of many, keep no honest client out, and health least of all; those behind one
address do not keep each other out; what gave way is counted and said.
SOTTO_FULL=1 takes as many places and addresses as scripts/lockout."""
import os
import socket

from collecting import SLOW, Campaign, Collector, expect, finish, scratch, until
from lockout import KINDS, HEAD, ask, crowd_out, show

FULL = bool(os.environ.get("SOTTO_FULL"))


def test_crowds(m):
    places = 1024 if FULL else 128
    seconds = 10 if FULL else 0.7
    shown = [(n, k) for n in (8, 20, 1000) for k in KINDS] if FULL else [
        (8, "idle"), (1000, "mixed")]
    for addresses, kind in shown:
        c = Collector(m, "--connections", places, "--per-address",
                      max(2, places // 4), "--operations", "127.0.0.1:0",
                      store=f"{addresses}-{kind}.db")
        row = crowd_out(c.port, c.operations, m.report, kind, addresses,
                        places * 3 // 2, seconds, 1e9 if FULL else 2000)
        if FULL:
            print(show(row))
        expect(row["held"] >= places * 3 // 4, f"no crowd: {row}")
        expect(row["tries"] > 5 and row["served"] >= 0.99, f"kept out: {row}")
        expect(row["health_tries"] > 3 and row["health"] == 1, f"ill: {row}")
        expect(until(lambda: "giving-way-silent: " in c.said() or
                     "giving-way-slow: " in c.said()), "nothing was said")
        expect(c.stop() == 0, c.said())


def open_from(c, address, data=b""):
    s = socket.socket()
    s.settimeout(10 * SLOW)
    s.bind((address, 0))
    s.connect(("127.0.0.1", c.port))
    s.sendall(data)
    return s


def test_same_address(m):
    """Idle connections of one's own address give way."""
    c = Collector(m, "--connections", 100, "--per-address", 20, store="nat.db")
    held = [open_from(c, "127.0.0.1",
                      b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            for _ in range(10)]
    for s in held:
        expect(s.recv(100).startswith(b"HTTP/1.1 200"), "one of a few")
    held += [open_from(c, "127.0.0.1") for _ in range(10)]
    for i in range(40):
        body = m.new()
        took = ask("127.0.0.1", c.port, HEAD % len(body) + b"\r\n" + body,
                   SLOW)
        expect(took is not None, f"{i} is shut out by its neighbours")
    expect(c.metric('refused_total{what="connection",why="address"}') == 0,
           "some were turned away")
    for s in held:
        s.close()
    expect(c.stop() == 0, c.said())


def test_unread(m):
    """Places are not kept by answers that nobody takes."""
    c = Collector(m, "--connections", 8, "--per-address", 8,
                  "--operations", "127.0.0.1:0", store="unread.db")
    held = []
    for i in range(8):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.bind((f"127.0.{i}.2", 0))
        s.connect(("127.0.0.1", c.port))
        s.sendall(b"GET /v1/campaigns/m/mechanism HTTP/1.1\r\nHost: x\r\n\r\n"
                  * 500)
        held.append(s)
    for i in range(20):
        body = m.new()
        took = ask(f"127.200.{i}.2", c.port, HEAD % len(body) + b"\r\n" + body,
                   SLOW)
        expect(took is not None, f"{i} is shut out by those who do not read")
    for s in held:
        s.close()
    expect(c.stop() == 0, c.said())


def main():
    with scratch() as folder:
        m = Campaign(folder)
        test_same_address(m)
        test_unread(m)
        test_crowds(m)
    finish()


main()
