"""UserData of the two sticky assignors, and what other clients write there instead.

Neither layout carries a version. The eager sticky assignor writes its last assignment and,
since V1, the generation of it; a reader can only try V1, then V0. The cooperative one writes
four bytes, the generation; franz-go and librdkafka write the sticky layout there too, whose
first four bytes are a number of topics that a careless reader takes for a generation.
kafka-python 3.0 puts an int16 in front of the sticky layout. Under the assignors by weight a
capacity may follow (`wire.protocol.capacity`): tolerant readers take it off first.

Kafka's readers never fail: bytes that they cannot read count as no claim. Strict mode returns the
same. They distinguish a generation that is absent (`None` here) from one that is -1.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from wire.cursor import Cursor, TopicPartitions, as_bytes
from wire.decoded import Decoded, Mode, Note, NoteCode
from wire.errors import WireError
from wire.protocol.capacity import capacity_bytes, split_capacity
from wire.writing import int32_bytes, partitions_bytes

UNREADABLE_GENERATION = -1
KAFKA_PYTHON_PREFIX = b"\x00\x01"

Blob = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class StickyUserData:
    """What a member of the eager sticky assignor had, and when."""

    owned: TopicPartitions = field(default_factory=dict)
    generation: int | None = None
    """`None` where the bytes have none (V0); -1 may stand in the bytes."""
    capacity: int | None = None
    """What the member says it can carry; below 1 where it wrote nonsense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CooperativeUserData:
    """The generation of a member of the cooperative sticky assignor."""

    generation: int | None = None
    owned: TopicPartitions | None = None
    """Only where the bytes are the full sticky layout; such claims are repeated, not new."""
    capacity: int | None = None
    """As in `StickyUserData`."""


def encode_sticky_user_data(
    owned: TopicPartitions | StickyUserData,
    generation: int | None = None,
    *,
    keep_order: bool = False,
    capacity: int | None = None,
) -> bytes:
    """Return the V1 layout, sorted unless the given order is to be kept. Never zero bytes.

    `owned` is topic -> numbers, or all that `decode_sticky_user_data` returned, with its own
    generation and capacity. Without a generation it is the V0 layout. A capacity is for assignors
    by weight; `ValueError` for one below 1. Raises `WireError` for a topic above 32767 bytes or a
    number that is no int32. Cost: O(P log P) for P partitions.

    >>> encode_sticky_user_data({"t": (1, 0)}, 5).hex()
    '0000000100017400000002000000000000000100000005'
    >>> encode_sticky_user_data(StickyUserData(owned={"t": (1, 0)}, generation=5)).hex()
    '0000000100017400000002000000000000000100000005'
    """
    if isinstance(owned, StickyUserData):
        if generation is not None or capacity is not None:
            raise ValueError("the StickyUserData has a generation and a capacity of its own")
        given, owned = owned, owned.owned
        generation, capacity = given.generation, given.capacity
    layout = partitions_bytes(owned, keep_order=keep_order)
    if generation is not None:
        layout += int32_bytes(generation, "generation")
    return layout if capacity is None else layout + capacity_bytes(capacity)


def encode_cooperative_user_data(
    generation: int | CooperativeUserData | None, *, capacity: int | None = None
) -> bytes:
    """Return the four bytes of the generation, `ffffffff` before the first assignment.

    `generation` is also all that `decode_cooperative_user_data` returned: with `owned`, which
    only the sticky layout has, it is written in that layout. A capacity is for assignors by
    weight; `ValueError` for one below 1.

    >>> encode_cooperative_user_data(7).hex()
    '00000007'
    >>> encode_cooperative_user_data(CooperativeUserData(generation=7)).hex()
    '00000007'
    """
    if isinstance(generation, CooperativeUserData):
        given = generation
        if capacity is not None:
            raise ValueError("the CooperativeUserData has a capacity of its own")
        # Without either, the sticky layout is four zeros: generation 0.
        if given.owned or (given.owned is not None and given.generation is not None):
            return encode_sticky_user_data(given.owned, given.generation, capacity=given.capacity)
        generation, capacity = given.generation, given.capacity
    written = UNREADABLE_GENERATION if generation is None else generation
    layout = int32_bytes(written, "generation")
    return layout if capacity is None else layout + capacity_bytes(capacity)


def decode_sticky_user_data(
    blob: Blob | None, *, mode: Mode = Mode.TOLERANT
) -> Decoded[StickyUserData]:
    """Return the claims in sticky UserData: a value, whatever bytes it has. Cost: linear in them.

    >>> decode_sticky_user_data(bytes.fromhex("ffffffff"), mode=Mode.STRICT).value.generation
    -1
    """
    if blob is None:
        return Decoded(value=StickyUserData())
    data, capacity = _split(as_bytes(blob), mode)
    read = _sticky(data, mode)
    return (
        read
        if capacity is None
        else replace(read, value=replace(read.require(), capacity=capacity))
    )


