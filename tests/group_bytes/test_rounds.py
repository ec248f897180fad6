"""A leader that leads again reads what changed, and finds what it would find reading everything."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, UserData, assignor_named, lead
from assignors.claims import claims_of
from assignors.group_bytes import subscriptions
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.rounds import unchanged_since
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Group
from assignors.problem import problem_of
from tests.group_bytes.blobs import CLUSTERS, groups_of_bytes
from tests.group_bytes.test_members import shown, shown_claims
from tests.group_bytes.test_subscriptions import always_together, one_by_one, subscription
from wire import decode_subscription, encode_cooperative_user_data, encode_sticky_user_data


@pytest.fixture(autouse=True)
def rounds_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare the rounds of small groups as well."""
    monkeypatch.setattr(subscriptions, "COMPARED_MIN", 0)
    monkeypatch.setattr(subscriptions, "JOINED_MIN", 0)


BYTES = st.sampled_from((0, 1, 4, 255))
GROUPS, OTHERS = groups_of_bytes(max_size=8), groups_of_bytes(max_size=2)
HOW = st.sampled_from(("same", "same", "same", "touched", "other", "gone"))


@st.composite
def rounds(draw: st.DrawFn) -> list[dict[str, bytes]]:
    """The Subscriptions of three rounds: most members write again what they wrote, or nearly."""
    blobs = draw(GROUPS)
    found = [blobs]
    for number in range(2):
        others = draw(OTHERS)
        blobs = dict(draw(st.permutations(list(blobs.items()))))
        for member_id in list(blobs):
            how = draw(HOW)
            if how == "touched" and len(blobs[member_id]) >= 12:
                blob = bytearray(blobs[member_id])
                blob[-draw(st.integers(1, 12))] = draw(BYTES)
                blobs[member_id] = bytes(blob)
            if how == "other":
                blobs[member_id] = others["m0"]
            if how == "gone" and len(blobs) > 1:
                del blobs[member_id]
        if "m1" in others:
            blobs[f"n{number}"] = others["m1"]
        found.append(blobs)
    return found


@given(rounds(), CLUSTERS, st.sampled_from(({}, {"m1": "static"})))
def test_members_of_a_round_that_follows_are_those_read_afresh(
    played: list[dict[str, bytes]], cluster: Cluster, named: dict[str, str]
) -> None:
    before: ReadMembers | None = None
    for number, blobs in enumerate(played):
        instance_ids = named if number else {}
        with always_together():
            again = read_members(blobs, instance_ids, before=before)
            afresh = read_members(blobs, instance_ids)
        assert isinstance(again, ReadMembers)
        group = Group(cluster=cluster, members=again)
        expected = Group(cluster=cluster, members=afresh)
        problem, problem_afresh = problem_of(group), problem_of(expected)
        for kind in (UserData.COOPERATIVE, UserData.STICKY):
            claims = claims_of(problem, group, kind)
            claims_afresh = claims_of(problem_afresh, expected, kind)
            assert shown_claims(claims) == shown_claims(claims_afresh)
        assert shown(problem) == shown(problem_afresh)
        assert again == afresh
        assert [m.instance_id for m in again] == [instance_ids.get(name) for name in blobs]
        before = again


def group_of(generation: int, **changed: bytes) -> dict[str, bytes]:
    """Sixty members that subscribe to two topics."""
    return {
        f"m{number:02}": subscription(owned={"a": (number,)}, generation=generation)
        for number in range(60)
    } | changed


def last_of_sticky(generation: int) -> bytes:
    """What Java's eager sticky assignor writes: the generation stands behind the partitions."""
    return encode_sticky_user_data({"a": (1, 2)}, generation)


@pytest.mark.parametrize(
    ("blobs", "read"),
    [
        (group_of(4), []),
        (group_of(5), []),
        (group_of(5, m07=subscription(owned={"c": (7,)})), ["m07"]),
        (group_of(5, new=subscription(topics=("d",))), ["new"]),
        (group_of(5, m07=subscription(version=1), m08=b""), ["m07", "m08"]),
        ({name: blob for name, blob in group_of(4).items() if name > "m10"}, []),
    ],
)
def test_only_members_that_changed_are_read_again(blobs: dict[str, bytes], read: list[str]) -> None:
    before = read_members(group_of(4))
    assert isinstance(before, ReadMembers)
    with patch.object(subscriptions, "_arrays", wraps=subscriptions._arrays) as reading:
        found = read_members(blobs, before=before)
    assert [list(call.args[0]) for call in reading.call_args_list] == ([read] if read else [])
    assert found == one_by_one(blobs)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("encode", [encode_cooperative_user_data, last_of_sticky])
