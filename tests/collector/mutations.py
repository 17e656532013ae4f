"""mutations.py: requests that are nearly right, and a crowd of connections that
sends them all at once. Not run by itself; test_abuse.py does.

A request is put together from parts, each of which may be wrong (a method, a
path, a version, headers, a body), and then its bytes may be changed. How it is
sent varies, too: at once, in pieces, slowly, cut and reset, or behind a request
that is right, in the same connection."""
import collections
import errno
import heapq
import json
import os
import re
import selectors
import socket
import time

from collecting import BINARY, LINES, TOKEN

METHODS = (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE",
           b"CONNECT", b"PATCH", b"post", b"", b"P" * 1000, b"PO\0ST", b"PRI")
VERSIONS = (b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/11",
            b"http/1.1", b"", b"HTTP/1.1 ", b"HTTP/1.1\t", b"HTTP/\xff.1")
PATHS = (b"/", b"*", b"", b"//v1//campaigns/m/reports", b"/v1/campaigns/m/x",
         b"/v1/campaigns//reports", b"/v1/campaigns/../m/reports",
         b"/v1/campaigns/%6d/reports", b"/v1/campaigns/m/reports/",
         b"/v1/campaigns/m/reports?", b"/v1/campaigns/m/reports?a=b&&=%",
         b"/v1/campaigns/m%00/reports", b"/v1/campaigns/" + b"m" * 3000,
         b"/v1/campaigns/m/batches?after=18446744073709551616",
         b"/v1/campaigns/m/batches?after=-1", b"/v1/campaigns/m/batches?after",
         b"http://other/v1/campaigns/m/reports", b"/metrics", b"/healthz#x",
         b"/v1/campaigns/\xf0\x9f/reports", b"/v1/campaigns/m/reports x")
LENGTHS = (b"0", b"1", b"-1", b"+5", b"0x10", b"1e3", b" ", b"5,5", b"007",
           b"4194304", b"4194305", b"18446744073709551615", b"9" * 30,
           b"18446744073709551616", b"2147483648", b"4294967296", b"1 1")
HEADERS = (
    b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: identity", b"Transfer-Encoding : chunked",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    b"Content-Encoding: gzip", b"Content-Type: text/plain", b"Content-Type:",
    b"Content-Type: " + b"a/b;" * 500, b"Expect: 100-continue", b"Expect: 1",
    b"Connection: close", b"Connection: Upgrade\r\nUpgrade: h2c",
    b"Connection: keep-alive, close", b"If-None-Match: \"x\"",
    b"If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", b"Range: bytes=0-1",
    b"Host:", b"Host: a\r\nHost: b", b"no colon", b": no name", b"X:" + b" " *
    900, b"X: a\r\n folded", b"\tX: y", b"X\0: y", b"X: \0\xff", b"X: a\rb",
    b"Cookie: " + b"a=b; " * 300, b"Authorization: Bearer ", b"Authorization",
    b"Authorization: Bearer " + TOKEN.encode()[:-1] + b"x",
    b"Authorization: bearer " + b"z" * 2000, b"Authorization: Basic eDp4",
    b"Forwarded: for=1.2.3.4", b"X-Forwarded-For: 1.2.3.4", b"A: b\r\n" * 150,
    b"Trailer: Content-Length", b"TE: trailers", b"Content-MD5: x")
CHUNKS = (b"0", b"-1", b"zz", b"ffffffffffffffff", b"10000000000000000", b"5;x",
          b"0x5", b" 5", b"5 ", b"", b"00000000000000005")
WORDS = (b"\r\n", b"\0", b": ", b"\r\n\r\n", b"9", b"-1", b"STO1", b'{"',
         b"%00", b"HTTP/", b"\xff\xfe", b"null", b"[", b"]]", b"1e999", b"\\u",
         b'"', b"}", b"Content-Length: 7\r\n", b" ", b"\n")
END = b"\r\n"
ANSWER = re.compile(rb"HTTP/1\.[01] (\d\d\d) .*\r\n")


