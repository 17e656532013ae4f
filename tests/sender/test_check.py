#!/usr/bin/python3
"""test_check.py: what a run finds out before anybody is charged and before a
byte of a report leaves: another mechanism, no campaign, nobody there, another
ledger's queue, a queue that is something else, rows that are no reports."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(os.environ["SOTTO_SOURCE_DIR"], "tests/format"))
import mechanisms  # noqa: E402
from stub import (SOTTO, Device, Stub, expect, finish, run,  # noqa: E402
                  says, send)

NOBODY = "http://127.0.0.1:1/v1/campaigns/c"  # no service is there
GRID = 4  # seconds, where a test is about the deadline


def refuse_posts(_stub, connection, _request):
    connection.close()
    return True


def queued(device, stub):
    """Five reports of five people that wait for a stub."""
    device.new_ledger()
    act, stub.act = stub.act, refuse_posts
    run(1, *device.words(stub.url(), "--tries", "1"))
    stub.act, stub.requests = act, []


def rows(text, *values, path="l.queue"):
    with sqlite3.connect(path) as queue:
        found = queue.execute(text, values).fetchall()
    queue.close()
    return found


def plant(url, report, tag=b"x" * 32):
    """A row for this address that no run has queued."""
    (secret,), = rows("SELECT secret FROM queue")
    to = hashlib.blake2b(url.encode() + b"\0", digest_size=32, key=secret,
                         person=b"sotto.to").digest()
    rows("INSERT INTO report (tag, destination, ends, report) "
         "VALUES (?, ?, 0, ?)", tag, to, report)


# ---- The mechanism ----------------------------------------------------------


def uncharged(device, stub, status, *pieces, more=(), data="people.csv"):
    device.new_ledger()
    done = run(status, *device.words(stub.url(), "--tries", "1", "--json",
                                     *more, data=data))
    says(done, *pieces, "nobody was charged")
    told = json.loads(done.stdout)
    expect(told["failure"] and told["new"] == told["requests"] == 0, f"{told}")
    expect(not device.charged(), "somebody was charged")
    expect(not [x for _, x in stub.requests if x.startswith(b"POST")],
           "something was sent")


def check_mechanism(device):
    """The collector's must be the one at hand, whoever signed both."""
    stub = Stub(device.size)
    run(0, "train", "direct", "--data", "small.csv", "--eps", "3", "-o",
        "other.sotto")
    run(0, "sign", "other.sotto", "--key", "k.key")
    stub.signature = pathlib.Path("other.sotto.minisig").read_bytes()
    uncharged(device, stub, 3, "another mechanism")
    # Before a record is read: one that is not there is not missed.
    uncharged(device, stub, 3, "another mechanism", data="not-there.csv")
    for wrong in (b"", b"<html>", device.signature[:-9], b"x" * 20000):
        stub.signature = wrong
        uncharged(device, stub, 1 if len(wrong) > 9999 else 3, "")
    # Signed twice, with another comment: the same mechanism.
    shutil.copy("m.sotto", "again.sotto")
    run(0, "sign", "again.sotto", "--key", "k.key")
    stub.signature = pathlib.Path("again.sotto.minisig").read_bytes()
    expect(stub.signature != device.signature, "the same signature")
    device.new_ledger()
    run(0, *device.words(stub.url()))
    expect(len(stub.seen) == 5, "the same mechanism is not taken")
    stub.close()


def check_answers(device):
    """No campaign, no answer, a wrong file of authorities: nobody is charged,
    and what waits stays."""
    def answer(code):
        return lambda _, c, __: send(c, code, b"") or True

    stub = Stub(device.size, answer(404))
    stub.checking = False
    uncharged(device, stub, 1, "no such campaign")
    stub.act = answer(503)
    uncharged(device, stub, 1, "takes nothing")
    stub.act, stub.checking = None, True
    queued(device, stub)
    pathlib.Path("other.csv").write_text("name,age,colour\nq,1,red\n")
    stub.act, stub.checking = answer(404), False
    done = run(1, *device.words(stub.url(), "--json", data="other.csv"))
    expect(json.loads(done.stdout)["left"] == 5, done.stdout)
    says(done, "what is queued stays (5)")
    expect(len(device.charged()) == 5, "the new one was charged")
    stub.close()
    device.new_ledger()
    says(run(1, *device.words(NOBODY, "--tries", "1")), "nobody was charged")
    says(run(1, *device.words(NOBODY, "--ca", "none.pem")), "none.pem")
    says(run(1, *device.words(
        "https://127.0.0.1:1/v1/campaigns/c", "--tries", "1", "--proxy",
        "socks5h://127.0.0.1:1")), "nobody was charged")
    expect(not device.charged(), "somebody was charged")


