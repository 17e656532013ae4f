#!/usr/bin/python3
"""test_gather.py: sotto export --from: batch after batch with the token, again
after a failure; what makes no sense is said, and no file is left.
tests/collector/test_collector.py asks a real collector."""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import Device, Stub, cut, expect, finish, run, says, send  # noqa: E402

TOKEN = "0123456789abcdef!"


def words(stub, *more, token="token", out="out"):
    return ("export", "m.sotto", "--from", stub.url(), "--admin-token-file",
            token, "-o", out, *more)


def numbered(batches):
    """Answers as a collector with these batches, by number, does."""
    def act(_stub, connection, request):
        after = int(request.split(b"after=")[1].split(b" ")[0])
        more = [n for n in sorted(batches) if n > after]
        if more:
            send(connection, 200, batches[more[0]], f"Sotto-Batch: {more[0]}")
        else:
            send(connection, 204, b"")
        return True
    return act


def refused(device, act, status, *pieces):
    stub = Stub(device.size, act)
    says(run(status, *words(stub)), *pieces)
    expect(not os.path.exists("out"), "a file was left")
    stub.close()


def check_right(device, reports):
    size = device.size
    batches = {1: reports[:3 * size], 5: reports[3 * size:4 * size],
               12: reports[4 * size:]}
    stub = Stub(size, numbered(batches))
    expect("5 released reports" in run(0, *words(stub)).stdout, "not told")
    got = pathlib.Path("out").read_bytes()
    expect(sorted(got[i:i + size] for i in range(0, len(got), size)) ==
           sorted(reports[i:i + size] for i in range(0, 5 * size, size)),
           "other reports")
    for (_, request), after in zip(stub.requests, (0, 1, 5, 12)):
        expect(request == (
            f"GET /v1/campaigns/c/batches?after={after} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{stub.port}\r\nUser-Agent: sotto\r\n"
            f"Authorization: Bearer {TOKEN}\r\n\r\n").encode(),
            f"not what is documented: {request}")
    expect(len(stub.requests) == 4, "more requests than batches")
    stub.close()
    os.unlink("out")


def check_again(device, reports):
    """A cut connection, then a 503: asked again, nothing twice."""
    usual = numbered({1: reports[:device.size], 2: reports[device.size:]})
    harm = [lambda c: cut(c), lambda c: send(c, 503, b"", "Retry-After: 0")]

    def act(stub, connection, request):
        if b"after=1 " in request and harm:
            harm.pop(0)(connection)
            return True
        return usual(stub, connection, request)
    stub = Stub(device.size, act)
    run(0, *words(stub))
    expect(len(pathlib.Path("out").read_bytes()) == len(reports), "not all")
    expect(not harm and len(stub.requests) == 5, "not asked again")
    stub.close()
    os.unlink("out")