def mutate(rng, data, most=20):
    """Some of its bytes changed, doubled, taken away, or others put in."""
    data = bytearray(data)
    for _ in range(min(most, rng.choice((1, 1, 1, 2, 5, 20)))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 2:
            del data[at:at + rng.randrange(1, 30)]
        elif kind == 3:
            data[at:at] = data[at:at + rng.randrange(60)]
        elif kind == 4 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        else:
            data[at:at] = rng.choice(WORDS)
    return bytes(data)


class Maker:
    """Requests that are nearly right, of one campaign."""

    def __init__(self, campaign, rng):
        self.campaign, self.rng = campaign, rng
        self.line = json.loads(campaign.line)

    def new_id(self):
        return self.rng.randbytes(16)

    def binary(self, count):
        report = self.campaign.report
        return b"".join(report[:36] + self.new_id() + report[52:]
                        for _ in range(count))

    def lines(self, count):
        """As the campaign's own line, with ids of their own."""
        text = []
        for _ in range(count):
            line = dict(self.line)
            for name in line:
                if name in ("id", "report_id"):
                    line[name] = self.new_id().hex()
            text.append(json.dumps(line, separators=(",", ":")))
        return "\n".join(text).encode() + b"\n"

    def body(self):
        """(type, bytes) of some reports, all of them right."""
        count = self.rng.choice((1, 1, 1, 2, 3, 10, 40))
        if self.rng.random() < 0.5:
            return BINARY.encode(), self.binary(count)
        return LINES.encode(), self.lines(count)

    def wrong_body(self, body):
        kind = self.rng.randrange(7)
        if kind == 0:
            return b""
        if kind == 1:
            return body[:self.rng.randrange(len(body) + 1)]
        if kind == 2:
            return body + body
        if kind == 3:
            return self.rng.randbytes(self.rng.choice((1, 52, 300, 9000)))
        return mutate(self.rng, body)

    def chunked(self, body):
        """A body in chunks, some of whose sizes are wrong."""
        out, rng = b"", self.rng
        while body:
            size = rng.randrange(1, len(body) + 1)
            told = (b"%x" % size if rng.random() < 0.7 else rng.choice(CHUNKS))
            out += told + END + body[:size] + rng.choice((END, END, b"", b"x"))
            body = body[size:]
        return out + rng.choice((b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0", b""))

    def right(self):
        kind, body = self.body()
        return (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nHost: x\r\n"
                b"Content-Type: " + kind + b"\r\nContent-Length: %d\r\n\r\n" %
                len(body) + body)

    def get(self):
        path = self.rng.choice((
            b"/v1/campaigns/m/mechanism", b"/v1/campaigns/m/mechanism.minisig",
            b"/healthz", b"/metrics", b"/v1/campaigns/m/batches?after=999999"))
        return b"GET", path, [b"Host: x", b"Authorization: Bearer " +
                              TOKEN.encode()], b""

    def post(self):
        kind, body = self.body()
        return (b"POST", b"/v1/campaigns/m/reports",
                [b"Host: x", b"Content-Type: " + kind], body)

    def nearly(self):
        """One request."""
        rng = self.rng
        method, path, headers, body = (self.post() if rng.random() < 0.8 else
                                       self.get())
        version, length = b"HTTP/1.1", None
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            kind = rng.randrange(10)
            if kind == 0:
                method = rng.choice(METHODS)
            elif kind == 1:
                path = rng.choice(PATHS)
            elif kind == 2:
                version = rng.choice(VERSIONS)
            elif kind == 3:
                length = rng.choice(LENGTHS + (b"%d" % (len(body) - 1),
                                               b"%d" % (len(body) + 1)))
            elif kind == 4 and body:
                headers.append(b"Transfer-Encoding: chunked")
                body = self.chunked(body)
                length = b"" if rng.random() < 0.8 else length
            elif kind < 7:
                headers.insert(rng.randrange(len(headers) + 1),
                               rng.choice(HEADERS))
            else:
                body = self.wrong_body(body)
        if length is None and (body or method == b"POST"):
            length = b"%d" % len(body)
        if length:
            headers.insert(rng.randrange(len(headers) + 1),
                           b"Content-Length: " + length)
        data = (method + b" " + path + b" " + version + END +
                b"".join(h + END for h in headers) + END + body)
        return mutate(rng, data) if rng.random() < 0.4 else data

    def long(self):
        """One that is too long, somewhere."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return b"GET /" + b"a" * 80000 + b" HTTP/1.1\r\n\r\n"
        if kind == 1:
            return b"GET / HTTP/1.1\r\n" + b"A: " + b"b" * 80000 + END * 2
        if kind == 2:
            return (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nContent-Type: " +
                    BINARY.encode() + b"\r\nContent-Length: 5000000\r\n\r\n" +
                    b"a" * 5000000)
        body = self.binary(10001)
        return (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nContent-Type: " +
                BINARY.encode() + b"\r\nContent-Length: %d\r\n\r\n" %
                len(body) + body)


def read(got):
    """(status, body) of all whole answers, but for those on the way to
    another."""
    at, found = 0, []
    while match := ANSWER.match(got, at):
        body = got.find(b"\r\n\r\n", at) + 4
        if body < 4:
            break
        length = re.search(rb"\r\nContent-Length: (\d+)", got[at:body])
        at = body
        if length and got[at:at + 7] != b"HTTP/1.":  # as of HEAD
            at += int(length[1])
        if at <= len(got) and int(match[1]) >= 200:
            found.append((int(match[1]), got[body:at]))
    return found


# ---- The crowd ---------------------------------------------------------------

class Sending:
    """What one connection sends: pieces, pauses between them, and its end:
    `answer` (it goes when as many came as it sent requests), `wait` (until the
    other side goes), `half` (nothing more will come; the server does not answer
    one who says so too early), `late` (the same, a little later), `reset`."""

    def __init__(self, rng, maker):
        self.pause, self.requests = 0, 1
        self.end = rng.choices(("answer", "wait", "half", "late"),
                               (70, 4, 13, 13))[0]
        kind = rng.random()
        data = maker.nearly()
        if kind < 0.08:  # behind one that is right
            data = maker.right() + data
            self.requests = 2
        elif kind < 0.11:  # what is right, cut: nothing of it counts
            data = maker.right()
            data = data[:rng.randrange(len(data))]
            self.end = "reset"
        elif kind < 0.112:
            data = maker.long()
        self.pieces = [data]
        if rng.random() < 0.05 and len(data) < 5000:  # slow
            size = max(1, len(data) // rng.choice((2, 5, 20)))
            self.pieces = [data[i:i + size] for i in range(0, len(data), size)]
            self.pause = rng.choice((0.01, 0.05, 0.3))
        self.data, self.got = data, b""
        self.patient = self.end == "answer"


class Crowd:
    """Sends until `count` requests are sent, `width` connections at a time, and
    counts what comes back. `wrong` are (data, answer) that must not be."""

    def __init__(self, port, maker, rng, width, allowed, patience=60):
        self.port, self.maker, self.rng, self.width = port, maker, rng, width
        self.allowed, self.patience = allowed, patience
        self.statuses = collections.Counter()
        self.ends = collections.Counter()
        self.wrong, self.accepted = [], 0
        self.open, self.timers, self.number = {}, [], 0
        self.selector = selectors.DefaultSelector()

    def run(self, count, look=lambda sent: None):
        begun = 0
        while begun < count or self.open:
            while begun < count and len(self.open) < self.width:
                self.begin(Sending(self.rng, self.maker))
                begun += 1
                if begun % 10000 == 0:
                    look(begun)
            wait = 0.05
            if self.timers:
                wait = max(0, min(wait, self.timers[0][0] - time.monotonic()))
            for key, events in self.selector.select(wait):
                if key.data in self.open:
                    self.turn(key.data, events)
            now = time.monotonic()
            while self.timers and self.timers[0][0] <= now:
                number = heapq.heappop(self.timers)[2]
                if number in self.open:
                    self.go_on(number)

    def begin(self, sending):
        s = socket.socket()
        s.setblocking(False)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        failed = s.connect_ex(("127.0.0.1", self.port))
        if failed not in (0, errno.EINPROGRESS):
            raise OSError(failed, os.strerror(failed))
        self.number += 1
        sending.socket, sending.last = s, time.monotonic()
        self.open[self.number] = sending
        self.selector.register(s, selectors.EVENT_READ |
                               selectors.EVENT_WRITE, self.number)

    def later(self, number, seconds):
        self.number += 1  # so that no two are equal
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.number,
                                     number))

    def turn(self, number, events):
        sending = self.open[number]
        try:
            if events & selectors.EVENT_READ:
                piece = sending.socket.recv(262144)
                sending.got += piece
                if not piece:
                    self.close(number, "closed")
                    return
                if (sending.patient and not sending.pieces and
                        len(read(sending.got)) >= sending.requests):
                    self.close(number, "answered")
                    return
            if events & selectors.EVENT_WRITE:
                self.selector.modify(sending.socket, selectors.EVENT_READ,
                                     number)
                self.write(number)
        except BlockingIOError:
            pass
        except OSError:
            self.close(number, "reset")

    def write(self, number):
        """The next piece; then the end."""
        sending = self.open[number]
        if sending.pieces:
            done = sending.socket.send(sending.pieces[0])
            sending.pieces[0] = sending.pieces[0][done:]
            if sending.pieces[0]:
                self.selector.modify(sending.socket, selectors.EVENT_READ |
                                     selectors.EVENT_WRITE, number)
                return
            sending.pieces.pop(0)
            if sending.pieces:
                self.later(number, sending.pause)
                return
        if sending.end == "reset":
            sending.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      b"\1\0\0\0\0\0\0\0")
            self.close(number, "ours")
        elif sending.end == "late":
            sending.end = "half"
            self.later(number, 0.01)
        else:
            if sending.end == "half":
                sending.socket.shutdown(socket.SHUT_WR)
            sending.end = "over"
            self.later(number, self.patience)

    def go_on(self, number):
        if self.open[number].end == "over":
            self.close(number, "never")
            return
        try:
            self.write(number)
        except BlockingIOError:
            self.later(number, 0.01)
        except OSError:
            self.close(number, "reset")

    def close(self, number, how):
        sending = self.open.pop(number)
        self.selector.unregister(sending.socket)
        sending.socket.close()
        self.ends[how] += 1
        if how == "ours":
            return
        found = read(sending.got)
        statuses = {status for status, _ in found}
        for status, text in found:
            self.statuses[status] += 1
            if status == 200 and text.startswith(b'{"accepted":'):
                self.accepted += json.loads(text)["accepted"]
        self.statuses["nothing"] += not found
        if how == "never" or not statuses <= self.allowed:
            self.wrong.append((how, sending.data, sending.got))
