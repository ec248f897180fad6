"""Keys of a document, declared once: as the fields of a dataclass.

What is read, what is refused with its path, the JSON Schema and the reference page all follow from
the class. The type of a field says what it may hold, and `Annotated` narrows it:

    @dataclass(frozen=True, kw_only=True)
    class Leader:
        name: str                                     # has no default: it must be given
        samples_every_s: int = 60                     # an integer from 0 to 2**31 - 1
        budget: int | None = 5                        # null is a value of its own
        error: Annotated[float, number(0, 3)] = 0     # null stands for the default
        weights: WeightSource = WeightSource.MEASURED # one of the words of a `StrEnum`
        topics: dict[str, int] = field(default_factory=dict)
        limits: Limits = field(default_factory=Limits)  # an object: a class of its own

    read(Leader, {"name": "a", "eror": 1}, ())   # 'eror' is no key here; did you mean 'error'?
    schema_of(Leader)                            # a JSON Schema, closed to other keys
    brief(leader)                                # the document again, without defaults

The string below a field says what its key means: the schema and the pages have it. `read_several`
reads one object whose keys belong to several classes. A kind of value that no type expresses is a
`Kind`: a reader, which returns the value or raises `DocumentError`, and a schema. Other metadata of
`Annotated` is kept in `Key.marks`. Keys that begin with `_` are the user's own, and are not read.

Answers are such classes too, whose documents `brief` writes. A row of a table has all of its keys:
`row_schema`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from assignors.documents import schemas
from assignors.documents.schemas import Schema
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_list,
    as_object,
    as_real,
    as_string,
    described,
)
from assignors.names.nearest import question, suggestion
from wire import TopicPartitions

OWN_PREFIX = "_"
"""What the user's own keys begin with; nobody reads those."""
NATURAL_MAX = 2**31 - 1
TEXT_BYTES_MAX = 30_000
"""A string of Kafka's protocol has 32,767 at most, and an id is a name with a UUID behind it."""

T = TypeVar("T")
Reader = Callable[[object, Place], Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value in a document."""

    read: Reader
    """Returns the value, or raises `DocumentError` with its place."""
    schema: Callable[[], Schema]
    parts: tuple[tuple[str, type[Any]], ...] = ()
    """The classes of the objects in such a value, each with the path that leads there: `[]`."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an object."""

    kind: Kind
    has_default: bool
    default: Any
    """Its default, `MISSING` where it has none."""
    is_nullable: bool
    """Whether null is a value of its own; otherwise it stands for the default."""
    marks: tuple[Any, ...] = ()
    """What else the `Annotated` type of its field has."""


def read(kind: type[T], value: object, place: Place = (), *, near: Iterable[str] = ()) -> T:
    """Return the settings that an object describes. Cost: O(its size).

    Raises `DocumentError` with the path: for another type, an unknown key, a value that its key
    cannot have, and a key that is missing. `near` are names that an unknown key may have meant too.
    """
    found: T = read_several((kind,), value, place, near=near)[0]
    return found


def read_several(
    kinds: tuple[type[Any], ...],
    value: object,
    place: Place = (),
    *,
    near: Iterable[str] = (),
    ignored: Collection[str] = (),
) -> tuple[Any, ...]:
    """Return the settings of several classes whose keys one object has; errors as `read`.

    Keys of `ignored` may be there, with any value.
    """
    given = as_object(value, place)
    tables = [keys_of(kind) for kind in kinds]
    values: list[dict[str, Any]] = [{} for _ in kinds]
    for name, one in given.items():
        for table, found in zip(tables, values, strict=True):
            if name not in table:
                continue
            key = table[name]
            if one is not None:
                found[name] = key.kind.read(one, (*place, name))
            elif key.is_nullable:
                found[name] = None
            break
        else:
            if name not in ignored and not name.startswith(OWN_PREFIX):
                known = [*(name for table in tables for name in table), *near, *ignored]
                raise unknown_key(name, known, place)
    for table, found in zip(tables, values, strict=True):
        for name, key in table.items():
            if not key.has_default and name not in found:
                raise DocumentError(ErrorCode.MISSING, f"{name!r} is missing", (*place, name))
    return tuple(kind(**found) for kind, found in zip(kinds, values, strict=True))


def unknown_key(name: str, known: Iterable[str], place: Place) -> DocumentError:
    """Return the error of a key that is none of these."""
    words = f"{name!r} is no key here{suggestion(name, sorted(known))}"
    return DocumentError(ErrorCode.UNKNOWN, words, (*place, name))


def keys_of(kind: type[Any]) -> Mapping[str, Key]:
    """Return the keys of a class of settings, by name."""
    return _keys_of(cast("Hashable", kind))


@cache
def _keys_of(kind: Any) -> Mapping[str, Key]:  # noqa: ANN401 - a class, which mypy calls unhashable
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: _key(hints[each.name], each) for each in fields(kind)}


