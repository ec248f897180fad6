"""Other clients against the kit: it finds what they are known to get wrong, and nothing else.

The versions are part of the claim. Whoever raises one reads here what was repaired, and what
is new: a failure that no known defect explains fails the test, and so does a defect that no
vector shows any more.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version

import pytest

from assignors.conformance.judges import Strictness
from assignors.conformance.outcomes import Outcome, Status, outcomes
from assignors.conformance.program_under_test import ProgramUnderTest
from tests.conformance import known
from tests.conformance.peers import GO_SOURCES, go_program, python_driver
from tests.conformance.published import PEERS as PEERS_FILE
from tests.conformance.published import lines, vectors
from tests.conftest import lacking

KAFKA_PYTHON_VERSION = "3.0.12"
GO_VERSIONS = ("github.com/IBM/sarama v1.61.1", "github.com/twmb/franz-go v1.22.2")

DRAWN_BY_LOT = {"sticky leaves loads uneven, depending on the order of its maps"}
"""Defects that depend on the order of Go's maps, which differs from run to run."""

PEERS = {
    "kafka-python": known.KAFKA_PYTHON,
    "sarama": known.SARAMA,
    "franz": known.FRANZ_GO,
}
NAMES_IN_CASES = {"kafka-python": "kafka-python", "sarama": "Sarama", "franz": "franz-go"}


def command(client: str) -> list[str]:
    """The program of a client in the version that the claims are about; needs it."""
    if client != "kafka-python":
        return go_program(client)
    if importlib.util.find_spec("kafka") is None:
        lacking("kafka-python")
    if (installed := version("kafka-python")) != KAFKA_PYTHON_VERSION:
        lacking(
            f"kafka-python {KAFKA_PYTHON_VERSION}, which the claims are about, not {installed},"
        )
    return python_driver("kafka_python_driver.py")


@cache
def results(client: str) -> tuple[Outcome, ...]:
    """What comes of all vectors."""
    with ProgramUnderTest(command(client), timeout_seconds=30) as program:
        return tuple(outcomes(vectors(), program, Strictness()))


def failures(client: str) -> list[Outcome]:
    return [outcome for outcome in results(client) if outcome.status is Status.FAILED]


def summary(found: Sequence[Outcome]) -> str:
    return "\n".join(f"{one.vector.vector_id} ({one.vector.note}): {one.reasons}" for one in found)


@pytest.mark.parametrize("client", PEERS)
def test_every_failure_is_a_known_defect(client: str) -> None:
    unknown = [
        failure
        for failure in failures(client)
        if not any(defect.explains(failure) for defect in PEERS[client])
    ]
    assert not unknown, summary(unknown)


@pytest.mark.parametrize("client", PEERS)
def test_every_known_defect_is_found(client: str) -> None:
    found = {
        defect.what
        for defect in PEERS[client]
        if any(defect.explains(failure) for failure in failures(client))
    }
    assert found | DRAWN_BY_LOT >= {defect.what for defect in PEERS[client]}


@pytest.mark.parametrize("client", PEERS)
def test_most_of_a_client_is_right(client: str) -> None:
    # A kit that fails everybody says nothing about anybody.
    counts = {status: sum(one.status is status for one in results(client)) for status in Status}
    assert counts[Status.PASSED] > 4 * counts[Status.FAILED]
    assert all(
        "has no" in one.reasons[0] for one in results(client) if one.status is Status.SKIPPED
    )


@pytest.mark.parametrize("client", PEERS)
def test_who_is_said_to_be_lawful_passes(client: str) -> None:
    said = {
        line["id"]
        for line in lines(PEERS_FILE)[1:]
        for name, words in line["clients"].items()
        if name.startswith(NAMES_IN_CASES[client]) and words == "lawful"
    }
    assert not said & {failure.vector.vector_id for failure in failures(client)}


def test_the_versions_of_go_modules_are_locked() -> None:
    locked = (GO_SOURCES / "go.mod").read_text()
    assert all(wanted in locked for wanted in GO_VERSIONS)
    assert {
        client.split()[-1]
        for line in lines(PEERS_FILE)[1:]
        for client in line["clients"]
        if client.startswith(("Sarama ", "franz-go "))
    } == {"1.61.1", "1.22.2"}
