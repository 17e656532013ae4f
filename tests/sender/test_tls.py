#!/usr/bin/python3
"""test_tls.py: certificates that are expired, not valid yet, self-signed, of
another host, another authority or another purpose, signed by one who may not, or
with a weak key or signature are refused, the message says why, and nothing is
sent; the right one is taken with --ca; TLS 1.1 is not spoken; no session is
resumed, though the server offers it."""
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import (SOTTO, Device, Stub, expect, finish, run,  # noqa: E402
                  says, send)

warnings.simplefilter("ignore", DeprecationWarning)  # of TLS 1.1


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


EC = ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")


def make_authority(name, key=EC):
    openssl("req", "-x509", "-newkey", *key, "-nodes", "-keyout",
            f"{name}.key", "-out", f"{name}.pem", "-days", "30", "-subj",
            f"/CN={name}")


def make_request(name, alternative, key=EC, more=""):
    openssl("req", "-newkey", *key, "-nodes", "-keyout", f"{name}.key", "-out",
            f"{name}.csr", "-subj", "/CN=collector")
    with open(f"{name}.ext", "w", encoding="utf-8") as file:
        file.write(f"subjectAltName={alternative}\n{more}\n")


def make_certificate(name, alternative, authority="ca", days="30", digest=
                     "-sha256", key=EC, more=""):
    """NAME.pem and NAME.key for these names, signed by the authority."""
    make_request(name, alternative, key, more)
    openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem",
            "-CAkey", f"{authority}.key", "-CAcreateserial", "-out",
            f"{name}.pem", "-days", days, "-extfile", f"{name}.ext", digest)


def make_later(name, alternative):
    """One that is valid from a day to come on."""
    make_request(name, alternative)
    with open("ca.cnf", "w", encoding="utf-8") as file:
        file.write("[ca]\ndefault_ca=own\n[own]\ndatabase=ca.index\nserial="
                   "ca.serial\nnew_certs_dir=.\npolicy=any\n"
                   "[any]\ncommonName=supplied\n")
    with open("ca.index", "w", encoding="utf-8"):
        pass
    openssl("ca", "-batch", "-config", "ca.cnf", "-create_serial", "-cert",
            "ca.pem", "-keyfile", "ca.key", "-md", "sha256", "-startdate",
            "20480101000000Z", "-enddate", "20481231000000Z", "-extfile",
            f"{name}.ext", "-notext", "-in", f"{name}.csr", "-out",
            f"{name}.pem")


def serve(device, name, version=None):
    """A server that would do anything: it is the device that must not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:@SECLEVEL=0")
    if version:
        context.minimum_version = context.maximum_version = version
    context.load_cert_chain(f"{name}.pem", f"{name}.key")
    return Stub(device.size, context=context)


def check_refused(device, name, *pieces, ca="ca.pem", version=None,
                  host="127.0.0.1"):
    """Nothing arrives, nobody is charged, and there is no second try."""
    stub = serve(device, name, version)
    words = ("--ca", ca) if ca else ()
    tries = "1" if version else "3"  # old TLS may be a bad connection
    done = run(1, *device.words(stub.url(host=host), "--tries", tries, *words))
    says(done, *pieces)
    expect(ca == "not-there.pem" or
           f"cannot talk to {stub.url(host=host)}" in done.stderr,
           f"{name}: whom it could not talk to: {done.stderr}")
    expect(not stub.requests + stub.checks, f"{name}: a request arrived")
    expect(stub.connections <= 1, f"{name}: {stub.connections} connections")
    expect(not device.charged(), f"{name}: somebody was charged")
    stub.close()
    if os.environ.get("SOTTO_SHOW"):
        print(f"{name}: {done.stderr.strip()}")


def test_wrong(device):
    here = "IP:127.0.0.1,DNS:localhost"
    make_certificate("right", here)
    make_certificate("expired", here, days="-1")
    make_later("later", here)
    make_certificate("elsewhere", "IP:127.0.0.2,DNS:example.org")
    make_certificate("anothers", here, authority="other")
    make_certificate("purpose", here, more="extendedKeyUsage=clientAuth")
    make_certificate("unsigned", here, authority="right")
    with open("unsigned.pem", "a", encoding="utf-8") as file, \
            open("right.pem", encoding="utf-8") as signer:
        file.write(signer.read())
    openssl("req", "-x509", "-newkey", *EC, "-nodes", "-keyout", "self.key",
            "-out", "self.pem", "-days", "30", "-subj", "/CN=x", "-addext",
            f"subjectAltName={here}")
    check_refused(device, "expired", "certificate has expired")
    check_refused(device, "later", "certificate is not yet valid")
    for ca in ("ca.pem", None):
        check_refused(device, "self", "self-signed certificate", ca=ca)
    check_refused(device, "elsewhere", "no alternative certificate subject",
                  "127.0.0.1")
    check_refused(device, "elsewhere", "no alternative certificate subject",
                  "localhost", host="localhost")
    check_refused(device, "anothers", "unable to get local issuer certificate")
    check_refused(device, "purpose", "certificate purpose")
    check_refused(device, "unsigned", "invalid CA certificate")
    check_refused(device, "right", "unable to get local issuer certificate",
                  ca=None)
    check_refused(device, "right", "not-there.pem", ca="not-there.pem")
    check_refused(device, "right", "protocol version",
                  version=ssl.TLSVersion.TLSv1_1)


def test_weak(device):
    """What the system's OpenSSL refuses by itself, at its second level."""
    here = "IP:127.0.0.1"
    make_authority("small", ("rsa:1024",))
    make_certificate("short", here, key=("rsa:1024",))
    make_certificate("sha1", here, digest="-sha1")
    make_certificate("smalls", here, authority="small")
    check_refused(device, "short", "EE certificate key too weak")
    check_refused(device, "sha1", "CA signature digest algorithm too weak")
    check_refused(device, "smalls", "CA certificate key too weak",
                  ca="small.pem")


def test_right(device):
    """One connection for the question and one for all reports; and if the
    server ends it after each answer, no session of one is resumed in the next,
    nor in another run."""
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
    make_authority("ca")
    make_authority("other")
    test_wrong(device)
    test_weak(device)

    test_right(device)
    check_keys(device)
    check_system(device)
    finish()


main()
