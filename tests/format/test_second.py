"""Holds second.py to the vectors, to the page's rules and to epsilon.

Every file of tests/vectors/ is read, its record is privatised with its entropy
and its report decoded. Files and reports that the page refuses are refused. In
small domains the exact probability of every report is computed twice, from the
formula and by taking every branch of the sampler, and no ratio of two records
exceeds e^epsilon.
"""

import base64
import itertools
import json
import os
import struct
import sys
from fractions import Fraction

import mechanisms
import second
from second import ONE, UNITS

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, "..", "vectors")
counts = {True: 0, False: 0}


def check(condition, what):
    """Counts a check and says what failed."""
    counts[bool(condition)] += 1
    if not condition:
        print("failed:", what)


def refuses(function, *arguments):
    """Says whether a function refuses its arguments."""
    try:
        function(*arguments)
    except second.Refused:
        return True
    return False


# ---- Vectors ------------------------------------------------------------

def read_record(values):
    """Reads the record of a vector: format, "Test vectors"."""
    record = []
    for value in values:
        if value is None:
            record.append(None)
        elif "number" in value:
            record.append(float(value["number"]))
        else:
            record.append(value["text"] if "text" in value
                          else bytes.fromhex(value["bytes"]))
    return record


def test_vector(vector):
    """Reads the mechanism, makes the report and decodes it."""
    name = vector["name"]
    mechanism = second.Mechanism(base64.b64decode(vector["mechanism"]))
    record, data = read_record(vector["record"]), \
        bytes.fromhex(vector["report"])
    made = second.privatise(mechanism, record,
                            bytes.fromhex(vector["entropy"]))
    check(second.write_report(mechanism, made) == data, name + ": report")
    check(second.write_line(mechanism, made) == vector["line"],
          name + ": line")
    check(second.read_report(mechanism, data) == made, name + ": read")
    line = vector["line"].encode()
    check(second.read_line(mechanism, line) == made, name + ": read line")
    check(second.read_reports(mechanism, data + data) == [made],
          name + ": came twice")
    if "z" in vector:
        z = second.run_encoder(
            mechanism, second.make_input(record, mechanism.columns)[0])
        check(struct.pack("<%df" % len(z), *z).hex() == vector["z"],
              name + ": z")
    test_damage(mechanism, name, data, made)


