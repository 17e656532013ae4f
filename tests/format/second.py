"""A second device and decoder of sotto, written from docs/format.md.

It reads mechanism files, turns records into points of the channels' domains,
draws reports from bytes of entropy, and checks and decodes reports, in plain
Python and its standard library. It was written by someone who had seen none of
the C sources, so that the page, not the code, is what it is held to. It is
slow, it wipes nothing and its time depends on the record: it is for tests.

A comment over each function and class names the section of docs/format.md, or
of docs/channels.md, that it implements.
"""

import ctypes
import hashlib
import json
import math
import re
import struct
from decimal import Context, Decimal, ROUND_FLOOR
from fractions import Fraction

UNITS = 10**12          # eps and delta are whole numbers of 10^-12
ONE = 1 << 256          # thresholds are whole numbers of 2^-256
MANY = 1 << 20          # entries of x, of an image and of a layer
TINY = 2.0**-50         # smaller floats of the encoder count as 0
TINY_DOUBLE = 2.0**-480
EXACT = Context(prec=240, Emin=-10**6, Emax=10**6)


class Refused(Exception):
    """The file, report or line breaks a rule of the page."""


class Newer(Refused):
    """The file has a word that the page knows and no device does yet."""


def need(condition, message):
    """Refuses with the message unless the condition holds."""
    if not condition:
        raise Refused(message)


# ---- JSON ---------------------------------------------------------------

# format.md: "JSON Lines" and "Manifest"
def refuse_twice(pairs):
    """Makes an object of its pairs and refuses a key that comes twice."""
    need(len(dict(pairs)) == len(pairs), "a key comes twice")
    return dict(pairs)


# format.md: "JSON Lines" and "Manifest"
def refuse_number(text):
    """Refuses a number that is not a plain integer."""
    raise Refused("not an integer: " + text)


# format.md: "JSON Lines" and "Manifest"
def read_integer(text):
    """Reads an integer; no integer of the page has over 20 digits."""
    need(len(text) <= 21, "integer too long")
    return int(text)


# format.md: "JSON Lines" and "Manifest"
def parse_json(text):
    """Parses JSON whose numbers are integers and whose keys are unique."""
    try:
        return json.loads(text, object_pairs_hook=refuse_twice,
                          parse_float=refuse_number, parse_int=read_integer,
                          parse_constant=refuse_number)
    except (ValueError, RecursionError) as error:
        raise Refused("not JSON: %s" % error)


# format.md: "JSON Lines" and "Manifest"
def check_keys(value, *keys):
    """Requires an object with these keys in this order."""
    need(isinstance(value, dict) and list(value) == list(keys),
         "keys are not " + ", ".join(keys))


# format.md: "JSON Lines" and "Manifest"
def check_integer(value, low, high, what):
    """Requires an integer from low to high."""
    need(type(value) is int and low <= value <= high, what + " out of range")
    return value


# format.md: "JSON Lines" and "Manifest"
def check_list(value, low, high, what):
    """Requires a list of low to high entries."""
    need(isinstance(value, list) and low <= len(value) <= high,
         what + ": wrong number")
    return value


# format.md: "JSON Lines" and "Manifest"
def check_word(value, words, what):
    """Requires one of the words."""
    need(isinstance(value, str) and value in words, "unknown " + what)
    return value


# ---- format, "Manifest": budgets and titles ----------------------------

# format.md: "Manifest"
def read_decimal(text, low, high, what):
    """Reads an EPS or DELTA as a whole number of 10^-12."""
    need(isinstance(text, str) and
         re.fullmatch(r"(0|[1-9][0-9]{0,6})(\.[0-9]{1,12})?", text, re.ASCII),
         what + " is not a decimal")
    whole, _, places = text.partition(".")
    units = int(whole) * UNITS + int(places.ljust(12, "0") or "0")
    need(low <= units <= high, what + " out of range")
    return units


# format.md: "Manifest"
def read_eps(text):
    """Reads an EPS, from 0.000001 to 32."""
    return read_decimal(text, 10**6, 32 * UNITS, "eps")


