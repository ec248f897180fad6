"""An object made without checks is the one that its class makes."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.constructors import unchecked


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    count: int = 3
    parts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.count >= 0


FIELDS = {"count": st.integers(0), "parts": st.dictionaries(st.text(), st.integers())}


@given(st.fixed_dictionaries({"name": st.text()}, optional=FIELDS))
def test_it_is_the_same_object(given_fields: dict[str, object]) -> None:
    row, expected = unchecked(Row)(**given_fields), Row(**given_fields)  # type: ignore[arg-type]
    assert type(row) is Row
    assert row == expected
    assert repr(row) == repr(expected)
    assert copy.deepcopy(row) == expected


def test_nothing_is_checked_and_nothing_can_be_set_later() -> None:
    row = unchecked(Row)(name="a", count=-1)
    assert row.count == -1
    with pytest.raises(FrozenInstanceError):
        row.count = 1  # type: ignore[misc]


def test_two_objects_do_not_share_a_default() -> None:
    make = unchecked(Row)
    assert make(name="a").parts is not make(name="a").parts


def test_unknown_and_missing_fields_are_refused() -> None:
    for wrong in ({}, {"name": "a", "other": 1}):
        with pytest.raises(TypeError):
            unchecked(Row)(**wrong)  # type: ignore[arg-type]


def test_fields_by_keyword_alone_take_no_place() -> None:
    with pytest.raises(TypeError):
        unchecked(Row)("a")  # type: ignore[call-arg]
