#!/usr/bin/python3
"""test_ended.py: after a mechanism's end nothing of it is sent, what waits in
the queue included: not with a later mechanism of the same address, to a stub
that keeps every byte and to a collector, nor as the second try of a request. The
device's clock is libfaketime's: skipped (77) where that is not installed."""
import glob
import json
import os
import pathlib
import re
import subprocess
import sys

from stub import SOTTO, Device, Stub, expect, finish, run, says, send

END = "2099-01-31"
BEFORE, AFTER = "@2099-01-30 12:00:00", "@2099-01-31 00:00:01"
PEOPLE = 5


def library():
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found or b"__asan_init" in pathlib.Path(SOTTO).read_bytes():
        print("skipped: no libfaketime, or a sanitizer that wants its place")
        sys.exit(77)
    return found[0]


def at(moment):
    """What makes `moment` the time of a run's start."""
    return {"env": os.environ | {
        "LD_PRELOAD": library(), "FAKETIME": moment, "TZ": "UTC0",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1"}}


def make(name, *more):
    """A signed mechanism; its hash."""
    run(0, "train", "direct", "--data", "small.csv", "--eps", "2", "--name",
        name, *more, "-o", f"{name}.sotto")
    run(0, "sign", f"{name}.sotto", "--key", "k.key")
    about = json.loads(run(0, "inspect", f"{name}.sotto", "--json").stdout)
    return bytes.fromhex(about["hash"] if "hash" in about
                         else about["mechanism"])


def use(stub, name):
    stub.signature = pathlib.Path(f"{name}.sotto.minisig").read_bytes()


def posts(stub):
    return [x for _, x in stub.requests if x.startswith(b"POST")]


def told(done):
    return json.loads(done.stdout)


def queue_some(device, stub):
    """Everybody's reports of "ending", which nobody takes."""
    device.new_ledger()
    use(stub, "ending")
    stub.act = lambda _, connection, __: connection.close() or True
    run(1, *device.words(stub.url("later"), "--tries", "1",
                         mechanism="ending.sotto"), **at(BEFORE))
    stub.act, stub.requests = None, []


def check_later(device, stub, ending):
    """A later mechanism of the same address: to a stub."""
    queue_some(device, stub)
    words = device.words(stub.url("later"), "--json", mechanism="later.sotto")
    looks = [told(run(0, *words, "--dry-run", **at(when)))
             for when in (BEFORE, AFTER)]
    expect([(x["waiting"], x["ended"], x["blank"]) for x in looks] ==
           [(PEOPLE, 0, False), (0, PEOPLE, True)], f"{looks}")
    text = run(0, *device.words(stub.url("later"), "--dry-run",
                                mechanism="later.sotto"), **at(AFTER)).stdout
    expect(f"expired: {PEOPLE} reports" in text, text[:400])
    done = run(3, *device.words(stub.url("later"), mechanism="ending.sotto"),
               **at(AFTER))
    says(done, "has expired", f"{PEOPLE} reports in the queue", "--drop-ended")
    use(stub, "later")
    for _ in range(2):  # the second run has nothing to send but tells again
        done = run(1, *words, **at(AFTER))
        say = told(done)
        expect((say["ended"], say["left"], say["marked"]) == (PEOPLE, 0, 0),
               f"{say}")
    expect(len(stub.seen) == PEOPLE and
           not [x for x in posts(stub) if ending in x], "an ended one was sent")
    done = run(1, *words[:-1], **at(AFTER))
    says(done, "expired", f"{PEOPLE} reports", "--drop-ended")
    # A clock that was ahead and is right again: nothing was lost.
    expect(told(run(0, *words, **at(BEFORE)))["ended"] == 0, "still held")
    expect(len(stub.seen) == 2 * PEOPLE, "lost")


def check_collector(device, stub):
    """The same to a collector, where the stub was; then they are dropped."""
    queue_some(device, stub)
    url, charges = stub.url("later"), device.charged()
    stub.close()
    os.mkdir("mechanisms")
    for name in ("later.sotto", "later.sotto.minisig"):
        os.link(name, f"mechanisms/{name}")
    with subprocess.Popen(
            [SOTTO, "serve", "--mechanism", "mechanisms", "--pub", "k.pub",
             "--store", "sqlite:store", "--listen", f"127.0.0.1:{stub.port}"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as collector:
        line = collector.stdout.readline().decode()
        expect(re.search(r":(\d+)", line), f"it does not listen: {line}")
        words = device.words(url, "--json", mechanism="later.sotto")
        say = told(run(1, *words, **at(AFTER)))
        expect([say[x] for x in ("accepted", "refused", "duplicate", "ended")]
               == [PEOPLE, 0, 0, PEOPLE] and say["requests"] == 1, f"{say}")
        run(2, *words, "--dry-run", "--drop-ended")
        say = told(run(0, *words, "--drop-ended", **at(AFTER)))
        expect(say["ended"] == say["requests"] == 0, f"{say}")
        collector.terminate()
    expect(device.charged()[:PEOPLE] == charges and
           len(device.charged()) == 2 * PEOPLE, "a charge went with them")
    expect(told(run(0, *words, "--dry-run", **at(BEFORE)))["waiting"] == 0,
           "not dropped")


def check_tries(device, stub):
    """The end comes between two tries of a request."""
    device.new_ledger()
    use(stub, "ending")
    stub.requests = []
    stub.act = lambda _, connection, __: len(posts(stub)) == 1 and not send(
        connection, 503, b"", "Retry-After: 6")  # the first, and no other
    say = told(run(1, *device.words(stub.url("later"), "--json",
                                    mechanism="ending.sotto"),
                   **at("@2099-01-30 23:59:55")))
    expect(len(posts(stub)) == say["requests"] == 1, f"{say}")
    expect((say["ended"], say["left"]) == (PEOPLE, 0), f"{say}")


def check_deadline(device, stub):
    """Reports could leave only behind the end: nobody is charged for them."""
    device.new_ledger()
    use(stub, "ending")
    stub.act, stub.requests = None, []
    words = device.words(stub.url("later"), mechanism="ending.sotto")
    words[words.index("--grid") + 1] = "3600"
    says(run(3, *words, **at("@2099-01-30 23:30:00")), "has expired when",
         "nobody is asked")
    expect(not posts(stub) and not device.charged(), "charged for nothing")


def main():
    library()
    device = Device(PEOPLE)
    ending = make("ending", "--expires", END)
    make("later")
    stub = Stub(device.size)
    check_later(device, stub, ending)
    check_tries(device, stub)
    check_deadline(device, stub)
    stub.close()
    check_collector(device, Stub(device.size))
    finish()


main()
