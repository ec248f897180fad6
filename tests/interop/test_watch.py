"""`watch` on a real broker: what goes wrong in a group is said while it does, and so is its end."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import ROOT
from tests.interop.broker import Broker
from tests.interop.conftest import MakeGroup
from tests.interop.group import SETTLES_S, LiveGroup
from tests.interop.odd_bytes import assignment, subscription
from tests.interop.raw import RawMember, Round

pytestmark = pytest.mark.interop

WAIT_S = 40.0
QUICK = {
    "keep_ms": 1_000,
    "silence_ms": 2_500,
    "silence_commits": 3,
    "flap_ms": 12_000,
    "storm_rounds_ms": 12_000,
}
"""Thresholds with which an alert opens and is over within seconds."""


class Watching:
    """The command, running, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], notes: Path) -> None:
        self._process = process
        self._notes = notes
        self._lines: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def notes(self) -> str:
        """What it said on standard error."""
        return self._notes.read_text()

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind of alert."""
        return [line for line in list(self._lines) if line["kind"] == kind]

    def wait_for(self, kind: str, event: str, count: int = 1) -> dict[str, Any]:
        """Wait for an event, and return the last of them."""
        found: list[dict[str, Any]] = []

        def has_come() -> bool:
            found[:] = [line for line in self.events(kind) if line["event"] == event]
            return len(found) >= count

        self.wait_until(has_come)
        return found[-1]

    def wait_until(self, has_come: Callable[[], bool]) -> None:
        """Wait, for a bounded time, while the command runs."""
        until = time.monotonic() + WAIT_S
        while not has_come():
            assert self._process.poll() is None, self.notes[-2000:]
            assert time.monotonic() < until, f"{self._lines}\n{self.notes[-2000:]}"
            time.sleep(0.05)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(json.loads(line)["alert"])


@contextmanager
def watching(
    bootstrap: str, group: str, folder: Path, *options: str, **thresholds: int
) -> Iterator[Watching]:
    """Run `watch` on the records of one group from now on."""
    rules = [f"{name}={number}" for name, number in {**QUICK, **thresholds}.items()]
    words = [word for rule in rules for word in ("--threshold", rule)]
    notes = folder / "watch.err"
    with notes.open("wb") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "assignors", "watch", "--bootstrap", bootstrap),
                *("--group", f"^{group}$", "--since", "1m", "-o", "jsonl", *words, *options),
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
        )
    try:
        yield Watching(process, notes)
    finally:
        process.terminate()
        try:
            process.wait(20)
        finally:
            process.kill()
            assert process.stdout is not None
            process.stdout.close()


def range_of(topic: str, **owned: Any) -> Mapping[str, bytes]:
    return {"range": subscription(1, (topic,), **owned)}


def test_a_frozen_member_is_named_until_it_goes_on(make_group: MakeGroup, tmp_path: Path) -> None:
    """It keeps its partitions for as long as its session lasts, and no record says so."""
    group = make_group({"t": 4}, assignors=("range",), session_timeout_ms=45_000)
    with watching(group.broker.bootstrap, group.name, tmp_path) as watch:
        frozen, _ = group.start("java44", "java44")
        group.settled(SETTLES_S, hold_s=0.3)
        group.feed.start(every_s=0.2)
        topic = group.topics[0]
        wait_for_commits(group, 4)
        owned = sorted(number for _, number in frozen.owned)
        frozen.pause()
        opened = watch.wait_for("stuck", "opened")
        assert opened["severity"] == "high"
        ((named, numbers),) = opened["partitions"]
        assert named == topic
        assert set(numbers) <= set(owned)
        assert [one.rpartition("-")[0] for one in opened["members"]]
        frozen.resume()
        resolved = watch.wait_for("stuck", "resolved")
        assert resolved["id"] == opened["id"]


def test_a_leader_that_never_syncs_is_a_group_that_is_stuck(
    make_group: MakeGroup, tmp_path: Path
) -> None:
    """The other members wait for the assignment, and nobody commits: no record says so."""
    may_sync = threading.Event()
    may_sync.set()
    group = make_group({"t": 2}, assignors=("range",), rebalance_timeout_ms=2_000)
    topic = group.topics[0]

    def plan(seen: Round) -> Mapping[str, bytes]:
        may_sync.wait(WAIT_S)
        others = sorted(set(seen.subscriptions) - {leader.member_id}) or [leader.member_id]
        return {
            member_id: assignment(1, [(topic, [0, 1])] if member_id == others[0] else [])
            for member_id in seen.subscriptions
        }

    leader = RawMember(
        group.broker.bootstrap,
        group.name,
        "leader",
        range_of(topic),
        plan=plan,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=2_000,
    )
    newcomer = RawMember(
        group.broker.bootstrap, group.name, "newcomer", range_of(topic), session_timeout_ms=60_000
    )
    with watching(group.broker.bootstrap, group.name, tmp_path) as watch:
        leader.start()
        assert leader.wait_for_rounds(1)
        try:
            group.start("java44")
            assert leader.wait_for_rounds(2)
            group.feed.start(every_s=0.2)
            wait_for_commits(group, 2)
            may_sync.clear()
            newcomer.start()
            opened = watch.wait_for("stuck", "opened")
            assert opened["partitions"] == [[topic, [0, 1]]]
            assert "rebalance that does not complete" in opened["evidence"]
            may_sync.set()
            assert watch.wait_for("stuck", "resolved")["id"] == opened["id"]
        finally:
            may_sync.set()
            newcomer.end()
            leader.end()


def test_two_members_that_fence_each_other_are_one_alert(
    make_group: MakeGroup, tmp_path: Path
) -> None:
    """Two processes were started with one group instance id: each takes it from the other."""
    group = make_group({"t": 2}, assignors=("range",))
    with watching(group.broker.bootstrap, group.name, tmp_path) as watch:
        for number in range(6):
            member = RawMember(
                group.broker.bootstrap,
                group.name,
                f"copy-{number % 2}",
                range_of(group.topics[0]),
                plan=lambda seen: dict.fromkeys(seen.subscriptions, assignment(1, ())),
                instance="the-same",
            )
            member.start()
            assert member.wait_for_rounds(1)
            if number < 5:
                # Fenced by the next: it ends by itself.
                group.guests[f"copy {number}"] = member
            else:
                member.end()
        opened = watch.wait_for("fenced-instance", "opened")
        assert "the-same" in opened["evidence"]
        assert watch.wait_for("fenced-instance", "resolved")["id"] == opened["id"]


def test_a_member_that_crashes_again_and_again_is_named(
    make_group: MakeGroup, tmp_path: Path
) -> None:
    group = make_group({"t": 2}, assignors=("range",))
    with watching(group.broker.bootstrap, group.name, tmp_path) as watch:
        group.start("java44")
        group.settled(SETTLES_S, hold_s=0.1)
        crash_loop(group.broker, group.name, group.topics[0])
        flaps = watch.wait_for("member-flaps", "opened")
        assert flaps["severity"] == "medium"
        assert "crashes at /127.0.0.1" in flaps["evidence"]
        storm = watch.wait_for("rebalance-storm", "opened")
        assert storm["severity"] == "high"
        assert "crashes at /127.0.0.1" in storm["evidence"]
        assert watch.wait_for("member-flaps", "resolved")["id"] == flaps["id"]
        assert watch.wait_for("rebalance-storm", "resolved")["id"] == storm["id"]


def crash_loop(broker: Broker, group: str, topic: str, times: int = 8) -> None:
    """A member joins, gets its assignment, and is gone."""
    for _ in range(times):
        member = RawMember(
            broker.bootstrap,
            group,
            "crashes",
            range_of(topic),
            plan=lambda seen: dict.fromkeys(seen.subscriptions, assignment(1, ())),
        )
        member.start()
        assert member.wait_for_rounds(1)
        member.leave()
        time.sleep(0.4)  # so that the others have joined again


def test_a_watch_that_was_stopped_goes_on_where_it_was(
    make_group: MakeGroup, tmp_path: Path
) -> None:
    group = make_group({"t": 1})
    kept = ("--checkpoint", str(tmp_path / "kept"))
    with watching(group.broker.bootstrap, group.name, tmp_path, *kept) as watch:
        crash_loop(group.broker, group.name, group.topics[0], 4)
        opened = watch.wait_for("member-flaps", "opened")
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["watch.jsonl"]
    with watching(group.broker.bootstrap, group.name, tmp_path, *kept) as watch:
        assert watch.wait_for("member-flaps", "repeated")["id"] == opened["id"]
        assert watch.wait_for("member-flaps", "resolved")["id"] == opened["id"]
        assert not [one for one in watch.events("member-flaps") if one["event"] == "opened"]


def test_a_broker_that_goes_away_is_waited_for(built: None, tmp_path: Path) -> None:
    with Broker() as broker:
        topic, group = "t", "patient"
        with watching(broker.bootstrap, group, tmp_path, storm_rounds=99, flap_ms=6_000) as watch:
            crash_loop(broker, group, topic, 4)
            first = watch.wait_for("member-flaps", "opened")
            broker.kill()
            watch.wait_until(lambda: "note:" in watch.notes)
            time.sleep(4)  # the controller holds the name of a crashed broker for so long
            broker.start()
            assert watch.wait_for("member-flaps", "resolved")["id"] == first["id"]
            crash_loop(broker, group, topic, 4)
            again = watch.wait_for("member-flaps", "opened", 2)
            assert again["id"] != first["id"]


def wait_for_commits(group: LiveGroup, count: int) -> None:
    """Wait until so many partitions have been committed often enough for their usual gap."""
    until = time.monotonic() + WAIT_S
    while sum(offset >= 10 for offset in group.admin.committed(group.name).values()) < count:
        assert time.monotonic() < until
        time.sleep(0.2)
