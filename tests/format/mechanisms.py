"""Mechanism files to try a reader on.

It writes any manifest, sound or not, as the page's safetensors file with
tensors of the shapes that the manifest asks for, and says which the page wants
to be accepted. Nothing here checks anything: second.py does.
"""

import json
import math
import struct

TOO_LARGE = 1 << 26


def list_tensors(manifest):
    """Lists (name, type, shape) of a manifest, but schema.text."""
    count = len(manifest["columns"])
    tensors = [("schema.shift", "F64", [count]),
               ("schema.scale", "F64", [count])]
    edges = sum(column.get("count", 0) - 2 for column in manifest["columns"]
                if column["kind"] == "bins")
    if edges > 0:
        tensors.append(("schema.edges", "F64", [edges]))
    halves = []
    for place, layer in enumerate(manifest["encoder"]):
        if layer["kind"] == "pool":
            continue
        shape = [layer["out"], layer["in"]] if layer["kind"] == "dense" else \
            [layer["out"], layer["kernel"], layer["kernel"], layer["image"][2]]
        name = "encoder.%d." % place
        if layer.get("weights") == "bf16":
            halves.append((name + "weight", "BF16", shape))
        else:
            tensors.append((name + "weight", "F32", shape))
        tensors.append((name + "bias", "F32", shape[:1]))
    return tensors + halves


def make_text(columns):
    """Makes names and categories for columns."""
    words = []
    for place, column in enumerate(columns):
        words.append("c%d" % place)
        if column["kind"] in ("category", "bins"):
            if column["count"] > 1 << 17:
                raise OverflowError
            words += ["v%d" % i for i in range(column["count"] - 1)]
    return "".join(word + "\0" for word in words).encode()