# ---- The queue --------------------------------------------------------------


def check_planted(device):
    """What somebody wrote into the file is not sent."""
    stub = Stub(device.size)
    header = bytes.fromhex(device.hash) + b"i" * 16
    room = device.size - 52
    for what, report in {
            "simulated": b"SIM1secret record" + b"." * (device.size - 17),
            "no report": b"STO2" + header + b"\0" * room,
            "too long": b"STO1" + header + b"\0" * (room + 1),
            "impossible": b"STO1" + header + b"\xff" * room}.items():
        device.new_ledger()
        run(0, *device.words(stub.url()))
        stub.requests = []
        plant(stub.url(), report)
        says(run(1, *device.words(stub.url())), "no device makes")
        says(run(2, *device.words(stub.url(), "--dry-run")), "no device makes")
        expect(not stub.requests, f"{what}: it was sent")
    stub.close()


def check_ledger(device):
    """A new ledger beside a waiting queue would ask everybody again."""
    stub = Stub(device.size)
    queued(device, stub)
    for name in ("l", "l.secret", "l.mark"):
        os.rename(name, "old-" + name)
    run(0, "ledger", "new", "l", "--lifetime-eps", "4")
    says(run(3, *device.words(stub.url())), "another ledger", "l.queue")
    expect(not device.charged() and not stub.requests, "charged or sent")
    for name in ("l", "l.secret", "l.mark"):
        os.rename("old-" + name, name)
    run(0, *device.words(stub.url()))
    expect(len(stub.seen) == 5 == len(device.charged()), "not the five")
    stub.close()


def check_names(device):
    """The queue is none of the other files, and none that SQLite deletes."""
    device.new_ledger()
    before = {x: pathlib.Path(x).read_bytes() for x in os.listdir(".")}
    for name in ("l", "./l", "l.secret", "people.csv", "m.sotto",
                 "m.sotto.minisig", "k.pub"):
        done = run(2, *device.words(NOBODY, "--queue", name))
        says(done, "needed as it is", "choose another name")
        expect("move it away" not in done.stderr, "advice that loses a ledger")
    for suffix in ("-journal", "-wal", "-shm"):
        says(run(2, *device.words(NOBODY, "--queue", "l" + suffix)),
             "the ledger needs")
    shutil.copy("l", "copy")  # a ledger, though not this one
    before["copy"] = before["l"]
    for name in ("copy", "small.csv"):
        done = run(2, *device.words(NOBODY, "--queue", name))
        says(done, "no queue", "choose another name")
        expect("move it away" not in done.stderr, "advice that loses a ledger")
    run(1, "send", "m.sotto", "people.csv", "--person", "name", "--ledger",
        "lost", "--to", NOBODY, "--pub", "k.pub")
    after = {x: pathlib.Path(x).read_bytes() for x in os.listdir(".")}
    expect(before == after, f"changed or left: {set(after) ^ set(before)}")
    run(1, *device.words(NOBODY, "--tries", "1", "--queue", "q"))
    with open("q", "r+b") as file:
        file.seek(100)
        file.write(b"\0" * 2000)
    says(run(2, *device.words(NOBODY, "--queue", "q")), "move it away")


def check_interrupted(device):
    """A run that was killed while it wrote: a look says so, a run mends it."""
    stub = Stub(device.size)
    queued(device, stub)
    queue = sqlite3.connect("l.queue", isolation_level=None)
    queue.execute("PRAGMA cache_size=1")
    queue.execute("BEGIN")
    queue.execute("UPDATE report SET refused = 'hash'")
    for i in range(200):  # more than fits the cache: so it is written
        queue.execute("INSERT INTO acknowledged VALUES (?)",
                      (hashlib.sha256(b"%d" % i).digest(),))
    for name in ("l.queue", "l.queue-journal"):
        shutil.copy(name, "copy-" + name)
    queue.execute("ROLLBACK")
    queue.close()
    for name in ("l.queue", "l.queue-journal"):
        os.rename("copy-" + name, name)
    says(run(1, *device.words(stub.url(), "--dry-run")), "interrupted",
         "send once")
    run(0, *device.words(stub.url()))
    expect(len(stub.seen) == 5, "not mended")
    stub.close()


