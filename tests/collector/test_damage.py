#!/usr/bin/python3
"""test_damage.py: what of a store is damaged is told to who asks over HTTP as
to who reads the store itself, costs itself alone, and is told on the page."""
import base64
import json
import sqlite3

from collecting import (TOKEN, Campaign, Collector, expect, finish, scratch,
                        sotto, until)

BASIC = {"Authorization": "Basic " + base64.b64encode(
    f"me:{TOKEN}".encode()).decode()}


def table():
    """Of CRC-32C, by a byte."""
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        yield byte


def stamp(path):
    """The sums of all pages anew, as the store writes them (sql_sums.h)."""
    by_byte = list(table())
    with open(path, "r+b") as file:
        data = file.read()
        for at in range(0, len(data), 4096):
            total = 0xffffffff
            for byte in ((at // 4096 + 1).to_bytes(4, "little") +
                         data[at:at + 4092]):
                total = total >> 8 ^ by_byte[(total ^ byte) & 0xff]
            file.seek(at + 4092)
            file.write((total ^ 0xffffffff).to_bytes(4, "little"))


def damage(path):
    """Batch 1: two payloads; batch 2: what it says; batch 3: every payload.
    Pages fit their sums: what was damaged while it waited is such."""
    db = sqlite3.connect(path)
    db.execute("UPDATE batch SET chunks = chunks + 1 WHERE number = 2")
    for number, payloads in ((1, (4, 17)), (3, range(50))):
        (place, chunks, count), = db.execute(
            "SELECT first, chunks, count FROM batch WHERE number = ?",
            (number,))
        expect(chunks == 1, "a batch of several chunks")
        (blob,), = db.execute("SELECT reports FROM released WHERE place = ?",
                              (place,))
        each = (len(blob) - 16) // count
        blob = bytearray(blob)
        for i in payloads:
            blob[16 + i * each + 16] ^= 0xff  # behind the key: the payload
        db.execute("UPDATE released SET reports = ? WHERE place = ?",
                   (bytes(blob), place))
    db.commit()
    db.close()
    stamp(path)


with scratch() as folder:
    campaign = Campaign(folder)
    collector = Collector(campaign, "--window", 1, "--batch-min", 50)
    for batch in range(1, 5):
        collector.send(campaign.new(50))
        expect(until(lambda b=batch: collector.metric(
            'campaign_reports{campaign="m",at="released"}') == 50 * b), batch)
    expect(collector.stop() == 0, collector.said())
    damage(collector.store)

    collector = Collector(campaign, "--window", 1, "--batch-min", 50)
    url = f"http://127.0.0.1:{collector.port}/v1/campaigns/m"
    seen = []
    for after in range(5):
        status, headers, body = collector.admin(
            f"/v1/campaigns/m/batches?after={after}")
        seen.append((status, len(body) // campaign.size,
                     headers["Sotto-Batch"], headers["Sotto-Damaged"]))
    expect(seen[0] == (200, 48, "1", "2"), seen)
    expect(seen[1][0] == 410 and seen[1][2:] == ("2", None), seen)
    expect(seen[2] == (200, 0, "3", "50"), seen)
    expect(seen[3] == (200, 50, "4", None), seen)
    expect(seen[4] == (204, 0, None, None), seen)
    expect(collector.metric('refused_total{what="request",why="unread"}') == 1
           and collector.metric('refused_total{what="request",why="expired"}')
           == 0, "the wrong count")
    expect("batch 2 of a campaign cannot be read" in collector.said(),
           collector.said())

    told = []
    for name, where in (
            ("http", ("--from", url, "--admin-token-file", folder + "/token")),
            ("store", ("--store", f"sqlite:{collector.store}"))):
        out = f"{folder}/{name}"
        # Parquet's facts have the same counts.
        words = ("export", campaign.path, *where, "-o")
        sotto(*words, out + ".parquet")
        text = sotto(*words, out + ".csv")
        expect("52 of 150 reports are damaged and were left out: batches 1, 3"
               in text and "1 batch cannot be read at all and was left out: "
               "batch 2" in text, f"{name}: {text}")
        counts = json.loads(sotto(*words, out + ".csv", "--json"))
        expect(counts["reports"] == 98 and counts["damaged"] == 52 and
               counts["unreadable_batches"] == 1 and counts["batches"] == 3 and
               counts["last_batch"] == 4, counts)
        told.append([text, counts] + [
            open(out + end, "rb").read() for end in (".csv", ".parquet")])
    expect(told[0] == told[1], "not alike")

    page = collector.ask("GET", "/v1/page", headers=BASIC)
    expect(until(lambda: b"From 98 reports" in collector.ask(
        "GET", "/v1/page", headers=BASIC)[2]), "the page lacks what is sound")
    page = collector.ask("GET", "/v1/page", headers=BASIC)[2].decode()
    expect("Some batches cannot be read" in page, page)
    expect(collector.stop() == 0, collector.said())
finish()
