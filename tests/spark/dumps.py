"""A dump in JSON lines with groups of every kind, and with what is none."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode

from assignors.replay.decode.logged_records import LoggedRecord
from tests.replay.histories import (
    DATA,
    TOPIC_ID,
    commit,
    current,
    epoch,
    member,
    record,
    target,
    target_of,
)

GROUPS = (b"shop.32-migrate", b"shop.35-share", b"shop.36-ks-streams", b"shop.39-simple")
ODD = (
    (b"\0\x02\0\x0eshop.39-simple", b"\0\x63"),
    (b"\0\x09\0\x01g", b"x"),
    (b"", b"x"),
    # Names that are no UTF-8; two of them are one text to whoever reads them.
    (b"\0\x01\0\x02g\xfe\0\x01t\0\0\0\0", b"\0\x03" + bytes(24)),
    (b"\0\x01\0\x02g\xff\0\x01\xff\0\0\0\1", b"\0\x03" + bytes(24)),
    (b"\0\x02\0\x04g\xed\xa0\x80", b"\0\x63"),
)
IDS = [TOPIC_ID.format(end) for end in "Qgw"]


def quiet_group() -> list[LoggedRecord]:
    """A group that never commits: two other groups tell the names of its topics."""
    share = dict.fromkeys(IDS, (0, 1))
    listed = [{"topicId": IDS[1], "topicName": "listed", "partitions": [0, 1]}]
    return [
        epoch(1, 1, group="quiet"),
        member(2, "m", ("committed", "listed", "unknown"), group="quiet"),
        target_of(3, "m", share, group="quiet"),
        target(4, 1, group="quiet"),
        current(5, "m", 1, share, group="quiet"),
        commit(6, "committed", 0, 7, group="loud", topic_id=IDS[0]),
        record(
            7,
            "SHARE_GROUP_STATE_PARTITION_METADATA",
            {"groupId": "shared"},
            {"initializingTopics": [], "initializedTopics": listed, "deletingTopics": []},
        ),
        # Version 4 without what it is for.
        record(
            8,
            "OFFSET_COMMIT",
            {"group": "loud", "topic": "nameless", "partition": 0},
            {"offset": 1, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 8},
            version=4,
        ),
    ]


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
    quiet = [(one.record.key_bytes or b"", one.record.value_bytes or b"") for one in quiet_group()]
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
        for offset, (key, value) in enumerate([*ODD, *quiet])
    ]
    return b"\n".join([*kept[:middle], b"", b"no record", *kept[middle:], *odd])