def check_two_mechanisms(device):
    """A dry run shows what is next, of whatever mechanism."""
    pathlib.Path("empty.csv").write_text("name,age,colour\n")
    stub = Stub(device.size)
    stub.act = refuse_posts
    for first in (False, True):
        queued(device, stub)
        other = b"STO1" + b"h" * 32 + os.urandom(device.size - 36)
        rows("DELETE FROM report WHERE key <> (SELECT min(key) FROM report)")
        rows("UPDATE report SET key = 5")
        plant(stub.url(), other)
        rows("UPDATE report SET key = ? WHERE report = ?", 1 if first else 9,
             other)
        told = json.loads(run(0, *device.words(stub.url(), "--dry-run",
                                               "--json")).stdout)
        run(1, *device.words(stub.url(), "--tries", "1", data="empty.csv"))
        body = stub.requests[-1][1].partition(b"\r\n\r\n")[2]
        expect(told["other_mechanism"] == (body == other) == first and
               told["shown"] == 1 and told["waiting"] == 2, f"{told}")
        hexadecimal = " ".join(f"{x:02x}" for x in body[36:52])
        expect(hexadecimal in told["request"], "not the report that is sent")
    text = run(0, *device.words(stub.url(), "--dry-run")).stdout
    expect("mechanism.minisig" in text and "new people" in text,
           "does not say what comes on top")
    stub.close()


# ---- Runs from cron ---------------------------------------------------------


def check_refused(device):
    """A collector started wrongly refuses; the next runs do not forget it."""
    device.new_ledger()

    def simulation(stub, connection, request):
        told = stub.take(request.partition(b"\r\n\r\n")[2], refuse=range(5))
        send(connection, 200, json.dumps(told).encode())
        return True

    stub = Stub(device.size, simulation)
    run(1, *device.words(stub.url()))
    stub.act = None
    done = run(1, *device.words(stub.url()))
    says(done, "5 reports that the collector refused")
    run(0, *device.words(stub.url(), "--retry-refused"))
    expect(len(stub.seen) == 5, "not sent again")
    expect(stub.requests[0][1] == stub.requests[1][1], "other bytes")
    expect(run(0, *device.words(stub.url())).stderr == "", "still told")
    stub.close()


def check_nobody(device):
    """Column names and nobody: what waits is sent."""
    stub = Stub(device.size)
    queued(device, stub)
    for text in ("name,age,colour\n", '"name",age,colour\r\n\r\n'):
        pathlib.Path("empty.csv").write_text(text)
        run(0, *device.words(stub.url(), data="empty.csv"))
        expect(len(stub.seen) == 5, "what waits is not sent")
    pathlib.Path("empty.csv").write_text("age,colour\n")
    run(2, *device.words(stub.url(), data="empty.csv"))
    run(2, *device.words(stub.url(), "--header", "no", data="empty.csv"))
    stub.close()


def check_quiet(device):
    """Columns that are not used are no news every night."""
    device.new_ledger()
    pathlib.Path("more.csv").write_text("name,age,colour,shoe\nq,1,red,43\n")
    stub = Stub(device.size)
    done = run(0, *device.words(stub.url(), data="more.csv"))
    expect(done.stdout + done.stderr == "", f"not quiet: {done.stderr}")
    stub.close()


def check_over_cap(device):
    """The ledger refuses one of them: the others are sent, and that is 3."""
    device.new_ledger()
    run(0, "train", "direct", "--data", "small.csv", "--eps", "3", "--name",
        "n", "-o", "n.sotto")
    run(0, "sign", "n.sotto", "--key", "k.key")
    stub = Stub(device.size)
    run(0, *device.words(stub.url()))
    stub.signature = pathlib.Path("n.sotto.minisig").read_bytes()
    pathlib.Path("two.csv").write_text("name,age,colour\np1,21,red\nq,1,red\n")
    done = run(3, *device.words(stub.url("n"), "--json", mechanism="n.sotto",
                                data="two.csv"))
    told = json.loads(done.stdout)
    expect((told["accepted"], told["over_cap"]) == (1, 1), f"{told}")
    stub.close()


def check_grid(device):
    """The first report leaves a whole number of seconds after the collector was
    asked, which leaves time for all: here, at least one after the start."""
    device.new_ledger()
    came = []
    stub = Stub(device.size, lambda *_: came.append(time.monotonic()))
    began = time.monotonic()
    words = device.words(stub.url())
    at = words.index("--grid")
    run(0, *words[:at], *words[at + 2:])
    expect(len(came) == 1 and came[0] - began >= 1,
           f"sent at once: {came[0] - began} s")
    stub.close()


def expect_step(times, wanted, what):
    """A question, and a request with reports so many steps of GRID later: what
    is asked for leaves seconds for a machine that is busy or a slow disk."""
    took = times[-1] - times[0]
    expect(len(times) == 2 and abs(took - GRID * wanted) < GRID / 4,
           f"{what}: reports after {took} s")


