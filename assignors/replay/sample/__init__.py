"""Real records that come with this package, to try things on: an incident, and a skewed group."""

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

    >>> from assignors.replay.engines.python import replay_records
    >>> [(row.kind, row.generation_count) for row in replay_records(incident()).groups][:2]
    [('classic', 36), ('classic', 3)]
    """
    return _records(incident_file())


def incident_file() -> Traversable:
    """Return the file with the records, wherever this package is installed, a zip included."""
    return _file("incident.jsonl.gz")


def skewed() -> list[LoggedRecord]:
    """Return the records of `sample/skewed.jsonl.gz`: a group whose partitions are not equal.

    >>> from assignors.replay.engines.python import replay_records
    >>> [(row.kind, row.partition_count) for row in replay_records(skewed()).generations][-1]
    ('classic', 12)
    """
    return _records(_file("skewed.jsonl.gz"))


def skewed_log_ends() -> list[dict[str, object]]:
    """Return where its partitions ended, every ten seconds, as `replay` takes `log_ends`.

    >>> skewed_log_ends()[-1]["log_ends"]
    {'clicks': [15700, 11880, 19000, 15200, 18500, 14300, 3460, 3040, 2279, 2279, 1520, 1520]}
    """
    return [json.loads(line) for line in _file("skewed-log-ends.jsonl").read_bytes().splitlines()]


def _file(name: str) -> Traversable:
    return files("assignors.replay") / "sample" / name


def _records(file: Traversable) -> list[LoggedRecord]:
    return [_entry(line) for line in gzip.decompress(file.read_bytes()).splitlines()]


def _entry(line: bytes) -> LoggedRecord:
    fields = json.loads(line)
    value = fields["value"]
    return LoggedRecord(
        record=decode_record(b64decode(fields["key"]), None if value is None else b64decode(value)),
        at_ms=fields["timestamp"],
        partition=fields["partition"],
        offset=fields["offset"],
    )
