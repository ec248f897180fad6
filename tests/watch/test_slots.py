"""A member that comes back again and again is found, however quickly it is back."""

from __future__ import annotations

import pytest

from assignors.watch.groups import as_live
from tests.replay.histories import Says, classic, in_order

CALM = Says(client_id="calm", gets={"t": (0,)})
ALONE = Says(client_id="calm", gets={"t": (0, 1)})


def kinds(generations: list[dict[str, Says]], *, every_ms: int = 5_000) -> set[str]:
    """The kinds of alerts that open in a group with these generations, one after the other."""
    listed = enumerate(generations, 1)
    entries = in_order([classic(n * every_ms, n, members) for n, members in listed])
    return {alert.kind for alert in as_live(entries)}


@pytest.mark.parametrize("is_away", [True, False])
def test_a_crash_loop_is_found_with_and_without_a_generation_in_between(
    is_away: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """A process that restarts at once has a new member id in the very next generation."""
    generations = [{"calm": ALONE}]
    for number in range(8):
        crashes = {f"crashes-{number}": Says(client_id="crashes", gets={"t": (1,)})}
        generations += [{"calm": CALM, **crashes}, {"calm": ALONE}][: 1 + is_away]
    assert kinds(generations) >= {"member-flaps", "rebalance-storm"}


@pytest.mark.parametrize("is_away", [True, False])
def test_a_deployment_is_found_in_neither_way(
    is_away: bool,  # noqa: FBT001 - as above
) -> None:
    members = {f"m{n}": Says(client_id=f"client-{n}", gets={"t": (n,)}) for n in range(8)}
    generations = [members]
    for name, says in list(members.items()):
        without = {k: v for k, v in generations[-1].items() if k != name}
        generations += [*([without] if is_away else []), {**without, f"new-{name}": says}]
    found = kinds(generations)
    assert not found & {"member-flaps", "rebalance-storm"}
