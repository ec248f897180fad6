"""Copies that are wrong in one way each: the comparison finds every one, and shows it small."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.foreign import codecs, convert, trial
from tests.foreign.blobs import CODECS, random_request
from tests.foreign.brokers import SERVER
from tests.foreign.groups import ALGORITHMS, SIZING, random_group
from tests.foreign.judge import Judge
from tests.foreign.shrink import shrunk, smaller_groups
from wire import Mode, decode_sticky_user_data

pytestmark = pytest.mark.foreign

Out = dict[str, Any]


def last_two_swapped(out: Out) -> Out:
    lists = {member: pairs[:-2] + pairs[:-3:-1] for member, pairs in out["assignment"].items()}
    return {**out, "assignment": lists}


def one_partition_short(out: Out) -> Out:
    lists = {member: pairs[:7] for member, pairs in out["assignment"].items()}
    return {**out, "assignment": lists}


def members_backwards(out: Out) -> Out:
    return {**out, "order": out["order"][::-1]}


def forgetful(out: Out) -> Out:
    return {**out, "maxGen": -1}


def generous(out: Out) -> Out:
    return {**out, "withheld": []}


WRONG: list[tuple[str, Callable[[Out], Out]]] = [
    ("coop", last_two_swapped),
    ("sticky", one_partition_short),
    ("range", members_backwards),
    ("coop", forgetful),
    ("coop", generous),
    ("srv-uniform", one_partition_short),
    ("srv-range", members_backwards),
]


@pytest.mark.parametrize(("algorithm", "spoil"), WRONG)
def test_a_wrong_answer_is_found_and_shown(
    algorithm: str, spoil: Callable[[Out], Out], judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(request: dict[str, Any]) -> Out:
        right = convert.comparable(request, judge.ask(request))
        return right if "err" in right else spoil(right)

    monkeypatch.setattr(trial, "our_answer", wrong)
    record = trial.try_groups(judge, 60, 3, [algorithm])
    assert record.failed[algorithm]
    vector = json.loads(record.lines[0])
    assert vector["out"] == judge.ask(vector["in"])
    assert trial.differs(judge, vector["in"])
    assert len(vector["in"]["members"]) <= 8


@pytest.mark.parametrize("said", [{"err": "NullPointerException: x"}, RuntimeError("broken")])
def test_failing_where_java_answers_is_found(
    said: Any, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: dict[str, Any]) -> Out:
        if isinstance(said, Exception):
            raise said
        assert isinstance(said, dict)
        return said

    monkeypatch.setattr(trial, "our_answer", failing)
    assert trial.try_groups(judge, 10, 3, ["roundrobin"]).failed["roundrobin"] == 10


def test_answering_where_java_fails_is_found(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "our_answer", lambda _: {"assignment": {}, "order": []})
    request = {"algo": "sticky", "topics": {"t": [[]]}, "members": []}
    record = trial.Record()
    trial.compare(judge, [request], judge.ask_all([request]), record)
    assert record.failed["sticky"]
    assert record.faults["sticky ArithmeticException"]


def test_a_wrong_reading_of_bytes_is_found(judge: Judge) -> None:
    dice = Random(5)
    requests = [random_request(dice) for _ in range(400)]
    found = set()
    for request, answer in zip(requests, judge.ask_all(requests), strict=True):
        ours = codecs.our_answer(request)
        assert codecs.agree(request, answer, ours)
        field = max(ours)
        if not codecs.agree(request, answer, {**ours, field: f"{ours[field]}0"}):
            found.add(request["algo"])
        else:
            pytest.fail(f"{request} agrees with anything")
        assert not codecs.agree(request, {"err": "Other: x"}, ours)
    assert found == set(CODECS)


def test_what_shrinks_keeps_failing_and_gets_small() -> None:
    request = random_group(Random(13), "coop")
    target = request["members"][0]["id"]

    def fails(group: dict[str, Any]) -> bool:
        return any(member["id"] == target for member in group["members"])

    small = shrunk(request, fails)
    assert [member["id"] for member in small["members"]] == [target]
    assert small["topics"] == {}
    assert not any(small["members"][0][field] for field in ("topics", "owned", "rack", "ud"))
    assert not any(fails(smaller) for smaller in smaller_groups(small))


def test_the_same_dice_give_the_same_groups_and_other_dice_others() -> None:
    made = [[random_group(Random(seed)) for seed in range(40)] for _ in range(2)]
    assert made[0] == made[1]
    assert len({json.dumps(group) for group in made[0]}) > 30


def test_every_nasty_thing_comes_up() -> None:
    dice = Random(2)
    seen: set[str] = set()
    for _ in range(3_000):
        group = random_group(dice)
        seen |= features(group)
    assert seen >= {*ALGORITHMS, *(f"members {count}" for count in (0, 1, 200, *SIZING))}
    assert seen >= {"no topics", "0 partitions", "ghost", "twice", "empty", "static", "maxGen"}
    assert seen >= {"unknown rack", "empty rack", "stale", "phantom", "negative", "contested"}
    assert seen >= {"stranger", "astral", "U+E000", "long", "v0", "null", "contested target"}


def features(group: dict[str, Any]) -> set[str]:
    """What is special about a group."""
    topics, members = group["topics"], group["members"]
    seen = {group["algo"], f"members {len(members)}"}
    seen |= {"maxGen"} & set(group)
    is_server = group["algo"] in SERVER
    sizes = {name: size if is_server else len(size) for name, size in topics.items()}
    names = [*topics, *(member["id"] for member in members)]
    seen |= {"no topics"} if not topics else set()
    seen |= {"0 partitions"} if 0 in sizes.values() else set()
    seen |= {"astral"} if any(name[:1] >= "\U00010000" for name in names if name) else set()
    seen |= {"U+E000"} if any("\ue000" in name for name in names) else set()
    seen |= {"long"} if any(len(name) >= 300 for name in names) else set()
    claims = [tuple(pair) for member in members for pair in member.get("owned") or ()]
    if len(set(claims)) < len(claims):
        seen.add("contested target" if is_server else "contested")
    highest = max((member.get("sgen", -1) for member in members), default=-1)
    for member in members:
        seen |= member_features(member, sizes, highest)
        if group["algo"] == "sticky" and member["ud"]:
            read = decode_sticky_user_data(bytes.fromhex(member["ud"]), mode=Mode.STRICT).value
            seen |= {"v0"} if read and read.owned and read.generation is None else set()
    return seen


def member_features(member: dict[str, Any], sizes: dict[str, int], highest: int) -> set[str]:
    wanted, pairs = member["topics"], member.get("owned") or ()
    checks = {
        "empty": not wanted,
        "ghost": any(topic not in sizes for topic in wanted),
        "twice": len(set(wanted)) < len(wanted),
        "static": member.get("instance") is not None,
        "unknown rack": member.get("rack") == "zz",
        "empty rack": member.get("rack") == "",
        "stale": 0 <= member.get("sgen", -1) < highest,
        "phantom": any(number >= sizes.get(topic, number + 1) for topic, number in pairs),
        "negative": any(number < 0 for _, number in pairs),
        "stranger": any(topic not in wanted for topic, _ in pairs),
        "null": "ud" in member and member["ud"] is None,
    }
    return {name for name, found in checks.items() if found}


SUBSCRIPTION = (
    "Subscription(topics=[t, u], ownedPartitions=[{}], groupInstanceId=null, generationId=1, "
    "rackId=null)"
)


@pytest.mark.parametrize("shown", [SUBSCRIPTION, "Assignment(partitions=[{}], userDataSize=4)"])
def test_partitions_may_come_in_another_order_and_in_no_other_way(shown: str) -> None:
    """The characters were sorted once, and so `t-0, u-1` was the same as `t-1, u-0`."""
    asked: dict[str, Any] = {"algo": "codec-sub", "hex": ""}
    theirs = {"str": shown.format("t-0, u-1")}
    assert codecs.agree(asked, theirs, {"str": shown.format("u-1, t-0")})
    for others in ("t-1, u-0", "t-0", "t-0, u-1, u-1"):
        assert not codecs.agree(asked, theirs, {"str": shown.format(others)})
    assert not codecs.agree(asked, theirs, {"str": theirs["str"].replace("=4)", "=5)")[:-1]})
