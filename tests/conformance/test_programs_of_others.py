"""Other clients against the kit: it finds what they are known to get wrong, and nothing else.

A failure that no known defect explains fails the test, and so does a defect that no vector shows
any more. What is stored for RESULTS.md is what comes of the same clients here.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assignors.conformance.outcomes import Outcome, Status
from tests.conformance.clients import BY_KEY, CLIENTS, locked_versions, results
from tests.conformance.published import PEERS as PEERS_FILE
from tests.conformance.published import lines
from tests.conformance.record import ASKED, defect_of, stored

SLOWER = {"kafka-clients", "librdkafka"}
"""Clients for `make deep`: a JVM for each version, a consumer and its threads for each case."""

ASKED_HERE = [
    pytest.param(
        client.key, id=client.key, marks=[pytest.mark.deep] if client.name in SLOWER else []
    )
    for client in CLIENTS
]
NAMES_IN_CASES = {"kafka-clients-4.4.0": "kafka-clients 4.4.0"} | {
    client.key: client.name for client in CLIENTS if client.name not in SLOWER
}


def failures(key: str) -> list[Outcome]:
    return [outcome for outcome in results(key) if outcome.status is Status.FAILED]


def summary(found: Sequence[Outcome]) -> str:
    return "\n".join(f"{one.vector.vector_id} ({one.vector.note}): {one.reasons}" for one in found)


@pytest.mark.parametrize("key", ASKED_HERE)
def test_every_failure_is_a_known_defect(key: str) -> None:
    unknown = [
        failure
        for failure in failures(key)
        if not any(defect.explains(failure) for defect in BY_KEY[key].defects)
    ]
    assert not unknown, summary(unknown)


@pytest.mark.parametrize("key", ASKED_HERE)
def test_every_known_defect_is_found(key: str) -> None:
    client = BY_KEY[key]
    found = {
        defect.what
        for defect in client.defects
        if any(defect.explains(failure) for failure in failures(key))
    }
    assert found | client.drawn_by_lot >= {defect.what for defect in client.defects}


@pytest.mark.parametrize("key", ASKED_HERE)
def test_most_of_a_client_is_right(key: str) -> None:
    # A kit that fails everybody says nothing about anybody.
    counts = {status: sum(one.status is status for one in results(key)) for status in Status}
    assert counts[Status.PASSED] > 2 * counts[Status.FAILED]
    assert all("has no" in one.reasons[0] for one in results(key) if one.status is Status.SKIPPED)


@pytest.mark.parametrize("key", ASKED_HERE)
def test_who_is_said_to_be_lawful_passes(key: str) -> None:
    said = {
        line["id"]
        for line in lines(PEERS_FILE)[1:]
        for name, words in line["clients"].items()
        if name.startswith(NAMES_IN_CASES.get(key, key)) and words == "lawful"
    }
    assert not said & {failure.vector.vector_id for failure in failures(key)}


@pytest.mark.parametrize("key", ASKED_HERE)
def test_the_stored_results_are_what_comes_of_the_client(key: str) -> None:
    """The page that is made of them must not promise what a client does no more."""
    client = BY_KEY[key]
    (line,) = [each for each in stored() if f"{each['client']}-{each['version']}" == key]
    drawn = client.drawn_by_lot
    expected = {one["what"]: one["ids"] for one in line["failures"] if one["what"] not in drawn}
    found: dict[str, list[str]] = {}
    for failure in failures(key):
        found.setdefault(defect_of(client, failure).what, []).append(failure.vector.vector_id)
    assert {what: sorted(ids) for what, ids in found.items() if what not in drawn} == expected
    if not drawn:
        counts = dict.fromkeys(line["counts"], 0)
        for outcome in results(key):
            if outcome.status is Status.PASSED and outcome.vector.algorithm in ASKED:
                counts[ASKED[outcome.vector.algorithm]] += 1
        assert counts == {
            area: stored_counts.get("passed", 0) for area, stored_counts in line["counts"].items()
        }


def test_every_client_has_its_stored_results() -> None:
    assert [f"{line['client']}-{line['version']}" for line in stored()] == list(BY_KEY)


def test_the_versions_of_go_and_node_modules_are_locked() -> None:
    assert locked_versions() == {
        key for key in BY_KEY if key.startswith(("franz-go", "Sarama", "kafkajs"))
    }
    assert {
        client.split()[-1]
        for line in lines(PEERS_FILE)[1:]
        for client in line["clients"]
        if client.startswith(("Sarama ", "franz-go "))
    } == {"1.61.1", "1.22.2"}