# format.md: "Manifest"
def read_delta(text):
    """Reads a DELTA, from 0.000000000001 to 0.01."""
    return read_decimal(text, 1, UNITS // 100, "delta")


# format.md: "Manifest"
def check_title(text):
    """Requires a TITLE."""
    need(isinstance(text, str) and
         re.fullmatch(r'[ !#-\[\]-~]{0,120}', text, re.ASCII),
         "not a title")


# ---- format, "Manifest" and "Version 2": columns ------------------------

# format.md: "Manifest" and "Version 2"
class Column:
    """A column: kind, count, input, missing, clip, log; name and categories
    come from schema.text, shift, scale and edges from their tensors."""

    def __init__(self, value, version):
        """Reads a COLUMN."""
        need(isinstance(value, dict), "a column is not an object")
        self.kind = value.get("kind")
        self.count, self.input = 0, 0
        self.clip = self.log = self.missing = False
        keys = ["kind"]
        if version == 2 and self.kind in ("image", "text"):
            raise Newer(self.kind)
        if self.kind == "number":
            self.read_transform(value, version, keys)
        elif self.kind == "bytes" or (version == 2 and self.kind == "bins"):
            keys += ["count"]
        else:
            check_word(self.kind, ("category",), "kind of column")
            keys += ["count", "input"]
        if self.kind in ("number", "category") and version == 2 and "missing" in value:
            check_integer(value["missing"], 1, 1, "missing")
            self.missing = True
            keys += ["missing"]
        check_keys(value, *keys)
        self.read_count(value)

    def read_transform(self, value, version, keys):
        """Reads TRANSFORM."""
        if version == 2 and "transform" in value:
            word = check_word(value["transform"], ("clip", "log"), "transform")
            self.log, self.clip = word == "log", word == "clip"
            keys += ["transform"]

    def read_count(self, value):
        """Reads `count` and `input`."""
        if self.kind == "bytes":
            self.count = check_integer(value["count"], 1, MANY, "count")
        if self.kind == "bins":
            self.count = check_integer(value["count"], 3, 1 << 16, "count")
        if self.kind == "category":
            low = 3 if self.missing else 2
            self.count = check_integer(value["count"], low, 1 << 16, "count")
            self.input = check_integer(value["input"], 0, 1, "input")

    def entries(self):
        """Counts the entries of x that are this column's."""
        if self.kind == "number":
            return 2 if self.missing else 1
        return self.count * (1 if self.kind == "bytes" else self.input)

    def edge_count(self):
        """Counts its edges in schema.edges."""
        return self.count - 2 if self.kind == "bins" else 0


# ---- format, "Manifest" and "Version 2": layers -------------------------

ACTIVATIONS = ("none", "relu", "sigmoid", "tanh")


# format.md: "Manifest" and "Version 2"
class Layer:
    """A layer: its kind, what goes in (`source`, an output's number; `add`,
    another or None), its shape, and later its weights and biases."""

    def __init__(self, value, version, place):
        """Reads a LAYER, the place-th of the encoder."""
        need(isinstance(value, dict), "a layer is not an object")
        self.kind = value.get("kind")
        self.source, self.add, self.skip = place, None, 0
        self.weights, self.image = "f32", None
        self.weight, self.bias = [], []
        if version == 2 and self.kind in ("norm", "embed", "lstm"):
            raise Newer(self.kind)
        check_word(self.kind, ("dense", "conv", "pool"), "kind of layer")
        origin = ["from"] if version == 2 else []
        weights = ["weights"] if version == 2 else []
        window = ["kernel", "stride", "pad"]
        if self.kind == "dense":
            check_keys(value, "kind", *origin, "in", "out", *weights,
                       "activation")
            self.read_dense(value)
        elif self.kind == "conv":
            skip = ["skip"] if version == 1 else []
            check_keys(value, "kind", *origin, "image", "out", *window, *skip,
                       *weights, "activation")
            self.read_window(value)
            self.channels = check_integer(value["out"], 1, MANY, "out")
            if version == 1:
                self.skip = check_integer(value["skip"], 0, 64, "skip")
        else:
            check_keys(value, "kind", *origin, "image", *window, "of")
            self.read_window(value)
            self.channels = self.image[2]
            self.of = check_word(value["of"], ("max", "mean"), "pool")
        if self.kind != "pool":
            self.activation = check_word(value["activation"], ACTIVATIONS,
                                         "activation")
        if version == 2:
            self.read_version_2(value, place)

    def read_dense(self, value):
        """Reads the shape of a dense layer."""
        self.entries_in = check_integer(value["in"], 1, MANY, "in")
        self.entries_out = check_integer(value["out"], 1, MANY, "out")
        self.made = None

    def read_window(self, value):
        """Reads image, kernel, stride and pad."""
        self.image = check_list(value["image"], 3, 3, "image")
        for size in self.image:
            check_integer(size, 1, MANY, "image")
        self.kernel = check_integer(value["kernel"], 1, 31, "kernel")
        self.stride = check_integer(value["stride"], 1, 16, "stride")
        self.pad = check_integer(value["pad"], 0, self.kernel - 1, "pad")

    def read_version_2(self, value, place):
        """Reads `from` and `weights`."""
        most = 1 if self.kind == "pool" else 2
        origin = check_list(value["from"], 1, most, "from")
        for number in origin:
            check_integer(number, 0, place, "from")
        self.source = origin[0]
        self.add = origin[1] if len(origin) == 2 else None
        if self.kind != "pool":
            self.weights = check_word(value["weights"],
                                      ("f32", "bf16", "int8"), "weights")
            if self.weights == "int8":
                raise Newer(self.weights)

    def fit_window(self):
        """Computes the image that a conv or pool makes."""
        height, width, depth = self.image
        padded = 2 * self.pad - self.kernel
        need(height + padded >= 0 and width + padded >= 0, "kernel too large")
        self.made = [(height + padded) // self.stride + 1,
                     (width + padded) // self.stride + 1, self.channels]
        self.entries_in = height * width * depth
        self.entries_out = math.prod(self.made)
        need(max(self.entries_in, self.entries_out) <= MANY, "image too large")

    def multiply_adds(self):
        """Counts the multiply-adds of a record."""
        if self.kind == "dense":
            return self.entries_in * self.entries_out
        depth = self.image[2] if self.kind == "conv" else 1
        return self.entries_out * self.kernel**2 * depth

    def shape(self):
        """Gives the shape of the weights, or None for a pool."""
        if self.kind == "dense":
            return [self.entries_out, self.entries_in]
        if self.kind == "conv":
            return [self.channels, self.kernel, self.kernel, self.image[2]]
        return None


# format.md: "Manifest" and "Version 2"
def check_skips(layers):
    """Turns the skips of version 1 into outputs that are added, and requires
    that they fit and that none lies over another."""
    covered = -1
    for place, layer in enumerate(layers):
        if not layer.skip:
            continue
        first = place - layer.skip + 1
        need(first >= 0, "skip before the first layer")
        need(first > covered, "a layer lies under two skips")
        need(layers[first].image == layer.made, "skip of another shape")
        layer.add = first
        covered = place


# format.md: "Manifest" and "Version 2"
def check_layers(layers, entries, version):
    """Requires layers that fit one another and x; gives the size of z."""
    sizes, images, taken, work = [entries], [None], set(), 0
    for layer in layers:
        if layer.image:
            layer.fit_window()
            made = images[layer.source]
            need(made is None or made == layer.image, "another image goes in")
        need(layer.entries_in == sizes[layer.source], "layer does not fit")
        if layer.add is not None:
            made = images[layer.add]
            need(sizes[layer.add] == layer.entries_out and
                 (made is None or layer.made is None or made == layer.made),
                 "what is added does not fit")
        taken |= {layer.source, layer.add}
        work += layer.multiply_adds()
        sizes.append(layer.entries_out)
        images.append(layer.made)
    need(work <= 1 << 32, "too many multiply-adds")
    if version == 1:
        check_skips(layers)
    need(all(number in taken for number in range(1, len(layers))),
         "an output is not taken")
    return sizes[-1]


# format.md: "Manifest" and "Version 2"
def most_kept(mechanism):
    """Computes the most bytes of outputs, x among them, that are wanted while
    a layer is computed: those it or a later layer takes, and its own."""
    last = {layer: place for place, taken in enumerate(mechanism.layers)
            for layer in (taken.source, taken.add)}
    sizes = [mechanism.entries] + [layer.entries_out
                                   for layer in mechanism.layers]
    return max((4 * sum(size for number, size in enumerate(sizes[:place + 2])
                        if number > place or last.get(number, -1) >= place)
                for place in range(len(mechanism.layers))), default=0)


# ---- format, "Manifest" and "Version 2": parts --------------------------

DOMAINS = {"laplace": "lattice", "window": "lattice", "duchi": "cube",
           "gaussian": "ball"}


# format.md: "Manifest" and "Version 2"
class Factor:
    """A factor of symbols: a column, outputs, or (equal) both compared."""

    def __init__(self, value, version, columns, outputs, books):
        """Reads a FACTOR; of several books each has outputs of its own."""
        self.books = books or 1
        need(isinstance(value, dict), "a factor is not an object")
        self.column = self.start = None
        self.equal = version == 2 and list(value) == ["equal"]
        if self.equal:
            pair = check_list(value["equal"], 2, 2, "equal")
            self.read_column(pair[0], columns)
            self.read_outputs(pair[1], outputs)
            self.size = 2
        elif "column" in value:
            self.size = self.read_column(value, columns)
        else:
            self.size = self.read_outputs(value, outputs)

    def read_column(self, value, columns):
        """Reads {"column":N}; gives its size."""
        check_keys(value, "column")
        self.column = check_integer(value["column"], 0, len(columns) - 1,
                                    "column")
        need(columns[self.column].kind in ("category", "bins"),
             "not a column of symbols")
        return columns[self.column].count

    def read_outputs(self, value, outputs):
        """Reads {"from":N,"k":N}; gives its size."""
        check_keys(value, "from", "k")
        self.k = check_integer(value["k"], 2, 1 << 16, "k")
        self.start = check_integer(value["from"], 0,
                                   outputs - self.books * self.k, "from")
        return self.k


# format.md: "Manifest" and "Version 2"
class Part:
    """A part: covers, channel, eps, delta, blocks; symbols have factors and
    k, the other domains start, d and l."""

    def __init__(self, value, version, columns, outputs):
        """Reads a PART."""
        need(isinstance(value, dict), "a part is not an object")
        self.channel = value.get("channel")
        self.delta, self.factors = 0, []
        self.d, self.books = 1, 0
        if self.channel in ("flip", "subset", "signs"):
            books = ["books"] if version == 2 and "books" in value else []
            check_keys(value, "covers", "channel", "eps", "blocks", *books,
                       "symbols")
            if books:
                self.books = check_integer(value["books"], 2, 256, "books")
            self.eps = read_eps(value["eps"])
            self.blocks = check_integer(value["blocks"], 1, 1, "blocks")
            self.read_symbols(value["symbols"], version, columns, outputs)
        else:
            check_word(self.channel, DOMAINS, "channel")
            self.domain = DOMAINS[self.channel]
            delta = ["delta"] if self.channel == "gaussian" else []
            check_keys(value, "covers", "channel", "eps", *delta, "blocks",
                       self.domain)
            self.eps = read_eps(value["eps"])
            self.delta = read_delta(value["delta"]) if delta else 0
            self.blocks = check_integer(value["blocks"], 1, 1 << 16, "blocks")
            self.read_numbers(value[self.domain], outputs)
        check_word(value["covers"], ("features", "label", "both"), "covers")

    def read_symbols(self, value, version, columns, outputs):
        """Reads the factors of a part of symbols."""
        low, high = (2, 2) if self.channel == "signs" else (1, 4)
        self.factors = [Factor(entry, version, columns, outputs, self.books)
                        for entry in check_list(value, low, high, "factors")]
        self.k = math.prod(factor.size for factor in self.factors)
        need(self.k <= 1 << 16, "too many symbols")
        need(not self.books or any(factor.start is not None
                                   for factor in self.factors),
             "books without outputs")

    def read_numbers(self, value, outputs):
        """Reads the domain of a part of numbers."""
        check_keys(value, "from", "d", "l")
        most = 1 if self.channel == "window" else 1 << 12
        self.d = check_integer(value["d"], 1, most, "d")
        self.l = check_integer(value["l"], 1, MANY, "l")
        self.start = check_integer(value["from"], 0,
                                   outputs - self.blocks * self.d, "from")


# ---- format, "Mechanism file" -------------------------------------------

SIZES = {"F64": 8, "F32": 4, "BF16": 2, "U8": 1}


# format.md: "Mechanism file"
class Mechanism:
    """A mechanism: hash, columns, layers, parts, and their channels."""

    def __init__(self, data, device=True):
        """Reads a mechanism file; a device refuses more than a decoder."""
        self.hash = hashlib.blake2b(data, digest_size=32).digest()
        need(len(data) >= 8, "too short")
        size = int.from_bytes(data[:8], "little")
        need(size % 8 == 0 and size <= 1 << 24 and size <= len(data) - 8,
             "length of the header")
        text, header = self.cut_manifest(data[8:8 + size])
        self.read_manifest(text)
        tensors = self.read_tensors(header, data[8 + size:], text)
        self.fill_tensors(tensors)
        self.channels = [make_channel(part) for part in self.parts]
        if device:
            self.refuse_subnormals()
            need(entropy_size(self) <= 64 << 20, "too much entropy")
            need(most_kept(self) <= 64 << 20, "too many outputs at a time")

    @staticmethod
    def cut_manifest(header):
        """Cuts the manifest out of the header: format, "Header"."""
        prefix = b'{"__metadata__":{"sotto":"'
        need(header.startswith(prefix), "header")
        match = re.compile(rb'(?:[^"\\]|\\")*').match(header, len(prefix))
        need(match.end() < len(header), "header")
        try:
            return (match.group().replace(b'\\"', b'"').decode("ascii"),
                    header)
        except UnicodeDecodeError:
            raise Refused("the manifest is not ASCII")

    def read_manifest(self, text):
        """Reads the manifest, which has one spelling: format, "Manifest"."""
        value = parse_json(text)
        need(isinstance(value, dict), "the manifest is not an object")
        need(json.dumps(value, separators=(",", ":")) == text,
             "another spelling")
        version = self.version = value.get("sotto")
        need(type(version) is int and version in (1, 2), "version")
        optional = [key for key in ("central", "expires", "issuer")
                    if version == 2 and key in value]
        delta = ["delta"] if "delta" in value else []
        check_keys(value, "sotto", "name", "campaign", "auxiliary", *optional,
                   "eps", *delta, "columns", "encoder", "parts")
        for key in ("name", "campaign", "auxiliary"):
            check_title(value[key])
        self.read_terms(value, optional)
        self.eps = read_eps(value["eps"])
        self.delta = read_delta(value["delta"]) if delta else 0
        self.columns = [Column(entry, version) for entry in
                        check_list(value["columns"], 1, 4096, "columns")]
        self.entries = sum(column.entries() for column in self.columns)
        need(self.entries <= MANY, "x too long")
        self.layers = [Layer(entry, version, place) for place, entry in
                       enumerate(check_list(value["encoder"], 0, 64,
                                            "layers"))]
        outputs = check_layers(self.layers, self.entries, version)
        self.parts = [Part(entry, version, self.columns, outputs) for entry in
                      check_list(value["parts"], 1, 4096, "parts")]
        need(sum(part.books > 0 for part in self.parts) <= 1,
             "two parts with books")
        self.books = max(part.books for part in self.parts)
        self.check_budget(delta)

    def read_terms(self, value, optional):
        """Reads central, expires and issuer: format, "Version 2"."""
        self.central = self.expires = None
        if "central" in optional:
            central = value["central"]
            need(isinstance(central, dict), "central is not an object")
            delta = ["delta"] if "delta" in central else []
            check_keys(central, "eps", *delta)
            self.central = (read_eps(central["eps"]),
                            read_delta(central["delta"]) if delta else 0)
        if "expires" in optional:
            self.expires = check_integer(value["expires"], 1, (1 << 53) - 1,
                                         "expires")
        if "issuer" in optional:
            need(isinstance(value["issuer"], str) and
                 re.fullmatch("[0-9a-f]{64}", value["issuer"], re.ASCII),
                 "issuer")
            raise Newer("issuer")

    def check_budget(self, stated_delta):
        """Adds up eps, delta and points: format, "Manifest"."""
        need(sum(part.blocks * part.eps for part in self.parts) <= self.eps,
             "parts spend more eps")
        need(bool(stated_delta) == any(part.delta for part in self.parts),
             "delta without need or need without delta")
        need(sum(part.blocks * part.delta for part in self.parts)
             <= self.delta, "parts spend more delta")
        need(sum(part.blocks * part.d for part in self.parts) <= 1 << 16,
             "too many points")

    def list_tensors(self):
        """Lists (name, type, shape) in the file's order, but schema.text."""
        count = len(self.columns)
        tensors = [("schema.shift", "F64", [count]),
                   ("schema.scale", "F64", [count])]
        edges = sum(column.edge_count() for column in self.columns)
        if edges > 0:
            tensors.append(("schema.edges", "F64", [edges]))
        for kind in ("F32", "BF16"):
            for place, layer in enumerate(self.layers):
                name, shape = "encoder.%d." % place, layer.shape()
                if shape is None:
                    continue
                weights = "BF16" if layer.weights == "bf16" else "F32"
                if weights == kind:
                    tensors.append((name + "weight", kind, shape))
                if kind == "F32":
                    tensors.append((name + "bias", kind, shape[:1]))
        return tensors

    def read_tensors(self, header, body, text):
        """Compares the header with the only one that fits the manifest, and
        cuts the tensors out of the body: format, "Header"."""
        tensors, offset, cut = [], 0, {}
        for name, kind, shape in self.list_tensors():
            end = offset + SIZES[kind] * math.prod(shape)
            tensors.append((name, kind, shape, offset, end))
            offset = end
        need(offset <= len(body), "tensors are missing")
        tensors.append(("schema.text", "U8", [len(body) - offset], offset,
                        len(body)))
        spelt = '{"__metadata__":{"sotto":"%s"}' % text.replace('"', '\\"')
        for name, kind, shape, start, end in tensors:
            sizes = ",".join(map(str, shape))
            spelt += ',"%s":{"dtype":"%s","shape":[%s],' % (name, kind, sizes)
            spelt += '"data_offsets":[%d,%d]}' % (start, end)
            cut[name] = body[start:end]
        spelt = (spelt + "}").encode("ascii")
        need(spelt.ljust(-len(spelt) // 8 * -8, b" ") == header, "header")
        return cut

    def fill_tensors(self, cut):
        """Gives columns and layers what the tensors hold."""
        shifts = struct.unpack("<%dd" % len(self.columns), cut["schema.shift"])
        scales = struct.unpack("<%dd" % len(self.columns), cut["schema.scale"])
        edges = cut.get("schema.edges", b"")
        edges = list(struct.unpack("<%dd" % (len(edges) // 8), edges))
        words = cut["schema.text"].split(b"\0")
        need(words.pop() == b"", "schema.text does not end with NUL")
        for column, shift, scale in zip(self.columns, shifts, scales):
            column.shift, column.scale = shift, scale
            column.edges = edges[:column.edge_count()]
            del edges[:column.edge_count()]
            count = column.count if column.kind in ("category", "bins") else 1
            need(len(words) >= count, "schema.text is too short")
            column.name, column.categories = words[0], words[1:count]
            del words[:count]
        need(not words, "schema.text is too long")
        for place, layer in enumerate(self.layers):
            name = "encoder.%d." % place
            if layer.kind != "pool":
                layer.weight = read_floats(cut[name + "weight"], layer.weights)
                layer.bias = read_floats(cut[name + "bias"], "f32")

    def refuse_subnormals(self):
        """Refuses what could make an encoder's time depend on the record."""
        for column in self.columns:
            for value in [column.shift, column.scale] + column.edges:
                need(not 0 < abs(value) < TINY_DOUBLE,
                     "shift, scale or edge tiny")
        for layer in self.layers:
            for value in layer.weight + layer.bias:
                need(not 0 < abs(value) < TINY, "weight or bias tiny")


# format.md: "Mechanism file"
def read_floats(data, kind):
    """Reads floats, or halves that are the upper 16 bits of floats."""
    if kind == "bf16":
        data = b"".join(b"\0\0" + data[i:i + 2] for i in range(0, len(data), 2))
    return list(struct.unpack("<%df" % (len(data) // 4), data))


# ---- format, "From record to domain": the record ------------------------

# format.md: "From record to domain"
def to_float(value):
    """Rounds a double to a float."""
    return ctypes.c_float(value).value


# format.md: "From record to domain"
def scale_value(value, column):
    """Computes an entry of x from a value."""
    if abs(value) < TINY_DOUBLE:
        value = 0.0
    if column.log:
        value = math.copysign(math.log(1 + abs(value)), value)
    entry = (value - column.shift) * column.scale
    if abs(entry) < TINY:
        entry = 0.0
    if column.clip:
        entry = min(max(entry, -1.0), 1.0)
    return to_float(entry)


# format.md: "From record to domain"
def find_symbol(value, column):
    """Finds the symbol of a category column."""
    if not isinstance(value, str):
        return column.count - (2 if column.missing else 1)
    text = value.encode()
    if text in column.categories:
        return column.categories.index(text)
    return column.count - 1


# format.md: "From record to domain"
def find_range(value, column):
    """Finds the symbol of a column of bins."""
    if not isinstance(value, float) or not math.isfinite(value):
        return column.count - 1
    if abs(value) < TINY_DOUBLE:
        value = 0.0
    return sum(edge <= value for edge in column.edges)


# format.md: "From record to domain"
def make_input(record, columns):
    """Makes x and the categories' symbols of a record: a list of None,
    float, str (text) and bytes."""
    entries, symbols = [], []
    for value, column in zip(record, columns, strict=True):
        symbols.append(None)
        if column.kind == "number":
            known = isinstance(value, float) and math.isfinite(value)
            entries.append(scale_value(value, column) if known else 0.0)
            if column.missing:
                entries.append(0.0 if known else 1.0)
        elif column.kind == "bytes":
            known = isinstance(value, bytes) and len(value) == column.count
            entries += [scale_value(float(byte), column) for byte in value] \
                if known else [0.0] * column.count
        elif column.kind == "bins":
            symbols[-1] = find_range(value, column)
        else:
            symbols[-1] = find_symbol(value, column)
            if column.input:
                entries += [float(i == symbols[-1])
                            for i in range(column.count)]
    return entries, symbols


# ---- format, "From record to domain": the layers ------------------------

# format.md: "From record to domain"
def add_up(rows):
    """Adds up products of rows of (weight, entry) in sixteen running sums."""
    sums = [0.0] * 16
    for row in rows:
        for m, (weight, entry) in enumerate(row):
            sums[m % 16] = to_float(sums[m % 16] + to_float(weight * entry))
    total = 0.0
    for value in sums:
        total = to_float(total + value)
    return total


# format.md: "From record to domain"
def activate(value, name):
    """Applies an activation. The page does not say how sigmoid and tanh are
    rounded, nor what relu makes of a NaN; here they are the nearest floats,
    and 0."""
    if name == "relu":
        return value if value > 0 else 0.0
    if name == "sigmoid":
        return 0.0 if value < -87 else to_float(1 / (1 + math.exp(-value)))
    if name == "tanh":
        return to_float(math.tanh(value))
    return value


# format.md: "From record to domain"
def run_dense(layer, entries):
    """Computes the sums of a dense layer, without the bias."""
    width = layer.entries_in
    for j in range(layer.entries_out):
        row = layer.weight[j * width:(j + 1) * width]
        yield j, add_up([zip(row, entries)])


# format.md: "From record to domain"
def list_places(layer, i, length):
    """Lists the places of a window at output place i that lie inside."""
    start = layer.stride * i - layer.pad
    return [u for u in range(layer.kernel) if 0 <= start + u < length]


# format.md: "From record to domain"
def run_conv(layer, entries):
    """Computes the sums of a conv, without the bias."""
    height, width, depth = layer.image
    for i in range(layer.made[0]):
        top = layer.stride * i - layer.pad
        for j in range(layer.made[1]):
            left = layer.stride * j - layer.pad
            for n in range(layer.channels):
                rows = []
                for u in list_places(layer, i, height):
                    rows.append([
                        (layer.weight[((n * layer.kernel + u) * layer.kernel
                                       + v) * depth + c],
                         entries[((top + u) * width + left + v) * depth + c])
                        for v in list_places(layer, j, width)
                        for c in range(depth)])
                yield n, add_up(rows)


# format.md: "From record to domain"
def run_pool(layer, entries):
    """Computes what a pool makes."""
    height, width, depth = layer.image
    for i in range(layer.made[0]):
        top = layer.stride * i - layer.pad
        for j in range(layer.made[1]):
            left = layer.stride * j - layer.pad
            for c in range(depth):
                values = [entries[((top + u) * width + left + v) * depth + c]
                          for u in list_places(layer, i, height)
                          for v in list_places(layer, j, width)]
                yield pool_values(values, layer.of)


# format.md: "From record to domain"
def pool_values(values, of):
    """Takes the largest or the mean."""
    if of == "max":
        best = -math.inf
        for value in values:
            best = value if value > best else best
        return best
    total = 0.0
    for value in values:
        total = to_float(total + value)
    return to_float(total / len(values))


# format.md: "From record to domain"
def run_layer(layer, outputs):
    """Computes what a layer makes of the outputs before it."""
    entries = outputs[layer.source]
    if layer.kind == "pool":
        made = list(run_pool(layer, entries))
    else:
        run = run_dense if layer.kind == "dense" else run_conv
        made = []
        for n, total in run(layer, entries):
            total = to_float(total + layer.bias[n])
            if layer.add is not None:
                total = to_float(total + outputs[layer.add][len(made)])
            made.append(activate(total, layer.activation))
    return [0.0 if abs(value) < TINY else value for value in made]


# format.md: "From record to domain"
def run_encoder(mechanism, entries):
    """Computes z of x."""
    outputs = [entries]
    for layer in mechanism.layers:
        outputs.append(run_layer(layer, outputs))
    return outputs[-1]


# ---- format, "From record to domain": the domains -----------------------

# format.md: "From record to domain"
def take_apart(z, places):
    """Takes floats apart: E, and of each its sign bit and
    floor(|z| 2^(places - E))."""
    bits = [struct.unpack("<I", struct.pack("<f", value))[0] for value in z]
    exponents = [0 if value != value else max(pattern >> 23 & 255, 1)
                 for value, pattern in zip(z, bits)]
    largest = max(131, *exponents)
    parts = []
    for value, pattern in zip(z, bits):
        if value != value:
            size = Fraction(0)
        else:
            size = Fraction(1 << 128) if math.isinf(value) \
                else Fraction(abs(value))
        parts.append((pattern >> 31,
                      math.floor(size * Fraction(2)**(places - largest))))
    return largest, parts


# format.md: "From record to domain"
def sign_all(parts, sizes):
    """Gives sizes the signs of the floats."""
    return [-size if negative else size
            for (negative, _), size in zip(parts, sizes)]


# format.md: "From record to domain"
def find_lattice(z, l):
    """Finds the point of a lattice."""
    largest, parts = take_apart(z, 155)
    one = (1 << 24) >> (largest - 131)
    m = max(sum(a for _, a in parts), one)
    total, before, sizes = 0, 0, []
    for _, a in parts:
        total += a
        rounded = (2 * l * total + m) // (2 * m)
        sizes.append(rounded - before)
        before = rounded
    return sign_all(parts, sizes)


# format.md: "From record to domain"
def find_cube(z, l):
    """Finds the point of a cube."""
    return [find_lattice([value], l)[0] for value in z]


# format.md: "From record to domain"
def find_ball(z, l):
    """Finds the point of a ball."""
    largest, parts = take_apart(z, 151)
    squares = sum(a * a for _, a in parts)
    root = math.isqrt(squares)
    root += root * root < squares
    m = max(root, (1 << 20) >> (largest - 131))
    sizes = [(2 * l * a + m) // (2 * m) for _, a in parts]
    if sum(n * n for n in sizes) > l * l:
        sizes = [l * a // m for _, a in parts]
    return sign_all(parts, sizes)


# format.md: "From record to domain"
def find_largest(z):
    """Finds the index of the largest float, the first of equals."""
    def rank(value):
        """Orders floats: NaN, then by size, -0 below +0."""
        if value != value:
            return (-math.inf, -1)
        return (value, math.copysign(1, value) if value == 0 else 0)
    return max(range(len(z)), key=lambda i: (rank(z[i]), -i))


# format.md: "From record to domain"
def find_symbols(part, z, symbols, book):
    """Finds the numbers of a part's factors, as that book has them."""
    numbers = []
    for factor in part.factors:
        if factor.start is not None:
            start = factor.start + (book * factor.k if part.books else 0)
            index = find_largest(z[start:start + factor.k])
        if factor.equal:
            numbers.append(int(symbols[factor.column] == index))
        else:
            numbers.append(symbols[factor.column]
                           if factor.start is None else index)
    return numbers


# format.md: "From record to domain"
def find_points(mechanism, z, symbols, book=0):
    """Finds for each part a list of points, one for each block."""
    find = {"lattice": find_lattice, "cube": find_cube, "ball": find_ball}
    points = []
    for part in mechanism.parts:
        if part.factors:
            points.append([find_symbols(part, z, symbols, book)])
            continue
        starts = [part.start + i * part.d for i in range(part.blocks)]
        points.append([find[part.domain](z[start:start + part.d], part.l)
                       for start in starts])
    return points


# ---- channels, "Draws" --------------------------------------------------

# channels.md: "Draws"
class Source:
    """Entropy: bytes that are handed out in order. The pages do not say in
    which order draws take them, nor that the rest of a fetch is dropped when
    it is too short for the next word; both are as the program and the vectors
    show."""

    def __init__(self, data, fetch):
        """Starts at the first byte; `fetch` bytes are handed out at a time."""
        self.data, self.fetch, self.used = data, fetch, 0

    def take(self, count):
        """Takes count bytes as a number, the lowest byte first."""
        if self.used % self.fetch + count > self.fetch or \
                self.used % self.fetch == 0:
            self.used = -(-self.used // self.fetch) * self.fetch
        need(self.used + count <= len(self.data), "no entropy left")
        self.used += count
        return int.from_bytes(self.data[self.used - count:self.used],
                              "little")

    def take_words(self, count):
        """Takes count words of 4 bytes as a number, the lowest first."""
        return sum(self.take(4) << 32 * i for i in range(count))

    def uniform(self, n):
        """Draws a number below n, each equally likely."""
        while True:
            value, rest = divmod(self.take_words(3) * n, 1 << 96)
            if rest >= (1 << 96) % n:
                return value

    def flip_coin(self, threshold):
        """Draws True with probability threshold / 2^256, in its own batch."""
        return self.start_batch().pick([threshold]) == 1

    def start_batch(self):
        """Starts a batch of draws from tables."""
        return Batch(self)

    def choose(self, take, count):
        """Draws a uniform subset of `take` of `count` by selection."""
        chosen = []
        for i in range(count):
            chosen.append(self.uniform(count - i) < take)
            take -= chosen[-1]
        return chosen


# channels.md: "Draws"
class Batch:
    """Draws from tables that share a tail of 200 bits."""

    def __init__(self, source):
        """Draws the tail."""
        self.source = source
        self.renew_tail()

    def renew_tail(self):
        """Draws a tail: 200 bits out of seven words of 4 bytes."""
        self.tail = self.source.take_words(7) & ((1 << 200) - 1)

    def pick(self, table):
        """Counts the thresholds of a table that are above a uniform number
        of 256 bits: 56 are drawn, the others are the tail, which serves one
        tie."""
        high = self.source.take(7)
        number = high << 200 | self.tail
        if any(threshold >> 200 == high for threshold in table):
            self.renew_tail()
        return sum(number < threshold for threshold in table)


# ---- channels, parameters -----------------------------------------------

# channels.md, and format.md: "Report"
def exp_below(exponent):
    """Gives 2^320 e^exponent, rounded down; the exponent is a Fraction."""
    power = EXACT.divide(Decimal(exponent.numerator),
                         Decimal(exponent.denominator))
    scaled = EXACT.multiply(EXACT.exp(power), Decimal(1 << 320))
    return int(scaled.to_integral_value(ROUND_FLOOR))


# channels.md, and format.md: "Report"
def exp_double(eps, less=0):
    """Gives the double nearest to e^(eps / 10^12) - less."""
    power = EXACT.divide(Decimal(eps), Decimal(UNITS))
    return float(EXACT.subtract(EXACT.exp(power), Decimal(less)))


# channels.md, and format.md: "Report"
def truth_threshold(eps, near, far):
    """Gives 2^256 h, h = floor_256(near E / (near E + far))."""
    top = near * exp_below(Fraction(eps, UNITS))
    return ONE * top // (top + (far << 320))


# channels.md, and format.md: "Report"
def choose_subset_size(eps, k):
    """Chooses w of a subset: format, "Report", in doubles."""
    e = exp_double(eps)
    a = e - 1.0
    s = math.floor(float(k) / (e + 1.0))

    def variance(w):
        """Computes V(w)."""
        w = float(w)
        return (((k - e) + a * w) * ((k - 1.0) + a * w)) / (w * (k - w))
    return min(range(max(s - 1, 1), min(s + 2, k - 1) + 1), key=variance)


# channels.md, and format.md: "Report"
def choose_window(eps, l):
    """Chooses w of a window: format, "Report", in doubles."""
    a, n = exp_double(eps, 1), float(2 * l)

    def variance(w):
        """Computes V(w)."""
        m = 2.0 * w + 1.0
        M = m + n
        ma = m * a
        spread = (M * (M * M - 1.0) + ma * (m * m - 1.0)) / 12.0
        return ((m * (a + 1.0) + n) * spread / ma + (n * n / 4.0) * M) / ma
    low, high = 0, 2 * l
    while low < high:
        w = (low + high) // 2
        if variance(w + 1) < variance(w):
            low = w + 1
        else:
            high = w
    return low


# channels.md, and format.md: "Report"
def find_horizon(wanted):
    """Finds the unit and the horizon: format, "Report", laplace."""
    unit = 1
    while 32 * unit < wanted:
        unit *= 32
    return unit, -(-wanted // unit) * unit


# channels.md, and format.md: "Report"
def log_delta(t, eps, l):
    """Computes ln delta(t), at the g where its slope is 0."""
    rho, e = (512.0 * l / t)**2 / 2, eps / UNITS
    low, high = 2.0**-20, 2.0**18
    for _ in range(200):
        g = (low + high) / 2
        if (2 * g + 1) * rho - e - math.log1p(1 / g) < 0:
            low = g
        else:
            high = g
    g = (low + high) / 2
    return g * ((1 + g) * rho - e) - (1 + g) * math.log1p(1 / g) - math.log(g)


# channels.md, and format.md: "Report"
def calibrate_sigma(eps, delta, l):
    """Finds t = 256 sigma: format, "Report", gaussian."""
    bound = math.log(delta / UNITS) - 1e-9
    low, high = 64, 1 << 26
    need(log_delta(high, eps, l) <= bound, "no sigma is large enough")
    while low < high:
        t = (low + high) // 2
        if log_delta(t, eps, l) <= bound:
            high = t
        else:
            low = t + 1
    return low


# channels.md, and format.md: "Report"
def tabulate_laplace(rate, horizon, unit):
    """Makes the tables of a discrete Laplace distribution: zero and sign,
    then the base-32 digits of the magnitude less 1, the lowest first, and
    the top digit, whose last value is "at or beyond the horizon"."""
    def power(exponent):
        """Gives r to the exponent, rounded down."""
        return Fraction(exp_below(-rate * exponent), 1 << 320)

    def round_down(value):
        """Rounds a probability down to 256 bits."""
        return math.floor(value * ONE)
    r = power(1)
    half = round_down(r / (1 + r))
    tables, weight = [[2 * half, half]], 1
    while weight < unit:
        last = power(32 * weight)
        tables.append([round_down((power(i * weight) - last) / (1 - last))
                       for i in range(1, 32)])
        weight *= 32
    tables.append([round_down(power(i * unit))
                   for i in range(1, horizon // unit + 1)])
    return tables


# channels.md, and format.md: "Report"
def draw_laplace(batch, tables):
    """Draws a number with a sign from the tables."""
    sign = (0, 1, -1)[batch.pick(tables[0])]
    size = 1 + sum(batch.pick(table) * 32**j
                   for j, table in enumerate(tables[1:]))
    return sign * size


# channels.md, and format.md: "Report"
def digit_shares(table):
    """Lists the exact probabilities of the values of a table."""
    edges = [ONE] + table + [0]
    return [Fraction(a - b, ONE) for a, b in zip(edges, edges[1:])]


# channels.md, and format.md: "Report"
def exact_laplace(tables, horizon):
    """Lists the exact probabilities of 0 to the horizon of draw_laplace: the
    last is that of the horizon and all beyond, on one side."""
    digits = [digit_shares(table) for table in tables[1:]]
    zero, side = digit_shares(tables[0])[0], digit_shares(tables[0])[2]
    shares = [zero]
    for g in range(horizon - 1):
        share, rest = side, g
        for shares_of in digits[:-1]:
            share *= shares_of[rest % 32]
            rest //= 32
        shares.append(share * digits[-1][rest])
    return shares + [(1 - zero) / 2 - sum(shares[1:])]


# ---- format, "Report", and channels: each channel -----------------------

# format.md: "Report"; channels.md: the channel of this name
def read_bits(block, count):
    """Reads a bitmap; its bits from count on are 0."""
    number = int.from_bytes(block, "little")
    need(number >> count == 0, "a bit past the last is set")
    return [number >> i & 1 for i in range(count)]


# format.md: "Report"; channels.md: the channel of this name
def write_bits(bits):
    """Writes a bitmap."""
    number = sum(int(bit) << i for i, bit in enumerate(bits))
    return number.to_bytes((len(bits) + 7) // 8, "little")


# format.md: "Report"; channels.md: the channel of this name
def read_signs(numbers):
    """Requires signs and gives them as bits."""
    need(all(number in (-1, 1) for number in numbers), "not a sign")
    return [number == 1 for number in numbers]


# format.md: "Report"; channels.md: the channel of this name
class Flip:
    """flip: the symbol, or another one."""

    def __init__(self, part):
        """Computes h of one symbol out of k."""
        self.k, self.integers = part.k, 1
        self.sizes = [factor.size for factor in part.factors]
        self.size = 1 if self.k <= 256 else 2
        self.truth = truth_threshold(part.eps, 1, self.k - 1)

    def symbol(self, point):
        """Joins the factors' numbers; the last runs fastest."""
        symbol = 0
        for number, size in zip(point, self.sizes):
            symbol = symbol * size + number
        return symbol

    def read(self, block):
        """Reads a block and checks it."""
        symbol = int.from_bytes(block, "little")
        need(symbol < self.k, "no such symbol")
        return [symbol]

    def write(self, numbers):
        """Writes a block and checks it."""
        need(0 <= numbers[0] < self.k, "no such symbol")
        return numbers[0].to_bytes(self.size, "little")

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return 35 + 12

    def draw(self, point, source):
        """Draws a report."""
        symbol = self.symbol(point)
        truth = source.flip_coin(self.truth)
        other = source.uniform(self.k - 1)
        return [symbol if truth else other + (other >= symbol)]

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly."""
        h = Fraction(self.truth, ONE)
        return h if numbers == [self.symbol(point)] else (1 - h) / (self.k - 1)


# format.md: "Report"; channels.md: the channel of this name
class Subset(Flip):
    """subset: w of k symbols, the true one more often among them."""

    def __init__(self, part):
        """Computes w and h of w symbols out of k."""
        super().__init__(part)
        self.w = self.integers = choose_subset_size(part.eps, self.k)
        self.size = (self.k + 7) // 8
        self.truth = truth_threshold(part.eps, self.w, self.k - self.w)

    def read(self, block):
        """Reads a block and checks it."""
        bits = read_bits(block, self.k)
        need(sum(bits) == self.w, "wrong number of symbols")
        return [i for i, bit in enumerate(bits) if bit]

    def write(self, numbers):
        """Writes a block and checks it."""
        need(all(a < b for a, b in zip(numbers, numbers[1:])) and
             0 <= numbers[0] and numbers[-1] < self.k, "not a set of symbols")
        return write_bits([i in set(numbers) for i in range(self.k)])

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return 35 + 12 * (self.k - 1)

    def draw(self, point, source):
        """Draws a report."""
        symbol = self.symbol(point)
        truth = source.flip_coin(self.truth)
        bits = source.choose(self.w - truth, self.k - 1)
        bits.insert(symbol, truth)
        return [i for i, bit in enumerate(bits) if bit]

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly."""
        h = Fraction(self.truth, ONE)
        if self.symbol(point) in numbers:
            return h / math.comb(self.k - 1, self.w - 1)
        return (1 - h) / math.comb(self.k - 1, self.w)


# format.md: "Report"; channels.md: the channel of this name
class Signs:
    """signs: two balanced vectors of signs, whose product at the pair is +1
    with probability h."""

    def __init__(self, part):
        """Computes h of one of two answers."""
        self.k = [factor.size for factor in part.factors]
        self.integers = sum(self.k)
        self.sizes = [(k + 7) // 8 for k in self.k]
        self.size = sum(self.sizes)
        self.truth = truth_threshold(part.eps, 1, 1)

    def check(self, a, b):
        """Requires balanced signs, and of b the half that is sent."""
        k1, k2 = self.k
        need(sum(a) in (k1 // 2, (k1 + 1) // 2), "a is not balanced")
        need(sum(b) == k2 // 2, "b is not balanced")
        need(k2 % 2 or b[-1], "b is turned")

    def read(self, block):
        """Reads a block and checks it."""
        a = read_bits(block[:self.sizes[0]], self.k[0])
        b = read_bits(block[self.sizes[0]:], self.k[1])
        self.check(a, b)
        return [2 * bit - 1 for bit in a + b]

    def write(self, numbers):
        """Writes a block and checks it."""
        bits = read_signs(numbers)
        a, b = bits[:self.k[0]], bits[self.k[0]:]
        self.check(a, b)
        return write_bits(a) + write_bits(b)

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return 35 + 12 * sum(k + k % 2 - 1 for k in self.k)

    def draw(self, point, source):
        """Draws a report: both vectors have +1 at their n-th sign, and a is
        turned if the answer is not what the coin wants."""
        truth = source.flip_coin(self.truth)
        a, b = [source.choose(n // 2 - 1, n - 1) + [True]
                for n in (k + k % 2 for k in self.k)]
        turn = (a[point[0]] == b[point[1]]) != truth
        a = [bit != turn for bit in a]
        return [1 if bit else -1 for bit in a[:self.k[0]] + b[:self.k[1]]]

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly."""
        h, ways = Fraction(self.truth, ONE), 1
        for n in (k + k % 2 for k in self.k):
            ways *= math.comb(n - 1, n // 2 - 1)
        same = numbers[point[0]] == numbers[self.k[0] + point[1]]
        return (h if same else 1 - h) / ways


# format.md: "Report"; channels.md: the channel of this name
class Numbers:
    """Blocks of d integers from -c to c, two's complement."""

    def set_range(self, d, c):
        """Sets the clamp and the width: 2, 4 or 8 bytes."""
        self.d = self.integers = d
        self.c = c
        self.width = 2 if c < 1 << 15 else 4 if c < 1 << 31 else 8
        self.size = d * self.width

    def check(self, numbers):
        """Requires numbers from -c to c."""
        need(all(abs(number) <= self.c for number in numbers), "beyond c")
        return numbers

    def read(self, block):
        """Reads a block and checks it."""
        return self.check([int.from_bytes(block[i:i + self.width], "little",
                                          signed=True)
                           for i in range(0, self.size, self.width)])

    def write(self, numbers):
        """Writes a block and checks it."""
        return b"".join(number.to_bytes(self.width, "little", signed=True)
                        for number in self.check(numbers))

    def table_count(self):
        """Counts the tables of a discrete Laplace: zero and sign, digits."""
        return 2 + (self.unit.bit_length() - 1) // 5

    def clamp(self, number):
        """Limits a number to -c and c."""
        return max(-self.c, min(self.c, number))


# format.md: "Report"; channels.md: the channel of this name
class Laplace(Numbers):
    """laplace: a point of a lattice plus discrete Laplace noise."""

    def __init__(self, part):
        """Computes the clamp; makes the tables when they are wanted."""
        wanted = -(-64 * part.l * UNITS // part.eps) + 2 * part.l
        self.unit, self.horizon = find_horizon(wanted)
        self.set_range(part.d, self.horizon - part.l)
        self.rate = Fraction(part.eps, 2 * part.l * UNITS) \
            * (1 - Fraction(1, 1 << 60))
        self.made = None

    def tables(self):
        """Gives the tables, calibrated to epsilon (1 - 2^-60)."""
        if self.made is None:
            self.made = tabulate_laplace(self.rate, self.horizon, self.unit)
        return self.made

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return 28 * -(-self.d // 64) + 7 * self.d * self.table_count()

    def draw(self, point, source):
        """Draws a report."""
        numbers = []
        for i, q in enumerate(point):
            if i % 64 == 0:
                batch = source.start_batch()
            numbers.append(self.clamp(q + draw_laplace(batch, self.tables())))
        return numbers

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly, from the tables as they are."""
        shares = exact_laplace(self.tables(), self.horizon)
        product = Fraction(1)
        for number, q in zip(numbers, point):
            if abs(number) < self.c:
                product *= shares[abs(number - q)]
            else:
                product *= sum(shares[self.c - (q if number > 0 else -q):])
        return product


# format.md: "Report"; channels.md: the channel of this name
class Gaussian(Numbers):
    """gaussian: a point of a ball plus discrete Gaussian noise."""

    def __init__(self, part):
        """Computes sigma and the clamp."""
        self.t = calibrate_sigma(part.eps, part.delta, part.l)
        k = -(-9 * self.t // 1024)
        self.unit, self.horizon = find_horizon(-(-self.t // 16) + k
                                               + 2 * part.l)
        self.set_range(part.d, self.horizon - k - part.l)
        self.made = None

    def tables(self):
        """Gives the tables of the proposal, of rate 1/sigma."""
        if self.made is None:
            self.made = tabulate_laplace(Fraction(256, self.t), self.horizon,
                                         self.unit)
        return self.made

    def coin_digits(self):
        """Counts the base-32 digits that W is given: those of the square of
        256 horizons. The page does not say it."""
        largest, digits = (256 * self.horizon)**2, 0
        while largest:
            largest //= 32
            digits += 1
        return digits

    def coin(self, j, digit):
        """Gives the threshold that digit j of W passes with."""
        return exp_below(Fraction(-digit * 32**j, 2 * self.t**2)) >> 64

    def passes(self, batch, proposal):
        """Accepts a proposal with probability e^(-W / 2t^2)."""
        rest, passed = (256 * abs(proposal) - self.t)**2, True
        for j in range(self.coin_digits()):
            passed &= batch.pick([self.coin(j, rest % 32)]) == 1
            rest //= 32
        return passed and abs(proposal) <= self.horizon

    def count_attempts(self, wanted):
        """Counts the attempts of which, by Chernoff's bound, fewer than
        `wanted` succeed with probability below 2^-82."""
        sigma = self.t / 256
        terms = max(1 + 2 * math.exp(-1 / (2 * sigma**2)),
                    sigma * math.sqrt(2 * math.pi))
        success = math.tanh(1 / (2 * sigma)) * math.exp(-0.5) * terms
        attempts = wanted
        while True:
            share = (wanted - 1) / attempts
            divergence = (1 - share) * math.log((1 - share) / (1 - success)) \
                + (share * math.log(share / success) if share else 0)
            if share < success and \
                    attempts * divergence > 82 * math.log(2):
                return attempts
            attempts += 1

    def draw_noise(self, source, wanted):
        """Draws noise for up to 256 numbers, in a fixed number of attempts."""
        noise = []
        for i in range(self.count_attempts(wanted)):
            if i % 64 == 0:
                proposals = source.start_batch()
                coins = source.start_batch()
            proposal = draw_laplace(proposals, self.tables())
            if self.passes(coins, proposal):
                noise.append(proposal)
        need(len(noise) >= wanted, "too few attempts succeeded")
        return noise[:wanted]

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        draws, total = self.table_count() + self.coin_digits(), 0
        for i in range(0, self.d, 256):
            attempts = self.count_attempts(min(256, self.d - i))
            total += 56 * -(-attempts // 64) + 7 * attempts * draws
        return total

    def draw(self, point, source):
        """Draws a report."""
        noise = []
        for i in range(0, self.d, 256):
            noise += self.draw_noise(source, min(256, self.d - i))
        return [self.clamp(q + x) for q, x in zip(point, noise)]


# format.md: "Report"; channels.md: the channel of this name
class Duchi:
    """duchi: signs that agree with most of a corner's with probability h."""

    def __init__(self, part):
        """Computes h of one of two answers."""
        self.d = self.integers = part.d
        self.l = part.l
        self.size = (part.d + 7) // 8
        self.truth = truth_threshold(part.eps, 1, 1)

    def read(self, block):
        """Reads a block and checks it."""
        return [2 * bit - 1 for bit in read_bits(block, self.d)]

    def write(self, numbers):
        """Writes a block and checks it."""
        return write_bits(read_signs(numbers))

    def ties(self):
        """Gives b, the share of ties among subsets of the even n."""
        n = self.d - self.d % 2
        return Fraction(math.comb(n, n // 2), 2**n)

    def rejected(self):
        """Gives R, the probability that an attempt is rejected."""
        if self.d % 2:
            return Fraction(0)
        return self.ties() * (2 * Fraction(self.truth, ONE) - 1)

    def count_attempts(self):
        """Counts the attempts: the least K with R^K < 2^-80."""
        attempts = 1
        while self.rejected()**attempts >= Fraction(1, 1 << 80):
            attempts += 1
        return attempts

    def draw_flips(self, source):
        """Makes an attempt to draw F; gives None if it is rejected."""
        flips = []
        for i in range(0, self.d, 8):
            width = min(8, self.d - i)
            number = source.uniform(1 << width)
            flips += [number >> j & 1 for j in range(width)]
        batch = source.start_batch()
        agrees = batch.pick([self.truth]) == 1
        keeps_tie = batch.pick([2 * (ONE - self.truth)]) == 1
        if 2 * sum(flips) == self.d and not keeps_tie:
            return None
        turn = (2 * sum(flips) < self.d) != agrees
        return [flip != turn for flip in flips]

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return self.count_attempts() * (42 + 12 * self.size) + 12 * self.d

    def draw(self, point, source):
        """Draws a report: the flips F first, then the corner v."""
        attempts = [self.draw_flips(source)
                    for _ in range(self.count_attempts())]
        kept = [flips for flips in attempts if flips is not None]
        need(kept, "every attempt was a tie")
        corner = [source.uniform(2 * self.l) < self.l + q for q in point]
        return [1 if bit != flip else -1 for bit, flip in zip(corner, kept[0])]

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly."""
        h = Fraction(self.truth, ONE)
        counts = [Fraction(1)]      # of v_j that equal t_j
        for t, q in zip(numbers, point):
            p = Fraction(self.l + t * q, 2 * self.l)
            counts = [a * (1 - p) + b * p
                      for a, b in zip(counts + [0], [0] + counts)]
        above = sum(counts[self.d // 2 + 1:])
        scale = Fraction(2, 2**self.d) / (1 - self.rejected())
        return scale * (h * above + (1 - h) * (1 - above))


# format.md: "Report"; channels.md: the channel of this name
class Window(Numbers):
    """window: a number within w of q with probability h, else another."""

    def __init__(self, part):
        """Computes w and h of 2w + 1 numbers against 2l."""
        self.l, self.w = part.l, choose_window(part.eps, part.l)
        self.set_range(1, part.l + self.w)
        self.truth = truth_threshold(part.eps, 2 * self.w + 1, 2 * self.l)

    def entropy(self):
        """Counts the bytes that a block draws, if nothing is rejected."""
        return 35 + 24

    def draw(self, point, source):
        """Draws a report."""
        low = point[0] - self.w
        truth = source.flip_coin(self.truth)
        near = low + source.uniform(2 * self.w + 1)
        far = source.uniform(2 * self.l) - self.c
        return [near if truth else far + (2 * self.w + 1) * (far >= low)]

    def likelihood(self, numbers, point):
        """Gives p(report | point), exactly."""
        h = Fraction(self.truth, ONE)
        if abs(numbers[0] - point[0]) <= self.w:
            return h / (2 * self.w + 1)
        return (1 - h) / (2 * self.l)


CHANNELS = {"flip": Flip, "subset": Subset, "signs": Signs, "duchi": Duchi,
            "laplace": Laplace, "gaussian": Gaussian, "window": Window}


# format.md: "Report"; channels.md: the channel of this name
def make_channel(part):
    """Makes a part's channel."""
    return CHANNELS[part.channel](part)


# ---- format, "Report" and "JSON Lines" ----------------------------------

# format.md: "Report" and "JSON Lines"
class Report:
    """A report: id, simulated, for each part its integers, and the book that
    was asked (0 where there is no lot)."""

    def __init__(self, identity, simulated, parts, book=0):
        """Takes what a report holds."""
        self.id, self.simulated, self.parts = identity, simulated, parts
        self.book = book

    def __eq__(self, other):
        """Compares all that a report holds."""
        return vars(self) == vars(other)


# format.md: "Report" and "JSON Lines"
def report_size(mechanism):
    """Computes the bytes of a report."""
    return (53 if mechanism.books else 52) + sum(
        part.blocks * channel.size for part, channel
        in zip(mechanism.parts, mechanism.channels))


# format.md: "Report" and "JSON Lines"
def read_report(mechanism, data):
    """Reads a binary report and checks every block."""
    need(len(data) == report_size(mechanism), "size of a report")
    need(data[:4] in (b"STO1", b"SIM1"), "beginning of a report")
    need(data[4:36] == mechanism.hash, "another mechanism's report")
    parts, offset, book = [], 52, 0
    if mechanism.books:
        offset, book = 53, data[52]
        need(book < mechanism.books, "no such book")
    for part, channel in zip(mechanism.parts, mechanism.channels):
        numbers = []
        for _ in range(part.blocks):
            numbers += channel.read(data[offset:offset + channel.size])
            offset += channel.size
        parts.append(numbers)
    return Report(data[36:52], data[:4] == b"SIM1", parts, book)


# format.md: "Report" and "JSON Lines"
def write_report(mechanism, report):
    """Writes a binary report and checks every block."""
    data = (b"SIM1" if report.simulated else b"STO1") + mechanism.hash \
        + report.id
    if mechanism.books:
        need(report.book < mechanism.books, "no such book")
        data += bytes([report.book])
    for part, channel, numbers in zip(mechanism.parts, mechanism.channels,
                                      report.parts):
        step = channel.integers
        need(len(numbers) == part.blocks * step, "wrong number of integers")
        for i in range(0, len(numbers), step):
            data += channel.write(numbers[i:i + step])
    return data


# format.md: "Report" and "JSON Lines"
def write_line(mechanism, report):
    """Writes a report as a line of JSON, without its LF."""
    return json.dumps({"mechanism": mechanism.hash.hex(),
                       "id": report.id.hex(),
                       "simulated": report.simulated,
                       **({"book": report.book} if mechanism.books else {}),
                       "parts": report.parts}, separators=(",", ":"))


# format.md: "Report" and "JSON Lines"
def read_hex(text, size):
    """Reads hexadecimal digits in lower case."""
    need(isinstance(text, str) and
         re.fullmatch("[0-9a-f]{%d}" % (2 * size), text, re.ASCII), "not hex")
    return bytes.fromhex(text)


# format.md: "Report" and "JSON Lines"
def longest_line(mechanism):
    """Computes the longest line that a reader accepts. The page does not say
    that the LF counts in the longest that there can be; here it does."""
    longest = len(write_line(mechanism, Report(bytes(16), False, [], 255))) + 1
    for part, channel in zip(mechanism.parts, mechanism.channels):
        longest += 18 * part.blocks * channel.integers + 3
    return 2 * longest + 1024


# format.md: "Report" and "JSON Lines"
def read_line(mechanism, line):
    """Reads a line of JSON and checks every integer."""
    need(len(line) <= longest_line(mechanism), "line too long")
    try:
        value = parse_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused("not UTF-8")
    book = ["book"] if mechanism.books else []
    need(isinstance(value, dict) and sorted(value) ==
         [*book, "id", "mechanism", "parts", "simulated"], "keys")
    need(read_hex(value["mechanism"], 32) == mechanism.hash,
         "another mechanism's report")
    need(type(value["simulated"]) is bool, "simulated")
    parts = check_list(value["parts"], len(mechanism.parts),
                       len(mechanism.parts), "parts")
    for numbers in parts:
        need(isinstance(numbers, list) and
             all(type(number) is int for number in numbers), "not integers")
    if mechanism.books:
        check_integer(value["book"], 0, mechanism.books - 1, "book")
    report = Report(read_hex(value["id"], 16), value["simulated"], parts,
                    value.get("book", 0))
    write_report(mechanism, report)
    return report


# ---- format, "Files of reports" -----------------------------------------

# format.md: "Files of reports"
def read_reports(mechanism, data):
    """Reads a file of reports; of equal ones it keeps the first."""
    need(data, "no report")
    size, seen = report_size(mechanism), {}
    if data[:1] == b"{":
        need(data.endswith(b"\n"), "the last line has no end")
        reports = [read_line(mechanism, line)
                   for line in data[:-1].split(b"\n")]
    else:
        need(len(data) % size == 0, "size of the file")
        reports = [read_report(mechanism, data[i:i + size])
                   for i in range(0, len(data), size)]
    for report in reports:
        need(seen.setdefault(report.id, report) == report,
             "different reports with one id")
    return list(seen.values())


# ---- The device ---------------------------------------------------------

# format.md: "From record to domain" and "Report"
def entropy_size(mechanism):
    """Computes the bytes of entropy of a report."""
    return 16 + (12 if mechanism.books else 0) + sum(
        part.blocks * channel.entropy() for part, channel
        in zip(mechanism.parts, mechanism.channels))


# format.md: "From record to domain" and "Report"
def fetch_size(mechanism):
    """Computes the bytes that a device asks for at a time. The pages do not
    say it; the vectors show it."""
    return min(4096, -(-entropy_size(mechanism) // 8) * 8)


# format.md: "From record to domain" and "Report"
def privatise(mechanism, record, entropy, simulated=False, now=0):
    """Makes a report of a record, the id from the first 16 bytes."""
    need(mechanism.expires is None or now < mechanism.expires, "expired")
    source = Source(entropy, fetch_size(mechanism))
    identity = source.take(16).to_bytes(16, "little")
    book = source.uniform(mechanism.books) if mechanism.books else 0
    entries, symbols = make_input(record, mechanism.columns)
    z = run_encoder(mechanism, entries)
    parts = []
    for channel, points in zip(mechanism.channels,
                               find_points(mechanism, z, symbols, book)):
        parts.append([number for point in points
                      for number in channel.draw(point, source)])
    return Report(identity, simulated, parts, book)
