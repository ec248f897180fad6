"""Several appends lost at once: our coordinators go back, or begin anew, as Kafka's do.

Random histories in which appends gather in batches and wait for their replicas. A batch that cannot
be written takes all its appends with it, a lost coordinator all that is not replicated; what is
answered and written afterwards says whether the state is the same. HISTORIES and DEEP try more.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.foreign import plays
from tests.foreign.histories import HISTORIES as KINDS
from tests.foreign.histories import history
from tests.foreign.judge import Judge
from tests.foreign.losses import ABOUT_APPENDS, Losing
from tests.foreign.player import Player
from tests.foreign.trial import seed

pytestmark = pytest.mark.foreign

HISTORIES = int(os.environ.get("HISTORIES", "80"))
DEEP = int(os.environ.get("DEEP", "1"))
LENGTHS = (20, 40, 60, 80)
SEVERAL = 2
"""So many appends are lost at once in some of 80 histories: of classic groups in ten of them."""


def differences(
    judge: Judge, kind: str, cases: list[tuple[int, int]], met: Counter[str]
) -> list[str]:
    """Play histories, each of a seed and length; return the first difference of each."""
    played = []
    for seed_, length in cases:
        losing = Losing(lingers=seed_ % 4 != 0)
        request, ours = KINDS[kind](seed_, length, losses=losing)
        met += losing.met
        played.append((seed_, length, {**request, **ABOUT_APPENDS}, ours))
    found = []
    answers = judge.ask_all([request for *_, request, _ in played])
    for (seed_, length, _, ours), answer in zip(played, answers, strict=True):
        assert "steps" in answer, (seed_, length, answer)
        first = next(plays.differences(ours, answer["steps"]), None)
        if first is not None:
            found.append(f"seed {seed_}, {length} operations: {first}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_kafkas_coordinator_has_the_same_state_after_a_loss(judge: Judge, kind: str) -> None:
    first = seed() * 10_000_000
    met: Counter[str] = Counter()
    cases = [(first + number, LENGTHS[number % len(LENGTHS)]) for number in range(HISTORIES * DEEP)]
    assert differences(judge, kind, cases, met) == []
    for how in ("failed", "lost"):
        assert any(met[f"{how} {several}"] for several in range(SEVERAL, 40)), met


@pytest.mark.parametrize(
    ("seed_", "length"),
    [
        # an empty group that has expired is there again if its tombstone is not written
        pytest.param(20, 60, id="group-is-back"),
        # but not one that was made and has expired in the same batch
        pytest.param(94, 60, id="made-and-removed"),
        # nor is the one that is back taken for one that commits have made since
        pytest.param(42, 80, id="commit-after-a-removal"),
        # a conversion that fails brings back the classic group, with all its protocols
        pytest.param(6, 60, id="classic-group-is-back"),
        # and what was assigned in it meanwhile
        pytest.param(274, 60, id="assigned-meanwhile"),
        # whoever has left before a conversion is answered after it
        pytest.param(235, 60, id="left-before-a-conversion"),
        # a lookup of patterns that is not written does not run again by itself
        pytest.param(10, 60, id="lookup-is-no-timer"),
        # nor are the topics taken for compared that it has led to
        pytest.param(20289, 21, id="topics-of-a-lost-lookup"),
        # a static member whose return is not written has its old place again
        pytest.param(9427, 50, id="static-member-is-back"),
        # one that has left before leaves the protocols that Kafka then counts
        pytest.param(202699, 49, id="static-member-has-gone"),
        # a group that went without a record is back when a commit is not written
        pytest.param(20684, 4, id="group-is-back-for-a-commit"),
        # and is not mixed up with the next one, whose epochs are in the same log
        pytest.param(20386, 43, id="epochs-of-a-group-without-tombstones"),
        # nor does the first record of a group that came later make it go
        pytest.param(20470, 79, id="first-record-of-a-later-group"),
        # a consumer group that is back after a conversion knows so too
        pytest.param(20071, 60, id="refresh-after-a-conversion"),
        # members come back in the order of Kafka's map: after a conversion
        pytest.param(9367, 51, id="order-after-a-conversion"),
        # after two of them, of which the second one made another group
        pytest.param(201135, 52, id="order-after-two-conversions"),
        # and where all of them had gone
        pytest.param(201702, 45, id="order-of-members-that-had-gone"),
        # a classic group that is back has been in its state since then
        pytest.param(20305, 42, id="since-when-it-is-in-its-state"),
    ],
)
def test_histories_that_once_differed(judge: Judge, seed_: int, length: int) -> None:
    assert differences(judge, "mixed", [(seed_, length)], Counter()) == []


@pytest.mark.parametrize("seed_", [20289, 20386])
def test_nothing_waits_for_an_append_that_was_lost(seed_: int) -> None:
    losing = Losing(lingers=True)

    def see(ours: Player) -> None:
        tokens = {each.token for each in ours.tail or [] if each.token > 0}
        if not losing.is_away:
            assert ours.state.waiting.keys() == ours.state.unwritten.keys() <= tokens

    history(seed_, 60, see=see, losses=losing)
    assert {how.split()[0] for how in losing.met} == {"failed", "lost"}
