"""Somebody who may write the database, knows this program and needs no key."""
import hashlib, json, re, sqlite3, struct, sys

database = sqlite3.connect(sys.argv[1])


def framed(*texts):
    return b"".join(struct.pack(">Q", len(text.encode())) + text.encode() for text in texts)


def rehash(run):
    """Computes the journal of a run again, and binds its rows to it."""
    before = bytes(32)
    events = "SELECT seq, handoff, version, at, kind, detail FROM events WHERE run = ? ORDER BY seq"
    for seq, handoff, version, at, kind, detail in database.execute(events, [run]).fetchall():
        text = before + framed(run, handoff, kind, detail) + struct.pack(">QQq", seq, version, at)
        before = hashlib.sha256(text).digest()
        database.execute("UPDATE events SET hash = ? WHERE run = ? AND seq = ?", [before, run, seq])
        database.execute("UPDATE handoffs SET head = ? WHERE run = ? AND last_seq = ?", [before, run, seq])


def rechain():
    """Computes the ledger again, from the journals as they are now."""
    before, number = bytes(32), 0
    entries = database.execute("SELECT at, occasion, run, events, head FROM ledger ORDER BY number").fetchall()
    database.execute("DELETE FROM ledger")
    for at, occasion, run, events, head in entries:
        found = "SELECT seq, hash FROM events WHERE run = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
        found = database.execute(found, [run, events]).fetchone()
        if found is None and occasion == "reached":
            continue
        events, head = found or (events, head)
        number += 1
        text = before + framed(occasion, run) + struct.pack(">QQq", number, events, at) + head
        before = hashlib.sha256(text).digest()
        row = [number, at, occasion, run, events, head, before]
        database.execute("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def remove(run):
    database.execute("DELETE FROM events WHERE run = ?", [run])
    database.execute("DELETE FROM handoffs WHERE run = ?", [run])


def prune(run):
    """Removes a run, and enters that this was in order."""
    (number, at, before) = database.execute("SELECT number, at, digest FROM ledger ORDER BY number DESC").fetchone()
    (events, head) = database.execute("SELECT seq, hash FROM events WHERE run = ? ORDER BY seq DESC", [run]).fetchone()
    text = before + framed("removed", run) + struct.pack(">QQq", number + 1, events, at) + head
    row = [number + 1, at, "removed", run, events, head, hashlib.sha256(text).digest()]
    database.execute("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    remove(run)


def redecide(run):
    """Lets somebody else have decided."""
    found = "SELECT seq, detail FROM events WHERE run = ? AND kind = 'decided'"
    for seq, detail in database.execute(found, [run]).fetchall():
        detail = re.sub('"by":"[^"]*"', '"by":"mallory"', detail)
        assert "mallory" in detail, detail
        database.execute("UPDATE events SET detail = ? WHERE run = ? AND seq = ?", [detail, run, seq])
    rehash(run)


def cut_run(run, count):
    """Removes the last events of a journal, and lets the rows forget them."""
    last = database.execute("SELECT max(seq) FROM events WHERE run = ?", [run]).fetchone()[0] - int(count)
    database.execute("DELETE FROM events WHERE run = ? AND seq > ?", [run, last])
    database.execute("UPDATE handoffs SET last_seq = ? WHERE run = ? AND last_seq > ?", [last, run, last])
    rehash(run)


def cut_ledger(last):
    database.execute("DELETE FROM ledger WHERE number > ?", [int(last)])


def forget_ledger():
    """Makes the store as it was before there was a ledger."""
    database.execute("DROP TABLE ledger")
    database.execute("DROP TABLE anchors")
    # It came with the third migration, the tokens with the fourth, and the counts with the fifth.
    database.execute("DROP TABLE tokens")
    database.execute("DROP TABLE finished_counts")
    for trigger in ["finish", "unfinish", "arrive_finished", "remove_finished"]:
        database.execute(f"DROP TRIGGER handoffs_{trigger}")
    for index in ["finished", "held"]:
        database.execute(f"DROP INDEX handoffs_{index}")
    database.execute("PRAGMA user_version = 2")


for action in sys.argv[2:]:
    name, *arguments = action.split(":")
    globals()[name](*arguments)
database.commit()