def check_deadline(device):
    """Reports leave when they were to, whatever the records took: here they
    come through a pipe at once, or 1.5 s late. Only if that is longer than the
    time set aside, they leave a step of the grid later, and it is told."""
    for pause, late in ((0, False), (1.5, False), (GRID + 0.3, True)):
        device.new_ledger()
        times = []
        stub = Stub(device.size, lambda *_: times.append(time.monotonic()))
        stub.checking = False
        words = device.words(stub.url(), "--json", data="/dev/stdin")
        words[words.index("--grid") + 1] = str(GRID)
        with subprocess.Popen(["sh", "-c", f"sleep {pause}; cat people.csv"],
                              stdout=subprocess.PIPE) as people:
            done = subprocess.run([SOTTO, *words], capture_output=True,
                                  text=True, stdin=people.stdout, check=False)
        expect(done.returncode == 0, f"send: {done.stderr}")
        expect_step(times, 2 if late else 1, f"{pause} s late")
        expect(json.loads(done.stdout)["late"] == late, f"{done.stdout}")
        stub.close()


def stop_encoder(process):
    """Stops the process that the encoder runs in, as soon as there is one."""
    place = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        try:
            children = place.read_text(encoding="ascii").split()
            os.kill(int(children[0]), signal.SIGSTOP)
            return
        except (IndexError, OSError):
            time.sleep(0.001)


def check_late(device):
    """An encoder that is too late: its record counts as one with everything
    missing, and that report leaves at the deadline like any other. The label
    "v0" at epsilon 20 would show."""
    image = [256, 256, 1]
    slow = mechanisms.manifest(
        columns=[mechanisms.PIXELS | {"count": 1 << 16}, mechanisms.LABEL],
        encoder=[mechanisms.conv(image, 1, 31, pad=15)],
        parts=[mechanisms.symbols({"column": 1}, eps="20")], eps="20")
    pathlib.Path("slow.sotto").write_bytes(mechanisms.compose(slow))
    run(0, "sign", "slow.sotto", "--key", "k.key")
    pathlib.Path("one.csv").write_text("name,c0,c1\nann,,v0\n")
    for stopped in (False, True):
        device.new_ledger()
        run(0, "ledger", "new", "deep", "--lifetime-eps", "40")
        times = []
        stub = Stub(53, lambda *_: times.append(time.monotonic()))
        stub.signature = pathlib.Path("slow.sotto.minisig").read_bytes()
        stub.checking = False
        words = device.words(stub.url(), mechanism="slow.sotto", data="one.csv")
        words[words.index("--grid") + 1] = str(GRID)
        words[words.index("--ledger") + 1] = "deep"
        with subprocess.Popen([SOTTO, *words]) as process:
            if stopped:
                stop_encoder(process)
        expect(process.returncode == 0, f"send: {process.returncode}")
        expect_step(times, 1, f"stopped {stopped}")
        symbols = [report[52] for report in stub.seen.values()]
        expect(symbols == [2 if stopped else 0], f"{stopped}: {symbols}")
        stub.close()
        for name in pathlib.Path(".").glob("deep*"):
            name.unlink()


def check_example(device):
    """The example of --help, up to the network: also if it is no dry run."""
    data = pathlib.Path(os.environ["SOTTO_SOURCE_DIR"], "data")
    os.mkdir("example")
    os.symlink(data, "example/data")
    for words in (("train", "--help"), ("send", "--help")):
        text = run(0, *words).stdout.split("Example")[1].split("\n", 1)[1]
        text = text.replace("\\\n", " ").replace(":8470", ":1")
        text = text.replace(" --dry-run", "")
        for line in text.splitlines():
            line = line.strip()
            if words[0] == "train" and "direct" not in line:
                continue
            done = subprocess.run(
                ["sh", "-c", line.replace("sotto ", f"{SOTTO} ", 1) + (
                    " --tries 1" if line.startswith("sotto send") else "")],
                cwd="example", capture_output=True, text=True, check=False)
            if line.startswith("sotto send"):
                expect(done.returncode == 1 and "cannot talk to" in
                       done.stderr, f"{line}: {done.stderr}")
            else:
                expect(done.returncode == 0, f"{line}: {done.stderr}")
        if words[0] == "train":
            run(0, "keygen", "-o", "example/collector", "--no-password")
            run(0, "sign", "example/wdbc.sotto", "--key",
                "example/collector.key")
    shutil.rmtree("example")


def main():
    device = Device()
    check_mechanism(device)
    check_answers(device)
    check_planted(device)
    check_ledger(device)
    check_names(device)
    check_interrupted(device)
    check_two_mechanisms(device)
    check_refused(device)
    check_nobody(device)
    check_quiet(device)
    check_over_cap(device)
    check_grid(device)
    check_deadline(device)
    check_late(device)
    check_example(device)
    finish()


main()