def frame(manifest, tensors, body):
    """Writes the text of a manifest with its tensors and their bytes."""
    header, offset = '{"__metadata__":{"sotto":"%s"}' \
        % manifest.replace('"', '\\"'), 0
    for name, kind, shape in tensors:
        end = offset + math.prod(shape) * \
            {"F64": 8, "F32": 4, "BF16": 2, "U8": 1}[kind]
        header += ',"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}' \
            % (name, kind, ",".join(map(str, shape)), offset, end)
        offset = end
    header = (header + "}").encode()
    header = header.ljust(-len(header) // 8 * -8, b" ")
    return struct.pack("<Q", len(header)) + header + body


def compose(manifest, fill=None, text=None):
    """Writes a manifest as a file; `fill` has the bytes of some tensors, the
    others are zeros."""
    tensors, body = list_tensors(manifest), b""
    for name, kind, shape in tensors:
        size = math.prod(shape) * {"F64": 8, "F32": 4, "BF16": 2}[kind]
        if not 0 <= size <= TOO_LARGE:
            raise OverflowError
        body += (fill or {}).get(name, bytes(size))
    text = make_text(manifest["columns"]) if text is None else text
    return frame(json.dumps(manifest, separators=(",", ":")),
                 tensors + [("schema.text", "U8", [len(text)])], body + text)


# ---- Pieces of manifests ------------------------------------------------

PIXELS = {"kind": "bytes", "count": 16}
LABEL = {"kind": "category", "count": 3, "input": 0}
IMAGE = [4, 4, 1]


def symbols(*factors, channel="flip", eps="1"):
    """Makes a part of symbols."""
    return {"covers": "both", "channel": channel, "eps": eps, "blocks": 1,
            "symbols": list(factors)}


def books(count, *factors):
    """Makes a part of symbols with so many codebooks."""
    part = symbols(*factors)
    factors = part.pop("symbols")
    return part | {"books": count, "symbols": factors}


def numbers(channel="laplace", domain="lattice", start=0, d=1, l=10, blocks=1,
            eps="1", delta=None):
    """Makes a part of numbers."""
    part = {"covers": "features", "channel": channel, "eps": eps}
    if delta:
        part["delta"] = delta
    return part | {"blocks": blocks, domain: {"from": start, "d": d, "l": l}}


def manifest(version=1, columns=(PIXELS, LABEL), encoder=(), parts=None,
             eps="4", delta=None, **terms):
    """Makes a manifest of pixels and a label."""
    made = {"sotto": version, "name": "n", "campaign": "c", "auxiliary": "a"}
    made.update(terms)
    made["eps"] = eps
    if delta:
        made["delta"] = delta
    made["columns"], made["encoder"] = list(columns), list(encoder)
    made["parts"] = parts or [symbols({"column": 1})]
    return made


def dense(entries, out, origin=None, weights="f32"):
    """Makes a dense layer, of version 2 with an origin."""
    if origin is None:
        return {"kind": "dense", "in": entries, "out": out,
                "activation": "none"}
    return {"kind": "dense", "from": origin, "in": entries, "out": out,
            "weights": weights, "activation": "none"}


def conv(image, out, kernel=3, stride=1, pad=1, skip=0, origin=None):
    """Makes a conv, of version 2 with an origin."""
    window = {"image": image, "out": out, "kernel": kernel, "stride": stride,
              "pad": pad}
    if origin is None:
        return {"kind": "conv"} | window | {"skip": skip,
                                            "activation": "relu"}
    return {"kind": "conv", "from": origin} | window | {"weights": "f32",
                                                        "activation": "relu"}


def pool(image, kernel=2, stride=1, pad=0, origin=None):
    """Makes a pool, of version 2 with an origin."""
    start = {"kind": "pool"} | ({} if origin is None else {"from": origin})
    return start | {"image": image, "kernel": kernel, "stride": stride,
                    "pad": pad, "of": "max"}


def keep_outputs(count):
    """Makes layers of which `count` outputs of 4 MiB, x and another one are
    wanted at a time."""
    image = [1024, 1024, 1]
    layers = [pool(image, 1, origin=[0]) for _ in range(count)]
    layers.append(conv(image, 1, 1, pad=0, origin=[0]))
    for number in range(1, count + 1):
        layers.append(conv(image, 1, 1, pad=0,
                           origin=[len(layers), number]))
    return layers


# ---- What the page accepts and refuses ----------------------------------

def list_layers():
    """Lists (accepted, what, manifest) about layers."""
    wide = [{"kind": "bytes", "count": 1 << 20}]
    large = [pool([1024, 1024, 1], 31, pad=15)]
    for accepted, what, version, encoder in (
            (1, "a skip of the first layer's input", 1,
             [conv(IMAGE, 1, skip=1)]),
            (1, "a skip over two layers", 1,
             [conv(IMAGE, 2), conv([4, 4, 2], 1, skip=2)]),
            (1, "a skip over a dense layer", 1,
             [conv(IMAGE, 1), dense(16, 16), conv(IMAGE, 1, skip=3)]),
            (0, "a skip of a dense layer's input", 1,
             [conv(IMAGE, 1), dense(16, 16), conv(IMAGE, 1, skip=2)]),
            (0, "a skip from before x", 1, [conv(IMAGE, 1, skip=2)]),
            (1, "skips side by side", 1, [conv(IMAGE, 1, skip=1)] * 2),
            (0, "skips that overlap", 1,
             [conv(IMAGE, 1), conv(IMAGE, 1, skip=2), conv(IMAGE, 1, skip=2)]),
            (0, "a skip within a skip", 1,
             [conv(IMAGE, 1), conv(IMAGE, 1, skip=1), conv(IMAGE, 1, skip=3)]),
            (0, "a skip of another shape", 1, [conv(IMAGE, 2, skip=1)]),
            (1, "any image behind a dense layer", 1,
             [dense(16, 8), conv([2, 2, 2], 1)]),
            (0, "another image behind a conv", 1,
             [conv(IMAGE, 1), conv([2, 8, 1], 1)]),
            (1, "a kernel as large as its image", 1,
             [conv([2, 2, 4], 1, 4)]),
            (0, "a kernel larger than its image", 1,
             [conv([2, 2, 4], 1, 5)]),
            (0, "a pad as wide as its kernel", 1, [conv(IMAGE, 1, 1)]),
            (0, "a stride of 17", 1, [conv(IMAGE, 1, stride=17)]),
            (1, "a kernel of 31", 1, [conv(IMAGE, 1, 31, pad=30)]),
            (0, "a kernel of 32", 1, [conv(IMAGE, 1, 32, pad=31)]),
            (1, "64 layers", 1, [dense(16, 16)] * 64),
            (0, "65 layers", 1, [dense(16, 16)] * 65),
            (0, "an output that is not taken", 2,
             [conv(IMAGE, 1, origin=[0])] * 2),
            (1, "an output that is only added", 2,
             [conv(IMAGE, 1, origin=[0]), conv(IMAGE, 1, origin=[0, 1])]),
            (1, "x, added", 2, [dense(16, 16, [0, 0])]),
            (0, "another image, added", 2,
             [conv(IMAGE, 1, origin=[0]), conv([2, 8, 1], 1, origin=[0, 1])]),
            (1, "a dense output, added to an image", 2,
             [dense(16, 16, [0]), conv(IMAGE, 1, origin=[0, 1])]),
            (0, "a pool that adds", 2, [pool(IMAGE, origin=[0, 0])]),
            (0, "a layer that takes its own output", 2,
             [dense(16, 16, [1])]),
            (1, "weights of halves", 2, [dense(16, 3, [0], "bf16")]),
            (0, "weights of bytes", 2, [dense(16, 3, [0], "int8")])):
        yield accepted, what, manifest(version, encoder=encoder)
    some = [numbers()]
    yield 1, "2^32 multiply-adds", manifest(columns=wide, encoder=large * 4,
                                            parts=some)
    yield 0, "too many multiply-adds", manifest(columns=wide,
                                                encoder=large * 5, parts=some)
    yield 1, "outputs of 64 MiB", manifest(2, wide, keep_outputs(14), some)
    yield 0, "outputs of 68 MiB", manifest(2, wide, keep_outputs(15), some)


def list_columns():
    """Lists (accepted, what, manifest) about columns and terms."""
    first = [symbols({"column": 0})]
    category = {"kind": "category", "count": 3, "input": 1}
    clip = {"kind": "number", "transform": "clip", "missing": 1}
    bins = {"kind": "bins", "count": 3}
    for accepted, what, version, columns, parts in (
            (1, "categories alone", 1, [LABEL], first),
            (1, "x of 2^20", 1, [PIXELS | {"count": 1 << 20}], [numbers()]),
            (0, "x of 2^20 + 1", 1,
             [PIXELS | {"count": 1 << 20}, {"kind": "number"}], [numbers()]),
            (1, "2^16 symbols", 1, [category | {"count": 1 << 16}], first),
            (0, "2^16 + 1 symbols", 1, [category | {"count": 65537}], first),
            (1, "4096 columns", 1, [{"kind": "number"}] * 4096, [numbers()]),
            (0, "4097 columns", 1, [{"kind": "number"}] * 4097, [numbers()]),
            (1, "a missing category", 2, [category | {"missing": 1}], first),
            (0, "a missing one of 2", 2,
             [category | {"count": 2, "missing": 1}], first),
            (0, "missing in version 1", 1, [category | {"missing": 1}], first),
            (0, "missing 0", 2, [category | {"missing": 0}], first),
            (0, "missing bytes", 2, [PIXELS | {"missing": 1}], [numbers()]),
            (1, "clip and missing", 2, [clip], [numbers(d=2)]),
            (0, "missing and clip", 2, [dict(sorted(clip.items()))],
             [numbers()]),
            (1, "2 bins", 2, [bins], first),
            (1, "2^16 - 1 bins", 2, [bins | {"count": 1 << 16}], first),
            (0, "2^16 bins", 2, [bins | {"count": 65537}], first),
            (0, "1 bin", 2, [bins | {"count": 2}], first),
            (0, "bins in version 1", 1, [bins], first),
            (0, "bins as input", 2, [bins | {"input": 0}], first),
            (0, "missing bins", 2, [bins | {"missing": 1}], first),
            (1, "log", 2, [{"kind": "number", "transform": "log"}],
             [numbers()]),
            (0, "log in version 1", 1,
             [{"kind": "number", "transform": "log"}], [numbers()])):
        yield accepted, what, manifest(version, columns, (), parts)
    for accepted, terms in (
            (1, {"expires": 1}), (1, {"expires": (1 << 53) - 1}),
            (0, {"expires": 0}), (0, {"expires": 1 << 53}),
            (1, {"central": {"eps": "1"}}), (0, {"central": {}}),
            (1, {"central": {"eps": "1", "delta": "0.01"}}),
            (0, {"central": {"eps": "1", "delta": "0.1"}}),
            (0, {"expires": 3, "central": {"eps": "1"}}),
            (0, {"issuer": "0" * 64}), (0, {"issuer": "0" * 63})):
        yield accepted, "terms %r" % terms, manifest(2, **terms)
    yield 0, "terms in version 1", manifest(1, expires=5)
    yield 0, "version 3", manifest(3)
    yield 1, "titles of 120", manifest() | {"name": "x" * 120, "campaign": ""}
    yield 0, "a title of 121", manifest() | {"name": "x" * 121}


def list_parts():
    """Lists (accepted, what, manifest) about parts and budgets."""
    label, largest = {"column": 1}, {"from": 0, "k": 3}
    equal = {"equal": [label, largest]}
    thousand = [{"kind": "bytes", "count": 1000}]
    half = {"eps": "0.5"}
    ball = dict(channel="gaussian", domain="ball", delta="0.002")
    for accepted, what, parts in (
            (0, "z too short", [numbers(start=15, d=2)]),
            (1, "z long enough", [numbers(start=14, d=2)]),
            (0, "blocks beyond z", [numbers(d=2, blocks=9, eps="0.1")]),
            (0, "a factor beyond z", [symbols({"from": 14, "k": 3})]),
            (0, "a factor of 1", [symbols({"from": 0, "k": 1})]),
            (0, "a column of bytes", [symbols({"column": 0})]),
            (0, "no such column", [symbols({"column": 2})]),
            (0, "no factor", [symbols()]),
            (1, "4 factors", [symbols(*[label] * 4)]),
            (0, "5 factors", [symbols(*[label] * 5)]),
            (0, "signs of one", [symbols(label, channel="signs")]),
            (1, "signs of two", [symbols(label, label, channel="signs")]),
            (0, "equal in version 1", [symbols(equal)]),
            (0, "a window of two", [numbers("window", d=2)]),
            (1, "a cube", [numbers("duchi", "cube", d=16, l=1 << 20)]),
            (0, "a lattice for duchi", [numbers("duchi")]),
            (0, "l of 2^20 + 1", [numbers(l=(1 << 20) + 1)]),
            (0, "a delta that is not stated", [numbers(**ball)]),
            (1, "4096 parts", [symbols(label, eps="0.0001")] * 4096),
            (0, "4097 parts", [symbols(label, eps="0.0001")] * 4097)):
        yield accepted, what, manifest(parts=parts)
    yield 1, "equal", manifest(2, parts=[symbols(equal)])
    for accepted, what, version, parts in (
            (1, "5 books", 2, [books(5, largest)]),
            (0, "books in version 1", 1, [books(5, largest)]),
            (0, "books beyond z", 2, [books(6, largest)]),
            (1, "8 books of 2", 2, [books(8, {"from": 0, "k": 2}, label)]),
            (0, "8 books of 2 from 1 on", 2,
             [books(8, {"from": 1, "k": 2}, label)]),
            (0, "one book", 2, [books(1, largest)]),
            (0, "257 books", 2, [books(257, {"from": 0, "k": 2})]),
            (0, "books of a column", 2, [books(2, label)]),
            (1, "books of equal", 2, [books(5, equal)]),
            (1, "books and another part", 2,
             [symbols(label), books(5, largest)]),
            (0, "two parts with books", 2, [books(2, largest)] * 2),
            (0, "a list of books", 2, [books([2, 3], largest)])):
        yield accepted, what, manifest(version, parts=parts)
    yield 0, "equal of two columns", manifest(
        2, parts=[symbols({"equal": [label, label]})])
    for accepted, k in ((1, 256), (0, 257)):
        yield accepted, "k = 256 * %d" % k, manifest(
            columns=thousand, parts=[symbols({"from": 0, "k": 256},
                                             {"from": 0, "k": k})])
    for accepted, delta in ((1, "0.01"), (1, "0.002"), (0, "0.001")):
        yield accepted, "delta " + delta, manifest(delta=delta,
                                                   parts=[numbers(**ball)])
    yield 0, "a delta for nothing", manifest(delta="0.001")
    yield 0, "no sigma", manifest(
        delta="0.01", parts=[numbers(**ball | {"l": 1 << 20,
                                               "eps": "0.000001"})])
    yield 1, "a sum of eps that is met", manifest(
        eps="1", parts=[symbols(label, **half)] * 2)
    yield 0, "a sum of eps that is too large", manifest(
        eps="1", parts=[symbols(label, **half),
                        symbols(label, eps="0.500000000001")])
    for accepted, eps in ((1, "1.0"), (1, "32.000000000000"), (0, "01"),
                          (0, "32.000000000001"), (1, "0.0000010"),
                          (0, "0.000000999999"), (0, "1."), (0, ".5"),
                          (0, "1.0000000000000"), (0, "1e0"), (0, "+1"),
                          (0, "0"), (0, 1)):
        yield accepted, "eps %r" % eps, manifest(
            eps=eps, parts=[symbols(label, eps="0.000001")])
    points = [{"kind": "bytes", "count": 1 << 16}]
    every = numbers(d=4096, blocks=16)
    yield 1, "2^16 points", manifest(columns=points, parts=[every], eps="32")
    yield 0, "2^16 + 1 points", manifest(columns=points,
                                         parts=[every, numbers()], eps="32")


def list_tensor_files():
    """Lists (accepted, what, file) about texts and floats."""
    for accepted, text in (
            (1, b"a\0b\0x\0y\0"), (1, b"\0\0\0\0"), (1, b"\xff\0b\0\n\0y\0"),
            (0, b"a\0b\0x\0"), (0, b"a\0b\0x\0y"), (0, b"a\0b\0x\0y\0z\0"),
            (0, b"")):
        yield accepted, "text %r" % text, compose(manifest(), text=text)
    for accepted, value in ((1, 2.0**-480), (0, 2.0**-481), (0, -5e-324),
                            (1, math.inf), (1, math.nan), (1, 0.0)):
        yield accepted, "scale %g" % value, compose(
            manifest(), {"schema.scale": struct.pack("<2d", value, 1)})
    for accepted, value in ((1, 2.0**-50), (0, 2.0**-51), (0, -1e-45),
                            (1, math.inf), (1, math.nan)):
        yield accepted, "bias %g" % value, compose(
            manifest(encoder=[dense(16, 1)]),
            {"encoder.0.bias": struct.pack("<f", value)})


def list_files():
    """Lists (accepted, what, file) of all of these."""
    for pieces in (list_layers(), list_columns(), list_parts()):
        for accepted, what, made in pieces:
            yield accepted, what, compose(made)
    yield from list_tensor_files()
