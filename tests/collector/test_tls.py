#!/usr/bin/python3
"""test_tls.py: the collector with TLS: 1.2 and 1.3 and nothing older, no
resumed sessions; and without TLS no address that others can reach."""
import http.client
import json
import shutil
import socket
import ssl
import subprocess
import sys
import warnings

from collecting import (BINARY, SOTTO, Campaign, Collector, expect, finish,
                        scratch)

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
