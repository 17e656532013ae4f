"""decoder.py: an independent decoder of mechanisms and reports.

Written from docs/format.md alone, with nothing but Python's own library: it
shares no code, no data and no arithmetic with the C. `Mechanism(bytes)` checks
a file and raises Refused for what breaks a rule; `Mechanism.decode(bytes)`
turns a report into its line of JSON.
"""

import decimal
import hashlib
import json
import math
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


def parse_units(text, least, most):
    """A budget in whole units of 10^-12."""
    match = re.fullmatch(r"(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,12}))?", text)
    check(match, f"budget {text!r}")
    units = int(match[1]) * UNIT + int((match[2] or "").ljust(12, "0"))
    check(least <= units <= most, f"budget {text!r} is out of range")
    return units


def parse_eps(text):
    return parse_units(text, 10**6, 32 * UNIT)


def parse_delta(source):
    """The delta of a part or of the whole; 0 where none is stated."""
    if "delta" not in source:
        return 0
    return parse_units(source["delta"], 1, UNIT // 100)


def exp_double(eps, less=0):
    """The double nearest to e^eps - less: 60 digits, then one rounding."""
    with decimal.localcontext() as context:
        context.prec = 60
        return float((decimal.Decimal(eps) / UNIT).exp() - less)


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


def horizon(need):
    unit = 1
    while 32 * unit < need:
        unit *= 32
    return -(-need // unit) * unit


def clamp(l, eps):
    return horizon(-(-64 * l * UNIT // eps) + 2 * l) - l


def window_variance(l, w, a):
    """In doubles, in this order of operations."""
    m, n = 2.0 * w + 1, 2.0 * l
    t = m + n
    z = m * (a + 1) + n
    s = (t * (t * t - 1) + a * m * (m * m - 1)) / 12
    return (z * s / (m * a) + n * n / 4 * t) / (m * a)


def window_w(l, eps):
    a = exp_double(eps, 1)
    low, high = 0, 2 * l
    while low < high:
        w = (low + high) // 2
        if window_variance(l, w + 1, a) < window_variance(l, w, a):
            low = w + 1
        else:
            high = w
    return low


def gaussian_log_delta(rho, eps):
    """ln of the least delta that rho-zCDP gives at eps, over g."""
    def slope(g):
        return (1 + 2 * g) * rho - eps + math.log(g / (1 + g))

    low, high = 2.0**-20, 2.0**18
    for _ in range(100):
        g = (low + high) / 2
        low, high = (g, high) if slope(g) < 0 else (low, g)
    return (high * ((1 + high) * rho - eps)
            + (1 + high) * math.log(high / (1 + high)) - math.log(high))


def gaussian_t(l, eps, delta):
    """256 sigma: the least whole number that keeps (eps, delta)."""
    def enough(t):
        rho = (512 * l / t)**2 / 2
        return (gaussian_log_delta(rho, eps / UNIT)
                <= math.log(delta / UNIT) - 1e-9)

    low, high = 63, 2**26
    check(enough(high), "l is too large for this epsilon and delta")
    while high - low > 1:
        t = (low + high) // 2
        low, high = (low, t) if enough(t) else (t, high)
    return high


def gaussian_clamp(l, eps, delta):
    t = gaussian_t(l, eps, delta)
    k = -(-9 * t // 1024)
    return horizon(-(-t // 16) + k + 2 * l) - k - l


class Integers:
    """d integers from -c to c; the width is 2 or 4 bytes, or 8."""

    def __init__(self, d, c):
        self.d, self.c = d, c
        self.width = 2 if c < 2**15 else 4 if c < 2**31 else 8
        self.size = d * self.width

    def values(self, block):
        for i in range(0, self.size, self.width):
            y = int.from_bytes(block[i:i + self.width], "little", signed=True)
            check(-self.c <= y <= self.c, f"{y} is beyond the clamp {self.c}")
            yield y


class Duchi:
    def __init__(self, d):
        self.d, self.size = d, -(-d // 8)

    def values(self, block):
        bits = int.from_bytes(block, "little")
        check(bits < 2**self.d, f"a bit beyond {self.d}")
        yield from (1 if bits >> i & 1 else -1 for i in range(self.d))


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


class Signs:
    def __init__(self, k1, k2):
        self.k1, self.k2, self.first = k1, k2, -(-k1 // 8)
        self.size = self.first - -k2 // 8

    @staticmethod
    def signs(bitmap, k):
        bits = int.from_bytes(bitmap, "little")
        check(bits < 2**k, f"a bit beyond {k}")
        return [1 if bits >> i & 1 else -1 for i in range(k)]

    def values(self, block):
        a = self.signs(block[:self.first], self.k1)
        b = self.signs(block[self.first:], self.k2)
        check(abs(sum(a)) == self.k1 % 2, "first signs are not balanced")
        check(sum(b) == -(self.k2 % 2), "second signs are not balanced")
        check(self.k2 % 2 == 1 or b[-1] == 1, "the last sign is not +1")
        yield from a + b


# Channels of numbers: their domain, the most d, whether they need a delta.
NUMBERS = {
    "laplace": ("lattice", 2**12, False),
    "window": ("lattice", 1, False),
    "duchi": ("cube", 2**12, False),
    "gaussian": ("ball", 2**12, True),
}


def numbers(channel, d, l, eps, delta):
    if channel == "laplace":
        return Integers(d, clamp(l, eps))
    if channel == "window":
        return Integers(1, l + window_w(l, eps))
    if channel == "duchi":
        return Duchi(d)
    return Integers(d, gaussian_clamp(l, eps, delta))


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
        self.version = whole(m.get("sotto"), 1, 2, "version")
        try:
            for key in ("name", "campaign", "auxiliary"):
                check(re.fullmatch(TITLE, m[key]), f"title {m[key]!r}")
            if self.version == 2:
                self.read_terms(m)
            self.eps, self.delta = parse_eps(m["eps"]), parse_delta(m)
            columns, layers, parts = m["columns"], m["encoder"], m["parts"]
            check(1 <= len(columns) <= 4096, "number of columns")
            check(len(layers) <= 64, "number of layers")
            check(1 <= len(parts) <= 4096, "number of parts")
            self.read_columns(columns)
            self.read_layers(layers)
            self.books = 0
            self.blocks = [self.read_part(part) for part in parts]
        except (KeyError, TypeError, AttributeError) as error:
            raise Refused("manifest's structure") from error
        spent = sum(parse_eps(p["eps"]) * p["blocks"] for p in parts)
        check(spent <= self.eps, "the parts spend more than the total")
        spent = sum(parse_delta(p) * p["blocks"] for p in parts)
        check(spent <= self.delta, "the parts' delta is more than the total")
        check(spent > 0 or self.delta == 0, "a delta that no part has")
        points = sum(len(blocks) * getattr(blocks[0], "d", 1)
                     for blocks in self.blocks)
        check(points <= 2**16, "too many points")

    @staticmethod
    def read_terms(m):
        check("issuer" not in m, "needs a newer decoder")
        if "central" in m:
            parse_eps(m["central"]["eps"])
            parse_delta(m["central"])
        if "expires" in m:
            whole(m["expires"], 1, 2**53 - 1, "expires")

    def read_columns(self, columns):
        width = 0
        for column in columns:
            missing = 0
            if self.version == 2 and "missing" in column:
                missing = whole(column["missing"], 1, 1, "missing")
            if column["kind"] == "number":
                check(self.version == 1 or column.get("transform", "clip")
                      in ("clip", "log"), "transform")
                width += 1 + missing
            elif column["kind"] == "bytes":
                width += whole(column["count"], 1, 2**20, "count")
            else:
                check(column["kind"] == "category", "kind of column")
                count = whole(column["count"], 2 + missing, 2**16, "count")
                width += count * whole(column["input"], 0, 1, "input")
            check(width <= 2**20, "width")
        self.width = width

    def read_graph(self, layers):
        """Layers of version 2: what each takes, by number; 0 is x."""
        outputs, taken, work = [(self.width, None)], set(), 0
        for at, layer in enumerate(layers):
            sources = layer["from"]
            check(1 <= len(sources) <= (1 if layer["kind"] == "pool" else 2),
                  "from")
            for source in sources:
                whole(source, 0, at, "from")
            taken.update(sources)
            self.width, shape = outputs[sources[0]]
            if layer["kind"] == "dense":
                whole(layer["in"], self.width, self.width, "in")
                made, width = None, whole(layer["out"], 1, 2**20, "out")
                fan = layer["in"]
            else:
                made, fan = self.read_window(layer, shape)
                width = math.prod(made)
            work += width * fan
            check(work <= 2**32, "multiply-adds")
            if len(sources) == 2:
                added, image = outputs[sources[1]]
                check(added == width, "what is added")
                check(None in (image, made) or image == made, "its image")
            if layer["kind"] != "pool":
                check(layer["weights"] in ("f32", "bf16"), "weights")
                check(layer["activation"] in ("none", "relu", "sigmoid",
                                              "tanh"), "activation")
            outputs.append((width, made))
        check(taken >= set(range(len(layers))), "an output not taken")
        self.width = outputs[-1][0]

    def read_layers(self, layers):
        if self.version == 2:
            self.read_graph(layers)
            return
        self.images = []    # what goes into each layer; None: no image
        shape, work, reached = None, 0, 0
        for at, layer in enumerate(layers):
            if layer["kind"] == "dense":
                self.images.append(None)
                whole(layer["in"], self.width, self.width, "in")
                self.width = whole(layer["out"], 1, 2**20, "out")
                shape, work = None, work + layer["in"] * layer["out"]
            else:
                made, fan = self.read_window(layer, shape)
                self.images.append(layer["image"])
                skip = layer.get("skip", 0)
                if skip:
                    check(at + 1 - skip >= reached, "skip")
                    check(self.images[at + 1 - skip] == made, "skip's image")
                    reached = at + 1
                shape, self.width = made, math.prod(made)
                work += self.width * fan
            if layer["kind"] != "pool":
                check(layer["activation"] in ("none", "relu", "sigmoid",
                                              "tanh"), "activation")
            check(work <= 2**32, "multiply-adds")

    def read_window(self, layer, shape):
        """The image that comes out, and the products of each entry."""
        check(layer["kind"] in ("conv", "pool"), "kind of layer")
        image = layer["image"]
        check(len(image) == 3, "image")
        for side in image:
            whole(side, 1, 2**20, "image")
        check(math.prod(image) == self.width and shape in (None, image),
              "image")
        kernel = whole(layer["kernel"], 1, 31, "kernel")
        stride = whole(layer["stride"], 1, 16, "stride")
        pad = whole(layer["pad"], 0, kernel - 1, "pad")
        sides = [(side + 2 * pad - kernel) // stride + 1 for side in image[:2]]
        check(min(sides) >= 1, "kernel")
        if layer["kind"] == "conv":
            if self.version == 1:
                whole(layer["skip"], 0, 64, "skip")
            made = [*sides, whole(layer["out"], 1, 2**20, "out")]
            fan = kernel * kernel * image[2]
        else:
            check(layer["of"] in ("max", "mean"), "of")
            made, fan = [*sides, image[2]], kernel * kernel
        check(math.prod(made) <= 2**20, "image")
        return made, fan

    def read_part(self, part):
        check(part["covers"] in ("features", "label", "both"), "covers")
        eps, delta = parse_eps(part["eps"]), parse_delta(part)
        blocks = whole(part["blocks"], 1, 2**16, "blocks")
        if part["channel"] in NUMBERS:
            key, most, needs = NUMBERS[part["channel"]]
            check((delta > 0) == needs, "delta")
            d = whole(part[key]["d"], 1, most, "d")
            l = whole(part[key]["l"], 1, 2**20, "l")
            whole(part[key]["from"], 0, self.width - blocks * d, "from")
            return [numbers(part["channel"], d, l, eps, delta)] * blocks
        check(delta == 0, "delta")
        check(blocks == 1, "blocks of symbols")
        check(1 <= len(part["symbols"]) <= 4, "number of factors")
        books = 1
        if self.version == 2 and "books" in part:
            check(self.books == 0, "two parts with books")
            books = self.books = whole(part["books"], 2, 256, "books")
            check(any("column" not in factor for factor in part["symbols"]),
                  "books that are all the same")
        sizes = [self.read_factor(factor, books)
                 for factor in part["symbols"]]
        k = math.prod(sizes)
        check(k <= 2**16, "symbols")
        if part["channel"] == "signs":
            check(len(sizes) == 2, "factors of a pair")
            return [Signs(*sizes)]
        if part["channel"] == "flip":
            return [Flip(k)]
        check(part["channel"] == "subset", "channel")
        return [Subset(k, eps)]

    def read_factor(self, factor, books):
        columns = self.manifest["columns"]
        if "column" in factor:
            at = whole(factor["column"], 0, len(columns) - 1, "column")
            check(columns[at]["kind"] == "category", "column of a factor")
            return columns[at]["count"]
        if self.version == 2 and "equal" in factor:
            column, choice = factor["equal"]
            check("column" in column and "from" in choice, "equal")
            self.read_factor(column, books)
            self.read_factor(choice, books)
            return 2
        k = whole(factor["k"], 2, 2**16, "k")
        whole(factor["from"], 0, self.width - books * k, "from")
        return k

    # ---- The one spelling --------------------------------------------------

    @staticmethod
    def pick(source, *keys):
        return {key: source[key] for key in keys}

    def spell_manifest(self):
        def budget(source):
            return ("eps", "delta") if "delta" in source else ("eps",)

        m, pick = self.manifest, self.pick
        newer = ("transform", "missing") if self.version == 2 else ()
        columns = [pick(c, "kind", *{"number": (), "bytes": ("count",)}
                        .get(c["kind"], ("count", "input")),
                        *(key for key in newer if key in c))
                   for c in m["columns"]]
        window = ("kernel", "stride", "pad")
        keys = {"dense": ("in", "out", "activation"),
                "conv": ("image", "out", *window, "skip", "activation"),
                "pool": ("image", *window, "of")}
        if self.version == 2:
            keys = {"dense": ("from", "in", "out", "weights", "activation"),
                    "conv": ("from", "image", "out", *window, "weights",
                             "activation"),
                    "pool": ("from", "image", *window, "of")}
        layers = [pick(layer, "kind", *keys[layer["kind"]])
                  for layer in m["encoder"]]
        parts = []
        for p in m["parts"]:
            part = pick(p, "covers", "channel", *budget(p), "blocks")
            if p["channel"] in NUMBERS:
                key = NUMBERS[p["channel"]][0]
                part[key] = pick(p[key], "from", "d", "l")
            else:
                if self.version == 2 and "books" in p:
                    part["books"] = p["books"]
                part["symbols"] = [self.spell_factor(f) for f in p["symbols"]]
            parts.append(part)
        top = pick(m, "sotto", "name", "campaign", "auxiliary")
        if self.version == 2 and "central" in m:
            top["central"] = pick(m["central"], *budget(m["central"]))
        if self.version == 2 and "expires" in m:
            top["expires"] = m["expires"]
        top.update(pick(m, *budget(m)))
        top.update(columns=columns, encoder=layers, parts=parts)
        return json.dumps(top, separators=(",", ":"))

    def spell_factor(self, factor):
        if self.version == 2 and "equal" in factor:
            return {"equal": [self.spell_factor(f) for f in factor["equal"]]}
        keys = ("column",) if "column" in factor else ("from", "k")
        return self.pick(factor, *keys)

    def spell_header(self, manifest_text):
        count = len(self.manifest["columns"])
        rows = [("schema.shift", "F64", [count], 8 * count),
                ("schema.scale", "F64", [count], 8 * count)]
        halves = []
        for i, layer in enumerate(self.manifest["encoder"]):
            if layer["kind"] == "pool":
                continue
            shape = [layer["out"]]
            if layer["kind"] == "conv":
                shape += [layer["kernel"]] * 2 + layer["image"][2:]
            else:
                shape += [layer["in"]]
            if layer.get("weights") == "bf16":
                halves.append((f"encoder.{i}.weight", "BF16", shape,
                               2 * math.prod(shape)))
            else:
                rows.append((f"encoder.{i}.weight", "F32", shape,
                             4 * math.prod(shape)))
            rows.append((f"encoder.{i}.bias", "F32", shape[:1], 4 * shape[0]))
        rows += halves
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
        return self.start + sum(b.size for blocks in self.blocks
                                for b in blocks)

    @property
    def start(self):
        return 53 if self.books else 52

    def decode(self, report):
        """The report's line of JSON."""
        check(len(report) == self.report_size,
              f"{len(report)} bytes, not {self.report_size}")
        check(report[:4] in (b"STO1", b"SIM1"), "beginning")
        check(report[4:36] == self.hash, "made by another mechanism")
        check(not self.books or report[52] < self.books, "no such book")
        at, parts = self.start, []
        for blocks in self.blocks:
            values = []
            for block in blocks:
                values += block.values(report[at:at + block.size])
                at += block.size
            parts.append(values)
        return json.dumps(
            {"mechanism": report[4:36].hex(), "id": report[36:52].hex(),
             "simulated": report[:4] == b"SIM1",
             **({"book": report[52]} if self.books else {}), "parts": parts},
            separators=(",", ":"))
