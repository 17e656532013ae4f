#!/usr/bin/python3
"""test_operations.py: a place of their own for health and metrics; a token for
metrics and another for reports; tokens and certificate read again; clients that
a proxy names; the log's lines; --check-config."""
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import time

from collecting import (SLOW, TOKEN, Campaign, Collector, expect, finish,
                        scratch, status_of, until)

MONITOR = "a-token-of-the-monitor"
SERVE = (os.environ["SOTTO"], "serve")
# A request that arrives fast enough not to give way for half a minute.
BUSY = (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nHost: x\r\nContent-Type: "
        b"application/octet-stream\r\nContent-Length: 200000\r\n\r\nSTO1" +
        b"x" * 120000)


def get(c, path, port=None, token=None, more=b""):
    """What comes back to a request of a connection of its own."""
    with socket.create_connection(("127.0.0.1", port or c.port), 10) as s:
        s.settimeout(10 * SLOW)
        if token:
            more += b"Authorization: Bearer " + token.encode() + b"\r\n"
        s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n"
                  b"Connection: close\r\n" + more + b"\r\n")
        got = b""
        while piece := s.recv(65536):
            got += piece
    return got


def write_secret(path, text):
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(text + "\n")


def test_places(m):
    """What is answered where, and to whom."""
    write_secret(m.folder / "monitor", MONITOR)
    c = Collector(m, "--operations", "127.0.0.1:0", "--metrics-token-file",
                  m.folder / "monitor", store="places.db")
    for path, port, token, wanted in (
            (b"/healthz", c.port, None, 200),
            (b"/healthz", c.operations, None, 200),
            (b"/metrics", c.port, MONITOR, 404),
            (b"/metrics", c.operations, MONITOR, 200),
            (b"/metrics", c.operations, TOKEN, 401),
            (b"/metrics", c.operations, None, 401),
            (b"/v1/campaigns/m/batches", c.port, TOKEN, 204),
            (b"/v1/campaigns/m/batches", c.operations, TOKEN, 204),
            (b"/v1/campaigns/m/batches", c.operations, MONITOR, 401),
            (b"/v1/campaigns/m/mechanism", c.operations, None, 404)):
        got = get(c, path, port, token)
        expect(status_of(got) == wanted, f"{path} {token}: {got[:60]}")
    text = get(c, b"/metrics", c.operations, MONITOR).decode()
    for name in ('refused_total{what="request",why="token"} 3',
                 'info{version="', "start_time_seconds 1", "store_bytes ",
                 "store_free_bytes ", "reload_good 1", "reloads_total 0",
                 'answer_seconds_bucket{le="+Inf"}', "answer_seconds_count"):
        expect("\nsotto_" + name in text, f"no {name} in {text}")
    expect("certificate" not in text, "a certificate")
    types = re.findall(r"^# TYPE (\S+)", text, re.M)
    expect(len(types) == len(set(types)), "a name twice")
    expect(c.stop() == 0, c.said())


def test_rotation(m):
    """SIGHUP: another token from then on; one that is bad changes nothing."""
    other, secret = "another-token-of-mine", m.folder / "token"
    c = Collector(m, store="rotation.db")

    def answers(token):
        return status_of(get(c, b"/metrics", token=token))

    expect((answers(TOKEN), answers(other)) == (200, 401), "before")
    write_secret(secret, other)
    expect((answers(TOKEN), answers(other)) == (200, 401), "before a reload")
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: answers(other) == 200), "the new one is not taken")
    expect(answers(TOKEN) == 401, "the old one is")
    write_secret(secret, "short")
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: "reload-failed" in c.said()), "a bad one is taken")
    expect(answers(other) == 200, "it did not go on")
    text = get(c, b"/metrics", token=other)
    expect(b"\nsotto_reload_good 0\n" in text and
           b"\nsotto_reloads_total 1\n" in text and
           b"\nsotto_reload_failures_total 1\n" in text, "not counted")
    write_secret(secret, TOKEN)
    expect(c.stop() == 0, c.said())


def make_certificate(m, name, days):
    cert, key = m.folder / f"{name}.crt", m.folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
         "-days", str(days), "-out", cert, "-keyout", key],
        check=True, capture_output=True)
    return cert, key


