"""stub.py: a collector for tests: it keeps every byte that came, answers as
docs/collector.md says, and misbehaves as a test asks it to."""
import json
import os
import pathlib
import socket
import sqlite3
import ssl
import subprocess
import tempfile
import threading

SOTTO = os.environ["SOTTO"]
HEADER = 52  # bytes of a report before its payload
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)
        print("FAILED:", what, flush=True)


class Stub:
    """Listens on a port of its own, a thread for each connection. `act` is
    called with (stub, connection, request) before the usual answer and returns
    whether it has dealt with the request itself. What every run asks first,
    the signature of the mechanism, is answered as it should be and kept apart,
    in `checks`, unless `checking` is False: then it is a request like others."""

    mechanism = signature = None  # the last device's, or a stub's own

    def __init__(self, size, act=None, context=None, host="127.0.0.1"):
        self.size = size  # of a report
        self.act = act
        self.context = context
        self.requests = []  # (number of the connection, all bytes)
        self.checks = []  # the same, of the first question
        self.checking = True
        self.seen = {}  # id to report, in the order of arrival
        self.different = 0  # reports with a known id and other bytes
        self.connections = 0
        self.lock = threading.Lock()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((host, 0))
        self.socket.listen(64)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def url(self, name="c", host="127.0.0.1"):
        scheme = "https" if self.context else "http"
        return f"{scheme}://{host}:{self.port}/v1/campaigns/{name}"

    def listen(self):
        while True:
            try:
                connection = self.socket.accept()[0]
            except OSError:
                return
            threading.Thread(
                target=self.serve, args=(connection,), daemon=True).start()

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def serve(self, connection):
        connection.settimeout(60)
        with self.lock:
            self.connections += 1
            number = self.connections
        try:
            if self.context:
                connection = self.context.wrap_socket(
                    connection, server_side=True)
            while self.serve_one(connection, number):
                pass
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    def serve_one(self, connection, number):
        data = b""
        while b"\r\n\r\n" not in data:
            got = connection.recv(65536)
            if not got:
                return False
            data += got
        head, _, body = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        while len(body) < length:
            got = connection.recv(65536)
            if not got:
                return False
            body += got
        request = head + b"\r\n\r\n" + body
        check = (self.checking and
                 b"/mechanism.minisig " in request.partition(b"\r\n")[0])
        with self.lock:
            (self.checks if check else self.requests).append((number, request))
        if self.act and not check and self.act(self, connection, request):
            return False
        self.reply(connection, request)
        return True

    def reply(self, connection, request):
        head, _, body = request.partition(b"\r\n\r\n")
        path = head.split(b" ")[1]
        if path.endswith(b"/mechanism"):
            send(connection, 200, self.mechanism)
        elif path.endswith(b"/mechanism.minisig"):
            send(connection, 200, self.signature)
        else:
            send(connection, 200, json.dumps(self.take(body)).encode())

    def take(self, body, refuse=()):
        """Takes the reports of a body; the answer. `refuse`: their places."""
        duplicates, refusals = [], []
        with self.lock:
            for at in range(0, len(body), self.size):
                report = body[at : at + self.size]
                place, name = at // self.size, report[36:52]
                if place in refuse:
                    refusals.append({"report": place, "code": "impossible",
                                     "why": "no device sends this"})
                elif name in self.seen:
                    duplicates.append(place)
                    self.different += self.seen[name] != report
                else:
                    self.seen[name] = report
        count = len(body) // self.size
        return {"accepted": count - len(duplicates) - len(refusals),
                "duplicate": len(duplicates), "refused": len(refusals),
                "duplicates": duplicates, "refusals": refusals}


def send(connection, code, body, *lines):
    head = [f"HTTP/1.1 {code} Word", f"Content-Length: {len(body)}", *lines]
    connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)


def cut(connection):
    """Ends a connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          b"\1\0\0\0\0\0\0\0")
    connection.close()


def run(status, *words, **more):
    """Runs sotto; what it printed. `status`: what its own must be."""
    done = subprocess.run([SOTTO, *words], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False,
                          **more)
    if done.returncode != status:
        expect(False, f"sotto {' '.join(words)[:160]}: status "
                      f"{done.returncode}, not {status}\n{done.stdout}"
                      f"{done.stderr}")
    return done


def says(done, *pieces):
    for piece in pieces:
        expect(piece in done.stderr,
               f"no '{piece}' in the message: {done.stderr}")


class Device:
    """A folder with a signed mechanism, a ledger and people; `words` are the
    arguments of sotto send."""

    def __init__(self, people=5):
        memory = "/dev/shm"  # nothing here is about a disk, and flushes wait
        self.folder = tempfile.TemporaryDirectory(
            prefix="sotto-test.",
            dir=memory if os.access(memory, os.W_OK) else None)
        os.chdir(self.folder.name)
        rows = "".join(f"p{i},{20 + i % 60},{'red' if i % 3 else 'blue'}\n"
                       for i in range(people))
        pathlib.Path("people.csv").write_text("name,age,colour\n" + rows)
        pathlib.Path("small.csv").write_text(
            "age,colour\n20,red\n40,blue\n80,red\n")
        run(0, "train", "direct", "--data", "small.csv", "--eps", "2", "-o",
            "m.sotto")
        run(0, "keygen", "-o", "k", "--no-password")
        run(0, "sign", "m.sotto", "--key", "k.key")
        self.new_ledger()
        self.mechanism = pathlib.Path("m.sotto").read_bytes()
        self.signature = pathlib.Path("m.sotto.minisig").read_bytes()
        Stub.mechanism, Stub.signature = self.mechanism, self.signature
        done = run(0, "inspect", "m.sotto", "--json")
        about = json.loads(done.stdout)
        self.hash = about["hash"] if "hash" in about else about["mechanism"]
        blank = json.loads(run(0, *self.words("http://127.0.0.1:1/v1/"
                                              "campaigns/c", "--dry-run",
                                              "--json")).stdout)["request"]
        self.size = int(blank.split(" bytes each")[0].split()[-1])

    def new_ledger(self):
        for name in ("l", "l.secret", "l.mark", "l.queue", "l.queue.lock"):
            pathlib.Path(name).unlink(missing_ok=True)
        run(0, "ledger", "new", "l", "--lifetime-eps", "4")

    def words(self, url, *more, mechanism="m.sotto", data="people.csv"):
        """Without spread and grid, so that no test waits for its time."""
        return ["send", mechanism, data, "--person", "name", "--ledger", "l",
                "--to", url, "--pub", "k.pub", "--spread", "0", "--grid", "0",
                *more]

    def charged(self):
        """The ids of all reports that the ledger has, in the order of asking:
        one a charge, and of one person and mechanism one at most."""
        ledger = sqlite3.connect("file:l?mode=ro", uri=True)
        rows = ledger.execute("SELECT id FROM charge ORDER BY sequence")
        ids = [row[0] for row in rows]
        ledger.close()
        return ids


def finish():
    print("all checks passed" if not failures else f"{len(failures)} failed")
    raise SystemExit(bool(failures))
