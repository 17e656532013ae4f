"""decoder.py: an independent decoder of mechanisms and reports.

Written from docs/format.md alone, with nothing but Python's own library: it
shares no code, no data and no arithmetic with the C. `Mechanism(bytes)` checks
a file and raises Refused for what breaks a rule; `Mechanism.decode(bytes)`
turns a report into its line of JSON.
"""

import decimal
import hashlib
import json
import re
import struct

UNIT = 10**12
NUMBER = r"(?:0|[1-9][0-9]*)"
TITLE = r'[ !#-\[\]-~]{0,120}'


class Refused(Exception):
    """The bytes are not what docs/format.md describes."""


def check(condition, message):
    if not condition:
        raise Refused(message)


def parse_eps(text):
    """Epsilon in whole units of 10^-12."""
    match = re.fullmatch(r"(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,12}))?", text)
    check(match, f"epsilon {text!r}")
    units = int(match[1]) * UNIT + int((match[2] or "").ljust(12, "0"))
    check(10**6 <= units <= 32 * UNIT, f"epsilon {text!r} is out of range")
    return units


def exp_double(eps):
    """The double nearest to e^eps: 60 digits, then one rounding."""
    with decimal.localcontext() as context:
        context.prec = 60
        return float((decimal.Decimal(eps) / UNIT).exp())


def subset_size(k, eps):
    e = exp_double(eps)
    a = e - 1
    s = int(k / (e + 1))
    best, least = 0, 0.0
    for w in range(max(s - 1, 1), min(s + 2, k - 1) + 1):
        v = (((k - e) + a * w) * ((k - 1) + a * w)) / (w * (k - w))
        if best == 0 or v < least:
            best, least = w, v
    return best