def require_values(settings: Any) -> None:  # noqa: ANN401 - a dataclass
    """Raise `DocumentError`, with the key, where settings made in Python have an impossible value.

    Cost: O(their size).
    """
    for name, key in keys_of(type(settings)).items():
        value = getattr(settings, name)
        if value is not None or not key.is_nullable:
            key.kind.read(value, (name,))


def brief(settings: Any) -> Document:  # noqa: ANN401 - a dataclass
    """Return the document of settings, without keys that have their defaults. Cost: O(its size)."""
    return {
        name: _written(value)
        for name, key in keys_of(type(settings)).items()
        if (value := getattr(settings, name)) != key.default
    }


def blank(kind: type[Any]) -> Document:
    """Return the keys that every document of a class has, each null."""
    return {name: None for name, key in keys_of(kind).items() if not key.has_default}


def schema_of(*kinds: type[Any], ignored: Iterable[str] = (), is_open: bool = False) -> Schema:
    """Return the schema of an object with the keys of these classes.

    Closed to other keys, unless `is_open`: then they may come in later versions.
    """
    found = []
    for kind in kinds:
        texts = meanings_of(kind)
        for name, key in keys_of(kind).items():
            one = key.kind.schema()
            is_null = not is_open if key.has_default else key.is_nullable
            schema = schemas.nullable(one) if is_null else one
            if isinstance(key.default, StrEnum) or type(key.default) in (str, int, float, bool):
                schema = {**schema, "default": key.default}
            text = texts.get(name, "")
            found.append(schemas.Key(name, schema, text, is_optional=key.has_default))
    schema = schemas.record(*found)
    if is_open:
        opened: Schema = _opened(schema)
        return opened
    others = dict.fromkeys(ignored, schemas.ANY)
    return {
        **schema,
        "properties": {**others, **schema["properties"]},
        "patternProperties": {f"^{OWN_PREFIX}": schemas.ANY},
        "additionalProperties": False,
    }


def _opened(schema: Any) -> Any:  # noqa: ANN401 - a schema, or a part of one
    """Return a schema whose objects may have keys more."""
    if isinstance(schema, list):
        return [*map(_opened, schema)]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _opened(part)
        for name, part in schema.items()
        if name != "patternProperties" and (name, part) != ("additionalProperties", False)
    }


def meanings_of(kind: type[Any]) -> dict[str, str]:
    """Return the string below each field of a class, or each member of an enumeration.

    Cost: that of parsing its source; a class without source has none.
    """
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return {}
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        target = before.target if isinstance(before, ast.AnnAssign) else None
        if isinstance(before, ast.Assign):
            target = before.targets[0]  # type: ignore[assignment]
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr):
            found[target.id] = " ".join(str(ast.literal_eval(after.value)).split())
    return found


# Documents that are written


def row_keys(kind: type[Any]) -> list[schemas.Key]:
    """Return the fields of a row as keys, which are always there.

    >>> from dataclasses import make_dataclass
    >>> row_keys(make_dataclass("Row", [("count", int), ("name", str | None)]))[1].type
    {'type': ['string', 'null']}
    """
    hints, texts = get_type_hints(kind, include_extras=True), meanings_of(kind)
    return [
        schemas.Key(each.name, row_type(hints[each.name]), texts.get(each.name, ""))
        for each in fields(kind)
    ]


def row_schema(kind: type[Any]) -> Schema:
    """Return the schema of the document of a class that is written; others may come later."""
    return schemas.record(*row_keys(kind))


