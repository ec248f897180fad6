"""A member that hangs is found while the others go on; a rebalance may take its time."""

from __future__ import annotations

from assignors.watch.events import Alert
from assignors.watch.group_state import Cluster
from assignors.watch.groups import Watch
from assignors.watch.machine import Tick
from assignors.watch.rules import Rules
from tests.replay.histories import Says, classic, commit, in_order

SECOND = 1_000
RULES = Rules(silence_ms=10 * SECOND, silence_commits=5)
UNTIL_S = 400


def stuck(*commits_until_s: int) -> list[Alert]:
    """The alerts of a group whose partitions are committed each second, up to different times."""
    members = {
        f"m{n}": Says(client_id=f"client-{n}", gets={"t": (n,)})
        for n in range(len(commits_until_s))
    }
    entries = [classic(SECOND, 1, members)]
    entries += [
        commit(at_s * SECOND, "t", number, at_s)
        for at_s in range(2, UNTIL_S)
        for number, until_s in enumerate(commits_until_s)
        if at_s <= until_s
    ]
    watch, found = Watch(rules=RULES), []
    for entry in in_order(entries):
        found += watch.add(entry)
        if entry.at_ms % (15 * SECOND) == 0:
            ends = (entry.at_ms,) * len(members)
            found += watch.add(Cluster(at_ms=entry.at_ms, ends={"t": ends}))
    for at_s in range(max(commits_until_s) + 1, UNTIL_S):
        found += watch.add(Tick(at_s * SECOND))
        if at_s % 15 == 0:
            found += watch.add(Cluster(at_ms=at_s * SECOND, ends={"t": (9999,) * len(members)}))
    return [alert for alert in found if alert.kind == "stuck"]


def test_one_member_that_hangs_is_found_while_the_others_commit() -> None:
    """Its partitions alone have records to read, but that is not the whole group."""
    (opened, *_) = stuck(100, 380, 380)
    assert opened.partitions == {"t": (0,)}
    assert opened.members == ("m0",)
    assert opened.opened_ms <= (100 + 15 + 10 + 1) * SECOND
    assert "every partition" not in opened.evidence


def test_a_group_that_is_silent_has_the_time_of_a_rebalance() -> None:
    (opened, *_) = stuck(100, 100, 100)
    assert opened.partitions == {"t": (0, 1, 2)}
    assert opened.opened_ms >= (100 + 30) * SECOND, "the rebalance timeout of the members"
    assert "every partition" in opened.evidence


def test_a_group_that_commits_is_not_stuck() -> None:
    assert stuck(390, 390, 390) == []
