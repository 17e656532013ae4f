#!/usr/bin/python3
"""test_parquet.py: what is written as Parquet, read back by the specification:
no row, one, as many as fill bytes and pages and not quite, with values that
are not there, lists of none, and several row groups."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOTTO_SOURCE_DIR"], "tests/table"))
import parquet_reader  # noqa: E402

MAKER = os.path.join(os.environ["SOTTO_BUILD_DIR"], "tests/table/test_parquet")


def wanted(rows):
    lists = [[(i + 1) * r for i in range(r % 5)] for r in range(rows)]
    return {
        "count": [r * r - 5 for r in range(rows)],
        "small": [7 - r for r in range(rows)],
        "some": [None if r % 3 == 1 else r for r in range(rows)],
        "odd": [r % 2 == 1 for r in range(rows)],
        "set": lists,
        "a,b": [[(i + 1) * (2**40 + r) for i in range(r % 5)]
                for r in range(rows)],
    }


def check(folder, rows, group, form):
    path = os.path.join(folder, "t.parquet")
    subprocess.run([MAKER, path, str(rows), str(group), form], check=True)
    columns, facts, groups = parquet_reader.read(path)
    assert list(columns) == list(wanted(0)), list(columns)
    for name, values in wanted(rows).items():
        assert columns[name] == values, (name, rows, group, form)
    assert facts == {"maker": '"tests"', "rows": str(rows)}, facts
    if group > 0:
        assert groups == [group] * (rows // group) + (
            [rows % group] if rows % group else []), groups
    return groups


def main():
    with tempfile.TemporaryDirectory() as folder:
        for form in ("plain", "packed"):
            for rows in (0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 1000):
                for group in (0, 1, 3, 8, 1000):
                    if rows < 100 or group != 1:
                        check(folder, rows, group, form)
        # Pages of a MiB are full at 131,072 numbers, groups at as many rows.
        assert check(folder, 131072, 0, "plain") == [131072]
        assert check(folder, 140000, 0, "packed") == [131072, 8928]


main()
