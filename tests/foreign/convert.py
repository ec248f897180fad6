"""Between vectors and our types: the group of a request, and an answer as the judge writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignors import JavaFailure, Rebalance, assignor_named
from assignors.conformance.groups import group_of

NAMES = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "java/sticky",
    "coop": "java/cooperative-sticky",
    "srv-uniform": "server/uniform",
    "srv-range": "server/range",
    "srv-simple": "server/simple",
}
"""`in.algo` -> the assignor that copies it."""

Out = dict[str, Any]

__all__ = ["NAMES", "comparable", "group_of", "our_answer"]


def our_answer(request: dict[str, Any]) -> Out:
    """What our copy answers, in the form of `comparable`."""
    algorithm = request["algo"]
    try:
        answer = assignor_named(NAMES[algorithm]).assign(group_of(request))
    except JavaFailure as failure:
        return {"err": str(failure)}
    assert answer.lists is not None
    assert answer.order is not None
    out: Out = {
        "assignment": {
            member: [list(pair) for pair in pairs] for member, pairs in answer.lists.items()
        },
        "order": list(answer.order),
    }
    if algorithm.startswith("srv-"):
        return _without_order(out)
    if algorithm in ("sticky", "coop"):
        assert answer.state is not None
        out["maxGen"] = answer.state.max_generation
    if algorithm == "coop":
        out["withheld"] = _withheld(answer)
    return out


def comparable(request: dict[str, Any], out: Mapping[str, Any]) -> Out:
    """Of the judge's answer what ours must equal.

    A broker's lists are sets, and who gets nothing may be left out. The partitions that a
    cooperative answer withholds are known where Java lists them: on the constrained path.
    """
    if "err" in out:
        return {"err": out["err"]}
    kept: Out = {"assignment": out["assignment"], "order": out["order"]}
    if request["algo"].startswith("srv-"):
        return _without_order(kept)
    if "maxGen" in out:
        kept["maxGen"] = out["maxGen"]
    if request["algo"] == "coop":
        transfer = out["transfer"]
        kept["withheld"] = None if transfer is None else sorted(pair[:2] for pair in transfer)
    return kept


def agree(request: dict[str, Any], theirs: Mapping[str, Any], ours: Out) -> bool:
    """Whether our answer is the judge's."""
    expected = comparable(request, theirs)
    if expected.get("withheld", ()) is None:
        ours = {**ours, "withheld": None}
    return expected == ours


def _withheld(answer: Rebalance) -> list[list[Any]]:
    pairs = ([topic, number] for topic, numbers in answer.withheld.items() for number in numbers)
    return sorted(pairs)


def _without_order(out: Out) -> Out:
    assignment = {member: sorted(pairs) for member, pairs in out["assignment"].items()}
    return {
        "order": out["order"],
        "assignment": {member: assignment.get(member, []) for member in out["order"]},
    }
