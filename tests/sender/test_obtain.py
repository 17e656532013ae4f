#!/usr/bin/python3
"""test_obtain.py: a mechanism that is not there comes from the collector, with
its signature, both or neither; what is not signed, not pinned, not whole or no
mechanism gets no name, charges nobody, and ends with status 3."""
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import Device, Stub, expect, finish, run, says, send  # noqa: E402

NEW = "new.sotto"


def exists():
    return [x for x in os.listdir(".") if x.startswith("new.")
            or x.startswith(".sotto")]


def check_refused(device, stub, status, *pieces, pin=None, more=()):
    done = run(status, *device.words(stub.url(), "--tries", "1", "--pin",
                                     pin or device.hash, *more,
                                     mechanism=NEW))
    says(done, *pieces)
    expect(not exists(), f"left behind: {exists()}")
    expect(not device.charged(), "somebody was charged")
    expect(not stub.seen, "something was sent")


def check_right(device, stub):
    run(0, *device.words(stub.url(), "--pin", device.hash.upper(),
                         mechanism=NEW))
    expect(pathlib.Path(NEW).read_bytes() == device.mechanism, "other bytes")
    expect(pathlib.Path(NEW + ".minisig").read_bytes() == device.signature,
           "another signature")
    heads = [x.partition(b"\r\n\r\n")[0] for _, x in stub.requests]
    for head, name in zip(heads, (b"mechanism.minisig", b"mechanism",
                                  b"mechanism.minisig")):
        expect(head == b"GET /v1/campaigns/c/%s HTTP/1.1\r\n"
               b"Host: 127.0.0.1:%d\r\nUser-Agent: sotto" % (name, stub.port),
               f"not what is documented: {head}")
    expect(len(heads) == 4 and len(stub.seen) == 5, "not sent")
    stub.mechanism = b"gone"
    run(0, *device.words(stub.url(), mechanism=NEW))
    expect(len(stub.requests) == 5, "fetched again")


def check_unpinned(device, stub):
    """Whoever has the key could give every device a mechanism of its own."""
    before = sorted(os.listdir("."))
    done = run(2, *device.words(stub.url(), mechanism=NEW))
    says(done, "--pin", "sotto verify")
    expect(not stub.requests and sorted(os.listdir(".")) == before,
           "fetched without a pin")


def check_meanwhile(device, stub):
    """Another file of that length gets the name while it is fetched: it is not
    taken for the mechanism, and is not replaced."""
    other = device.mechanism[:-1] + b"x"

    def put(_stub, _connection, request):
        if b"/mechanism " in request:
            pathlib.Path(NEW).write_bytes(other)
        return False

    stub.act = put
    says(run(3, *device.words(stub.url(), "--pin", device.hash,
                              mechanism=NEW)), "not replaced")
    expect(pathlib.Path(NEW).read_bytes() == other, "it was replaced")
    expect(exists() == [NEW], f"left behind: {exists()}")
    expect(not device.charged(), "somebody was charged")
    os.unlink(NEW)
    stub.act = None


def check_unwritable(device, stub):
    """A name that cannot be given: the signature does not keep its own."""
    os.symlink("nowhere", NEW)
    run(1, *device.words(stub.url(), "--pin", device.hash, mechanism=NEW))
    expect(exists() == [NEW], f"left behind: {exists()}")
    os.unlink(NEW)


def check_slow(device, stub):
    """A mechanism that drips in: however long it may take in all, as slow as
    that it is given up."""
    def drip(_stub, connection, request):
        if b"/mechanism " not in request:
            return False
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(150):
            connection.sendall(b" ")
            time.sleep(0.1)
        return True

    stub.act = drip
    began = time.monotonic()
    check_refused(device, stub, 1, "127.0.0.1", more=("--timeout", "1"))
    expect(time.monotonic() - began < 12, "waited for drops")
    stub.act = None


def check_local(device, stub):
    """What lies here is not believed either."""
    wrong = "0" * 64
    says(run(3, *device.words(stub.url(), "--pin", wrong)), "pinned")
    says(run(2, *device.words(stub.url(), "--pin", "abc")), "64")
    pathlib.Path("m.sotto.minisig").rename("kept")
    says(run(3, *device.words(stub.url())), "minisig")
    says(run(3, *device.words(stub.url(), "--dry-run")), "minisig")
    pathlib.Path("kept").rename("m.sotto.minisig")
    says(run(3, *device.words(stub.url(), "--dry-run", "--pin", wrong)),
         "pinned")
    expect(not device.charged() and not stub.requests, "charged or sent")
    says(run(2, *device.words(stub.url(), "--dry-run", mechanism=NEW)),
         "fetches nothing")
    expect(not stub.requests, "a dry run fetches")


def main():
    device = Device()
    stub = Stub(device.size)
    stub.checking = False
    check_local(device, stub)
    check_unpinned(device, stub)
    check_refused(device, stub, 3, "pinned", pin="0" * 64)
    stub.mechanism = device.mechanism[:-1] + b"x"
    check_refused(device, stub, 3, "not signed as it should be")
    stub.mechanism = device.mechanism[:100]
    check_refused(device, stub, 3, "not signed as it should be")
    stub.mechanism, stub.signature = device.mechanism, b""
    check_refused(device, stub, 3, "not signed as it should be")
    stub.mechanism, stub.signature = b"", device.signature
    check_refused(device, stub, 2, "empty")
    stub.mechanism, stub.signature = device.mechanism, b"x" * 20000
    check_refused(device, stub, 2, "too long")
    run(0, "keygen", "-o", "k2", "--no-password")
    run(0, "sign", "m.sotto", "--key", "k2.key")
    stub.signature = pathlib.Path("m.sotto.minisig").read_bytes()
    check_refused(device, stub, 3, "not signed as it should be")
    pathlib.Path("m.sotto.minisig").write_bytes(device.signature)
    stub.signature = device.signature

    def redirect(_stub, connection, _request):
        send(connection, 302, b"", "Location: http://127.0.0.1:1/")
        return True

    stub.act = redirect
    check_refused(device, stub, 1, "redirect")
    stub.act = None
    check_meanwhile(device, stub)
    check_unwritable(device, stub)
    check_slow(device, stub)
    stub.requests = []
    check_right(device, stub)
    told = json.loads(run(0, *device.words(stub.url(), "--json",
                                           mechanism=NEW)).stdout)
    expect(told["mechanism"] == device.hash, f"{told}")
    finish()


main()
