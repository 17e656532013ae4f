"""parquet_reader.py: reads what src/table/parquet.c writes, by the
specification of Parquet and of Thrift's compact protocol, and nothing else:
PLAIN values, data pages of version 1, GZIP or no compression. Every length
that a file states is checked against what is there."""
import gzip
import struct


class Thrift:
    """The compact protocol: structs as {number: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def text(self):
        size = self.varint()
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("b", bytes([self.byte()]))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.text()
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, kind
        return self.struct()

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            assert last not in fields
            fields[last] = self.value(head & 15)


def levels(data, at, count):
    """The levels of a page, of one bit, and where they end."""
    (size,) = struct.unpack_from("<I", data, at)
    end, found, run = at + 4 + size, [], Thrift(data, at + 4)
    while run.at < end:
        head = run.varint()
        if head & 1:
            for _ in range(head >> 1):
                byte = run.byte()
                found += [byte >> i & 1 for i in range(8)]
        else:
            found += [run.byte()] * (head >> 1)
    assert run.at == end and count <= len(found) < count + 8
    assert not any(found[count:]), "bits past the last"
    return found[:count], end


def plain(data, at, kind, count):
    if kind == 0:
        assert len(data) == at + (count + 7) // 8
        return [bool(data[at + i // 8] >> i % 8 & 1) for i in range(count)]
    width, letter = {1: (4, "i"), 2: (8, "q")}[kind]
    assert len(data) == at + width * count, (len(data), at, count)
    return list(struct.unpack_from("<%d%s" % (count, letter), data, at))


def pages(data, meta, leaf):
    """The rows of one column chunk."""
    at, end = meta[9], meta[9] + meta[7]
    rows, values, raw = [], 0, 0
    while at < end:
        head = Thrift(data, at)
        header = head.struct()
        body = data[head.at : head.at + header[3]]
        raw += head.at - at + header[2]
        at = head.at + header[3]
        if meta[4] == 2:
            body = gzip.decompress(body)
        assert header[1] == 0 and len(body) == header[2]
        page = header[5]
        assert (page[2], page[3], page[4]) == (0, 3, 3)
        count = page[1]
        values += count
        start, repeated, defined = 0, [0] * count, [1] * count
        if leaf["list"]:
            repeated, start = levels(body, start, count)
        if leaf["list"] or leaf["optional"]:
            defined, start = levels(body, start, count)
        found = iter(plain(body, start, meta[1], sum(defined)))
        for again, there in zip(repeated, defined):
            value = next(found) if there else None
            if not leaf["list"]:
                rows.append(value)
            elif again:
                rows[-1].append(value)
            else:
                rows.append([value] if there else [])
    assert at == end and values == meta[5] and raw == meta[6]
    return rows


def schema_of(elements):
    """The columns, from the schema's tree."""
    root, rest, leaves = elements[0], elements[1:], []
    while rest:
        own = rest.pop(0)
        leaf = {"name": own[4].decode(), "path": [own[4]], "list": False,
                "optional": own[3] == 1}
        if 5 in own:
            assert own[5] == 1 and own[6] == 3 and own[10] == {3: {}}
            middle, own = rest.pop(0), rest.pop(0)
            assert (middle[3], middle[4], middle[5]) == (2, b"list", 1)
            assert (own[3], own[4]) == (0, b"element")
            leaf.update(list=True, optional=False,
                        path=leaf["path"] + [b"list", b"element"])
        if own[1] != 0:
            wide = 32 if own[1] == 1 else 64
            assert own[6] == {32: 17, 64: 18}[wide]
            assert own[10] == {10: {1: wide, 2: True}}
        leaf["type"] = own[1]
        leaves.append(leaf)
    assert root[5] == len(leaves)
    return leaves


def read(path):
    """Columns by name, facts of the file, and the rows of each group."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:4] == data[-4:] == b"PAR1"
    (size,) = struct.unpack("<I", data[-8:-4])
    footer = Thrift(data, len(data) - 8 - size)
    file = footer.struct()
    assert footer.at == len(data) - 8 and file[1] == 1
    leaves = schema_of(file[2])
    columns = {leaf["name"]: [] for leaf in leaves}
    assert len(columns) == len(leaves), "two columns of one name"
    groups, at = [], 4
    for group in file[4]:
        assert len(group[1]) == len(leaves)
        total = 0
        for leaf, chunk in zip(leaves, group[1]):
            meta = chunk[3]
            assert meta[3] == leaf["path"] and meta[1] == leaf["type"]
            assert chunk[2] == meta[9] == at, "chunks lie one behind the other"
            at += meta[7]
            total += meta[6]
            rows = pages(data, meta, leaf)
            assert len(rows) == group[3]
            columns[leaf["name"]] += rows
        assert total == group[2]
        groups.append(group[3])
    assert sum(groups) == file[3] and at == len(data) - 8 - size
    facts = {f[1].decode(): f[2].decode() for f in file.get(5, [])}
    return columns, facts, groups
