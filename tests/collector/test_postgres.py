#!/usr/bin/python3
"""test_postgres.py: two collectors on one PostgreSQL server, which is killed
meanwhile: 503 until it is back, and what was acknowledged is released once. And
what an operator does beside them: looking, checking, forgetting a campaign."""
import atexit
import glob
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import tempfile

from collecting import Campaign, Collector, expect, finish, scratch, sotto, until

FULL = os.environ.get("SOTTO_FULL") == "1"
KILLS = 50 if FULL else 3
found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
if not found:
    sys.exit(77)
BIN = pathlib.Path(found[-1]).parent


class Server:
    """On a socket in a folder of its own; nobody's, if this is root's."""

    def __init__(self):
        shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.scratch = tempfile.TemporaryDirectory(prefix="sotto-test.",
                                                   dir=shared)
        self.folder = self.scratch.name
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.who = {"user": nobody.pw_uid, "group": nobody.pw_gid,
                        "extra_groups": []}
        else:
            self.who = {}
        subprocess.run([BIN / "initdb", "-D", self.folder + "/data", "-U",
                        "sotto", "-A", "trust", "-N", "--no-locale"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/",
                       **self.who)
        self.url = f"postgres:///postgres?host={self.folder}&user=sotto"
        self.start()
        atexit.register(self.end)

    def launch(self):
        self.process = subprocess.Popen(
            [BIN / "postgres", "-D", self.folder + "/data", "-k", self.folder,
             "-c", "listen_addresses=", "-c", "dynamic_shared_memory_type=mmap"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
            **self.who)

    def ready(self):
        if self.process.poll() is not None:  # a killed one's processes live
            self.launch()
        return subprocess.run([BIN / "pg_isready", "-q", "-h", self.folder],
                              check=False).returncode == 0

    def start(self):
        self.launch()
        expect(until(self.ready, 30), "the server does not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.scratch.cleanup()


def collector(m, server, name, batch_min=20):
    return Collector(m, "--window-keys", m.folder / name, "--window", 1,
                     "--batch-min", batch_min, url=server.url,
                     log=name + ".log")


class Tally:
    acknowledged = unsure = 0

    def send(self, m, c, count):
        """Whether reports were taken; those that were not may be there."""
        taken = c.send(m.new(count))[0] == 200
        self.acknowledged += count if taken else 0
        self.unsure += 0 if taken else count
        return taken


def run_and_kill(m, server, tally):
    both = [collector(m, server, name) for name in "ab"]
    for kill in range(KILLS):
        for _ in range(10):
            for c in both:
                expect(tally.send(m, c, 5), "not taken: " + c.said())
        server.kill()
        c = both[kill % 2]
        # Its processes outlive it for a moment, and what they commit counts.
        expect(until(lambda c=c: not tally.send(m, c, 1)),
               "no server, and taken")
        expect(c.ask("GET", "/healthz")[0] == 503, "healthy without a server")
        if kill % 2 == 1:  # and a collector with it
            both[0].kill()
        server.start()
        if kill % 2 == 1:
            both[0] = collector(m, server, "a")
        for c in both:
            expect(until(lambda c=c: tally.send(m, c, 1), 30),
                   "it does not take reports again: " + c.said())
    for c in both:
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        expect("damaged" not in c.said(), c.said())


def check(server, *words, status=0):
    return sotto("store", "check", server.url, *words, status=status)


def look_first(m, server):
    """--check-config of a server that has no store yet makes none; backups are
    the server's."""
    words = ("serve", "--mechanism", m.folder / "mechanisms", "--pub", m.pub,
             "--store", server.url, "--check-config", "--listen",
             "127.0.0.1:0")
    said = sotto(*words, "--window-keys", m.folder / "a")
    expect("store-new" in said and "it would start" in said, said)
    expect(not (m.folder / "a").exists(), "a folder of keys was made")
    expect("no store" in sotto("export", m.path, "--store", server.url, "-o",
                               m.folder / "none", status=1), "tables were made")
    expect("window-keys" in sotto(*words, status=2), "without keys")
    expect("pg_basebackup" in sotto("store", "backup", server.url,
                                    m.folder / "copy", status=2), "backup")


def forget(m, server):
    """Both collectors run, and hear of it with the next report."""
    m.make(m.folder / "mechanisms" / "other.sotto", 3)
    other = m.reports(m.folder / "mechanisms" / "other.sotto")[0]
    both = [collector(m, server, name, 2) for name in "ab"]
    quiet = collector(m, server, "quiet", 2)  # nothing late comes to it
    early = m.new(5)
    expect(quiet.send(early)[0] == 200, "taken: " + quiet.said())
    for c in both:
        expect(c.send(early)[0] == 200, "taken: " + c.said())
    said = check(server)
    expect("sealed: " in said and "All else that is kept is sound" in said,
           said)
    expect('"sealed":' in check(server, "--json"), "sealed as JSON")
    expect("writer" in check(server, "--window-keys", m.folder / "a", status=1),
           "keys that are in use")
    said = sotto("store", "forget", server.url, m.path)
    expect("Forgotten: " in said, said)
    for c in both:
        for late in (early, m.new(3)):
            status, answer = c.send(late)
            expect(status == 410 and "closed" in answer["error"],
                   f"late: {status} {answer}")
        expect(c.said().count("campaign-closed") == 1, c.said())
        expect(c.send(other, name="other")[0] == 200, "the other campaign")
        expect(c.ask("GET", "/healthz")[0] == 200, "healthy")
        expect(c.admin("/v1/campaigns/m/batches?after=0")[0] == 204,
               "its batches are there")
    expect(until(lambda: both[0].metric("store_looks_total")), "no look")
    expect(quiet.send(other, name="other")[0] == 200, "of the other one")
    expect(until(lambda: "campaign-closed" in quiet.said()), "not heard of")
    for c in both + [quiet]:
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        for bad in ("damaged", "stuck", "refuses"):
            expect(bad not in c.said(), c.said())
    for name in "ab":
        said = check(server, "--window-keys", m.folder / name)
        expect("sound" in said, said)
    c = collector(m, server, "c")
    expect(c.send(early)[0] == 410, "a new collector takes it")
    expect(c.stop() == 0, "the new one")
    expect("Forgotten: 0" in sotto("store", "forget", server.url, m.path),
           "again")
    expect("no reports of this" in sotto("store", "forget", server.url,
                                         "0" * 64, status=2), "unknown")
    expect("window-keys is for check" in sotto(
        "store", "forget", server.url, m.path, "--window-keys",
        m.folder / "a", status=2), "keys to forget with")


def main():
    with scratch() as folder:
        m, server, tally = Campaign(folder), Server(), Tally()
        look_first(m, server)
        run_and_kill(m, server, tally)
        for name in "ab":  # two more make a batch of what is held
            c = collector(m, server, name, 2)
            expect(tally.send(m, c, 2), "the last ones")
            expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")
        sotto("export", m.path, "--store", server.url, "-o", m.folder / "out")
        released = (m.folder / "out").stat().st_size // m.size
        expect(tally.acknowledged <= released <=
               tally.acknowledged + tally.unsure, f"{released} released")
        forget(m, server)
        print(f"{KILLS} kills, {tally.acknowledged} acknowledged, "
              f"{released} released")
        finish()


main()
