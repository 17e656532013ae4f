#!/usr/bin/python3
"""test_tls.py: the collector with TLS: 1.2 and 1.3 and nothing older, forward
secrecy and authenticated ciphers alone, no tickets, no resumed sessions, no
renegotiation; and without TLS no address that others can reach. scripts/tls asks
more tools."""
import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import warnings

from collecting import (BINARY, SLOW, SOTTO, Campaign, Collector, expect,
                        finish, scratch)

warnings.simplefilter("ignore", DeprecationWarning)


def certificate(folder):
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out",
         cert], check=True, capture_output=True)
    return cert, key


def version_of(c, version, ciphers=None):
    """The version that a client of no other gets; None: it is refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers(ciphers or "ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    try:
        with socket.create_connection(("127.0.0.1", c.port), 10) as s:
            with context.wrap_socket(s) as tls:
                tls.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
                expect(tls.recv(100).startswith(b"HTTP/1."), "no answer")
                expect(not tls.session_reused, "resumed")
                return tls.version()
    except (OSError, ssl.SSLError):
        return None


def client(c, *words, data=b""):
    """What openssl's client says of a connection, without its own limits."""
    ask = subprocess.Popen(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{c.port}", *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    try:
        said = ask.communicate(data, 30 * SLOW)[0]
    except subprocess.TimeoutExpired:
        ask.kill()
        said = ask.communicate()[0]
    return said.decode(errors="replace")


def agreed(c, *words):
    """The cipher that was agreed on; None: refused."""
    found = re.search(r"^New, .*, Cipher is (\S+)$", client(c, *words), re.M)
    return None if not found or found[1] == "(NONE)" else found[1]


def test_openssl(c):
    for version in ("-tls1_2", "-tls1_3"):
        expect(agreed(c, version), f"{version} is refused")
    everything = ("-cipher", "ALL:COMPLEMENTOFALL:@SECLEVEL=0")
    for version in ("-tls1", "-tls1_1"):
        expect(agreed(c, version, *everything) is None, f"{version} is taken")
    for cipher, what in (
            ("AES128-GCM-SHA256", "no forward secrecy"),
            ("AES128-SHA", "no forward secrecy, and CBC"),
            ("ECDHE-RSA-AES256-SHA384", "CBC"),
            ("DHE-RSA-AES256-GCM-SHA384", "a finite field"),
            ("ECDHE-RSA-CAMELLIA256-SHA384", "Camellia"),
            ("ADH-AES256-GCM-SHA384:AECDH-AES256-SHA", "nobody's key"),
            ("NULL-SHA256:ECDHE-RSA-NULL-SHA", "no cipher"),
            ("ALL:COMPLEMENTOFALL:!ECDHE", "anything but ECDHE"),
            ("ALL:COMPLEMENTOFALL:!AESGCM:!CHACHA20", "no good cipher")):
        found = agreed(c, "-tls1_2", "-cipher", cipher + ":@SECLEVEL=0")
        expect(found is None, f"{what} is taken: {found}")
    for cipher in ("ECDHE-RSA-AES128-GCM-SHA256",
                   "ECDHE-RSA-CHACHA20-POLY1305"):
        expect(agreed(c, "-tls1_2", "-cipher", cipher) == cipher, cipher)
    for group in ("ffdhe2048", "ffdhe8192"):
        expect(agreed(c, "-tls1_3", "-groups", group) is None, group)
    expect(agreed(c, "-tls1_2", "-fallback_scsv") is None, "a fallback")


def test_links(c, folder):
    """Nothing that a client could show again."""
    ask = b"GET /healthz HTTP/1.0\r\n\r\n"
    for version in ("-tls1_2", "-tls1_3"):
        session = folder / ("session" + version)
        said = client(c, version, "-ign_eof", "-sess_out", session, data=ask)
        expect("HTTP/1." in said and "ok" in said, f"{version}: {said[-300:]}")
        expect("session ticket:" not in said, f"{version}: a ticket")
        if session.exists():
            said = client(c, version, "-ign_eof", "-sess_in", session, data=ask)
            expect("Reused, " not in said, f"{version}: it was resumed")
            expect("New, TLS" in said, f"{version}: {said[-300:]}")
    said = client(c, "-tls1_2", data=b"R\n")
    expect("RENEGOTIATING" in said and (":error:" in said or "alert" in said),
           f"renegotiated: {said[-300:]}")
    expect("Secure Renegotiation IS supported" in said, "RFC 5746")
    expect("Compression: NONE" in said, "compression")


def refused(m, *options):
    done = subprocess.run(
        [SOTTO, "serve", "--mechanism", m.path, "--pub", m.pub, "--store",
         f"sqlite:{m.folder}/none.db", *options], capture_output=True,
        check=False, timeout=60)
    return done.returncode, done.stderr.decode()


def main():
    if shutil.which("openssl") is None:
        print("there is no openssl program")
        sys.exit(77)
    with scratch() as folder:
        m = Campaign(folder)
        cert, key = certificate(m.folder)
        c = Collector(m, "--tls-cert", cert, "--tls-key", key,
                      "--request-time", 2)
        expect("with TLS" in c.first, c.first)
        versions = ssl.TLSVersion
        expect(version_of(c, versions.TLSv1_3) == "TLSv1.3", "1.3")
        expect(version_of(c, versions.TLSv1_2) == "TLSv1.2", "1.2")
        for old in (versions.TLSv1, versions.TLSv1_1):
            expect(version_of(c, old) is None, f"{old}")
        for weak in ("AES128-SHA", "AES256-SHA256", "ECDHE-RSA-AES128-SHA"):
            expect(version_of(c, versions.TLSv1_2, weak + ":@SECLEVEL=0") is
                   None, weak)
        test_openssl(c)
        test_links(c, m.folder)
        context = ssl.create_default_context(cafile=str(cert))
        for _ in range(3):
            own = http.client.HTTPSConnection("127.0.0.1", c.port,
                                              context=context, timeout=30)
            for _ in range(5):
                own.request("POST", "/v1/campaigns/m/reports", m.new(300),
                            {"Content-Type": BINARY})
                answer = json.loads(own.getresponse().read())
                expect(answer["accepted"] == 300, f"over TLS: {answer}")
            own.close()
        expect(c.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 5)[:5] !=
               b"HTTP/", "plain on a port with TLS")
        with socket.create_connection(("127.0.0.1", c.port), 10) as s:
            s.settimeout(20)  # a handshake that never comes
            s.sendall(b"\x16\x03\x01")
            try:
                expect(len(s.recv(100)) < 100, "kept")
            except ConnectionError:
                pass
            except TimeoutError:
                expect(False, "a handshake is waited for")
        expect(c.stop() == 0, f"it stopped with a failure: {c.said()}")

        status, text = refused(m, "--listen", "0.0.0.0:0")
        expect(status == 3 and "TLS" in text, f"open without TLS: {text}")
        status, text = refused(m, "--tls-cert", cert)
        expect(status == 2 and "key" in text, f"no key: {text}")
        status, text = refused(m, "--tls-cert", key, "--tls-key", cert)
        expect(status == 2 and "PEM" in text, f"swapped: {text}")
        c = Collector(m, "--plain-behind-proxy", listen=":0")
        expect(c.send(m.new())[1]["accepted"] == 1, "behind a proxy")
        c.stop()
    finish()


main()
