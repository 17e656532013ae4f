"""lockout.py: a crowd that takes all places for connections, and honest clients
beside it. Not run by itself: tests/collector/test_lockout.py and
scripts/lockout do.

The crowd comes from addresses of its own, each in a /24 of its own, holds as
many connections as it gets, and opens another one as soon as one is closed. It
is a process, and so are the honest clients, which come from other addresses:
each sends one report over a new connection, again and again, and counts what
was answered with 200 within a second of connecting."""
import json
import multiprocessing
import os
import resource
import select
import socket
import time

PATIENCE = 1.0  # seconds that an honest client waits
KINDS = ("idle", "heads", "bodies", "mixed")
MIXED = ("idle", "heads", "bodies", "served")
HEAD = (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/octet-stream\r\nContent-Length: %d\r\n")


def source(i):
    return f"127.{1 + i // 200}.{i % 200}.1"


def first_bytes(kind):
    """What one of the crowd sends at once; it drips on unless it is idle."""
    return {"idle": b"", "heads": b"POST /v1/campaigns/m/reports HTTP/1.1\r\nX",
            "bodies": HEAD % 100000 + b"\r\nSTO1",
            "served": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"}[kind]


class Crowd:
    """`most` connections of `addresses`, as far as they are let in."""

    def __init__(self, port, kind, addresses, most, rate):
        self.port, self.kind, self.rate = port, kind, rate
        self.addresses, self.most = addresses, most
        self.open = {}  # file: (socket, number, kind)
        self.free = list(range(most))
        self.poll = select.epoll()
        self.opened = self.closed = 0

    def connect(self, number):
        s = socket.socket()
        s.setblocking(False)
        s.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        s.bind((source(number % self.addresses), 0))
        s.connect_ex(("127.0.0.1", self.port))
        kind = self.kind
        if kind == "mixed":
            kind = MIXED[number % len(MIXED)]
        self.open[s.fileno()] = [s, number, kind, False]
        self.poll.register(s, select.EPOLLIN | select.EPOLLOUT |
                           select.EPOLLRDHUP)
        self.opened += 1

    def lose(self, file):
        s, number, _, _ = self.open.pop(file)
        s.close()
        self.free.append(number)
        self.closed += 1

    def handle(self, file, event):
        one = self.open.get(file)
        if one is None:
            return
        if event & (select.EPOLLHUP | select.EPOLLERR | select.EPOLLRDHUP):
            self.lose(file)
        elif not one[3] and event & select.EPOLLOUT:
            one[3] = True
            self.poll.modify(file, select.EPOLLIN | select.EPOLLRDHUP)
            self.push(file, first_bytes(one[2]))
        elif event & select.EPOLLIN and one[2] == "served":
            try:
                one[0].recv(4096)
            except OSError:
                self.lose(file)

    def push(self, file, data):
        try:
            if data:
                self.open[file][0].send(data)
        except OSError:
            self.lose(file)

    def run(self, stop):
        begin = time.monotonic()
        drip = begin + 1
        while not stop.is_set():
            may = self.most + self.rate * (time.monotonic() - begin)
            for _ in range(min(200, len(self.free))):
                if self.opened >= may:
                    break
                try:
                    self.connect(self.free.pop())
                except OSError:
                    break
            for file, event in self.poll.poll(0.002, 400):
                self.handle(file, event)
            if time.monotonic() > drip:
                drip = time.monotonic() + 0.5
                for file, one in list(self.open.items()):
                    if one[3] and one[2] in ("heads", "bodies"):
                        self.push(file, b"x")


def run_crowd(port, kind, addresses, most, rate, stop, tell):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 100, most + 100))
    crowd = Crowd(port, kind, addresses, most, rate)
    begin = time.monotonic()
    crowd.run(stop)
    tell.put((len(crowd.open), crowd.opened / (time.monotonic() - begin)))


def ask(address, port, data, patience=PATIENCE):
    """The time an answer of 200 took; None: there was none in time."""
    begin = time.monotonic()
    try:
        with socket.socket() as s:
            s.settimeout(patience)
            s.bind((address, 0))
            s.connect(("127.0.0.1", port))
            s.sendall(data)
            got = b""
            while b"\r\n\r\n" not in got:
                left = begin + patience - time.monotonic()
                if left <= 0:
                    return None
                s.settimeout(left)
                piece = s.recv(4096)
                if not piece:
                    return None
                got += piece
            took = time.monotonic() - begin
            return took if b" 200 " in got[:16] and took < patience else None
    except OSError:
        return None


def run_honest(number, port, report, pause, stop, tell):
    """Tries again and again: what each try took."""
    took = []
    while not stop.is_set():
        body = report[:36] + os.urandom(16) + report[52:]
        took.append(ask(f"127.250.{number}.1", port,
                        HEAD % len(body) + b"\r\n" + body))
        time.sleep(pause)
    tell.put(took)


def run_health(port, pause, stop, tell):
    took = []
    while not stop.is_set():
        took.append(ask("127.0.0.1", port,
                        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
        time.sleep(pause)
    tell.put(took)


def share(took):
    return sum(t is not None for t in took) / max(1, len(took))


def crowd_out(port, health_port, report, kind, addresses, most, seconds,
              rate=1e9, clients=4, pause=0.05):
    """What honest clients got beside a crowd that has been there for two
    seconds, and opens `rate` connections a second at most."""
    context = multiprocessing.get_context("fork")
    stop, done = context.Event(), context.Event()
    crowd_told, told, health = (context.SimpleQueue() for _ in range(3))
    crowd = context.Process(target=run_crowd, args=(
        port, kind, addresses, most, rate, stop, crowd_told))
    crowd.start()
    time.sleep(2)
    others = [context.Process(target=run_honest, args=(
        i, port, report, pause, done, told)) for i in range(clients)]
    others.append(context.Process(target=run_health, args=(
        health_port, pause, done, health)))
    for other in others:
        other.start()
    time.sleep(seconds)
    done.set()
    took = [t for _ in range(clients) for t in told.get()]
    health_took = health.get()
    stop.set()
    held, rate = crowd_told.get()
    for process in (crowd, *others):
        process.join()
    good = sorted(t for t in took if t is not None)
    return {"kind": kind, "addresses": addresses, "crowd": most, "held": held,
            "opened_s": round(rate), "tries": len(took),
            "served": round(share(took), 4),
            "worst_ms": round(1000 * good[-1], 1) if good else None,
            "health_tries": len(health_took),
            "health": round(share(health_took), 4)}


def show(row):
    return json.dumps(row)
