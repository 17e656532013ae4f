#!/usr/bin/python3
"""test_capture.py: a campaign from end to end, with everything that devices
send recorded on the way: it is what docs/collector.md and docs/format.md say,
byte for byte, and the same from every device but for the reports. Afterwards
the store's raw files hold no id, no address and nothing of a request.

Order in the files is tests/store/test_store_sqlite.c's."""
import json
import os
import pathlib
import re
import socket
import subprocess
import threading

from collecting import (SOTTO, Campaign, Collector, expect, finish, scratch,
                        sotto, until)

DEVICES = 6
NAME = "zephyrine-quillfeather"  # of a person; a number follows


class Recorder:
    """A proxy that keeps what clients send, connection by connection."""

    def __init__(self, port):
        self.to = port
        self.sent = []
        self.ports = set()  # all that a store could have kept
        self.drop = False   # the next answer to a POST
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, (_, port) = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.to))
            self.ports |= {port, server.getsockname()[1]}
            record = bytearray()
            self.sent.append(record)
            for way in ((client, server, record, True),
                        (server, client, record, False)):
                threading.Thread(target=self.carry, args=way,
                                 daemon=True).start()

    def carry(self, source, target, record, forth):
        try:
            while piece := source.recv(65536):
                if forth:
                    record += piece
                elif self.drop and b"POST" in record:
                    self.drop = False
                    break
                target.sendall(piece)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def requests(self):
        """(head, body) of all that came."""
        found = []
        for data in map(bytes, self.sent):
            while data:
                head, _, rest = data.partition(b"\r\n\r\n")
                size = re.search(rb"Content-Length: (\d+)", head)
                size = int(size.group(1)) if size else 0
                found.append((head + b"\r\n\r\n", rest[:size]))
                expect(len(rest) >= size, "a body is cut short")
                data = rest[size:]
        return found


def documented(host, size):
    """The head of a POST, from the page itself."""
    page = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"], "docs/collector.md")
    text = page.read_text(encoding="utf-8").split("### What a device sends")[1]
    block = re.search(r"((?:    .*\n)+)\n    reports\n", text).group(1)
    head = "".join(line[4:] + "\r\n" for line in block.splitlines()) + "\r\n"
    return (head.replace("NAME", "m").replace(": HOST", f": {host}")
            .replace(": N\r", f": {size}\r").encode())


class Device:
    """A folder with a record, a ledger and a public key; the mechanism is
    fetched."""

    def __init__(self, m, number):
        self.folder = m.folder / f"device-{number}"
        self.folder.mkdir()
        self.number, self.m = number, m
        (self.folder / "me.csv").write_text(
            f"name,age,colour\n{NAME}-{number},{20 + number},red\n")
        (self.folder / "k.pub").write_bytes(m.pub.read_bytes())
        sotto("ledger", "new", self.folder / "l", "--lifetime-eps", 9)
        verified = sotto("verify", m.path, "--pub", m.pub, "--json")
        self.pin = json.loads(verified)["hash"]

    def send(self, port):
        """What it says of sending."""
        own = {**os.environ, "LANG": f"xx_{self.number}", "TZ": "Asia/Tokyo",
               "HOME": str(self.folder), "USER": NAME}
        done = subprocess.run(
            [SOTTO, "send", "mine.sotto", "me.csv", "--person", "name",
             "--ledger", "l", "--pub", "k.pub", "--pin", self.pin, "--to",
             f"http://127.0.0.1:{port}/v1/campaigns/m", "--json", "--spread",
             "0", "--grid", "0"],
            cwd=self.folder, env=own, capture_output=True, check=False,
            stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, f"send: {done.stderr}")
        return json.loads(done.stdout)