def test_damage(mechanism, name, data, report):
    """Refuses damaged reports, and reads back what it does not refuse."""
    for i in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[i // 8] ^= 1 << i % 8
        try:
            other = second.read_report(mechanism, bytes(damaged))
        except second.Refused:
            continue
        check(i >= 8 * 36 and second.write_report(mechanism, other) == damaged
              and other != report, name + ": bit %d" % i)
    for wrong in (data[:-1], data + b"\0", b"STO2" + data[4:], b""):
        check(refuses(second.read_report, mechanism, wrong),
              name + ": another size or beginning")
    if len(data) > 52:
        other = next((other for other in other_reports(data)
                      if not refuses(second.read_report, mechanism, other)),
                     b"SIM1" + data[4:])
        check(refuses(second.read_reports, mechanism, data + other),
              name + ": one id, two reports")


def other_reports(data):
    """Lists reports with one bit turned."""
    for i in range(8 * 52, 8 * len(data)):
        other = bytearray(data)
        other[i // 8] ^= 1 << i % 8
        yield bytes(other)


def test_lines(vector):
    """Refuses lines that are not as the page says."""
    mechanism = second.Mechanism(base64.b64decode(vector["mechanism"]))
    line, value = vector["line"].encode(), json.loads(vector["line"])
    report = second.read_line(mechanism, line)
    first = json.dumps(value["parts"][0][0]).encode()
    for same in (line.replace(b":", b" : "), line.replace(b",", b",\t"),
                 json.dumps(dict(reversed(value.items()))).encode(),
                 line.replace(b'"id"', b'"\\u0069d"')):
        check(second.read_line(mechanism, same) == report, "line %r" % same)
    for wrong in (line[:-1] + b',"x":1}', line[:-1] + b',"simulated":false}',
                  line.replace(b"false", b"0"), line.replace(b"false", b"null"),
                  line.replace(b"[" + first, b"[" + first + b".0"),
                  line.replace(b"[" + first, b"[true"),
                  line.replace(b"[" + first, b'["%s"' % first),
                  line.replace(b"[" + first, b"[0," + first),
                  line.replace(b"[[", b"[[],["), line + b"x", line[:-1],
                  line[:-1] + b" " * 100000 + b"}"):
        check(refuses(second.read_line, mechanism, wrong), "line %r" % wrong)


# ---- Exact probabilities ------------------------------------------------

class Tape(second.Source):
    """A source that takes one branch of every draw, and multiplies up its
    exact probability."""

    def __init__(self, script):
        """Takes the branches of the script, and then the first of each."""
        self.script, self.trail, self.share = script, [], Fraction(1)

    def branch(self, shares):
        """Takes a branch of a draw."""
        place = len(self.trail)
        value = self.script[place] if place < len(self.script) else 0
        self.trail.append((value, len(shares)))
        self.share *= shares[value]
        return value

    def uniform(self, n):
        """Draws a number below n."""
        return self.branch([Fraction(1, n)] * n)

    def start_batch(self):
        """Makes a batch of itself: its draws have no tail."""
        return self

    def pick(self, table):
        """Draws the number of thresholds that lie above."""
        return self.branch(second.digit_shares(table))

    def next_script(self):
        """Gives the script of the next path, or None after the last."""
        trail = list(self.trail)
        while trail and trail[-1][0] + 1 == trail[-1][1]:
            trail.pop()
        return [value for value, _ in trail[:-1]] + [trail[-1][0] + 1] \
            if trail else None


def enumerate_draws(channel, point):
    """Gives the exact probability of every report of a point; what fails,
    whatever the point is, is left out."""
    shares, failed, script = {}, Fraction(0), []
    while script is not None:
        tape = Tape(script)
        try:
            report = tuple(channel.draw(point, tape))
            shares[report] = shares.get(report, 0) + tape.share
        except second.Refused:
            failed += tape.share
        script = tape.next_script()
    return {report: share / (1 - failed) for report, share in shares.items()}


def list_channels():
    """Lists small parts: (part, points of its domain)."""
    for eps in ("0.1", "1", "4", "10"):
        for k in (2, 3, 5):
            for name in ("flip", "subset"):
                part = mechanisms.symbols({"from": 0, "k": k}, channel=name,
                                          eps=eps)
                yield part, [[i] for i in range(k)]
        for k1, k2 in ((2, 2), (2, 3), (3, 2), (4, 3)):
            part = mechanisms.symbols({"from": 0, "k": k1},
                                      {"from": 0, "k": k2}, channel="signs",
                                      eps=eps)
            yield part, list(map(list, itertools.product(range(k1),
                                                         range(k2))))
        for l in (1, 3):
            line = [[q] for q in range(-l, l + 1)]
            yield mechanisms.numbers("window", l=l, eps=eps), line
            if eps != "0.1":
                yield mechanisms.numbers(l=l, eps=eps), line
        for d, l in ((1, 2), (2, 1), (3, 1), (4, 1)):
            yield mechanisms.numbers("duchi", "cube", d=d, l=l, eps=eps), \
                [[0] * d] + list(map(list, itertools.product((-l, l),
                                                             repeat=d)))
    yield mechanisms.numbers(d=2, l=1, eps="32"), \
        [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]


def exp_floor(eps):
    """Gives a rational number just below e^eps; eps in units of 10^-12."""
    return Fraction(second.exp_below(Fraction(eps, UNITS)) - 1, 1 << 320)


def test_channel(value, points):
    """Requires that formula and sampler agree, and that no ratio is above
    e^eps."""
    part = second.Part(value, 1, [], 64)
    channel = second.make_channel(part)
    what = "%s eps %s" % (json.dumps(value), value["eps"])
    if part.channel == "duchi":
        channel.count_attempts = lambda: 1
    tables, reports = [], set()
    for point in points:
        tables.append(enumerate_draws(channel, point))
        reports |= set(tables[-1])
        check(sum(tables[-1].values()) == 1, what + ": sum")
    for point, table in zip(points[:2], tables):
        check(all(channel.likelihood(list(report), point) ==
                  table.get(report, 0) for report in reports),
              what + ": formula")
    for report in reports:
        shares = [table.get(report, Fraction(0)) for table in tables]
        check(max(shares) <= exp_floor(part.eps) * min(shares),
              what + ": ratio of %r" % (report,))
        check(channel.read(channel.write(list(report))) == list(report),
              what + ": valid %r" % (report,))


def weigh_gaussian(channel):
    """Gives the exact probability of each noise of a gaussian channel."""
    shares = second.exact_laplace(channel.tables(), channel.horizon)
    weights = {}
    for y in range(-channel.horizon, channel.horizon + 1):
        share, rest = shares[abs(y)], (256 * abs(y) - channel.t)**2
        for j in range(channel.coin_digits()):
            share *= Fraction(channel.coin(j, rest % 32), ONE)
            rest //= 32
        weights[y] = share
    total = sum(weights.values())
    return {y: share / total for y, share in weights.items()}


def test_gaussian(eps, delta, l):
    """Requires the hockey-stick divergence of points 2l apart to be at most
    delta, and so of those less far apart."""
    value = mechanisms.numbers("gaussian", "ball", l=l, eps=eps, delta=delta)
    part = second.Part(value, 1, [], 64)
    channel = second.make_channel(part)
    noise = weigh_gaussian(channel)
    factor = exp_floor(part.eps)
    for shift in range(1, 2 * l + 1):
        spent = sum(max(Fraction(0), share - factor * noise.get(y - shift, 0))
                    for y, share in noise.items())
        check(spent <= Fraction(part.delta, UNITS),
              "gaussian eps %s delta %s l %d shift %d" % (eps, delta, l,
                                                          shift))


def test_examples():
    """Computes the examples of format, "Report"."""
    def make(**value):
        """Makes a channel of numbers."""
        return second.make_channel(second.Part(mechanisms.numbers(**value), 1,
                                               [], 64))
    laplace = make(l=16, eps="1")
    check((laplace.unit, laplace.horizon, laplace.c, laplace.width) ==
          (1024, 2048, 2032, 2), "example of laplace")
    window = make(channel="window", l=4096, eps="2")
    check((window.w, window.width) == (2422, 2), "example of window")
    gaussian = make(channel="gaussian", domain="ball", l=256, eps="4",
                    delta="0.000001")
    check((gaussian.t, gaussian.horizon, gaussian.c, gaussian.width) ==
          (166177, 13312, 11595, 2), "example of gaussian")
    signs = second.make_channel(second.Part(mechanisms.symbols(
        {"from": 0, "k": 3}, {"from": 0, "k": 4}, channel="signs"), 1, [], 64))
    numbers = signs.read(bytes.fromhex("010a"))
    check(numbers == [1, -1, -1, -1, 1, -1, 1], "example of signs")
    check([i for i in range(12) if numbers[i // 4] == numbers[3 + i % 4]] ==
          [1, 3, 4, 6, 8, 10], "pairs of the example of signs")


def main():
    """Runs everything and prints how much passed."""
    names = sorted(name for name in os.listdir(VECTORS)
                   if name.endswith(".json"))
    check(len(names) >= 45, "vectors are missing")
    for name in names:
        with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
            vector = json.load(file)
        test_vector(vector)
        test_lines(vector)
    print(len(names), "vectors")
    for accepted, what, data in mechanisms.list_files():
        check(refuses(second.Mechanism, data) != bool(accepted), what)
    test_examples()
    for value, points in list_channels():
        test_channel(value, points)
    for eps, delta, l in (("4", "0.001", 1), ("10", "0.000001", 1),
                          ("1", "0.01", 1), ("32", "0.01", 2)):
        test_gaussian(eps, delta, l)
    print("%d passed, %d failed" % (counts[True], counts[False]))
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
