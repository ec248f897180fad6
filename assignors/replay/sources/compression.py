"""Decompression of record batches, with a limit on what a batch may become.

Arrow has lz4 frames, zstd and snappy, the standard library gzip. All are read in steps and
stopped at the limit, so that a batch of a kilobyte cannot become a gigabyte. Snappy comes in two
forms: Java and most clients write blocks behind the header of xerial's `snappy-java`,
librdkafka one block without it; a block says its length, which is checked before it is made.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import Protocol

from assignors.extras import imported_from
from wire.errors import ErrorKind, WireError
from wire.log.batch import Compression

PLAIN_MAX = 128 << 20
"""Most bytes that the records of one batch may have, by default."""

_STEP = 1 << 16
_XERIAL = b"\x82SNAPPY\0"
_XERIAL_HEADER_SIZE = 16  # the magic, a version and the oldest one that can read it
_BLOCK_LENGTH = struct.Struct(">i")
_GZIP = 31  # zlib's number for: a gzip header, the longest window


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def decompress(compression: Compression, data: bytes, *, plain_max: int = PLAIN_MAX) -> bytes:
    """Return the plain bytes; `WireError` where these are damaged, or more than `plain_max`.

    >>> import gzip
    >>> decompress(Compression.GZIP, gzip.compress(b"records"))
    b'records'
    """
    try:
        chunks = _CHUNKS[compression](data, plain_max)
        plain = bytearray()
        for chunk in chunks:
            plain += chunk
            if len(plain) > plain_max:
                raise _too_long(compression, data, plain_max)
    except (OSError, zlib.error, struct.error) as error:
        text = f"{compression.name.lower()}: {error}"
        raise WireError(ErrorKind.BAD_LENGTH, text) from error
    return bytes(plain)


def decompressor(plain_max: int) -> Callable[[Compression, bytes], bytes]:
    """Return `decompress` with another limit, as `wire.log.batch` takes it."""
    return partial(decompress, plain_max=plain_max)


def _too_long(compression: Compression, data: bytes, plain_max: int) -> WireError:
    name = compression.name.lower()
    text = f"{name}: {len(data)} bytes become more than {plain_max}"
    return WireError(ErrorKind.BAD_LENGTH, text)


def _plain(data: bytes, _: int) -> Iterator[bytes]:
    yield data


def _gunzip(data: bytes, _: int) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(_GZIP)
        while not member.eof:
            chunk = member.decompress(data, _STEP)
            data = member.unconsumed_tail
            if not chunk and not data and not member.eof:
                raise zlib.error("ends early")
            yield chunk
        data = member.unused_data


def _stream(codec: str, data: bytes, _: int) -> Iterator[bytes]:
    with _arrow() as pa, pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
        reader: _Readable = stream
        while chunk := reader.read(_STEP):
            yield chunk


def _unsnap(data: bytes, plain_max: int) -> Iterator[bytes]:
    if not data.startswith(_XERIAL):
        yield _block(data, plain_max)
        return
    at = _XERIAL_HEADER_SIZE
    while at < len(data):
        (length,) = _BLOCK_LENGTH.unpack_from(data, at)
        at += _BLOCK_LENGTH.size
        if length < 0 or at + length > len(data):
            text = f"snappy: a block of {length} bytes in {len(data) - at}"
            raise WireError(ErrorKind.BAD_LENGTH, text, at)
        yield _block(data[at : at + length], plain_max)
        at += length


def _block(data: bytes, plain_max: int) -> bytes:
    """Return what one block of raw snappy holds; its length stands in front as a varint."""
    length = 0
    for position, byte in enumerate(data[:5]):
        length |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            break
    if length > plain_max:
        raise _too_long(Compression.SNAPPY, data, plain_max)
    with _arrow() as pa:
        plain: bytes = pa.decompress(data, length, codec="snappy", asbytes=True)
    return plain


@contextmanager
def _arrow() -> Iterator[ModuleType]:
    """Provide pyarrow; what it cannot decompress is an `OSError`."""
    with imported_from("replay"):
        import pyarrow as pa  # noqa: PLC0415 - an extra, and other forms need none of it
    try:
        yield pa
    except pa.ArrowException as error:
        raise OSError(str(error)) from error


_CHUNKS: dict[Compression, Callable[[bytes, int], Iterator[bytes]]] = {
    Compression.NONE: _plain,
    Compression.GZIP: _gunzip,
    Compression.SNAPPY: _unsnap,
    Compression.LZ4: partial(_stream, "lz4"),
    Compression.ZSTD: partial(_stream, "zstd"),
}
