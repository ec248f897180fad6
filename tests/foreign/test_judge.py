"""The judge itself: it gives the answers that are known, and survives what has none."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from tests.foreign import commits
from tests.foreign.judge import Judge

pytestmark = pytest.mark.foreign

ROOT = Path(__file__).resolve().parent.parent.parent
VECTORS = {
    "bundled": ROOT / "tests" / "vectors" / "kafka-4.4.0.jsonl.gz",
    "records": ROOT / "tests" / "vectors" / "records-4.4.0.jsonl.gz",
    "given": ROOT.parent / "shared" / "vectors" / "kafka-4.4.0.jsonl.gz",
}
ENDLESS = "000300000000ffffffff" + f"{9000:08x}" + ("00017400000001" + "00000001") * 9000


def vectors(name: str) -> list[dict[str, Any]]:
    if not VECTORS[name].exists():
        pytest.skip("beside this tree only where it was made")
    with gzip.open(VECTORS[name], "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [case for case in read if "in" in case and "algo" in case["in"]]


@pytest.mark.parametrize("name", VECTORS)
def test_every_vector_is_answered_again(name: str, judge: Judge) -> None:
    cases = vectors(name)
    answers = judge.ask_all(case["in"] for case in cases)
    wrong = [
        case["id"]
        for case, answer in zip(cases, answers, strict=True)
        if comparable(case["out"], case["out"]) != comparable(answer, case["out"])
    ]
    assert not wrong
    assert len(Counter(case["in"]["algo"] for case in cases)) > (1 if name == "records" else 10)


def comparable(out: dict[str, Any], vector: dict[str, Any]) -> dict[str, Any]:
    """An answer without what no vector promises: the text of a cause is Java's own affair."""
    kept = {key: value for key, value in out.items() if key != "cause"}
    return {**kept, "cause": out["cause"].split(":")[0]} if "cause" in vector else kept


def test_a_judge_that_remembers_a_generation_says_so(judge: Judge) -> None:
    members = [{"id": "a", "topics": ["t"], "owned": [["t", 0]], "sgen": 4}]
    request = {"algo": "coop", "topics": {"t": [[]]}, "members": members}
    assert judge.ask(request)["maxGen"] == 4
    assert judge.ask({**request, "maxGen": 9})["maxGen"] == 9


def test_characters_of_every_plane_come_back(judge: Judge) -> None:
    name = "a\u00e9\ue000\uffff\U0001d11e"
    asked = {"algo": "roundrobin", "topics": {name: [[]]}, "members": [{"id": name, "topics": []}]}
    assert judge.ask(asked) == {"assignment": {name: []}, "order": [name]}


def test_what_throws_is_an_answer(judge: Judge) -> None:
    assert judge.ask({"algo": "no such"}) == {"err": "IllegalArgumentException: no algo no such"}
    assert judge.ask({"algo": "sticky"})["err"].startswith("NullPointerException")


@pytest.mark.usefixtures("judge_tools")
def test_a_request_without_end_costs_its_time_and_no_more() -> None:
    # 9,000 groups of one topic keep Java's decoder busy for a minute or two.
    asked = [{"algo": "codec-coopud", "gen": number} for number in range(5)]
    endless = {"algo": "codec-sub", "hex": ENDLESS + "ffffffffffff"}
    with Judge(timeout_s=3) as judge:
        answers = judge.ask_all([*asked[:3], endless, *asked[3:], endless])
        assert judge.ask(asked[0]) == answers[0]
        assert judge.started == 3
    assert [answer.get("ud") for answer in answers] == (
        ["00000000", "00000001", "00000002", None, "00000003", "00000004", None]
    )
    assert answers[3]["err"].startswith("JudgeTimeout")
    assert answers[6]["err"].startswith("JudgeTimeout")


@pytest.mark.usefixtures("judge_tools")
def test_a_judge_that_dies_is_replaced() -> None:
    # 40 MB of hexadecimal digits do not fit into 8 MB.
    with Judge(heap="8m") as judge:
        request = {"algo": "codec-coopud", "gen": 1}
        too_large = {"algo": "codec-sub", "hex": "00" * 20_000_000}
        first, failure, last = judge.ask_all([request, too_large, request])
        assert first == last == {"ud": "00000001"}
        assert failure["err"].startswith(("OutOfMemoryError", "JudgeDied"))


@pytest.mark.parametrize("place", range(8))
def test_a_reload_counts_tombstones_of_offsets_by_partition(judge: Judge, place: int) -> None:
    gone = [OffsetRecord(topic, number, None) for topic in ("u", "t") for number in (2, 0, 3, 1)]
    order = commits.logged(gone)
    partitions = [[each.topic, each.partition] for each in order if isinstance(each, OffsetRecord)]
    commit = {"member": "", "generation": -1, "producer": -1, "version": 10}
    expired = range(len(partitions), 2 * len(partitions))
    kept = [each for each in expired if each != expired[place]]
    fetch = {"member": None, "epoch": -1, "stable": True, "partitions": partitions}
    ops = [
        {"op": "commit", **commit, "offsets": [[*each, 5] for each in reversed(partitions)]},
        {"op": "advance", "ms": 90_000},
        {"op": "reload", "keep": [*range(len(partitions)), *kept]},
        {"op": "fetch-offsets", **fetch},
    ]
    answer = judge.ask({"algo": "coordinator", "broker": commits.KEEPING[-1], "ops": ops})
    found = answer["steps"][-1]["responses"][0]["partitions"]
    assert [each[:2] for each in found if each[3] == 5] == [partitions[place]]
