#!/usr/bin/python3
"""test_exchange.py: servers that refuse, cut, delay, redirect, drip and talk
nonsense: what waits stays, the same bytes come again, and the exit status and
the message say what happened."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import (SOTTO, Device, Stub, cut, expect, finish,  # noqa: E402
                  run, says, send)


class Once:
    """Does something to the first `times` requests, and nothing after."""

    def __init__(self, deed, times=1):
        self.deed, self.left = deed, times

    def __call__(self, stub, connection, request):
        if self.left == 0:
            return False
        self.left -= 1
        return self.deed(stub, connection, request)


def cut_before(_stub, connection, _request):
    cut(connection)
    return True


def cut_after_taking(stub, connection, request):
    stub.take(request.partition(b"\r\n\r\n")[2])
    cut(connection)
    return True


def cut_in_answer(stub, connection, request):
    body = json.dumps(stub.take(request.partition(b"\r\n\r\n")[2])).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
                       + body[:20])
    cut(connection)
    return True


def answer(code, body=b"", *lines):
    def deed(_stub, connection, _request):
        send(connection, code, body, *lines)
        return True
    return deed


def check_again(device, name, deed, times=1, tries="3"):
    """After a failure the same bytes come again, and all arrives once."""
    device.new_ledger()
    stub = Stub(device.size, Once(deed, times))
    done = run(0, *device.words(stub.url(), "--tries", tries, "--json"))
    told = json.loads(done.stdout)
    bodies = {x.partition(b"\r\n\r\n")[2] for _, x in stub.requests}
    expect(len(stub.requests) == times + 1 and len(bodies) == 1,
           f"{name}: {len(stub.requests)} requests, {len(bodies)} bodies")
    expect(len(stub.seen) == 5 and stub.different == 0, f"{name}: {stub.seen}")
    expect(told["accepted"] + told["duplicate"] == 5 and told["left"] == 0,
           f"{name}: {told}")
    expect(len(device.charged()) == 5, f"{name}: charged twice")
    stub.close()


def check_left(device, name, deed, *pieces, tries="1", requests=1, more=()):
    """What is not answered stays; the next run sends the same reports."""
    device.new_ledger()
    stub = Stub(device.size, deed)
    done = run(1, *device.words(stub.url(), "--tries", tries, "--json", *more))
    says(done, *pieces)
    told = json.loads(done.stdout)
    expect(told["left"] == 5 and told["accepted"] == 0 and told["failure"],
           f"{name}: {told}")
    expect(len(stub.requests) == requests,
           f"{name}: {len(stub.requests)} requests")
    stub.act = None
    told = json.loads(run(0, *device.words(stub.url(), "--json")).stdout)
    expect(told["replayed"] == 5 and told["accepted"] + told["duplicate"] == 5,
           f"{name}, then: {told}")
    bodies = {x.partition(b"\r\n\r\n")[2] for _, x in stub.requests
              if x.startswith(b"POST")}
    expect(len(bodies) == 1, f"{name}: other bytes the next time")
    stub.close()


def drip(_stub, connection, _request):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.1)
    return True


def dribble(_stub, connection, _request):
    """Fast enough at any moment, and too slow on the whole."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n")
    for _ in range(150):
        connection.sendall(b" " * 40)
        time.sleep(0.1)
    return True


def endless_head(_stub, connection, _request):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for i in range(10000):
        connection.sendall(b"X-%d: %s\r\n" % (i, b"y" * 1000))
    return True