def clamp(l, eps):
    need = -(-64 * l * UNIT // eps) + 2 * l
    unit = 1
    while 32 * unit < need:
        unit *= 32
    return -(-need // unit) * unit - l


class Laplace:
    def __init__(self, d, l, eps):
        self.d, self.c = d, clamp(l, eps)
        self.width = 2 if self.c < 2**15 else 4 if self.c < 2**31 else 8
        self.size = d * self.width

    def values(self, block):
        for i in range(0, self.size, self.width):
            y = int.from_bytes(block[i:i + self.width], "little", signed=True)
            check(-self.c <= y <= self.c, f"{y} is beyond the clamp {self.c}")
            yield y


class Flip:
    def __init__(self, k):
        self.k, self.size = k, 1 if k <= 256 else 2

    def values(self, block):
        symbol = int.from_bytes(block, "little")
        check(symbol < self.k, f"symbol {symbol} of {self.k}")
        yield symbol


class Subset:
    def __init__(self, k, eps):
        self.k, self.w, self.size = k, subset_size(k, eps), -(-k // 8)

    def values(self, block):
        bits = int.from_bytes(block, "little")
        members = [i for i in range(8 * self.size) if bits >> i & 1]
        check(len(members) == self.w, f"{len(members)} members, not {self.w}")
        check(members[-1] < self.k, f"member {members[-1]} of {self.k}")
        yield from members


def whole(value, least, most, what):
    check(type(value) is int and least <= value <= most, f"{what}: {value!r}")
    return value


class Mechanism:
    """A mechanism file, checked. `blocks` is a list of channels by part."""

    def __init__(self, data):
        self.hash = hashlib.blake2b(data, digest_size=32).digest()
        check(len(data) >= 8, "shorter than its length")
        (n,) = struct.unpack("<Q", data[:8])
        check(n % 8 == 0 and n <= 2**24 and 8 + n <= len(data),
              f"header of {n} bytes")
        header, self.tensors = data[8:8 + n], data[8 + n:]
        text = header.rstrip(b" ")
        check(n - len(text) <= 7, "too much padding")
        check(text.isascii(), "header is not ASCII")
        self.read_header(text.decode("ascii"))

    def read_header(self, text):
        prefix = '{"__metadata__":{"sotto":"'
        check(text.startswith(prefix), "metadata")
        try:
            header = json.loads(text)
            manifest_text = header["__metadata__"]["sotto"]
            self.manifest = json.loads(manifest_text)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise Refused("header is not JSON") from error
        # One spelling: writing what was read must give the same text.
        self.read_manifest()
        check(self.spell_manifest() == manifest_text, "manifest's spelling")
        check(self.spell_header(manifest_text) == text, "header's spelling")
        self.check_text()

    # ---- The manifest ------------------------------------------------------

    def read_manifest(self):
        m = self.manifest
        check(isinstance(m, dict), "manifest")
        whole(m.get("sotto"), 1, 1, "version")
        try:
            for key in ("name", "campaign", "auxiliary"):
                check(re.fullmatch(TITLE, m[key]), f"title {m[key]!r}")
            self.eps = parse_eps(m["eps"])
            columns, layers, parts = m["columns"], m["encoder"], m["parts"]
            check(1 <= len(columns) <= 4096, "number of columns")
            check(len(layers) <= 16, "number of layers")
            check(1 <= len(parts) <= 4096, "number of parts")
            self.read_columns(columns)
            self.read_layers(layers)
            self.blocks = [self.read_part(part) for part in parts]
        except (KeyError, TypeError, AttributeError) as error:
            raise Refused("manifest's structure") from error
        spent = sum(parse_eps(p["eps"]) * p["blocks"] for p in parts)
        check(spent <= self.eps, "the parts spend more than the total")
        points = sum(len(blocks) * getattr(blocks[0], "d", 1)
                     for blocks in self.blocks)
        check(points <= 2**16, "too many points")

    def read_columns(self, columns):
        width = 0
        for column in columns:
            if column["kind"] == "number":
                width += 1
            elif column["kind"] == "bytes":
                width += whole(column["count"], 1, 2**20, "count")
            else:
                check(column["kind"] == "category", "kind of column")
                count = whole(column["count"], 2, 2**16, "count")
                width += count * whole(column["input"], 0, 1, "input")
            check(width <= 2**20, "width")
        self.width = width

    def read_layers(self, layers):
        for layer in layers:
            check(layer["kind"] == "dense", "kind of layer")
            check(layer["activation"] in ("none", "relu", "sigmoid", "tanh"),
                  "activation")
            whole(layer["in"], self.width, self.width, "in")
            self.width = whole(layer["out"], 1, 2**20, "out")

    def read_part(self, part):
        check(part["covers"] in ("features", "label", "both"), "covers")
        eps = parse_eps(part["eps"])
        blocks = whole(part["blocks"], 1, 2**16, "blocks")
        if part["channel"] == "laplace":
            lattice = part["lattice"]
            d = whole(lattice["d"], 1, 2**12, "d")
            l = whole(lattice["l"], 1, 2**20, "l")
            whole(lattice["from"], 0, self.width - blocks * d, "from")
            return [Laplace(d, l, eps)] * blocks
        check(blocks == 1, "blocks of symbols")
        k = 1
        check(1 <= len(part["symbols"]) <= 4, "number of factors")
        for factor in part["symbols"]:
            k *= self.read_factor(factor)
        check(k <= 2**16, "symbols")
        if part["channel"] == "flip":
            return [Flip(k)]
        check(part["channel"] == "subset", "channel")
        return [Subset(k, eps)]

    def read_factor(self, factor):
        columns = self.manifest["columns"]
        if "column" in factor:
            at = whole(factor["column"], 0, len(columns) - 1, "column")
            check(columns[at]["kind"] == "category", "column of a factor")
            return columns[at]["count"]
        k = whole(factor["k"], 2, 2**16, "k")
        whole(factor["from"], 0, self.width - k, "from")
        return k

    # ---- The one spelling --------------------------------------------------

    @staticmethod
    def pick(source, *keys):
        return {key: source[key] for key in keys}

    def spell_manifest(self):
        m, pick = self.manifest, self.pick
        columns = [pick(c, "kind", *{"number": (), "bytes": ("count",)}
                        .get(c["kind"], ("count", "input")))
                   for c in m["columns"]]
        layers = [pick(layer, "kind", "in", "out", "activation")
                  for layer in m["encoder"]]
        parts = []
        for p in m["parts"]:
            part = pick(p, "covers", "channel", "eps", "blocks")
            if p["channel"] == "laplace":
                part["lattice"] = pick(p["lattice"], "from", "d", "l")
            else:
                part["symbols"] = [
                    pick(f, *(("column",) if "column" in f else ("from", "k")))
                    for f in p["symbols"]]
            parts.append(part)
        top = pick(m, "sotto", "name", "campaign", "auxiliary", "eps")
        top.update(columns=columns, encoder=layers, parts=parts)
        return json.dumps(top, separators=(",", ":"))

    def spell_header(self, manifest_text):
        count = len(self.manifest["columns"])
        rows = [("schema.shift", "F64", [count], 8 * count),
                ("schema.scale", "F64", [count], 8 * count)]
        for i, layer in enumerate(self.manifest["encoder"]):
            rows.append((f"encoder.{i}.weight", "F32",
                         [layer["out"], layer["in"]],
                         4 * layer["in"] * layer["out"]))
            rows.append((f"encoder.{i}.bias", "F32", [layer["out"]],
                         4 * layer["out"]))
        used = sum(row[3] for row in rows)
        left = len(self.tensors) - used
        check(left >= 0, "shorter than its tensors")
        rows.append(("schema.text", "U8", [left], left))
        header = {"__metadata__": {"sotto": manifest_text}}
        at = 0
        for name, dtype, shape, size in rows:
            header[name] = {"dtype": dtype, "shape": shape,
                            "data_offsets": [at, at + size]}
            at += size
        self.text = self.tensors[used:]
        return json.dumps(header, separators=(",", ":"))

    def check_text(self):
        strings = sum(c["count"] if c["kind"] == "category" else 1
                      for c in self.manifest["columns"])
        check(self.text.endswith(b"\0") and self.text.count(b"\0") == strings,
              "names and categories")

    # ---- Reports -----------------------------------------------------------

    @property
    def report_size(self):
        return 52 + sum(b.size for blocks in self.blocks for b in blocks)

    def decode(self, report):
        """The report's line of JSON."""
        check(len(report) == self.report_size,
              f"{len(report)} bytes, not {self.report_size}")
        check(report[:4] in (b"STO1", b"SIM1"), "beginning")
        check(report[4:36] == self.hash, "made by another mechanism")
        at, parts = 52, []
        for blocks in self.blocks:
            values = []
            for block in blocks:
                values += block.values(report[at:at + block.size])
                at += block.size
            parts.append(values)
        return json.dumps(
            {"mechanism": report[4:36].hex(), "id": report[36:52].hex(),
             "simulated": report[:4] == b"SIM1", "parts": parts},
            separators=(",", ":"))
