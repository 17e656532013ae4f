#!/usr/bin/python3
"""test_seal.py: a process with people's records: no core file, no tracing by
others of the same user; and both with --allow-core."""
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

SOTTO = os.environ["SOTTO"]
NOBODY = 65534
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


def sotto(work, *words):
    subprocess.run([work / "sotto", *words], cwd=work, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def allow_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def start(work, *words):
    """As a user without privileges, who could trace it."""
    user = {"user": NOBODY} if os.geteuid() == 0 else {}
    return subprocess.Popen([work / "sotto", *words], cwd=work,
                            preexec_fn=allow_core, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **user)


def look(process, what, sealed):
    """At a process that waits. /proc gives what cannot be traced to root."""
    place = pathlib.Path(f"/proc/{process.pid}")
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    limits = (place / "limits").read_text(encoding="ascii")
    core = next(line for line in limits.splitlines()
                if line.startswith("Max core file size")).split()[4:6]
    can = resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    expect((core == ["0", "0"]) == (sealed or not can),
           f"{what}: core files of {core}")
    owner = (place / "mem").stat().st_uid
    expect(owner == (0 if sealed else user), f"{what}: owned by {owner}")
    process.send_signal(signal.SIGABRT)
    process.wait(timeout=20)
    expect(not sealed or not list(process_cores(process)),
           f"{what}: a core file")


def process_cores(process):
    return pathlib.Path(".").glob(f"core*{process.pid}*")


def try_send(work, *more):
    """Sends to somebody who does not answer, and waits for that."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        process = start(work, "send", "m.sotto", "people.csv", "--person",
                        "name", "--ledger", "l", "--pub", "k.pub", "--spread",
                        "0", "--to",
                        f"http://127.0.0.1:{port}/v1/campaigns/c", *more)
        server.settimeout(30)
        connection = server.accept()[0]
        look(process, f"send {more}", sealed=not more)
        connection.close()


def try_privatise(work, *more):
    """Privatises what comes out of a pipe."""
    process = start(work, "privatise", "m.sotto", "pipe", "--person", "name",
                    "--ledger", "l", "-o", "r", *more)
    with open(work / "pipe", "wb"):  # once it is opened for reading
        look(process, f"privatise {more}", sealed=not more)


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        os.chmod(work, 0o777)
        shutil.copy(SOTTO, work / "sotto")
        (work / "people.csv").write_text("name,age\nann,31\nbob,47\n",
                                         encoding="ascii")
        (work / "clean.csv").write_text("age\n31\n47\n", encoding="ascii")
        sotto(work, "keygen", "-o", "k", "--no-password")
        sotto(work, "train", "direct", "--data", "clean.csv", "--eps", "1",
              "-o", "m.sotto")
        sotto(work, "sign", "m.sotto", "--key", "k.key")
        sotto(work, "ledger", "new", "l", "--lifetime-eps", "3")
        os.mkfifo(work / "pipe")
        for file in work.iterdir():
            os.chmod(file, 0o777 if file.name == "sotto" else 0o600)
            if os.geteuid() == 0:
                os.chown(file, NOBODY, NOBODY)
        os.chdir(work)
        for more in [], ["--allow-core"]:
            try_send(work, *more)
            try_privatise(work, *more)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


main()