def nonsense():
    """Answers with 200 that are not to be believed."""
    good = {"accepted": 5, "duplicate": 0, "refused": 0, "duplicates": [],
            "refusals": []}
    refusal = {"report": 0, "code": "hash", "why": "x"}
    one = {**good, "accepted": 4, "refused": 1}
    texts = {
        "empty": b"", "html": b"<html>hello</html>", "list": b"[]",
        "cut": json.dumps(good).encode()[:-1],
        "twice": b'{"accepted":0,' + json.dumps(good).encode()[1:],
        "behind": json.dumps(good).encode() + b"x",
        "nested": b"[" * 3000, "deep": b'{"accepted":' * 500,
        "bytes": b'{"accepted":5,"\xff\xfe":0}',
    }
    changed = {
        "too few": {**good, "accepted": 4}, "too many": {**good, "accepted": 6},
        "negative": {**good, "accepted": 6, "duplicate": -1},
        "text": {**good, "accepted": "5"}, "real": {**good, "accepted": 5.0},
        "more": {**good, "cookie": "x"},
        "no list": {k: v for k, v in good.items() if k != "refusals"},
        "duplicate of none": {**good, "accepted": 4, "duplicate": 1,
                              "duplicates": [5]},
        "one twice": {**good, "accepted": 3, "duplicate": 2,
                      "duplicates": [1, 1]},
        "both": {**one, "accepted": 3, "duplicate": 1, "duplicates": [0],
                 "refusals": [refusal]},
        "no refusals": one,
        "a code": {**one, "refusals": [{**refusal, "code": "Hash\n"}]},
        "a long code": {**one, "refusals": [{**refusal, "code": "x" * 33}]},
        "no why": {**one, "refusals": [{"report": 0, "code": "hash"}]},
    }
    texts.update({k: json.dumps(v).encode() for k, v in changed.items()})
    return texts


def check_nonsense(device):
    """None of it makes the device forget a report."""
    device.new_ledger()
    stub = Stub(device.size)
    for name, body in nonsense().items():
        stub.act = answer(200, body)
        done = run(1, *device.words(stub.url(), "--json", "--tries", "1"))
        says(done, "makes no sense")
        expect(json.loads(done.stdout)["left"] == 5, f"{name} is believed")
    stub.act = answer(200, b" " * 100000)
    says(run(1, *device.words(stub.url(), "--tries", "1")), "too long")
    stub.act = None
    told = json.loads(run(0, *device.words(stub.url(), "--json")).stdout)
    expect(told["accepted"] == 5, f"after nonsense: {told}")
    stub.close()


def check_refused(device):
    """One report refused: told, marked, not sent again; the others arrive."""
    device.new_ledger()

    def refuse(stub, connection, request):
        body = request.partition(b"\r\n\r\n")[2]
        send(connection, 200,
             json.dumps(stub.take(body, refuse=(2,))).encode())
        return True

    stub = Stub(device.size, Once(refuse))
    done = run(1, *device.words(stub.url()))
    says(done, "refused 1 report", "impossible: no device sends this",
         "--retry-refused")
    expect(len(stub.seen) == 4, "the others did not arrive")
    says(run(1, *device.words(stub.url())), "1 report", "--retry-refused")
    told = json.loads(run(1, *device.words(stub.url(), "--json")).stdout)
    expect((told["refused"], told["marked"], told["left"]) == (0, 1, 0),
           f"forgotten: {told}")
    expect(len(stub.requests) == 1, "a refused report is sent again")
    shown = json.loads(run(0, *device.words(
        stub.url(), "--json", "--dry-run")).stdout)
    expect(shown["marked"] == 1 and shown["waiting"] == 0, f"{shown}")
    says(run(2, *device.words(stub.url(), "--retry-refused", "--dry-run")),
         "--retry-refused")
    told = json.loads(run(0, *device.words(stub.url(), "--json",
                                           "--retry-refused")).stdout)
    expect((told["accepted"], told["marked"]) == (1, 0), f"again: {told}")
    body = stub.requests[0][1].partition(b"\r\n\r\n")[2]
    expect(stub.requests[1][1].partition(b"\r\n\r\n")[2] ==
           body[2 * device.size:3 * device.size], "other bytes again")
    expect(len(device.charged()) == 5, "charged again")
    stub.close()