def test_certificate(m):
    """A new certificate is shown after SIGHUP, and connections that are there
    go on; one that does not fit its key changes nothing."""
    cert, key = m.folder / "tls.crt", m.folder / "tls.key"
    first, second = make_certificate(m, "a", 10), make_certificate(m, "b", 20)

    def put(one, other=None):
        cert.write_bytes(one[0].read_bytes())
        key.touch(0o600)
        key.write_bytes((other or one)[1].read_bytes())

    def shown():
        return ssl.get_server_certificate(("127.0.0.1", c.port)).split()

    put(first)
    c = Collector(m, "--tls-cert", cert, "--tls-key", key, "--operations",
                  "127.0.0.1:0", store="certificate.db")
    expect(shown() == first[0].read_text().split(), "the first")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", c.port)) as plain:
        kept = context.wrap_socket(plain)
        put(second)
        c.process.send_signal(signal.SIGHUP)
        expect(until(lambda: shown() == second[0].read_text().split()),
               "the second")
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        expect(kept.recv(100).startswith(b"HTTP/1.1 200"), "one that was there")
    put(first, second)
    c.process.send_signal(signal.SIGHUP)
    expect(until(lambda: "reload-failed" in c.said()), "a key of another one")
    expect(shown() == second[0].read_text().split(), "it did not go on")
    # Operations are at a loopback address: without TLS.
    text = get(c, b"/metrics", c.operations, TOKEN).decode()
    end = int(re.search(r"^sotto_certificate_end_seconds (\d+)", text,
                        re.M).group(1))
    asked = subprocess.run(["openssl", "x509", "-enddate", "-noout", "-in",
                            second[0]], check=True, capture_output=True)
    wanted = ssl.cert_time_to_seconds(asked.stdout.decode().split("=")[1]
                                      .strip())
    expect(end == wanted, f"it ends {end}, not {wanted}")
    expect(c.stop() == 0, c.said())
    # A key that others can read is refused.
    put(first)
    key.chmod(0o644)
    done = check_config(m, "--tls-cert", cert, "--tls-key", key)
    expect(done.returncode == 3 and b"chmod 600" in done.stderr, f"{done}")
    key.chmod(0o600)
    done = check_config(m, "--tls-cert", cert, "--tls-key", key)
    expect(done.returncode == 0 and b"would start" in done.stdout, f"{done}")


def check_config(m, *more, store="check.db", mechanism=None):
    return subprocess.run(
        [*SERVE, "--check-config", "--mechanism",
         mechanism or m.folder / "mechanisms", "--pub", m.pub, "--store",
         f"sqlite:{m.folder / store}", *map(str, more)],
        capture_output=True, check=False, timeout=60)


def test_check_config(m):
    """All is looked at, nothing is made, and one that runs is left alone."""
    done = check_config(m)
    expect(done.returncode == 0, f"{done}")
    expect(not list(m.folder.glob("check.db*")), "a store was made")
    c = Collector(m, store="check.db")
    done = check_config(m, "--listen", f"127.0.0.1:{c.port}")
    expect(done.returncode == 0, f"beside one that runs: {done}")
    expect(c.send(m.new())[1]["accepted"] == 1, "it is left alone")
    expect(c.stop() == 0, c.said())
    (m.folder / "damaged.db").write_bytes(b"no store" * 1000)
    (m.folder / "open").touch(0o644)
    (m.folder / "open").write_text(TOKEN)
    (m.folder / "open").chmod(0o644)
    for status, more in (
            (3, {"more": ("--listen", "0.0.0.0:1")}),
            (3, {"more": ("--operations", "0.0.0.0:1")}),
            (2, {"more": ("--operations", "nowhere")}),
            (2, {"more": ("--metrics-token-file", m.folder / "token",
                          "--admin-token-file", m.folder / "token")}),
            (3, {"more": ("--metrics-token-file", m.folder / "open")}),
            (2, {"more": ("--proxy-protocol", "--client-header", "X")}),
            (1, {"store": "no/folder/s.db"}),
            (2, {"store": "damaged.db"}),
            (1, {"mechanism": m.folder / "nothing"})):
        more = dict(more)
        done = check_config(m, *more.pop("more", ()), **more)
        expect(done.returncode == status and done.stderr and not done.stdout,
               f"{more}: {done}")


def test_proxy_protocol(m):
    """Limits are for whom the header names, and what has none is closed."""
    c = Collector(m, "--plain-behind-proxy", "--proxy-protocol",
                  "--connections", 20, "--per-address", 2,
                  "--operations", "127.0.0.1:0", store="proxy.db")
    tail = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    line = b"PROXY TCP4 %s 127.0.0.1 5000 80\r\n"
    binary = (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" +
              socket.inet_aton("192.0.2.7") + socket.inet_aton("127.0.0.1") +
              struct.pack("!HH", 5, 80))
    expect(status_of(c.raw(line % b"192.0.2.1" + tail + b"\r\n", 1)) == 200,
           "a line")
    expect(status_of(c.raw(binary + tail + b"\r\n", 1)) == 200, "binary")
    expect(c.raw(tail + b"\r\n", 1) == b"", "without a header")
    expect(c.raw(b"PROXY nonsense\r\n" + tail + b"\r\n", 1) == b"", "nonsense")
    with socket.create_connection(("127.0.0.1", c.port)) as s:
        s.settimeout(10 * SLOW)
        for piece in (binary[:7], binary[7:] + tail[:9], tail[9:] + b"\r\n"):
            s.sendall(piece)
            time.sleep(0.05)
        expect(s.recv(100).startswith(b"HTTP/1.1 200"), "in pieces")
    held = [socket.create_connection(("127.0.0.1", c.port)) for _ in range(2)]
    for s in held:
        s.sendall(line % b"192.0.2.9" + BUSY)
    time.sleep(0.2)
    expect(c.raw(line % b"192.0.2.9" + tail + b"\r\n", 1) == b"", "a third")
    expect(status_of(c.raw(line % b"192.0.2.10" + tail + b"\r\n", 1)) == 200,
           "another one's")
    text = get(c, b"/metrics", c.operations, TOKEN)
    expect(b'why="proxy"} 2\n' in text and b'why="address"} 1\n' in text,
           "they are not counted")
    expect("192.0.2" not in c.said() and "proxy-header" in c.said(), c.said())
    for s in held:
        s.close()
    expect(c.stop() == 0, c.said())