def row_type(hint: Any) -> Schema:  # noqa: ANN401 - a type, or an alias of one
    """Return the schema of the values of a type that is written.

    >>> row_type(tuple[str, ...] | None)
    {'type': ['array', 'null'], 'items': {'type': 'string'}}
    """
    if hint in _WRITTEN:
        return _WRITTEN[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind = next((mark for mark in inner[1:] if isinstance(mark, Kind)), None)
        return row_type(inner[0]) if kind is None else kind.schema()
    if origin in (Union, UnionType):
        (one,) = (each for each in inner if each is not type(None))
        return schemas.nullable(row_type(one))
    if origin in (tuple, Sequence):
        return schemas.array(row_type(inner[0]))
    if origin in (dict, Mapping):
        return schemas.mapping(row_type(inner[1]))
    assert isinstance(hint, type)
    return row_schema(hint) if is_dataclass(hint) else schemas.one_of(cast("type[StrEnum]", hint))


_WRITTEN: dict[Any, Schema] = {
    str: schemas.STRING,
    bool: schemas.BOOLEAN,
    int: schemas.INTEGER,
    float: schemas.NUMBER,
    bytes: schemas.HEX,
    object: schemas.ANY,
    Annotated[int, "int32"]: schemas.INT32,
    TopicPartitions: schemas.PARTITIONS,
}


# Kinds of values


def of_schema(schema: Schema | Callable[[], Schema]) -> Kind:
    """Return the kind of values that are written, and nobody reads."""

    def read_it(value: object, place: Place) -> object:
        raise AssertionError(f"{value!r} is written, not read, at {place}")

    return Kind(read_it, schema if callable(schema) else lambda: schema)


def integer(low: int, high: int) -> Kind:
    """Return the kind of an integer within bounds."""

    def read_it(value: object, place: Place) -> int:
        found = as_integer(value, place)
        if not low <= found <= high:
            words = f"{described(found)} is not between {low} and {high}"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        return found

    return Kind(read_it, lambda: {"type": "integer", "minimum": low, "maximum": high})


def number(low: float, high: float) -> Kind:
    """Return the kind of a number within bounds."""

    def read_it(value: object, place: Place) -> float:
        found = as_real(value, place)
        if not low <= found <= high:
            words = f"{found} is not between {low:g} and {high:g}"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        return found

    return Kind(read_it, lambda: {"type": "number", "minimum": low, "maximum": high})


def word_of(words: Iterable[str], what: str = "") -> Kind:
    """Return the kind of one of these words, as those of an enumeration, or names of `what`."""
    known = {str(word): word for word in words}

    def read_it(value: object, place: Place) -> Any:  # noqa: ANN401 - a word, or a name
        text = as_string(value, place)
        if text in known:
            return known[text]
        refused = f"no {what} {text!r}{suggestion(text, known)}"
        if not what:
            refused = f"{text!r} is none of {', '.join(known)}{question(text, known)}"
        raise DocumentError(ErrorCode.UNKNOWN, refused, place)

    return Kind(read_it, lambda: schemas.one_of(known))


def as_natural(value: object, place: Place) -> int:
    """Return an integer of 0 or more, up to 2**31 - 1."""
    found = as_integer(value, place)
    if found < 0:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{described(found)} is negative", place)
    if found > NATURAL_MAX:
        words = f"{described(found)} does not fit in 32 bits"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return found


def as_boolean(value: object, place: Place) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        words = f"expected true or false, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return value


def as_text(value: object, place: Place) -> str:
    """Return a string that fits into requests and records, with what stands behind it in an id."""
    text = as_string(value, place)
    if len(text) > TEXT_BYTES_MAX or len(text.encode()) > TEXT_BYTES_MAX:
        words = f"{len(text)} characters are more than {TEXT_BYTES_MAX} bytes"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return text


NATURAL = Kind(as_natural, lambda: {"type": "integer", "minimum": 0, "maximum": NATURAL_MAX})
BOOLEAN = Kind(as_boolean, lambda: schemas.BOOLEAN)
TEXT = Kind(as_text, lambda: schemas.STRING)
REAL = Kind(as_real, lambda: schemas.NUMBER)
PLAIN: dict[Any, Kind] = {int: NATURAL, float: REAL, bool: BOOLEAN, str: TEXT}


def listed(of: Kind) -> Kind:
    """Return the kind of a list, read as a tuple."""

    def read_it(value: object, place: Place) -> tuple[Any, ...]:
        entries = as_list(value, place)
        return tuple(of.read(entry, (*place, number)) for number, entry in enumerate(entries))

    parts = tuple((f"[]{path}", kind) for path, kind in of.parts)
    return Kind(read_it, lambda: schemas.array(of.schema()), parts)


def mapping(of: Kind) -> Kind:
    """Return the kind of an object with any keys, and values of one kind."""

    def read_it(value: object, place: Place) -> dict[str, Any]:
        return {
            as_text(name, (*place, name)): of.read(one, (*place, name))
            for name, one in as_object(value, place).items()
        }

    return Kind(read_it, lambda: schemas.mapping(of.schema()), of.parts)


def settings(kind: type[Any]) -> Kind:
    """Return the kind of an object that is a class of settings."""
    return Kind(
        lambda value, place: read(kind, value, place), lambda: schema_of(kind), (("", kind),)
    )


def kind_of(hint: Any) -> Kind:  # noqa: ANN401 - a type
    """Return the kind of values that a type stands for. No other types are known."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, Union, UnionType):
        marked = [mark for mark in inner if isinstance(mark, Kind)]
        (one, *_) = (each for each in inner if each is not type(None))
        return marked[0] if marked else kind_of(one)
    if origin in (tuple, Sequence):
        return listed(kind_of(inner[0]))
    if origin in (dict, Mapping):
        return mapping(kind_of(inner[1]))
    if hint in PLAIN:
        return PLAIN[hint]
    assert isinstance(hint, type)
    return settings(hint) if is_dataclass(hint) else word_of(cast("type[StrEnum]", hint))


def _key(hint: Any, one: Field[Any]) -> Key:  # noqa: ANN401 - any type
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    plain = get_args(hint)[0] if marks else hint
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return Key(
        kind_of(hint),
        default is not MISSING,
        default,
        get_origin(plain) in (Union, UnionType) and type(None) in get_args(plain),
        tuple(mark for mark in marks if not isinstance(mark, Kind)),
    )


def _written(value: Any) -> Any:  # noqa: ANN401 - a field of any type
    if is_dataclass(value):
        return brief(value)
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, Mapping) and is_dataclass(next(iter(value.values()), None)):
        return {name: _written(each) for name, each in value.items()}
    return value
