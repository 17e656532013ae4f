#!/usr/bin/python3
"""test_schedule.py: on a slow disk, where the deadline cannot be kept, the step
of the grid at which reports leave is the same for an encoder that takes no time
as for one that takes long, here for every record: a hostile one could do either.
And a mechanism that ends in between charges nobody any more. A library that is
loaded before makes flushes slow, and the encoder's process, and has a clock.
Skipped (77) without a compiler for it, or with a sanitizer that wants its
place."""
import os
import pathlib
import shutil
import subprocess
import sys
import time

from stub import SOTTO, Device, Stub, expect, finish, run, says

PEOPLE = 10
FLUSH_US = 20000  # of one flush, of which a charge takes some six
ENCODER_US = 100000  # above what the schedule gives each, 61 ms
END = 4073500800  # 2099-01-31
PAIRS = 3  # on a busy machine either run may be a step later

SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void pause_for(const char *name)
{
    const char *us = getenv(name);
    if (us != NULL) usleep((useconds_t)atoi(us));
}
int fsync(int fd)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    pause_for("FLUSH_US");
    return next(fd);
}
int fdatasync(int fd)
{
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    pause_for("FLUSH_US");
    return next(fd);
}
static int forks;
time_t time(time_t *ret)
{
    const char *end = getenv("END"), *after = getenv("END_AFTER");
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (end != NULL) at.tv_sec = atol(end) - (forks < atoi(after) ? 1000 : 0);
    if (ret != NULL) *ret = at.tv_sec;
    return at.tv_sec;
}
pid_t fork(void)
{
    pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    pid_t child = next();
    forks++;
    if (child == 0) pause_for("ENCODER_US");
    return child;
}
"""


def build():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or b"__asan_init" in pathlib.Path(SOTTO).read_bytes():
        print("skipped: no compiler, or a sanitizer that wants its place")
        sys.exit(77)
    pathlib.Path("slow.c").write_text(SLOW, encoding="ascii")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "slow.so", "slow.c",
                    "-ldl"], check=True)
    return str(pathlib.Path("slow.so").resolve())


def seconds(device, library, encoder_us):
    """From the question to the reports, rounded: the grid is of seconds."""
    device.new_ledger()
    times = []
    stub = Stub(device.size, lambda *_: times.append(time.monotonic()))
    stub.checking = False
    words = device.words(stub.url(), "--json")
    words[words.index("--grid") + 1] = "1"
    done = run(0, *words, env=os.environ | {
        "LD_PRELOAD": library, "FLUSH_US": str(FLUSH_US),
        "ENCODER_US": str(encoder_us)})
    stub.close()
    expect(len(stub.seen) == PEOPLE, f"{len(stub.seen)} reports")
    expect('"late": true' in done.stdout, f"the disk was fast: {done.stdout}")
    return round(times[-1] - times[0])


def check_end(device, library):
    """The mechanism ends in the third person's turn, who has begun: nobody
    behind them is charged, and nothing is sent."""
    run(0, "train", "direct", "--data", "small.csv", "--eps", "2", "--name",
        "ending", "--expires", "2099-01-31", "-o", "ending.sotto")
    run(0, "sign", "ending.sotto", "--key", "k.key")
    device.new_ledger()
    stub = Stub(device.size)
    stub.signature = pathlib.Path("ending.sotto.minisig").read_bytes()
    words = device.words(stub.url(), mechanism="ending.sotto")
    words[words.index("--grid") + 1] = "1"
    done = run(3, *words, env=os.environ | {
        "LD_PRELOAD": library, "END": str(END), "END_AFTER": "3"})
    stub.close()
    says(done, "has expired", "3 reports in the queue")
    expect(len(device.charged()) == 3 and not stub.seen,
           f"charged: {len(device.charged())}, sent: {len(stub.seen)}")


def main():
    device = Device(PEOPLE)
    library = build()
    for _ in range(PAIRS):
        quick, slow = (seconds(device, library, us) for us in (0, ENCODER_US))
        print(f"sent after {quick} s and {slow} s")
        if quick == slow:
            break
    expect(quick == slow, "the encoder's time shows by when reports leave")
    check_end(device, library)
    finish()


main()
