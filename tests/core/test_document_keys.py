"""Keys of a document are declared once: reading, errors with paths and the schema agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator

from assignors.documents.keys import (
    blank,
    brief,
    integer,
    keys_of,
    number,
    read,
    read_several,
    schema_of,
)
from assignors.documents.values import DocumentError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Inner:
    share: Annotated[float, number(0, 1)] = 0


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    count: Annotated[int, integer(1, 9), "a mark"] = 2
    budget: int | None = 5
    later: int | None = None
    is_on: bool = False
    colour: Colour = Colour.RED
    topics: dict[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    inner: Inner = field(default_factory=Inner)
    several: tuple[Inner, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Beside:
    more: int = 0


WHOLE = Outer(
    name="x",
    budget=None,
    colour=Colour.BLUE,
    topics={"t": 1},
    words=("a",),
    inner=Inner(share=0.5),
    several=(Inner(), Inner(share=1)),
)
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "'name' is missing"),
    ({"coutn": 1}, "'coutn' is no key here; did you mean 'count'?"),
    ({"count": 10}, "10 is not between 1 and 9 at count"),
    ({"count": True}, "expected an integer, found true at count"),
    ({"budget": -1}, "-1 is negative at budget"),
    ({"budget": 2**31}, "2147483648 does not fit in 32 bits at budget"),
    ({"is_on": 1}, "expected true or false, found 1 at is_on"),
    ({"colour": "rde"}, "'rde' is none of red, blue; did you mean 'red'? at colour"),
    ({"topics": {"t": "1"}}, 'expected an integer, found "1" at topics.t'),
    ({"words": ["a", 1]}, "expected a string, found 1 at words[1]"),
    ({"inner": {"share": 2}}, "2 is not between 0 and 1 at inner.share"),
    (
        {"several": [{}, {"shar": 1}]},
        "'shar' is no key here; did you mean 'share'? at several[1]",
    ),
    ({"several": {}}, "expected a list, found an object at several"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_is_refused_is_refused_with_its_path_and_by_the_schema(
    changes: dict[str, Any], message: str
) -> None:
    document = {"name": "x"} | changes
    with pytest.raises(DocumentError) as error:
        read(Outer, document)
    assert str(error.value) == message
    assert not Draft202012Validator(schema_of(Outer)).is_valid(document)


def test_a_document_is_read_as_it_was_written() -> None:
    document = brief(WHOLE)
    assert document["several"] == [{}, {"share": 1}]
    assert "count" not in document
    assert read(Outer, document) == WHOLE
    assert Draft202012Validator(schema_of(Outer)).is_valid(document)


def test_null_stands_for_the_default_but_where_it_is_a_value() -> None:
    document = {"name": "x", "count": None, "budget": None, "colour": None, "inner": None}
    assert read(Outer, document) == Outer(name="x", budget=None)
    assert Draft202012Validator(schema_of(Outer)).is_valid(document)


def test_one_object_can_have_the_keys_of_several_classes() -> None:
    assert read_several((Outer, Beside), {"name": "x", "more": 3}) == (
        Outer(name="x"),
        Beside(more=3),
    )
    validator = Draft202012Validator(schema_of(Outer, Beside))
    assert validator.is_valid({"name": "x", "more": 3})


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is written."""

    verdict: Colour
    """What came of it."""
    least: float
    parts: tuple[Inner, ...]
    by_name: dict[str, Inner] = field(default_factory=dict)
    remark: str | None = None


def test_an_answer_leaves_out_what_it_does_not_have_and_its_schema_is_open() -> None:
    short = Answer(verdict=Colour.RED, least=0.5, parts=(Inner(share=1),))
    whole = replace(short, by_name={"a": Inner(share=1)}, remark="x")
    assert brief(short) == {"verdict": "red", "least": 0.5, "parts": [{"share": 1}]}
    assert blank(Answer) == {"verdict": None, "least": None, "parts": None}
    schema = schema_of(Answer, is_open=True)
    assert schema["properties"]["verdict"]["description"] == "What came of it."
    validator = Draft202012Validator(schema)
    for answer in (short, whole):
        document = {**brief(answer), "later": 1}
        assert validator.is_valid(document)
        for key in document:
            wrong = validator.is_valid({**document, key: [7]})
            assert wrong == (key == "later"), key
    assert not validator.is_valid({**brief(short), "remark": None})


def test_a_schema_says_what_keys_mean_and_their_defaults() -> None:
    properties = schema_of(Outer)["properties"]
    assert properties["count"]["default"] == 2
    assert properties["colour"]["default"] == "red"
    assert "default" not in properties["name"]
    assert read(Outer, {"name": "x", "_mine": {}}) == Outer(name="x")


def test_other_metadata_of_a_type_is_kept() -> None:
    assert keys_of(Outer)["count"].marks == ("a mark",)
