"""collecting.py: what the scripts in this folder share: a campaign, a running
collector, reports, and requests by hand. Not run by itself.

A report of the campaign is 4 bytes STO1, 32 of hash, 16 of id, and a payload,
so a script makes as many as it likes from one: only ids must differ."""
import atexit
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOTTO = os.environ["SOTTO"]
SLOW = 10 if os.environ.get("SOTTO_SANITIZE") else 1
TOKEN = "a-token-of-the-analyst"
BINARY = "application/octet-stream"
LINES = "application/x-ndjson"
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("FAILED:", what, flush=True)


def finish():
    if failures:
        sys.exit(f"{len(failures)} checks failed")
    print("all checks passed")


def sotto(*words, status=0):
    done = subprocess.run([SOTTO, *map(str, words)], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != status:
        raise AssertionError(f"sotto {words}: {done.returncode}, {done.stderr}")
    return done.stdout.decode() + done.stderr.decode()


class Campaign:
    """m.sotto and its signature in a folder, and one report."""

    def __init__(self, folder, eps=2, rows=4):
        self.folder = pathlib.Path(folder)
        self.eps = eps
        (self.folder / "mechanisms").mkdir(exist_ok=True)
        data = self.folder / "data.csv"
        data.write_text("age,colour\n" + "20,red\n60,blue\n" * (rows // 2))
        self.path = self.folder / "mechanisms" / "m.sotto"
        self.key, self.pub = self.folder / "k.key", self.folder / "k.pub"
        sotto("keygen", "-o", self.folder / "k", "--no-password")
        self.make(self.path, eps)
        (self.folder / "token").touch(0o600)
        (self.folder / "token").write_text(TOKEN + "\n")
        self.report, self.line = self.reports(self.path)
        self.size = len(self.report)

    def make(self, path, eps):
        sotto("train", "direct", "--force", "--data",
              self.folder / "data.csv", "--label",
              "colour", "--eps", eps, "-o", path)
        sotto("sign", path, "--key", self.key)

    def reports(self, path):
        """One report of a mechanism, in both forms."""
        binary, lines = self.folder / "r.bin", self.folder / "r.jsonl"
        sotto("privatise", path, self.folder / "data.csv", "--force", "-o", binary)
        sotto("privatise", path, self.folder / "data.csv", "--force", "-o", lines)
        first = lines.read_text().splitlines()[0]
        data = binary.read_bytes()
        return data[: len(data) // (data.count(b"STO1"))], first

    def new(self, count=1):
        """Reports with ids of their own."""
        return b"".join(self.report[:36] + os.urandom(16) + self.report[52:]
                        for _ in range(count))


class Collector:
    """sotto serve, from start to stop."""

    def __init__(self, campaign, *options, store="s.db",
                 listen="127.0.0.1:0", url=None, log="errors"):
        folder = campaign.folder
        self.campaign = campaign
        self.store = folder / store
        # Read by its name: a handle of ours would share its place in the file
        # with the collector's, which would write wherever we have just read.
        self.log = folder / log
        self.errors = open(self.log, "wb")
        port = folder / "port"
        port.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [SOTTO, "serve", "--mechanism", str(folder / "mechanisms"), "--pub",
             str(campaign.pub), "--store", url or f"sqlite:{self.store}",
             "--listen", listen, "--port-file", str(port), "--admin-token-file",
             str(folder / "token"), *map(str, options)],
            stdout=subprocess.PIPE, stderr=self.errors,
            stdin=subprocess.DEVNULL)
        atexit.register(self.process.kill)  # whatever a script ends with
        self.first = self.process.stdout.readline().decode()
        match = re.search(r":(\d+)", self.first)
        if match is None:
            raise AssertionError("it does not listen: " + self.said())
        self.port = int(match.group(1))
        self.operations = None
        if "--operations" in options:
            second = self.process.stdout.readline().decode()
            self.operations = int(second.rsplit(":", 1)[1])

    def said(self):
        return self.log.read_bytes().decode()

    def alive(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(60)
        finally:
            self.process.stdout.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """(status, headers, body) of one request."""
        own = connection or self.connect()
        own.request(method, path, body, headers or {})
        answer = own.getresponse()
        data = answer.read()
        if connection is None:
            own.close()
        return answer.status, answer.headers, data

    def send(self, body, kind=BINARY, name="m", connection=None):
        """(status, the answer's object) of some reports."""
        status, _, data = self.ask("POST", f"/v1/campaigns/{name}/reports",
                                   body, {"Content-Type": kind}, connection)
        return status, json.loads(data)

    def admin(self, path):
        return self.ask("GET", path,
                        headers={"Authorization": "Bearer " + TOKEN})

    def metric(self, name):
        text = self.admin("/metrics")[2].decode()
        found = re.search("^sotto_" + re.escape(name) + r" (\d+)$", text, re.M)
        return int(found.group(1)) if found else None

    def raw(self, data, timeout=10, half_close=False):
        """What comes back to these bytes until the other side closes or is
        silent."""
        with socket.create_connection(("127.0.0.1", self.port), 10) as s:
            s.settimeout(timeout)
            got = b""
            try:
                s.sendall(data)
                if half_close:
                    s.shutdown(socket.SHUT_WR)
                while True:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
            except OSError:
                pass
            return got


def status_of(answer):
    """Of the first answer that is none on the way to another; None: none."""
    match = re.match(rb"(?:HTTP/1\.1 100 .*\r\n\r\n)?HTTP/1\.1 (\d\d\d) ",
                     answer)
    return int(match.group(1)) if match else None


def until(truth, seconds=10):
    """Whether something became true in time."""
    end = time.monotonic() + seconds * SLOW
    while not truth():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def scratch():
    return tempfile.TemporaryDirectory(prefix="sotto-test.")