def test_a_generation_in_user_data_is_one_as_well(
    version: int, encode: Callable[[int], bytes]
) -> None:
    def members(generation: int) -> dict[str, bytes]:
        return group_of(generation) | {
            f"m{number:02}": subscription(
                version=version,
                owned={"a": (number,)},
                generation=generation,
                user_data=encode(generation),
            )
            for number in range(0, 60, 2)
        }

    before = read_members(members(4))
    assert isinstance(before, ReadMembers)
    with patch.object(subscriptions, "_arrays", wraps=subscriptions._arrays) as reading:
        found = read_members(members(5), before=before)
    assert not reading.called
    assert found == one_by_one(members(5))
    assert [m.user_data for m in found] == [m.user_data for m in one_by_one(members(5))]
    groups = [
        Group(cluster=Cluster.of({"a": 60}), members=each)
        for each in (found, one_by_one(members(5)))
    ]
    of_found, expected = (claims_of(problem_of(each), each, UserData.STICKY) for each in groups)
    assert shown_claims(of_found) == shown_claims(expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (subscription(rack_id="r1", generation=4), subscription(rack_id="r2", generation=4)),
        (subscription(generation=4) + b"\0", subscription(generation=5) + b"\0"),
        (subscription(generation=4), subscription(generation=4)[:-6] + b"\xff\xff\xff\xfe\xff\xff"),
        (subscription(owned={"a": (1,)}), subscription(owned={"a": (2,)})),
        (subscription(version=1, owned={"a": (1,)}), subscription(version=1, owned={"a": (2,)})),
        (subscription(rack_id="r1"), subscription(rack_id="r10")),
        (subscription(version=2, generation=4), subscription(version=2, generation=4) + b"\0"),
    ],
)
def test_what_differs_beside_the_generation_is_read(old: bytes, new: bytes) -> None:
    members = read_members(group_of(4, m07=old))
    for blob in (new, old, new):
        assert isinstance(members, ReadMembers)
        members = read_members(group_of(5, m07=blob), before=members)
        assert members == one_by_one(group_of(5, m07=blob))


def test_a_generation_that_comes_again_is_read_again() -> None:
    members = read_members(group_of(4))
    for generation in (5, 4, 4, 5):
        assert isinstance(members, ReadMembers)
        assert [member.generation for member in members[:2]] != [None]
        members = read_members(group_of(generation), before=members)
        assert members == one_by_one(group_of(generation))


def test_a_group_that_changed_altogether_is_read_afresh() -> None:
    before = read_members(group_of(4))
    assert isinstance(before, ReadMembers)
    others = {f"n{number}": blob for number, blob in enumerate(group_of(4).values())}
    found = read_members(others, before=before)
    assert isinstance(found, ReadMembers)
    assert found.arrays.member_ids == tuple(others)


@pytest.mark.parametrize("has_other_list", [False, True])
def test_what_is_kept_between_rounds_stays_as_small_as_the_group(*, has_other_list: bool) -> None:
    """A member with another topic in every round: its old lists are not kept for ever."""
    members = read_members(group_of(4))
    for number in range(200):
        assert isinstance(members, ReadMembers)
        topics = ("a", f"t{number}") if has_other_list else ("a",)
        odd = subscription(topics=topics, owned={f"gone-{number}": (0,)})
        members = read_members(group_of(4, m01=odd), before=members)
    assert isinstance(members, ReadMembers)
    assert len(members.arrays.list_ptr) <= 121
    assert len(members.arrays.names) <= (200 if has_other_list else 70)
    assert len(members.arrays.member_ids) == 60


@given(groups_of_bytes(), CLUSTERS)
def test_a_memory_can_be_pickled_and_compared(blobs: dict[str, bytes], cluster: Cluster) -> None:
    with always_together():
        memory = lead(assignor_named("cooperative-sticky"), cluster, blobs).memory
        copy = pickle.loads(pickle.dumps(memory))  # noqa: S301 - our own bytes
        assert copy == memory
        led = lead(assignor_named("cooperative-sticky"), cluster, blobs, memory=copy)
        again = lead(assignor_named("cooperative-sticky"), cluster, blobs, memory=memory)
    assert led.assignments == again.assignments


def test_what_was_decoded_already_is_never_taken_for_unchanged() -> None:
    decoded = {name: decode_subscription(blob) for name, blob in group_of(4).items()}
    before = read_members(decoded)
    assert isinstance(before, ReadMembers)
    assert read_members(decoded, before=before) == one_by_one(group_of(4))
    assert read_members(group_of(4), before=before) == one_by_one(group_of(4))


def test_a_small_group_of_one_topic_list_is_read_afresh_unless_nothing_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions, "COMPARED_MIN", 1000)
    before = read_members(group_of(4), {"m07": "static"})
    assert isinstance(before, ReadMembers)
    for blobs, named, afresh in (
        (group_of(4), {"m07": "static"}, False),
        (group_of(5), {"m07": "static"}, True),
        (group_of(4), {}, True),
    ):
        found = read_members(blobs, named, before=before)
        assert isinstance(found, ReadMembers)
        assert (found.arrays is not before.arrays) == afresh
        assert found == read_members(blobs, named)


@pytest.mark.parametrize("joined_min", [0, 1000])
def test_a_small_group_with_different_lists_is_read_afresh_where_somebody_is_new(
    monkeypatch: pytest.MonkeyPatch, joined_min: int
) -> None:
    monkeypatch.setattr(subscriptions, "JOINED_MIN", joined_min)
    given_before = group_of(4, m07=subscription(topics=("b",)))
    before = read_members(given_before)
    assert isinstance(before, ReadMembers)
    joined = given_before | {"new": subscription(topics=("a",))}
    with patch.object(subscriptions, "unchanged_since", wraps=unchanged_since) as compared:
        assert read_members(joined, before=before) == one_by_one(joined)
    assert compared.called == (joined_min == 0)
    left = dict(list(given_before.items())[1:])
    with patch.object(subscriptions, "unchanged_since", wraps=unchanged_since) as compared:
        assert read_members(left, before=before) == one_by_one(left)
    assert compared.called
