"""Which requests a run waits for at its end: those that somebody still wants to be answered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from assignors.simulation.timed.simulation import still_awaited


def test_a_request_counts_while_its_process_and_its_connection_are_what_they_were() -> None:
    """Member 0 runs, 1 has ended, 2 has another connection, 3 both; 4 has none in flight."""
    is_up, lives = (True, False, True, False, True), (1, 1, 2, 2, 1)
    in_flight = {10 + member: (member, 0, 1, 0, None) for member in range(4)}
    run: Any = SimpleNamespace(
        sides=SimpleNamespace(members=[SimpleNamespace(is_up=each) for each in is_up]),
        network=SimpleNamespace(
            in_flight=in_flight, links=[SimpleNamespace(life=each) for each in lives]
        ),
    )
    assert still_awaited(run, set(in_flight)) == {10}
    assert still_awaited(run, {11, 12, 13}) == set()