def check_damaged(device, reports):
    """What the collector has left out is counted, told and noted, as if the
    store had been read; a batch that is gone ends nothing."""
    size = device.size

    def act(_stub, connection, request):
        after = int(request.split(b"after=")[1].split(b" ")[0])
        send(connection, *[
            (200, reports[:size], "Sotto-Batch: 1", "Sotto-Damaged: 3"),
            (410, b"{}", "Sotto-Batch: 2"),
            (200, b"", "Sotto-Batch: 3", "Sotto-Damaged: 7"),
            (410, b"{}", "Sotto-Batch: 4"),
            (200, reports[size:], "Sotto-Batch: 5"), (204, b"")][after])
        return True
    stub = Stub(size, act)
    done = run(0, *words(stub))
    says(done, "10 of 15 reports are damaged and were left out: batches 1, 3",
         "2 batches cannot be read at all and were left out: batches 2, 4")
    expect(pathlib.Path("out").read_bytes() == reports, "not the others")
    expect(len(stub.requests) == 6, "asked again")
    told = json.loads(run(0, *words(stub, "--json")).stdout)
    expect((told["reports"], told["damaged"], told["unreadable_batches"],
            told["batches"], told["last_batch"]) == (5, 10, 2, 3, 5), told)
    stub.close()
    os.unlink("out")
    # A collector of which nothing can be read is not asked for ever.
    stub = Stub(size, lambda _, c, r: send(
        c, 410, b"{}", "Sotto-Batch: %d" % (
            1 + int(r.split(b"after=")[1].split(b" ")[0]))) or True)
    says(run(2, *words(stub)), "1001 batches in a row")
    expect(len(stub.requests) == 1001 and not os.path.exists("out"), "left")
    stub.close()
    stub = Stub(size, lambda _, c, r: send(
        c, *((200, b"", "Sotto-Batch: 1", "Sotto-Damaged: 7")
             if b"after=0 " in r else (204, b""))) or True)
    says(run(2, *words(stub)), "none of the reports", "damaged")
    stub.close()
    for answer in ((200, reports, "Sotto-Batch: 1", "Sotto-Damaged: 0"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged: -1"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged: 07"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged: 7 "
                    "reports"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged:"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged: 1",
                    "Sotto-Damaged: 1"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Batch: 2"),
                   (200, reports, "Sotto-Batch: 1",
                    "Sotto-Damaged: 9999999999999999999"),
                   (200, reports, "Sotto-Batch: 1", "Sotto-Damaged: " + "7" *
                    80),
                   (204, b"", "Sotto-Damaged: 1"), (204, b"", "Sotto-Batch: 1"),
                   (410, b"{}"), (410, b"{}", "Sotto-Batch: 2"),
                   (410, b"{}", "Sotto-Batch: 1", "Sotto-Damaged: 1")):
        refused(device, lambda _, c, __, a=answer: send(c, *a) or True, 2,
                "no batch of this mechanism's reports")


def check_nonsense(device, reports):
    size = device.size
    refused(device, numbered({}), 2, "has released no reports")
    for body, line in ((reports[:-1], "Sotto-Batch: 1"), (reports, "X: 1"),
                       (reports, "Sotto-Batch: 0"), (b"", "Sotto-Batch: 1"),
                       (reports, "Sotto-Batch: 1x"),
                       (reports, "Sotto-Batch: 99999999999999999999999")):
        refused(device, lambda _, c, __, b=body, x=line: send(c, 200, b, x)
                or True, 2, "no batch of this mechanism's reports")
    # A number that does not grow would go on for ever.
    refused(device, lambda _, c, __: send(c, 200, reports, "Sotto-Batch: 7")
            or True, 2, "behind number 7")
    refused(device, lambda _, c, __: send(c, 401, b"{}") or True, 1, "401")
    foreign = reports[:4] + os.urandom(32) + reports[36:size]
    refused(device, numbered({1: foreign}), 2, "another mechanism")
    simulated = b"SIM1" + reports[4:size]
    refused(device, numbered({1: reports[size:] + simulated}), 3,
            "for simulation")
    stub = Stub(size, numbered({1: reports}))
    says(run(3, *words(stub, "--simulation")), "people's reports")
    stub.close()


def check_usage(stub):
    pathlib.Path("short").touch(0o600)
    pathlib.Path("short").write_text("short\n")
    says(run(2, *words(stub, token="short")), "holds no token")
    says(run(1, *words(stub, token="none")), "none")
    says(run(2, *words(stub, "--store", "sqlite:s.db")), "--from")
    says(run(2, "export", "m.sotto", "-o", "out"), "--from")
    says(run(2, "export", "m.sotto", "-o", "out", "--from", stub.url()),
         "--admin-token-file")
    says(run(2, "export", "m.sotto", "-o", "out", "--store", "sqlite:s.db",
             "--ca", "x.pem"), "certificate")
    says(run(2, "export", "m.sotto", "-o", "out", "--admin-token-file",
             "token", "--from", "http://example.org/v1/campaigns/c"), "https")
    says(run(2, *words(stub, out="token")), "token")
    expect(pathlib.Path("token").read_text().strip() == TOKEN, "overwritten")
    expect(not stub.requests and not os.path.exists("out"), "asked")


def main():
    device = Device()
    pathlib.Path("token").touch(0o600)
    pathlib.Path("token").write_text(TOKEN + "\n")
    run(0, "privatise", "m.sotto", "people.csv", "-o", "all.bin")
    reports = pathlib.Path("all.bin").read_bytes()
    expect(len(reports) == 5 * device.size, "no five reports")
    check_right(device, reports)
    check_again(device, reports)
    check_damaged(device, reports)
    check_nonsense(device, reports)
    check_usage(Stub(device.size))
    finish()


main()
