#!/usr/bin/python3
"""test_decoder.py: the independent decoder against every vector.

It must give every vector's line, refuse damaged reports and files, and find
in each mechanism a valid safetensors file as any other program would read it.
"""

import base64
import json
import math
import os
import pathlib
import struct
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import decoder  # noqa: E402
import encoder  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("SOTTO_SOURCE_DIR", HERE.parent.parent))
WIDTH = {"F64": 8, "F32": 4, "BF16": 2, "U8": 1}


# In the manifest of tests/vectors/image.json; each breaks a rule.
IMAGE_CHANGES = (
    ('"image":[6,6,2]', '"image":[6,12,1]'),
    ('"image":[6,6,2]', '"image":[6,6,3]'),
    ('"image":[6,6,2]', '"image":[6,6]'),
    ('"image":[6,6,4]', '"image":[6,4,6]'),
    ('"kernel":3', '"kernel":0'),
    ('"kernel":3', '"kernel":32'),
    ('"kernel":3', '"kernel":11'),
    ('"stride":1', '"stride":0'),
    ('"stride":1', '"stride":17'),
    ('"pad":1', '"pad":3'),
    ('"of":"max"', '"of":"least"'),
    ('"skip":2', '"skip":1'),
    ('"skip":2', '"skip":3'),
    ('"skip":2', '"skip":5'),
    ('"skip":0', '"skip":1'),
    ('"skip":0,', ''),
    ('"out":4', '"out":1048576'),
    ('"conv"', '"convolution"'),
    ('"relu"', '"elu"'),
)


def vectors():
    paths = sorted((SOURCE / "tests" / "vectors").glob("*.json"))
    assert len(paths) >= 10, "where are the vectors?"
    for path in paths:
        vector = json.loads(path.read_text())
        yield (vector["name"], base64.b64decode(vector["mechanism"]),
               bytes.fromhex(vector["report"]), vector["line"])


class Vectors(unittest.TestCase):
    def test_lines(self):
        for name, file, report, line in vectors():
            with self.subTest(name):
                self.assertEqual(decoder.Mechanism(file).decode(report), line)

    def test_simulated(self):
        for name, file, report, line in vectors():
            with self.subTest(name):
                simulated = b"SIM1" + report[4:]
                self.assertEqual(
                    decoder.Mechanism(file).decode(simulated),
                    line.replace('"simulated":false', '"simulated":true'))

    def test_damaged_reports(self):
        for name, file, report, _ in vectors():
            mechanism = decoder.Mechanism(file)
            damaged = [report[:-1], report + b"\0", b"", report[:52],
                       b"STO2" + report[4:], b"sto1" + report[4:]]
            damaged += [report[:i] + bytes([report[i] ^ 1]) + report[i + 1:]
                        for i in range(36)]
            for bad in damaged:
                with self.subTest(name), self.assertRaises(decoder.Refused):
                    mechanism.decode(bad)

    def test_damaged_blocks(self):
        """The largest integers of every block's width are in no report."""
        for name, file, report, _ in vectors():
            mechanism = decoder.Mechanism(file)
            at = 52
            for blocks in mechanism.blocks:
                for block in blocks:
                    full = b"\xff" * block.size
                    if isinstance(block, decoder.Integers):
                        full = (2**(8 * block.width - 1) - 1).to_bytes(
                            block.width, "little") * block.d
                    bad = report[:at] + full + report[at + block.size:]
                    whole = (isinstance(block, decoder.Flip)
                             and block.k in (256, 65536)
                             or isinstance(block, decoder.Duchi)
                             and block.d % 8 == 0)
                    if not whole:
                        with self.subTest(name), \
                                self.assertRaises(decoder.Refused):
                            mechanism.decode(bad)
                    at += block.size

    def test_damaged_files(self):
        """Every length, and every byte of the header with its last bit
        changed, is refused or is another mechanism."""
        for name, file, report, _ in vectors():
            if len(file) > 700:
                continue
            for size in range(len(file)):
                with self.subTest(name), self.assertRaises(decoder.Refused):
                    decoder.Mechanism(file[:size])
            for i in range(len(file)):
                bad = file[:i] + bytes([file[i] ^ 1]) + file[i + 1:]
                with self.subTest(name), self.assertRaises(decoder.Refused):
                    decoder.Mechanism(bad).decode(report)

    def test_safetensors(self):
        """As the safetensors format has it, with nothing of ours assumed."""
        for name, file, _, _ in vectors():
            with self.subTest(name):
                (n,) = struct.unpack("<Q", file[:8])
                self.assertEqual(file[8:9], b"{")
                header = json.loads(file[8:8 + n])
                metadata = header.pop("__metadata__")
                for key, value in metadata.items():
                    self.assertIsInstance(key, str)
                    self.assertIsInstance(value, str)
                end = 0
                for tensor in header.values():
                    size = WIDTH[tensor["dtype"]]
                    for extent in tensor["shape"]:
                        size *= extent
                    first, last = tensor["data_offsets"]
                    self.assertEqual(first, end)
                    self.assertEqual(last - first, size)
                    self.assertEqual((8 + n + first) % WIDTH[tensor["dtype"]],
                                     0)
                    end = last
                self.assertEqual(8 + n + end, len(file))


