"""Any document of a scenario, right or wrong: it is read as it was written, or refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.values import DocumentError
from assignors.simulation import arrow
from assignors.simulation.timed.explore.random_scenarios import Document
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario_document import (
    brief_document,
    document_from_scenario,
    scenario_from_document,
    scenario_hash,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import result_rows
from tests.conftest import cases
from tests.simulation.timed.any_field.mutations import mutated
from tests.simulation.timed.drawn import documents

FORMS = (document_from_scenario, brief_document)
SMALL = {"version": 1, "until_ms": 1000, "topics": {"t": 1}}
PARTITIONS_MAX, MEMBERS_MAX = 1000, 50
"""Groups that are larger than this are not played."""
EVENTS_MAX = 1000


@cases(15)
@given(documents())
def test_a_document_is_read_as_it_was_written(document: Document) -> None:
    scenario = scenario_from_document(document)
    for form in FORMS:
        text = json.dumps(form(scenario))
        read = scenario_from_document(json.loads(text))
        assert (read, scenario_hash(read)) == (scenario, scenario_hash(scenario))
        assert json.dumps(form(read)) == text


@cases(10)
@given(st.data(), documents(), st.sampled_from(FORMS))
def test_a_document_with_something_wrong_is_refused_with_the_path_or_can_be_played(
    data: st.DataObject, document: Document, form: object
) -> None:
    assert callable(form)
    whole = json.loads(json.dumps(form(scenario_from_document(document))))
    for _ in range(10):
        wrong = data.draw(mutated(whole))
        try:
            scenario = scenario_from_document(wrong)
        except DocumentError as error:
            require_named(error, wrong)
        else:
            require_playable(scenario)


@pytest.mark.parametrize(
    ("member", "path"),
    [
        # each ended with a traceback, or read the same in a run, without a path
        ({"pattern": "t{9999999999}"}, "pattern"),
        ({"pattern": "(" * 20_000 + ")" * 20_000}, "pattern"),
        # Python reads this as a set of letters, RE2 as all of them, Java as a union
        ({"pattern": "[[:alpha:]]"}, "pattern"),
        ({"pattern": r"t\Z"}, "pattern"),
        ({"pattern": "t{1001}"}, "pattern"),
        # no request can have it
        ({"topics": ["t" * 40_000]}, "topics[0]"),
        ({"rack_id": "é" * 20_000}, "rack_id"),
        ({"name": "c" * 32_767}, "name"),
        # the text of the error could not be written into a row
        ({"poll_ms": "\ud800"}, "poll_ms"),
    ],
)
def test_what_once_was_no_error_of_the_document_is_one(
    member: dict[str, object], path: str
) -> None:
    wrong = {**SMALL, "members": [{"name": "c0", "topics": ["t"], **member}]}
    with pytest.raises(DocumentError) as caught:
        scenario_from_document(wrong)
    assert caught.value.path == f"members[0].{path}"
    require_named(caught.value, wrong)


def require_named(error: DocumentError, wrong: Document) -> None:
    """`AssertionError` for an error without a place, or that cannot be written into a row."""
    assert error.text
    assert error.path != "$"
    given = [{"scenario": json.dumps(wrong)}]
    (row,) = result_rows(given)
    assert row["error"] == str(error.below("scenario"))
    [batch] = arrow.TIMED.played([pa.RecordBatch.from_pylist(given)], arrow.timed_result())
    assert [arrow.TIMED.row(each) for each in batch.to_pylist()] == [row]


def require_playable(scenario: Scenario) -> None:
    """`AssertionError` for a scenario that is not the same once more; plays it if it is small."""
    assert scenario_from_document(json.loads(json.dumps(brief_document(scenario)))) == scenario
    grown = sum(each.partitions for each in scenario.plan)
    if (
        sum(scenario.topics.values()) + grown > PARTITIONS_MAX
        or len(scenario.members) > MEMBERS_MAX
    ):
        return
    simulate(replace(scenario, event_limit=min(EVENTS_MAX, scenario.event_limit)))
