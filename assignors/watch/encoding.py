"""Values of annotated types as JSON, and back: how the state of a watch is kept.

The fields of a dataclass become an array in the order of the class, so a state names no field. A
state is read by the version that wrote it, and by no other: `VERSION` changes with every field.
No pickle: what is read is data, and a file of another hand can at most be refused.
"""

from __future__ import annotations

import json
import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

VERSION = 1
"""Of the encoded state; raised with every change of a class that is part of it."""


class StateError(ValueError):
    """A state that this version cannot read, in one sentence."""


class Codec(NamedTuple):
    """How a type becomes JSON values, and how they become the type."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def to_bytes(value: object) -> bytes:
    """Return a dataclass as bytes: JSON with the version. Cost: linear in the value."""
    document = {"v": VERSION, "state": _codec(type(value)).encode(value)}
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode()


def from_bytes(cls: type[T], data: bytes) -> T:
    """Return what `to_bytes` wrote. Raises `StateError` for another version, or other bytes."""
    try:
        document = json.loads(data)
        version = document["v"]
        if version == VERSION:
            return _codec(cls).decode(document["state"])  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(f"the state of a watch cannot be read: {error}") from error
    raise StateError(f"the state of a watch has version {version!r}, this version reads {VERSION}")


def renamed(value: T, names: Mapping[str, str]) -> T:
    """Return a dataclass with every string that is a key of `names` replaced by its value."""
    text = json.dumps(_codec(type(value)).encode(value), ensure_ascii=True)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    return _codec(type(value)).decode(json.loads(text))  # type: ignore[no-any-return]


def _codec(cls: Any) -> Codec:  # noqa: ANN401 - mypy takes no class for hashable
    return codec_of(cls)


@cache
def codec_of(hint: Any) -> Codec:  # noqa: ANN401, PLR0911 - any annotation, one for each form
    """Return the codec of an annotation: dataclasses, enums, collections, bytes, unions with None.

    Raises `TypeError` for an annotation that has none.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint in {str, int, bool, float, None, type(None), Any}:
        return Codec(_same, _same)
    if hint is bytes:
        return Codec(lambda value: b64encode(value).decode(), b64decode)
    if origin in {Union, types.UnionType}:
        return _optional(parts)
    if origin is tuple:
        return _tuple(parts)
    if origin in {list, Mapping, dict}:
        return _list(parts) if origin is list else _mapping(parts)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Codec(lambda value: value.value, hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _dataclass(hint)
    raise TypeError(f"{hint}: no part of a state has this type")


def _same(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return value


def _optional(parts: tuple[Any, ...]) -> Codec:
    """Return the codec of one type or `None`; of several classes, the value has its place."""
    some = [part for part in parts if part is not type(None)]
    if len(some) > 1:
        codecs = [codec_of(part) for part in some]
        return Codec(
            lambda value: (
                None
                if value is None
                else [some.index(type(value)), codecs[some.index(type(value))].encode(value)]
            ),
            lambda pair: None if pair is None else codecs[pair[0]].decode(pair[1]),
        )
    encode, decode = codec_of(some[0])
    if encode is _same:
        return Codec(_same, _same)
    return Codec(
        lambda value: None if value is None else encode(value),
        lambda value: None if value is None else decode(value),
    )


def _tuple(parts: tuple[Any, ...]) -> Codec:
    if parts[-1] is Ellipsis:
        encode, decode = codec_of(parts[0])
        if encode is _same:
            return Codec(list, tuple)
        return Codec(
            lambda value: [encode(one) for one in value],
            lambda value: tuple([decode(one) for one in value]),
        )
    codecs = [codec_of(part) for part in parts]
    return Codec(
        lambda value: [each.encode(one) for each, one in zip(codecs, value, strict=True)],
        lambda value: tuple([each.decode(one) for each, one in zip(codecs, value, strict=True)]),
    )


def _list(parts: tuple[Any, ...]) -> Codec:
    encode, decode = codec_of(parts[0])
    return Codec(
        lambda value: [encode(one) for one in value],
        lambda value: [decode(one) for one in value],
    )


def _mapping(parts: tuple[Any, ...]) -> Codec:
    """Return the codec of a mapping: pairs, as keys may be tuples, and order counts."""
    key, value = map(codec_of, parts)
    return Codec(
        lambda given: [[key.encode(one), value.encode(two)] for one, two in given.items()],
        lambda pairs: {key.decode(one): value.decode(two) for one, two in pairs},
    )


def _dataclass(cls: type[Any]) -> Codec:
    hints = get_type_hints(cls)
    names = [
        field.name for field in fields(cls) if field.init and field.metadata.get("is_kept", True)
    ]
    codecs: list[Codec] = []

    def each() -> list[Codec]:
        if not codecs:
            codecs.extend(codec_of(hints[name]) for name in names)
        return codecs

    def encode(value: Any) -> Any:  # noqa: ANN401 - of `cls`
        return [one.encode(getattr(value, name)) for name, one in zip(names, each(), strict=True)]

    def decode(listed: Any) -> Any:  # noqa: ANN401 - of `cls`
        return cls(
            **{
                name: one.decode(given)
                for name, one, given in zip(names, each(), listed, strict=True)
            }
        )

    return Codec(encode, decode)
