#!/usr/bin/python3
"""test_tls.py: certificates that are expired, self-signed, another host's or of
another authority are refused, and nothing is sent; the right one is taken with
--ca; TLS 1.1 is not spoken; no session is resumed."""
import json
import os
import shutil
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import (SOTTO, Device, Stub, expect, finish, run,  # noqa: E402
                  says, send)


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
            "-out", f"{name}.pem", "-days", "30", "-subj", f"/CN={name}")


def make_certificate(name, alternative, authority="ca", days="30"):
    """NAME.pem and NAME.key for these names, signed by the authority."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
            "/CN=collector")
    with open(f"{name}.ext", "w", encoding="utf-8") as file:
        file.write(f"subjectAltName={alternative}\n")
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem",
            "-CAkey", f"{authority}.key", "-CAcreateserial", "-out",
            f"{name}.pem", "-days", days, "-extfile", f"{name}.ext")


def serve(device, name, version=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if version:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
    context.load_cert_chain(f"{name}.pem", f"{name}.key")
    return Stub(device.size, context=context)


def check_refused(device, name, *pieces, ca="ca.pem", version=None):
    """Nothing arrives, nobody is charged, and there is no second try."""
    stub = serve(device, name, version)
    words = ("--ca", ca) if ca else ()
    tries = "1" if version else "3"  # old TLS may be a bad connection
    done = run(1, *device.words(stub.url(), "--tries", tries, *words))
    says(done, *pieces)
    expect(not stub.requests + stub.checks, f"{name}: a request arrived")
    expect(stub.connections <= 1, f"{name}: {stub.connections} connections")
    expect(not device.charged(), f"{name}: somebody was charged")
    stub.close()


def close_after(stub, connection, request):
    """Answers and ends the connection: the next request opens another."""
    body = stub.take(request.partition(b"\r\n\r\n")[2])
    send(connection, 200, json.dumps(body).encode(), "Connection: close")
    return True


def check_keys(device):
    """The environment cannot have the keys of a connection written down."""
    device.new_ledger()
    stub = serve(device, "right")
    run(0, *device.words(stub.url(), "--ca", "ca.pem"),
        env={**os.environ, "SSLKEYLOGFILE": "keys"})
    expect(not os.path.exists("keys"), "the keys were written")
    stub.close()


def check_system(device):
    """With --ca the system's authorities count for nothing: here, in a
    namespace of mounts, they are those that signed the certificate."""
    system = "/etc/ssl/certs"
    os.mkdir("certs")
    shutil.copy("other.pem", "certs/ca-certificates.crt")
    shutil.copy("ca.pem", "certs/ca.pem")
    openssl("rehash", "certs")
    inside = ("unshare", "-rm", "sh", "-c",
              f'mount --bind certs {system} && exec "$@"', "sh")
    if subprocess.run([*inside, "true"], capture_output=True,
                      check=False).returncode != 0:
        print("no namespaces here: the system's authorities are not tried")
        return
    for words, status in (((), 0), (("--ca", "other.pem"), 1)):
        device.new_ledger()
        stub = serve(device, "right")
        done = subprocess.run(
            [*inside, SOTTO, *device.words(stub.url(), *words)],
            capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)
        expect(done.returncode == status, f"{words}: {done.returncode}, "
               f"{done.stderr}")
        stub.close()


def main():
    if shutil.which("openssl") is None:
        sys.exit(77)
    device = Device()
    here = "IP:127.0.0.1"
    make_authority("ca")
    make_authority("other")
    make_certificate("right", here)
    make_certificate("expired", here, days="-1")
    make_certificate("elsewhere", "IP:127.0.0.2,DNS:example.org")
    make_certificate("anothers", here, authority="other")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-keyout", "self.key", "-out",
            "self.pem", "-days", "30", "-subj", "/CN=x", "-addext",
            f"subjectAltName={here}")
    check_refused(device, "expired", "expired")
    check_refused(device, "self", "certificate")
    check_refused(device, "self", "certificate", ca=None)
    check_refused(device, "elsewhere", "127.0.0.1")
    check_refused(device, "anothers", "certificate")
    check_refused(device, "right", "certificate", ca=None)
    check_refused(device, "right", "not-there.pem", ca="not-there.pem")
    check_refused(device, "right", "", version=ssl.TLSVersion.TLSv1_1)

    stub = serve(device, "right")
    done = run(0, *device.words(stub.url(), "--ca", "ca.pem", "--batch", "2",
                                "--json"))
    told = json.loads(done.stdout)
    expect(told["accepted"] == 5 and told["requests"] == 3, f"{told}")
    expect(stub.connections == 2, "not one for the question, and one")
    device.new_ledger()
    stub.act = close_after
    told = json.loads(run(0, *device.words(
        stub.url(), "--ca", "ca.pem", "--batch", "1", "--json")).stdout)
    expect(told["accepted"] == 5 and stub.connections == 8, f"{told}")
    stub.act = None
    device.new_ledger()
    run(0, *device.words(stub.url(), "--ca", "ca.pem"))
    time.sleep(0.2)
    reused = stub.context.session_stats()["hits"]
    expect(reused == 0, f"{reused} sessions were resumed")
    stub.close()
    check_keys(device)
    check_system(device)
    finish()


main()