def check_terminal(device):
    """What a collector writes cannot steer a terminal."""
    device.new_ledger()
    why = "\x1b[2Jgone\u202e"

    def refuse(stub, connection, request):
        told = stub.take(request.partition(b"\r\n\r\n")[2], refuse=(0,))
        told["refusals"][0]["why"] = why * 40
        send(connection, 200, json.dumps(told).encode())
        return True

    stub = Stub(device.size, refuse)
    done = run(1, *device.words(stub.url(), "--json"))
    expect("\x1b" not in done.stderr + done.stdout
           and "\\u001b" not in done.stdout and "\u202e" not in done.stdout,
           "control characters come through")
    json.loads(done.stdout)
    stub.close()


def check_side_by_side(device):
    """Of two runs the second says so, charges nothing and sends nothing."""
    device.new_ledger()

    def wait(_stub, _connection, _request):
        time.sleep(1.5)
        return False

    stub = Stub(device.size, Once(wait))
    first = subprocess.Popen([SOTTO, *device.words(stub.url())])
    while not stub.requests:
        time.sleep(0.01)
    pathlib.Path("other.csv").write_text("name,age,colour\nq,1,red\n")
    done = run(1, *device.words(stub.url(), data="other.csv"))
    says(done, "another program is sending")
    expect(len(device.charged()) == 5, "the second run charged")
    run(0, *device.words(stub.url(), "--dry-run"))
    expect(first.wait() == 0, "the first run failed")
    expect(len(stub.requests) == 1, "both sent")
    stub.close()


def check_interrupt(device):
    """Ctrl-C while it waits for an answer: it says so, and all stays."""
    device.new_ledger()

    def hang(_stub, _connection, _request):
        time.sleep(5)
        return False

    stub = Stub(device.size, Once(hang))
    program = subprocess.Popen([SOTTO, *device.words(stub.url())],
                               stderr=subprocess.PIPE, text=True)
    while not stub.requests:
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    began = time.monotonic()
    message = program.communicate(timeout=20)[1]
    expect(time.monotonic() - began < 4, "does not stop at once")
    expect(program.returncode == 1 and "stopped" in message, message)
    told = json.loads(run(0, *device.words(stub.url(), "--json")).stdout)
    expect(told["accepted"] == 5, f"after Ctrl-C: {told}")
    stub.close()


def check_retry_after(device):
    """A Retry-After is waited for; one of days is left for another run."""
    began = time.monotonic()
    check_again(device, "503", answer(503, b"", "Retry-After: 1"))
    expect(time.monotonic() - began >= 1, "a Retry-After is not waited for")
    check_left(device, "days", answer(503, b"", "Retry-After: 86400"),
               "left alone for 86400 s", tries="3")
    check_left(device, "a date", answer(429, b"", "Retry-After: "
                                        "Wed, 21 Oct 2099 07:28:00 GMT"),
               "left alone", tries="3")


def main():
    device = Device()
    check_again(device, "before", cut_before)
    check_again(device, "after taking", cut_after_taking)
    check_again(device, "in the answer", cut_in_answer)
    check_again(device, "408", answer(408))
    check_again(device, "500", answer(500), 2)
    check_retry_after(device)
    check_left(device, "400", answer(400), "400", tries="3")
    check_left(device, "404", answer(404), "no such campaign", tries="3")
    check_left(device, "413", answer(413), "too large", tries="3")
    check_left(device, "204", answer(204), "204", tries="3")
    for code in (301, 303, 307):
        check_left(device, "redirect", answer(
            code, b"", "Location: http://127.0.0.1:1/v1/campaigns/c/reports"),
            "redirect", tries="3")
    check_left(device, "drip", drip, "127.0.0.1", more=("--timeout", "1"))
    began = time.monotonic()
    check_left(device, "dribble", dribble, "127.0.0.1",
               more=("--timeout", "1"))
    expect(time.monotonic() - began < 12, "waited for all of it")
    check_left(device, "endless head", endless_head, "too long")
    check_left(device, "down", cut_before, "tries: 2", tries="2", requests=2)
    check_nonsense(device)
    check_refused(device)
    check_terminal(device)
    check_side_by_side(device)
    check_interrupt(device)
    finish()


main()
