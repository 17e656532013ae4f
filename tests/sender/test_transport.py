#!/usr/bin/python3
"""test_transport.py: what a server receives is, byte for byte, what docs/collector.md
says, whatever the device, its environment and the size of the body; and what
--dry-run shows is what is sent."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import Device, Stub, expect, finish, run  # noqa: E402


def documented(host, name, size):
    """The head, from the page itself."""
    page = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"], "docs/collector.md")
    text = page.read_text(encoding="utf-8").split("### What a device sends")[1]
    block = re.search(r"((?:    .*\n)+)\n    reports\n", text).group(1)
    lines = [line[4:] for line in block.splitlines()]
    head = "\r\n".join(lines) + "\r\n\r\n"
    return (head.replace("NAME", name).replace(": HOST", f": {host}")
            .replace(": N\r", f": {size}\r").encode())


def documented_check(host, name):
    """What is asked first, from the page itself."""
    page = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"], "docs/collector.md")
    text = page.read_text(encoding="utf-8").split("### What a device sends")[1]
    block = re.search(r"((?:    .*\n)+)", text[text.index("    GET "):])
    lines = [line[4:] for line in block.group(1).splitlines()]
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.replace("NAME", name).replace(": HOST", f": {host}").encode()


def bytes_shown(text):
    """The request's bytes, from an explanation."""
    lines = text.splitlines()
    start = next(i for i, x in enumerate(lines) if x.startswith("Head, "))
    end = next(i for i, x in enumerate(lines) if x.startswith("Body, "))
    head = "".join(x[2:57].rstrip() + "\r\n" for x in lines[start + 1 : end])
    body = b""
    for line in lines[end:]:
        match = re.match(r"  [0-9a-f]{6}  ((?:[0-9a-f]{2} )+)", line)
        if match:
            body += bytes.fromhex(match.group(1))
    return head.encode() + body


def check_small(device):
    """Five people, one request; then nothing more."""
    stub = Stub(device.size)
    done = run(0, *device.words(stub.url()))
    expect(done.stdout == "" and done.stderr == "", "not quiet: " + done.stdout
           + done.stderr)
    expect(len(stub.requests) == 1, "not one request")
    expect(stub.checks[0][1] == documented_check(
        f"127.0.0.1:{stub.port}", "c"), f"asked otherwise: {stub.checks}")
    head = documented(f"127.0.0.1:{stub.port}", "c", 5 * device.size)
    request = stub.requests[0][1]
    expect(request.startswith(head), f"another head: {request[:300]}")
    expect(len(request) == len(head) + 5 * device.size, "other bytes follow")
    expect(len(stub.seen) == 5, "not five reports")
    expect(all(x.startswith(b"STO1" + bytes.fromhex(device.hash))
               for x in stub.seen.values()), "not the mechanism's reports")
    for _ in range(2):  # all of it arrived: the question, and nothing more
        done = run(0, *device.words(stub.url(), "--json"))
        told = json.loads(done.stdout)
        expect(told["replayed"] == 5 and told["requests"] == 0, f"{told}")
    expect(len(stub.requests) == 1, "sent although nothing waits")
    expect(len(stub.checks) == 3 and stub.connections == 4,
           f"{len(stub.checks)} questions, {stub.connections} connections")
    expect(len({x for _, x in stub.checks}) == 1, "questions differ")
    expect(len(device.charged()) == 5, "charged more than once")
    stub.close()
    return head


def check_same(head):
    """Another device, another environment: the same head."""
    device = Device()
    stub = Stub(device.size)
    hostile = {**os.environ, "http_proxy": "http://127.0.0.1:9",
               "ALL_PROXY": "http://127.0.0.1:9", "LANG": "de_DE.UTF-8",
               "HOME": device.folder.name, "TZ": "Asia/Tokyo"}
    pathlib.Path(".netrc").write_text("default login ann password secret\n")
    pathlib.Path(".curlrc").write_text('user-agent = "me"\n')
    run(0, *device.words(stub.url()), env=hostile)
    mine = stub.requests[0][1][: -5 * device.size]
    expect(mine.replace(str(stub.port).encode(), b"")
           == re.sub(rb"(Host: 127.0.0.1:)\d+", rb"\1", head),
           "another device sends another head")
    stub.close()


def check_batches(device):
    """Batches over one connection, each full but the last, in an order that is
    not that of the rows."""
    device.new_ledger()
    stub = Stub(device.size)
    run(0, *device.words(stub.url(), "--batch", "40", data="many.csv"))
    sizes = [len(x.partition(b"\r\n\r\n")[2]) // device.size
             for _, x in stub.requests]
    expect(sizes == [40, 40, 20], f"batches of {sizes}")
    expect(stub.connections == 2, f"{stub.connections} connections")
    rows, arrived = device.charged(), list(stub.seen)
    expect(sorted(rows) == sorted(arrived), "other reports than the ledger's")
    ahead = sum(arrived.index(rows[i]) < arrived.index(rows[i + 1])
                for i in range(99))
    # Of 99 neighbours about half stay in order: 99/2, deviation sqrt(101/12);
    # outside 25 to 75 with probability below 10^-16.
    expect(25 <= ahead <= 75, f"{ahead} of 99 neighbours in the rows' order")
    stub.close()


def check_dry_run(device):
    """A dry run shows the very bytes that are sent then, charges nothing and
    reads no record."""
    device.new_ledger()
    down = "http://127.0.0.1:9/v1/campaigns/c"
    kept = sorted(os.listdir("."))
    ledger = pathlib.Path("l").read_bytes()
    done = run(0, *device.words(down, "--dry-run", data="not-there.csv"))
    expect("everything is missing" in done.stdout, "does not say blank")
    expect(b"STO1" in bytes_shown(done.stdout), "shows no report")
    expect(sorted(os.listdir(".")) == kept, "a dry run leaves files")
    expect(pathlib.Path("l").read_bytes() == ledger, "a dry run charges")

    def refuse(_stub, connection, _request):
        connection.close()
        return True

    stub = Stub(device.size, refuse)
    run(1, *device.words(stub.url(), "--tries", "1"))
    shown = [run(0, *device.words(stub.url(), "--dry-run")).stdout
             for _ in range(2)]
    expect(shown[0] == shown[1], "two dry runs show different bytes")
    expect(bytes_shown(shown[0]) == stub.requests[0][1],
           "not the bytes that are sent")
    expect(len(stub.requests) == 1, "a dry run sends")
    stub.act = None
    run(0, *device.words(stub.url()))
    expect(bytes_shown(shown[0]) == stub.requests[1][1],
           "not the bytes that are sent the next time")
    stub.close()


def main():
    device = Device()
    head = check_small(device)
    check_dry_run(device)
    rows = "".join(f"p{i},{i % 90},red\n" for i in range(100))
    pathlib.Path("many.csv").write_text("name,age,colour\n" + rows)
    check_batches(device)
    check_same(head)
    finish()


main()