def check_device(recorder, device, lost):
    """The mechanism fetched, its signature asked for, and a POST of one report; with `lost`, its answer is, and the
    same bytes come again."""
    host = f"127.0.0.1:{recorder.port}"
    fetch = [(f"GET /v1/campaigns/m/{what} HTTP/1.1\r\nHost: {host}\r\n"
              "User-Agent: sotto\r\n\r\n".encode(), b"")
             for what in ("mechanism.minisig", "mechanism",
                          "mechanism.minisig")]
    recorder.sent.clear()
    recorder.drop = lost
    told = device.send(recorder.port)
    expect((told["accepted"], told["duplicate"]) == ((0, 1) if lost else
                                                     (1, 0)), f"told: {told}")
    came = recorder.requests()
    expect(came[:3] == fetch, f"fetched otherwise: {came[:3]}")
    posts = came[3:]
    expect(len(posts) == (2 if lost else 1) and posts[0] == posts[-1],
           f"sent otherwise: {posts}")
    head, report = posts[0]
    size = device.m.size
    expect(head == documented(host, size), f"another head: {head}")
    expect(len(report) == size and report[:4] == b"STO1" and
           report[4:36].hex() == device.pin, f"no report: {report}")
    text = b"".join(map(bytes, recorder.sent))
    for word in (NAME, NAME.split("-", maxsplit=1)[0], "device-", "Tokyo",
                 "xx_", str(device.folder)):
        expect(word.encode() not in text, f"a device tells: {word}")
    return head, report


def check_silence(recorder, devices):
    """Once all has arrived, devices ask for the signature and say no more."""
    recorder.sent.clear()
    for device in devices:
        told = device.send(recorder.port)
        expect(told["requests"] == 0 and told["replayed"] == 1, f"{told}")
    came = recorder.requests()
    expect(len(came) == DEVICES and len(set(came)) == 1 and
           came[0][0].startswith(b"GET /v1/campaigns/m/mechanism.minisig "),
           f"said although nothing waits: {came}")


def check_files(c, recorder, reports, when):
    """Nothing in any file of the store, used or free, tells who or when."""
    paths = [path for path in c.store.parent.rglob("*")
             if path.is_file() and c.store.name in str(path)]
    expect(reports[0][4:36] in c.store.read_bytes(),
           "the campaign's hash is not there: is that the store?")
    ports = {c.port, recorder.port} | recorder.ports
    words = [b"127.0.0.1", b"::1", bytes([127, 0, 0, 1]), b"localhost",
             b"HTTP", b"POST", b"GET ", b"Host", b"User-Agent", b"Content",
             b"octet", b"/v1/", b"STO1", NAME.encode(),
             *(str(port).encode() for port in ports)]
    for path in paths:
        data = path.read_bytes()
        for word in words:
            expect(word not in data, f"{when}: {path.name} holds {word}")
        for report in reports:
            expect(report[36:52] not in data and
                   report[36:52].hex().encode() not in data,
                   f"{when}: {path.name} holds an id")
            expect(report[:52] not in data, f"{when}: a header")


def main():
    with scratch() as folder:
        m = Campaign(folder)
        c = Collector(m, "--window", 1, "--batch-min", DEVICES)
        recorder = Recorder(c.port)
        devices = [Device(m, i) for i in range(DEVICES)]
        found = [check_device(recorder, device, device.number == 1)
                 for device in devices]
        heads, reports = zip(*found)
        expect(len(set(heads)) == 1, "devices send different heads")
        expect(len({r[36:52] for r in reports}) == DEVICES, "ids are the same")
        check_silence(recorder, devices)
        expect(until(lambda: c.metric(
            'campaign_reports{campaign="m",at="released"}') == DEVICES),
            "not released")
        log = c.store.with_name("s.db-wal")
        expect(until(lambda: log.stat().st_size == 0), "the log is not cut")
        check_files(c, recorder, reports, "after the window")
        released = m.folder / "released"
        sotto("export", m.path, "--store", f"sqlite:{c.store}", "-o", released)
        data = released.read_bytes()
        rows = [data[i:i + m.size] for i in range(0, len(data), m.size)]
        expect(sorted(r[52:] for r in rows) == sorted(r[52:] for r in reports),
               "other payloads than were sent")
        expect(not {r[36:52] for r in rows} & {r[36:52] for r in reports},
               "an id was released")
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        check_files(c, recorder, reports, "at the end")
        expect(not re.search(r"127\.0\.0\.1|STO1|POST", c.said()),
               f"the log tells: {c.said()}")
    finish()


main()