class Encoder(unittest.TestCase):
    def test_z(self):
        """The encoder's output, bit by bit, where a vector states it."""
        seen = 0
        for path in sorted((SOURCE / "tests" / "vectors").glob("*.json")):
            vector = json.loads(path.read_text())
            if "z" not in vector:
                continue
            seen += 1
            with self.subTest(vector["name"]):
                z = encoder.encode(base64.b64decode(vector["mechanism"]),
                                   vector["record"])
                self.assertEqual(struct.pack(f"<{len(z)}f", *z).hex(),
                                 vector["z"])
                self.assertGreater(len(set(z)), len(z) // 2)
        self.assertGreaterEqual(seen, 3)

    def test_layers(self):
        """Every rule of layers over images, broken one at a time."""
        path = SOURCE / "tests" / "vectors" / "image.json"
        file = base64.b64decode(json.loads(path.read_text())["mechanism"])
        (n,) = struct.unpack("<Q", file[:8])
        text = file[8:8 + n].decode().rstrip(" ")

        def change(old, new):
            old, new = (s.replace('"', '\\"') for s in (old, new))
            self.assertIn(old, text)
            changed = text.replace(old, new, 1).encode()
            changed += b" " * (-len(changed) % 8)
            return struct.pack("<Q", len(changed)) + changed + file[8 + n:]

        decoder.Mechanism(change('"relu"', '"tanh"'))
        for old, new in IMAGE_CHANGES:
            with self.subTest(new), self.assertRaises(decoder.Refused):
                decoder.Mechanism(change(old, new))


class Rules(unittest.TestCase):
    def test_clamp(self):
        self.assertEqual(decoder.clamp(16, decoder.UNIT), 2032)
        self.assertEqual(decoder.clamp(1, 32 * decoder.UNIT), 3)

    def test_window(self):
        """Where the least variance is, by trying all."""
        for l, eps in ((1, 1), (7, 3), (100, 1), (100, 4)):
            a = decoder.exp_double(eps * decoder.UNIT, 1)
            w = decoder.window_w(l, eps * decoder.UNIT)
            least = min(decoder.window_variance(l, v, a)
                        for v in range(2 * l + 1))
            with self.subTest(l=l, eps=eps):
                self.assertEqual(decoder.window_variance(l, w, a), least)

    def test_gaussian(self):
        """The calibration is the best over a fine grid of g, and tight."""
        for l, eps, delta in ((256, 4, 10**6), (64, 1, 10**4), (1, 32, 1)):
            t = decoder.gaussian_t(l, eps * decoder.UNIT, delta)
            for off, good in ((0, True), (-1, False)):
                rho = (512 * l / (t + off))**2 / 2
                found = decoder.gaussian_log_delta(rho, eps)
                grid = min(g * ((1 + g) * rho - eps)
                           + (1 + g) * math.log(g / (1 + g)) - math.log(g)
                           for g in (2**(i / 100) for i in range(-400, 1200)))
                with self.subTest(l=l, eps=eps, off=off):
                    self.assertLessEqual(found, grid + 1e-12)
                    self.assertAlmostEqual(found, grid, places=2)
                    self.assertEqual(
                        found <= math.log(delta / decoder.UNIT) - 1e-9, good)

    def test_delta(self):
        self.assertEqual(decoder.parse_delta({}), 0)
        self.assertEqual(decoder.parse_delta({"delta": "0.000001"}), 10**6)
        for bad in ("", "0", "0.02", "1e-6", "0.0000000000001"):
            with self.subTest(bad), self.assertRaises(decoder.Refused):
                decoder.parse_delta({"delta": bad})

    def test_eps(self):
        self.assertEqual(decoder.parse_eps("0.5"), decoder.UNIT // 2)
        for bad in ("", "0", "33", "1e3", "-1", " 1", "1 ", "01", "1.", ".5",
                    "0.0000009", "32.000000000001", "1.0000000000001", "１"):
            with self.subTest(bad), self.assertRaises(decoder.Refused):
                decoder.parse_eps(bad)


if __name__ == "__main__":
    unittest.main()
