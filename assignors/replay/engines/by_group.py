"""The records of a source by group, of which only some are in memory.

All records of a group are in one partition of the topic, but a dump has the partitions mixed. So
records go into bins, a group into one bin, and whole bins are read back. Beyond `HELD_MAX` records
the bins are written to a temporary file, in a form of our own process.
"""

from __future__ import annotations

import marshal
import re
from binascii import crc32
from collections import Counter
from collections.abc import Iterable, Iterator
from tempfile import TemporaryFile
from typing import IO, Any, Self

from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_in,
    no_record_words,
    reason,
)
from assignors.replay.history.fold import by_majority, recorded_names
from wire import ErrorKind, Note, NoteCode, WireError
from wire.records import Record
from wire.text import utf16_key

BINS = 64
"""About as many as Kafka gives partitions to the topic."""

HELD_MAX = 50_000
"""Records, and members in them, that are held in memory: about 60 MB."""

GROUPS_NAMED = 5
"""How many groups are named in the message that no group matches."""


class RecordsByGroup:
    """Records that were added in the order of the topic, given back group by group."""

    def __init__(self, wanted: re.Pattern[str] | None = None, *, held_max: int = HELD_MAX) -> None:
        """Start without records; of groups whose name does not match `wanted` none are kept."""
        self.wanted = wanted
        self.groups: dict[str, int] = {}
        """The groups that are kept -> the bins that they are in."""
        self.others: set[str] = set()
        """The groups that do not match."""
        self.first: LoggedRecord | None = None
        self.is_any_read = False
        """Whether a record could be decoded."""
        self._names: Counter[tuple[str, str]] = Counter()
        self._held_max = held_max
        self._held = 0
        self._bins: list[list[LoggedRecord]] = [[] for _ in range(BINS)]
        self._file: IO[bytes] | None = None
        self._written: list[list[tuple[int, int]]] = [[] for _ in range(BINS)]
        """Where in the file each bin has its parts, and how long they are."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, entries: Iterable[LoggedRecord]) -> None:
        """Add records. Memory: `HELD_MAX` of them."""
        for entry in entries:
            record = entry.record
            if self.first is None:
                self.first = entry
            if record.error is None:
                self.is_any_read = True
                for pair in recorded_names((entry,)):
                    self._names[pair] += 1
            group = group_in(record.key) or NO_GROUP
            number = self.groups.get(group)
            if number is None:
                if self.wanted is not None and not self.wanted.search(group):
                    self.others.add(group)
                    continue
                number = crc32(group.encode("utf-8", "surrogatepass")) % BINS
                self.groups[group] = number
            self._bins[number].append(entry)
            self._held += 1
            if record.name == "GROUP_METADATA" and record.value is not None:
                self._held += len(record.value["members"])
            if self._held > self._held_max:
                self._write()

    @property
    def topic_names(self) -> dict[str, str]:
        """Topic id -> name, by the records of all groups, those that do not match included."""
        return by_majority(self._names)

    def require_some(self, where: str) -> None:
        """Raise `ValueError` where nothing is kept, with the reason; `where` names the source."""
        if self.first is None and not self.others:
            raise ValueError(f"{where}: no records: is it empty?")
        if self.first is not None and not self.is_any_read:
            first = self.first.record
            raise ValueError(f"{where}: {no_record_words(first.key_bytes, reason(first))}")
        if not self.groups:
            assert self.wanted is not None, "without a pattern every group is kept"
            names = sorted(filter(None, self.others), key=utf16_key)
            raise ValueError(f"{where}: {no_group_matches(self.wanted, len(names), names)}")

    def by_group(self) -> Iterator[tuple[str, list[LoggedRecord]]]:
        """Yield each group with its records, in no order of groups. Memory: a bin."""
        for number in range(BINS):
            found: dict[str, list[LoggedRecord]] = {}
            for entry in self._bin(number):
                found.setdefault(group_in(entry.record.key) or NO_GROUP, []).append(entry)
            yield from found.items()

    def _bin(self, number: int) -> Iterator[LoggedRecord]:
        for position, length in self._written[number]:
            assert self._file is not None, "what is written is in a file"
            self._file.seek(position)
            part = marshal.loads(self._file.read(length))  # noqa: S302 - our own temporary file
            yield from map(_unpacked, part)
        yield from self._bins[number]

    def _write(self) -> None:
        """Write all that is held."""
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed by `__exit__`
        self._file.seek(0, 2)
        for number, held in enumerate(self._bins):
            if held:
                part = marshal.dumps(list(map(_packed, held)))
                self._written[number].append((self._file.tell(), len(part)))
                self._file.write(part)
                held.clear()
        self._held = 0


def no_group_matches(wanted: re.Pattern[str], group_count: int, names: Iterable[str]) -> str:
    """Return in words that no group matches; `names` are some of the groups that there are."""
    listed = ", ".join([*names][:GROUPS_NAMED])
    return f"no group matches {wanted.pattern!r}; {group_count} are there: {listed}"


def _packed(entry: LoggedRecord) -> tuple[Any, ...]:
    """Return a record as values that `marshal` takes."""
    record, error = entry.record, entry.record.error
    return (
        entry.at_ms,
        entry.partition,
        entry.offset,
        entry.is_aborted,
        record.type,
        record.name,
        record.key,
        record.value_version,
        record.value,
        [(note.code.value, note.offset, note.text) for note in record.notes],
        None if error is None else (error.kind.value, error.text, error.offset),
        record.key_bytes,
        record.value_bytes,
        record.is_tombstone,
    )


def _unpacked(packed: tuple[Any, ...]) -> LoggedRecord:
    at_ms, partition, offset, is_aborted, *fields = packed
    number, name, key, version, value, notes, error, key_bytes, value_bytes, is_tombstone = fields
    return LoggedRecord(
        record=Record(
            type=number,
            name=name,
            key=key,
            value_version=version,
            value=value,
            notes=tuple([Note(NoteCode(code), at, text) for code, at, text in notes]),
            error=None if error is None else WireError(ErrorKind(error[0]), *error[1:]),
            key_bytes=key_bytes,
            value_bytes=value_bytes,
            is_tombstone=is_tombstone,
        ),
        at_ms=at_ms,
        partition=partition,
        offset=offset,
        is_aborted=is_aborted,
    )
