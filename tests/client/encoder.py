"""encoder.py: an independent forward pass, from record to z.

Written from docs/format.md alone, with nothing but Python's own library. Floats
are doubles rounded after every operation, which gives the same bits: a double
holds more than twice a float's digits. Activations are "none" and "relu" only.
"""

import json
import math
import struct


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def tensors(file):
    """The numbers of every tensor by its name, and the manifest."""
    (n,) = struct.unpack("<Q", file[:8])
    header = json.loads(file[8:8 + n])
    manifest = json.loads(header.pop("__metadata__")["sotto"])
    numbers = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        data = file[8 + n + first:8 + n + last]
        if entry["dtype"] == "BF16":    # the upper halves of floats
            data = b"".join(b"\0\0" + data[i:i + 2]
                            for i in range(0, len(data), 2))
        code = {"F64": "d", "F32": "f", "BF16": "f", "U8": "B"}[entry["dtype"]]
        count = len(data) // struct.calcsize(code)
        numbers[name] = struct.unpack(f"<{count}{code}", data)
    return manifest, numbers


def inputs(manifest, numbers, record):
    """x; columns of bytes and of categories that are no input."""
    x = []
    for i, (column, value) in enumerate(zip(manifest["columns"], record)):
        if column["kind"] == "bytes":
            x += [f32((byte - numbers["schema.shift"][i])
                      * numbers["schema.scale"][i])
                  for byte in bytes.fromhex(value["bytes"])]
        else:
            assert column["kind"] == "category" and column["input"] == 0
    return x


def total(lanes):
    result = 0.0
    for lane in lanes:
        result = f32(result + lane)
    return result


def activate(name, x):
    assert name in ("none", "relu")
    return x if name == "none" or x > 0 else 0.0


def dense(layer, x, weight, bias, added):
    y = []
    for j in range(layer["out"]):
        lanes = [0.0] * 16
        for i, value in enumerate(x):
            product = f32(weight[j * len(x) + i] * value)
            lanes[i % 16] = f32(lanes[i % 16] + product)
        value = f32(total(lanes) + bias[j])
        if added is not None:
            value = f32(value + added[j])
        y.append(activate(layer["activation"], value))
    return y


def windows(layer):
    """For each place of the image made: rows of (u, v, index of channel 0)."""
    height, width, channels = layer["image"]
    kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
    for i in range((height + 2 * pad - kernel) // stride + 1):
        for j in range((width + 2 * pad - kernel) // stride + 1):
            rows = []
            for u in range(kernel):
                row = stride * i - pad + u
                places = [(u, v, (row * width + stride * j - pad + v) * channels)
                          for v in range(kernel)
                          if 0 <= stride * j - pad + v < width]
                if 0 <= row < height:
                    rows.append(places)
            yield rows


def conv(layer, x, weight, bias, skip):
    y = []
    kernel, channels = layer["kernel"], layer["image"][2]
    for rows in windows(layer):
        for n in range(layer["out"]):
            lanes = [0.0] * 16
            for places in rows:
                products = [
                    f32(weight[((n * kernel + u) * kernel + v) * channels + c]
                        * x[at + c])
                    for u, v, at in places for c in range(channels)]
                for m, product in enumerate(products):
                    lanes[m % 16] = f32(lanes[m % 16] + product)
            value = f32(total(lanes) + bias[n])
            if skip is not None:
                value = f32(value + skip[len(y)])
            y.append(activate(layer["activation"], value))
    return y


def pool(layer, x):
    y = []
    for rows in windows(layer):
        places = [at for row in rows for _, _, at in row]
        for c in range(layer["image"][2]):
            if layer["of"] == "max":
                y.append(max((x[at + c] for at in places
                              if not math.isnan(x[at + c])),
                             default=-math.inf))
            else:
                value = 0.0
                for at in places:
                    value = f32(value + x[at + c])
                y.append(f32(value / len(places)))
    return y


def encode(file, record):
    """z, as a list of floats."""
    manifest, numbers = tensors(file)
    images = [inputs(manifest, numbers, record)]
    for i, layer in enumerate(manifest["encoder"]):
        weight = numbers.get(f"encoder.{i}.weight")
        bias = numbers.get(f"encoder.{i}.bias")
        sources = layer.get("from", [i])
        if layer.get("skip"):
            sources = [i, i + 1 - layer["skip"]]
        x = images[sources[0]]
        added = images[sources[1]] if len(sources) == 2 else None
        if layer["kind"] == "dense":
            images.append(dense(layer, x, weight, bias, added))
        elif layer["kind"] == "conv":
            images.append(conv(layer, x, weight, bias, added))
        else:
            images.append(pool(layer, x))
    return images[-1]
