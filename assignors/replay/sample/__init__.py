"""The incident that comes with this package: real records of two groups, to try things on."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from importlib.resources import files
from importlib.resources.abc import Traversable

from assignors.replay.decode.logged_records import LoggedRecord
from wire.records import decode_record


def incident() -> list[LoggedRecord]:
    """Return the records of `sample/incident.jsonl.gz`, decoded, in the order of the topic.

    >>> from assignors.replay.engines.python import replay
    >>> [(row.kind, row.generation_count) for row in replay(incident()).groups][:2]
    [('classic', 36), ('classic', 3)]
    """
    packed = incident_file().read_bytes()
    return [_entry(line) for line in gzip.decompress(packed).splitlines()]


def incident_file() -> Traversable:
    """Return the file with the records, wherever this package is installed, a zip included."""
    return files("assignors.replay") / "sample" / "incident.jsonl.gz"


def _entry(line: bytes) -> LoggedRecord:
    fields = json.loads(line)
    value = fields["value"]
    return LoggedRecord(
        record=decode_record(b64decode(fields["key"]), None if value is None else b64decode(value)),
        at_ms=fields["timestamp"],
        partition=fields["partition"],
        offset=fields["offset"],
    )
