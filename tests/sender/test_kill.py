#!/usr/bin/python3
"""test_kill.py: sotto send killed at fifty random moments, also in the middle of
answers: the server sees the same bytes of everybody again, never a second
report of one person, and in the end everybody once."""
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stub import SOTTO, Device, Stub, expect, finish, run  # noqa: E402

KILLS = 50
PEOPLE = 12
SEED = random.randrange(1 << 30)


def slow(_stub, _connection, _request):
    time.sleep(random.random() * 0.02)
    return False


def write(names):
    rows = "".join(f"{name},{20 + len(name)},red\n" for name in names)
    pathlib.Path("people.csv").write_text("name,age,colour\n" + rows)


def main():
    print("seed", SEED)
    random.seed(SEED)
    device = Device(PEOPLE)
    stub = Stub(device.size, slow)
    began = time.monotonic()
    run(0, *device.words(stub.url(), "--batch", "2"))
    whole = time.monotonic() - began
    died, names = 0, [f"p{i}" for i in range(PEOPLE)]
    for number in range(KILLS):
        if number % 3 == 0:  # new people, so that there is more to do
            group = [f"g{number}-{i}" for i in range(PEOPLE)]
            names += group
            write(group)
        program = subprocess.Popen(
            [SOTTO, *device.words(stub.url(), "--batch", "2")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.random() * whole)
        program.kill()
        died += program.wait() < 0
    print(f"{died} of {KILLS} runs were killed; {len(stub.requests)} requests")
    expect(died >= KILLS // 4, f"only {died} runs were killed")
    expect(len(stub.requests) >= KILLS // 4, "all were killed before sending")
    write(names)
    run(0, *device.words(stub.url()))
    ids = device.charged()
    expect(len(ids) == len(names), f"{len(ids)} charges of {len(names)} people")
    expect(set(stub.seen) == set(ids),
           "the server has others than the ledger's, or not all of them")
    expect(stub.different == 0, "an id came with other bytes")
    done = run(0, *device.words(stub.url(), "--json"))
    expect('"requests": 0' in done.stdout, "something is left: " + done.stdout)
    finish()


main()
