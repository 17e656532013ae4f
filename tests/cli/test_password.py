#!/usr/bin/python3
"""test_password.py: passwords asked for on a terminal: twice for a new key,
once for signing, never shown; an interrupt gives the echo back."""
import ctypes
import os
import pathlib
import pty
import select
import signal
import sys
import tempfile
import termios
import time

SOTTO = os.environ["SOTTO"]
failures = []


def expect(truth, what):
    if not truth:
        failures.append(what)


def read_some(terminal, until, seconds=120):
    """What the terminal shows until it shows `until`, or all of it."""
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            got = os.read(terminal, 1024)
        except OSError:  # the program is gone
            break
        if not got:
            break
        shown += got
        if until is not None and until in shown:
            break
    return shown


def interrupt_threads(child):
    """An interrupt for every thread but the one that asks: a library's."""
    tgkill = getattr(ctypes.CDLL(None), "tgkill", None)
    for thread in map(int, os.listdir(f"/proc/{child}/task")):
        if thread != child and tgkill is not None:
            tgkill(child, thread, signal.SIGINT)
            return True
    return False


def converse(words, answers, interrupt=None):
    """Runs sotto on a terminal of its own; status and all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(SOTTO, [SOTTO, *words])
    shown = b""
    for prompt, answer in answers:
        shown += read_some(terminal, prompt)
        if interrupt:
            silent = termios.tcgetattr(terminal)[3] & termios.ECHO == 0
            expect(silent, "the echo is on while a password is typed")
            if interrupt == "terminal" or not interrupt_threads(child):
                os.write(terminal, b"\x03")
            break
        os.write(terminal, answer + b"\n")
    shown += read_some(terminal, None)
    os.kill(child, signal.SIGKILL)  # if it still waits; else it is gone
    status = os.waitpid(child, 0)[1]
    os.close(terminal)
    return status, shown


def main():
    new, again, ask = b"New password: ", b"The same again: ", b"Password: "
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("a.csv").write_text("x\n1\n2\n")
        make = ["train", "direct", "--data", "a.csv", "--eps", "1", "-o",
                "m.sotto"]
        expect(converse(make, [])[0] == 0, "train")
        keygen = ["keygen", "-o", "k"]  # asks without being told
        status, shown = converse(keygen, [(new, b"one"), (again, b"two")])
        expect(os.waitstatus_to_exitcode(status) == 2, "passwords that differ")
        expect(b"differ" in shown and b"one" not in shown, "what was shown")
        status, _ = converse(keygen, [(new, b"")] + [(again, b"")])
        expect(os.waitstatus_to_exitcode(status) == 2, "an empty password")
        for by in "terminal", "another thread":
            status, _ = converse(keygen, [(new, b"")], interrupt=by)
            expect(os.waitstatus_to_exitcode(status) == -signal.SIGINT,
                   f"interrupted by {by}: {status}")
        expect(sorted(os.listdir(".")) == ["a.csv", "m.sotto"],
               f"left behind: {os.listdir('.')}")
        status, shown = converse(keygen, [(new, b"s3cret"), (again, b"s3cret")])
        expect(status == 0 and b"s3cret" not in shown, f"keygen: {shown}")
        sign = ["sign", "m.sotto", "--key", "k.key"]
        status, shown = converse(sign, [(ask, b"wrong")])
        expect(os.waitstatus_to_exitcode(status) == 3, f"wrong: {shown}")
        status, shown = converse(sign, [(ask, b"s3cret")])
        expect(status == 0 and b"s3cret" not in shown, f"sign: {shown}")
        status, shown = converse(["verify", "m.sotto", "--pub", "k.pub"], [])
        expect(status == 0, f"verify: {shown}")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


sys.exit(main())