def decode_cooperative_user_data(
    blob: Blob | None, *, mode: Mode = Mode.TOLERANT
) -> Decoded[CooperativeUserData]:
    """Return the generation in cooperative UserData: a value, whatever bytes it has.

    >>> decode_cooperative_user_data(bytes.fromhex("0000000000000007")).value
    CooperativeUserData(generation=7, owned={}, capacity=None)
    """
    if blob is None:
        return Decoded(value=CooperativeUserData())
    data, capacity = _split(as_bytes(blob), mode)
    read = _cooperative(data, mode)
    return (
        read
        if capacity is None
        else replace(read, value=replace(read.require(), capacity=capacity))
    )


def _split(data: bytes, mode: Mode) -> tuple[bytes, int | None]:
    """Return the part that the sticky assignors know, and the capacity behind it.

    Kafka's readers know no capacity, nor does strict mode.
    """
    return (data, None) if mode is Mode.STRICT else split_capacity(data)


def _sticky(data: bytes, mode: Mode) -> Decoded[StickyUserData]:
    """Return the claims in UserData without a capacity."""
    if not data:
        note = Note(NoteCode.USER_DATA_EMPTY, 0, "user data of length 0, not null")
        return Decoded(value=StickyUserData(), notes=(note,))
    for has_generation in (True, False):
        read = _layout(data, has_generation=has_generation)
        if read is not None:
            return read[0]
    if mode is Mode.STRICT:
        note = Note(NoteCode.USER_DATA_UNREADABLE, 0, "neither sticky layout fits")
        return Decoded(value=StickyUserData(generation=UNREADABLE_GENERATION), notes=(note,))
    return _odd_writer(data)


def _cooperative(data: bytes, mode: Mode) -> Decoded[CooperativeUserData]:
    """Return the generation in UserData without a capacity."""
    if len(data) < 4:
        code = NoteCode.USER_DATA_SHORT if data else NoteCode.USER_DATA_EMPTY
        note = Note(code, 0, f"{len(data)} bytes hold no generation")
        generation = UNREADABLE_GENERATION if mode is Mode.STRICT else None
        return Decoded(value=CooperativeUserData(generation=generation), notes=(note,))
    if mode is Mode.TOLERANT and len(data) > 4:
        full = _whole_layout(data)
        if full is not None:
            return full
    (generation,) = struct.unpack_from(">i", data)
    notes: tuple[Note, ...] = ()
    if len(data) > 4:
        notes = (Note(NoteCode.TRAILING_BYTES, 4, f"{len(data) - 4} bytes after the end"),)
    return Decoded(value=CooperativeUserData(generation=generation), notes=notes)


def _layout(data: bytes, *, has_generation: bool) -> tuple[Decoded[StickyUserData], int] | None:
    """Return what the layout reads and where it ends; `None` if it does not fit."""
    cursor = Cursor(data, Mode.STRICT)
    owned: dict[str, tuple[int, ...]] = {}
    generation: int | None = None
    try:
        cursor.partitions_into(owned, NoteCode.OWNED_NULL)
        if has_generation:
            generation = cursor.int32("generation")
    except WireError:
        return None
    end = cursor.offset
    cursor.note_trailing()
    value = StickyUserData(owned=owned, generation=generation)
    return Decoded(value=value, notes=cursor.oddities.notes()), end


def _odd_writer(data: bytes) -> Decoded[StickyUserData]:
    """Return what can be had from bytes that Kafka's reader gives up on.

    A layout that starts with 00 01 would have at least 65,536 topics: where it does not fit,
    the two bytes are kafka-python's.
    """
    cursor = Cursor(data, Mode.TOLERANT)
    if data.startswith(KAFKA_PYTHON_PREFIX):
        cursor.offset = len(KAFKA_PYTHON_PREFIX)
        cursor.oddities.add(NoteCode.INT16_PREFIX, 0, "an int16 stands before the layout")
    owned: dict[str, tuple[int, ...]] = {}
    generation: int | None = None
    try:
        cursor.partitions_into(owned, NoteCode.OWNED_NULL)
        if cursor.offset < cursor.size:
            generation = cursor.int32("generation")
        cursor.note_trailing()
    except WireError as error:
        code = NoteCode.OWNED_CUT if owned else NoteCode.USER_DATA_UNREADABLE
        cursor.oddities.add(code, error.offset, error.text)
    value = StickyUserData(owned=owned, generation=generation)
    return Decoded(value=value, notes=cursor.oddities.notes())


def _whole_layout(data: bytes) -> Decoded[CooperativeUserData] | None:
    """Return the sticky layout if it takes up all of `data`, else `None`."""
    for has_generation in (True, False):
        read = _layout(data, has_generation=has_generation)
        if read is not None and read[1] == len(data):
            decoded = read[0].require()
            note = Note(NoteCode.STICKY_LAYOUT, 0, "the full sticky layout, not 4 bytes")
            value = CooperativeUserData(generation=decoded.generation, owned=decoded.owned)
            return Decoded(value=value, notes=(note, *read[0].notes))
    return None
