#!/usr/bin/python3
"""test_expiry.py: a collector takes reports until the mechanism's end, by its own
clock, and not one later (410, nothing stored). Its clock is libfaketime's:
skipped (77) where that is not installed."""
import glob
import os
import sys
import tempfile

from collecting import Campaign, Collector, expect, finish, sotto

END = "2099-01-31"


class Ending(Campaign):
    """A campaign whose mechanism expires."""

    def make(self, path, eps):
        sotto("train", "direct", "--data", self.folder / "data.csv", "--label",
              "colour", "--eps", eps, "--expires", END, "-o", path)
        sotto("sign", path, "--key", self.key)


def main():
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not library or b"__asan_init" in open(os.environ["SOTTO"], "rb").read():
        print("skipped: no libfaketime, or a sanitizer that wants its place")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        campaign = Ending(folder)
        for day, wanted in ("2099-01-30 12:00:00", 200), (END + " 00:00:01",
                                                          410):
            os.environ.update(LD_PRELOAD=library[0], FAKETIME="@" + day,
                              TZ="UTC0", FAKETIME_DONT_FAKE_MONOTONIC="1")
            collector = Collector(campaign)
            for name in "LD_PRELOAD", "FAKETIME":
                del os.environ[name]
            status, answer = collector.send(campaign.new(3))
            expect(status == wanted, f"on {day}: {status} {answer}")
            expect(("expired" in str(answer)) == (wanted == 410), answer)
            collector.stop()
    finish()


main()