def test_client_header(m):
    """The same by a header: its last address, of the last line."""
    c = Collector(m, "--plain-behind-proxy", "--client-header",
                  "X-Forwarded-For", "--per-address", 2, store="header.db")
    head = (b"POST /v1/campaigns/m/reports HTTP/1.1\r\nHost: x\r\n"
            b"Content-Type: application/octet-stream\r\nContent-Length: %d\r\n"
            b"X-Forwarded-For: 192.0.2.200\r\nX-Forwarded-For: 198.51.100.1, "
            b"%s\r\n\r\n")
    held = []
    for _ in range(2):
        held.append(socket.create_connection(("127.0.0.1", c.port)))
        held[-1].sendall(head % (m.size, b"192.0.2.1"))
    time.sleep(0.2 * SLOW)
    for name, wanted in ((b"192.0.2.1", 503), (b"192.0.2.2", 200),
                         (b"[2001:db8::1]:7", 200), (b"unknown", 200)):
        got = c.raw(head % (m.size, name) + m.new(), 1)
        expect(status_of(got) == wanted, f"{name}: {got[:80]}")
    for s in held:
        s.settimeout(10 * SLOW)
        s.sendall(m.new())
        expect(s.recv(100).startswith(b"HTTP/1.1 200"), "one of two")
        s.close()
    expect(until(lambda: "client-full" in c.said()), "not said")
    expect("192.0.2" not in c.said(), c.said())
    expect(c.stop() == 0, c.said())


def test_core(m):
    """Reports on their way are in no core file."""
    c = Collector(m, store="core.db")
    with open(f"/proc/{c.process.pid}/limits", encoding="ascii") as limits:
        line = next(x for x in limits if x.startswith("Max core file"))
    expect(line.split()[4:6] == ["0", "0"], line)
    expect(c.stop() == 0, c.said())


def test_library(m):
    """What the HTTP library answers by itself is counted, too."""
    c = Collector(m, "--window", 2, store="library.db")
    for _ in range(2):
        got = c.raw(b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 1)
        expect(status_of(got) == 505, f"{got}")
    expect(until(lambda: c.metric(
        'refused_total{what="request",why="malformed"}') == 2),
        "they are not counted")
    expect(until(lambda: " heads-malformed: " in c.said()), "not said")
    expect(c.stop() == 0, c.said())
    # What one device may have sent is not said before the window is over.
    c = Collector(m, store="library.db", log="apart")
    c.raw(b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 1)
    expect(c.ask("GET", "/metrics")[0] == 401, "a metric without a token")
    expect(until(lambda: " token-wrong: " in c.said()), "a token is")
    time.sleep(2)
    expect("heads-malformed" not in c.said(), "said within the window")
    expect(c.stop() == 0, c.said())


def test_log(m):
    """Time, level and event, for people and as JSON; the journal has a time
    of its own."""
    c = Collector(m, store="log.db")
    expect(c.stop() == 0, c.said())
    for line, event in zip(c.said().splitlines(),
                           ("started", "stopping", "stopped"), strict=True):
        expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info " +
                            event + ": .+", line), line)
    c = Collector(m, "--json", store="log.db")
    expect(c.stop() == 0, c.said())
    lines = [json.loads(line) for line in c.said().splitlines()]
    expect([line["event"] for line in lines] ==
           ["started", "stopping", "stopped"] and
           all(set(line) == {"time", "level", "event", "message"}
               for line in lines), f"{lines}")
    before = os.environ.get("JOURNAL_STREAM")
    with open(m.folder / "errors", "wb") as errors:
        found = os.fstat(errors.fileno())
        os.environ["JOURNAL_STREAM"] = f"{found.st_dev}:{found.st_ino}"
    c = Collector(m, store="log.db")
    expect(c.stop() == 0 and c.said().startswith("<6>started: "), c.said())
    del os.environ["JOURNAL_STREAM"]
    if before is not None:
        os.environ["JOURNAL_STREAM"] = before


def main():
    with scratch() as folder:
        m = Campaign(folder)
        test_places(m)
        test_rotation(m)
        test_certificate(m)
        test_check_config(m)
        test_proxy_protocol(m)
        test_client_header(m)
        test_core(m)
        test_library(m)
        test_log(m)
    finish()


main()
