"""A dump in JSON lines with groups of every kind, and with what is none."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode

from tests.replay.histories import DATA

GROUPS = (b"shop.32-migrate", b"shop.35-share", b"shop.36-ks-streams", b"shop.39-simple")
ODD = (
    (b"\0\x02\0\x0eshop.39-simple", b"\0\x63"),
    (b"\0\x09\0\x01g", b"x"),
    (b"", b"x"),
)


def some_groups(*, has_offsets: bool = True) -> bytes:
    """Some groups of the captured topic, and some lines that are no record.

    Without offsets a record stands where its line does, and nothing else tells.
    """
    kept = [b"{"]
    with gzip.open(DATA / "real.jsonl.gz") as lines:
        for line in lines:
            fields = json.loads(line)
            if b64decode(fields["key"])[4:].startswith(GROUPS):
                if not has_offsets:
                    del fields["offset"]
                kept.append(json.dumps(fields).encode())
    middle = len(kept) // 2
    odd = [
        json.dumps(
            {
                "key": b64encode(key).decode(),
                "value": b64encode(value).decode(),
                "partition": 9,
                "offset": offset,
                "timestamp": offset,
            }
        ).encode()
        for offset, (key, value) in enumerate(ODD)
    ]
    return b"\n".join([*kept[:middle], b"", b"no record", *kept[middle:], *odd])
