# Reads a table as others do: WAY is wc, csv or pandas, COLUMNS those that are
# numbers, from 0. Answers with the best time of TIMES, and the sum of all
# numbers (wc: the number of lines), which is not part of the time.
import csv
import gzip
import io
import math
import subprocess
import sys
import time

path, way, packed, times, columns = sys.argv[1:6]
packed = packed == '1'
columns = [int(c) for c in columns.split(',')]
file = open(path, 'rb')


def again():
    file.seek(0)
    return file


def lines():
    again()
    if packed:
        zcat = subprocess.Popen(['gzip', '-dc'], stdin=file,
                                stdout=subprocess.PIPE)
        out = subprocess.run(['wc', '-l'], stdin=zcat.stdout,
                             capture_output=True, check=True).stdout
        zcat.wait()
        return int(out)
    return int(subprocess.run(['wc', '-l'], stdin=file, capture_output=True,
                              check=True).stdout)


def rows():
    raw = gzip.GzipFile(fileobj=again()) if packed else again()
    text = io.TextIOWrapper(raw, encoding='utf-8', newline='')
    reader = csv.reader(text)
    next(reader)
    read = [[float(row[c]) if c in numbers else row[c] for c in every]
            for row in reader]
    text.detach()
    return read


def frame():
    return pandas.read_csv(again(), compression='gzip' if packed else None)


if way == 'pandas':
    import pandas
    read, value = frame, lambda t: float(t.iloc[:, columns].sum().sum())
elif way == 'csv':
    again()
    head = gzip.GzipFile(fileobj=file) if packed else file
    every = range(len(head.readline().split(b',')))
    numbers = set(columns)
    read = rows
    value = lambda t: math.fsum(row[c] for row in t for c in columns)
else:
    read, value = lines, float

best = math.inf
for _ in range(int(times)):
    start = time.perf_counter()
    table = read()
    best = min(best, time.perf_counter() - start)
answer(best, value(table))
