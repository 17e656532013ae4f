"""Compares second.py with the program, which it knows nothing of.

Both are given mechanism files, sound and damaged, and must accept the same
ones. Reports that the program makes are decoded by both. Records go through
encoders and a channel that at epsilon 32 adds no noise that would show, so that
the point that either computed can be compared. Status 77: no program.
"""

import base64
import copy
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import mechanisms
import second
from test_second import VECTORS, check, counts

SOTTO = os.environ.get("SOTTO", "")
FLIPS, CHANGES, REPORTS = \
    (20, 30, 20) if os.environ.get("SOTTO_SANITIZE") else (150, 200, 80)
WHOLE = [0, 1, 2, 3, 16, 17, 31, 32, 64, 65, 256, 257, 4096, 4097, 65536,
         65537, 1 << 20, (1 << 20) + 1, 1 << 32, 1 << 53, 1 << 64, -1]
WORDS = ["none", "relu", "tanh", "max", "mean", "flip", "subset", "signs",
         "laplace", "window", "duchi", "gaussian", "number", "bytes",
         "category", "bins", "dense", "conv", "pool", "norm", "f32", "bf16", "int8",
         "clip", "log", "features", "label", "both", "", "x" * 121, "0.5",
         "32", "0.000001", "0.01", "01", "1.", "1e0", "33"]
OTHERS = [None, True, [], {}, 1.5, "1", [0], [0, 0], {"eps": "1"}]
KEYS = ["missing", "transform", "skip", "from", "delta", "weights", "expires",
        "central", "issuer", "foo", "input"]
random_source = random.Random(20)


def run(*arguments):
    """Runs the program; gives its status."""
    return subprocess.run([SOTTO, *arguments], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode


def write(name, data):
    """Writes a file and gives its name."""
    with open(name, "wb") as file:
        file.write(data)
    return name


def read(name):
    """Reads a file."""
    with open(name, "rb") as file:
        return file.read()


# ---- Mechanisms ---------------------------------------------------------

def accepts(data):
    """Says whether second.py accepts a mechanism, as `sotto inspect` should:
    as a device."""
    try:
        second.Mechanism(data)
        return True
    except second.Refused:
        return False


def compare_mechanism(data, what):
    """Requires that both accept a mechanism or both refuse it."""
    status = run("inspect", write("m.sotto", data))
    check(status in (0, 2) and accepts(data) == (status == 0), what)


def flip_bytes(data):
    """Changes, removes or inserts a byte, mostly of the header."""
    data = bytearray(data)
    header = 8 + int.from_bytes(data[:8], "little")
    place = random_source.randrange(header if random_source.random() < 0.7
                                    else len(data))
    kind = random_source.randrange(4)
    if kind == 0:
        data[place] ^= 1 << random_source.randrange(8)
    elif kind == 1:
        data[place] = random_source.choice(b'0129"\\ ,{}[]:.e-\0az')
    elif kind == 2:
        del data[place]
    else:
        data.insert(place, random_source.choice(b'0129" ,'))
    return bytes(data), "byte %d, kind %d" % (place, kind)


def list_holders(value):
    """Lists (holder, key) of everything in a manifest."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) \
        if isinstance(value, list) else ()
    for key, entry in pairs:
        yield value, key
        yield from list_holders(entry)


def change_manifest(manifest):
    """Changes one thing in a manifest."""
    manifest = copy.deepcopy(manifest)
    holder, key = random_source.choice(list(list_holders(manifest)))
    value, dice = holder[key], random_source.random()
    if type(value) is int and dice < 0.8:
        holder[key] = random_source.choice([value + 1, value - 1, 2 * value,
                                            random_source.choice(WHOLE)])
    elif isinstance(value, str) and dice < 0.8:
        holder[key] = random_source.choice(WORDS)
    elif dice < 0.3:
        del holder[key]
    elif dice < 0.5:
        holder[key] = copy.deepcopy(random_source.choice(OTHERS))
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(value))
    else:
        pairs = list(holder.items())
        pairs.insert(random_source.randrange(len(pairs) + 1),
                     (random_source.choice(KEYS),
                      random_source.choice(OTHERS + [0, 1, "clip"])))
        holder.clear()
        holder.update(pairs)
    return manifest


def write_changed(manifest, data):
    """Writes a changed manifest with tensors that fit it, or, where nothing
    fits it, with the tensors that were there."""
    try:
        return mechanisms.compose(manifest)
    except (KeyError, TypeError, OverflowError, IndexError, AttributeError,
            ValueError, struct.error):
        pass
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    text = header.pop("__metadata__")["sotto"]
    assert text
    tensors = [(name, entry["dtype"], entry["shape"])
               for name, entry in header.items()]
    return mechanisms.frame(json.dumps(manifest, separators=(",", ":")),
                            tensors, data[end:])


def test_mechanisms(vectors):
    """Compares what is accepted of damaged and changed mechanisms."""
    files = [base64.b64decode(vector["mechanism"]) for vector in vectors]
    for accepted, what, data in mechanisms.list_files():
        compare_mechanism(data, "program, %s: %d" % (what, accepted))
    for i in range(FLIPS):
        data, what = flip_bytes(random_source.choice(files))
        compare_mechanism(data, "flip %d: %s" % (i, what))
    for i in range(CHANGES):
        data = random_source.choice(files)
        end = 8 + int.from_bytes(data[:8], "little")
        manifest = json.loads(json.loads(data[8:end])
                              ["__metadata__"]["sotto"])
        for _ in range(random_source.choice((1, 1, 2))):
            manifest = change_manifest(manifest)
        compare_mechanism(write_changed(manifest, data),
                          "change %d: %s" % (i, json.dumps(manifest)))


# ---- Reports ------------------------------------------------------------

def compare_reports(mechanism, name, data, what):
    """Requires that both refuse a file of reports or decode it alike."""
    if os.path.exists("o.jsonl"):
        os.remove("o.jsonl")
    status = run("decode", "m.sotto", write(name, data), "-o", "o.jsonl")
    try:
        reports = second.read_reports(mechanism, data)
    except second.Refused:
        check(status == 2, what + ": only the program accepts it")
        return
    lines = "".join(second.write_line(mechanism, report) + "\n"
                    for report in reports)
    check(status == 0 and read("o.jsonl") == lines.encode(), what)


def test_reports(vectors):
    """Compares how damaged reports and lines are decoded."""
    for i in range(REPORTS):
        vector = random_source.choice(vectors)
        data = write("m.sotto", base64.b64decode(vector["mechanism"]))
        mechanism = second.Mechanism(read(data))
        report = bytearray.fromhex(vector["report"])
        report[random_source.randrange(40, len(report))] ^= \
            1 << random_source.randrange(8)
        compare_reports(mechanism, "r.reports", bytes(report),
                        "%s: report %d" % (vector["name"], i))
        line = bytearray(vector["line"].encode())
        line[random_source.randrange(120, len(line))] = \
            random_source.choice(b"0123456789-, .[]e")
        compare_reports(mechanism, "r.jsonl", bytes(line) + b"\n",
                        "%s: line %d" % (vector["name"], i))


def write_table(rows):
    """Writes rows with a header as CSV."""
    return write("t.csv", "".join(
        ",".join("" if value is None else value if isinstance(value, str)
                 else repr(value) for value in row) + "\n"
        for row in rows).encode())


def test_trained():
    """Reads mechanisms that the program trains, and their reports."""
    rows = [["age", "job", "x", "y", "label"]]
    for _ in range(60):
        rows.append([random_source.gauss(40, 12),
                     random_source.choice(["baker", "clerk", "nurse"]),
                     random_source.uniform(0, 5), random_source.gauss(0, 1),
                     random_source.choice(["no", "yes"])])
    table = write_table(rows)
    for kind in (["direct"], ["direct", "--numbers", "duchi"],
                 ["direct", "--numbers", "window"],
                 ["direct", "--numbers", "gaussian", "--delta", "0.00001"],
                 ["pca", "--d", "3"]):
        what = "train " + " ".join(kind)
        check(run("train", *kind, "--data", table, "--label", "label",
                  "--eps", "2", "--force", "-o", "m.sotto") == 0, what)
        mechanism = second.Mechanism(read("m.sotto"))
        for name in ("r.reports", "r.jsonl"):
            check(run("privatise", "m.sotto", table, "--force", "-o",
                      name) == 0, what)
            compare_reports(mechanism, name, read(name), what + ": " + name)


# ---- Records ------------------------------------------------------------

def make_floats(count):
    """Makes random floats of a layer."""
    return struct.pack("<%df" % count, *[random_source.gauss(0, 0.5)
                                         for _ in range(count)])


def make_value():
    """Makes a number of a record, or None."""
    return random_source.choice(
        [None, random_source.gauss(0, 30), random_source.uniform(-1, 1),
         random_source.choice([0.0, -0.0, 1e-300, 1e300, -1e300, 5e-324,
                               3e-145, 4e-145])])


def compare_points(manifest, fill, what):
    """Requires that both compute the same points of random records. The
    columns are two numbers and a category; the part is a window of eps 32
    with w = 0, which sends its point."""
    mechanism = second.Mechanism(read(write(
        "m.sotto", mechanisms.compose(manifest, fill))))
    records = [[make_value(), make_value(),
                random_source.choice(["v0", "v1", "v2", "other", None])]
               for _ in range(60)]
    table = write_table([["c0", "c1", "c2"]] + records)
    check(run("privatise", "m.sotto", table, "--header", "yes", "--force", "-o",
              "r.reports") == 0, what)
    reports = second.read_reports(mechanism, read("r.reports"))
    check(mechanism.channels[0].w == 0, what + ": w")
    for record, report in zip(records, reports, strict=True):
        entries, symbols = second.make_input(record, mechanism.columns)
        z = second.run_encoder(mechanism, entries)
        points = second.find_points(mechanism, z, symbols)
        check(report.parts == points[0], "%s: %r" % (what, record))


def test_bins():
    """Compares the ranges that numbers lie in, behind a flip of eps 32, which
    sends its point."""
    column = {"kind": "bins", "count": 6}
    edges = [-20.5, 0.25, 0.0, 12.5]
    manifest = mechanisms.manifest(
        2, [column], (), [mechanisms.symbols({"column": 0}, eps="32")], "32")
    mechanism = second.Mechanism(read(write("m.sotto", mechanisms.compose(
        manifest, {"schema.edges": struct.pack("<4d", *edges)}))))
    records = [[value] for value in edges + [None, -0.0, 5e-324]
               + [make_value() for _ in range(60)]]
    table = write_table([["c0"]] + records)
    check(run("privatise", "m.sotto", table, "--header", "yes", "--force", "-o",
              "r.reports") == 0, "bins")
    reports = second.read_reports(mechanism, read("r.reports"))
    for record, report in zip(records, reports, strict=True):
        _, symbols = second.make_input(record, mechanism.columns)
        points = second.find_points(mechanism, [], symbols)
        check(report.parts == points[0], "bins: %r" % record)


def test_records():
    """Compares points of records behind each activation, in both versions."""
    number, category = {"kind": "number"}, {"kind": "category", "count": 4,
                                            "input": 1}
    schema = {"schema.shift": struct.pack("<3d", 1.5, -20, 0),
              "schema.scale": struct.pack("<3d", 0.1, 0.02, 1)}
    part = [mechanisms.numbers("window", l=4000, eps="32")]
    for activation in second.ACTIVATIONS:
        layers = [mechanisms.dense(6, 20), mechanisms.dense(20, 1)]
        for layer in layers:
            layer["activation"] = activation
        manifest = mechanisms.manifest(
            columns=[number, number, category], encoder=layers, parts=part,
            eps="32")
        compare_points(manifest, schema | {
            "encoder.0.weight": make_floats(120),
            "encoder.0.bias": make_floats(20),
            "encoder.1.weight": make_floats(20),
            "encoder.1.bias": make_floats(1)}, activation)
    missing = {"missing": 1}
    manifest = mechanisms.manifest(
        2, [number | {"transform": "clip"} | missing, number | missing,
            category | missing], [mechanisms.dense(8, 1, [0])], part, "32")
    compare_points(manifest, schema | {"encoder.0.weight": make_floats(8)},
                   "missing")


def main():
    """Runs everything in a folder of its own."""
    if not os.access(SOTTO, os.X_OK):
        print("SOTTO names no program")
        return 77
    vectors = []
    for name in sorted(os.listdir(VECTORS)):
        with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
            vectors.append(json.load(file))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_mechanisms(vectors)
        test_reports(vectors)
        test_trained()
        test_records()
        test_bins()
        os.chdir("/")
    print("%d passed, %d failed" % (counts[True], counts[False]))
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
