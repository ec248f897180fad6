"""What a watch knows, as metrics for Prometheus.

    kafka_assignors_group_members{group="billing"} 12

A scrape reads the picture of each group that the watch has left behind, and the last commits: it
never waits for the watch, nor the watch for it. No label is the id of a member: each restart would
leave a series behind. The series of a group end with the group. Counters count from the start of
the watch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import assignors
from assignors.extras import imported_from
from assignors.replay.history.fold import current
from assignors.replay.history.model import Generation
from assignors.watch.events import Alert, Event
from assignors.watch.group_state import GroupWatch, Rest
from assignors.watch.groups import Watch
from assignors.watch.position import Position

with imported_from("watch"):
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

Family = CounterMetricFamily | GaugeMetricFamily

PREFIX = "kafka_assignors_"
SERIES_MAX = 50_000
"""Series of groups beyond which further groups are left out."""
PICTURES = 40
"""Groups looked at in one step: after a restart all have to be, and the watch goes on meanwhile."""
HOST = "127.0.0.1"
"""Where metrics are served if the address names no host."""

GAUGES: Mapping[str, str] = {
    "group_members": "Members of the group",
    "group_members_static": "Members with a group instance id",
    "group_generation": "Generation, or epoch of the group",
    "group_partitions_unassigned": "Partitions of subscribed topics that no member has",
    "group_partitions_double_owned": "Partitions that two members have",
    "group_load_max": "Partitions of the busiest member",
}
COUNTERS: Mapping[str, str] = {
    "group_rebalances": "Completed rebalances",
    "group_members_joined": "Members that joined",
    "group_members_left": "Members that left",
}
LAST_COMMIT = "group_last_commit_timestamp_seconds"
PARTITIONS = "group_partitions"
LAG = "group_lag_records"
OTHERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "group_info": ("Kind, protocol and leader", ("group", "kind", "protocol", "leader_client")),
    "group_state": ("State of the group", ("group", "state")),
    LAST_COMMIT: ("When the group last committed", ("group",)),
    PARTITIONS: ("Partitions that members of the group have", ("group", "topic")),
    LAG: ("Records behind the last commits, where ends are known", ("group", "topic")),
}
"""Name -> text and labels of gauges that are no plain number of a group."""

Series = list[tuple[str, tuple[str, ...], float]]
"""Name of the metric, values of its labels, value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What the records of a group last said, and what the counters are until then."""

    series: Series
    counts: Mapping[str, int]
    """Name in `COUNTERS` -> value."""
    life: int
    generation: int | None
    """The generation that the counters include."""
    members: frozenset[str]
    """Its members: to count who comes and goes, never a label."""


class Metrics:
    """The metrics of a watch; serves them until `close`."""

    def __init__(self, address: str, *, series_max: int = SERIES_MAX) -> None:
        """Serve on `HOST:PORT`, or on `:PORT` of this machine alone.

        Raises `ValueError` for an address that is none, `OSError` where it is taken.
        """
        host, port = host_and_port(address)
        self._series_max = series_max
        self._pictures: dict[str, Picture] = {}
        self._open: dict[str, Alert] = {}
        self._opened: Counter[str] = Counter()
        self._withdrawn: Counter[str] = Counter()
        self._watch: Watch | None = None
        self._position: Position | None = None
        registry = CollectorRegistry()
        registry.register(self)
        self._server, self._thread = start_http_server(port, host, registry)
        self.port = self._server.server_port
        """The port that is served: of `:0` a free one."""

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, alerts: Sequence[Alert]) -> None:
        """Count events."""
        for alert in alerts:
            if alert.event is Event.RESOLVED:
                self._open.pop(alert.id, None)
                self._withdrawn[alert.kind] += alert.withdrawn
            else:
                self._opened[alert.kind] += alert.event is Event.OPENED
                self._open[alert.id] = alert

    def observe(self, watch: Watch, position: Position) -> None:
        """Take a picture of groups that have a new record which is no commit, `PICTURES` at most.

        Cost: members and partitions of these groups.
        """
        for found in watch.take_folded(PICTURES):
            picture = pictured(found.group, found.looked_at(), self._pictures.get(found.group))
            if picture is None:
                self._pictures.pop(found.group, None)
            else:
                self._pictures[found.group] = picture
        self._watch, self._position = watch, position

    def collect(self) -> Iterator[Family]:
        """Yield every metric, for a scrape. Cost: linear in groups and their partitions."""
        families: dict[str, Family] = {
            **{name: _gauge(name, text, ("group",)) for name, text in GAUGES.items()},
            **{name: _counter(name, text, ("group",)) for name, text in COUNTERS.items()},
            **{name: _gauge(name, text, labels) for name, (text, labels) in OTHERS.items()},
        }
        watch = self._watch
        count = left_out = 0
        # Copies are made at once: the watch goes on meanwhile.
        groups, ends = ([], {}) if watch is None else ([*watch.groups.items()], watch.cluster.ends)
        for group, found in groups:
            picture = self._pictures.get(group)
            series = [*(picture.series if picture else ()), *_of_commits(found, ends)]
            if count + len(series) > self._series_max:
                left_out += 1
                continue
            count += len(series)
            for name, labels, value in series:
                families[name].add_metric(labels, value)
        yield from families.values()
        yield from self._of_alerts()
        yield from self._of_the_watch(left_out)

    def _of_alerts(self) -> Iterator[Family]:
        families: list[Family] = [
            _gauge("alerts", "Alerts that are open", ("group", "alert", "severity")),
            _counter("alerts_opened", "Alerts that opened", ("alert",)),
            _counter("alerts_withdrawn", "Alerts that later records showed to be none", ("alert",)),
        ]
        is_open = Counter((one.group, one.kind, one.severity) for one in [*self._open.values()])
        for labels, count in is_open.items():
            families[0].add_metric(labels, count)
        for family, counts in zip(families[1:], (self._opened, self._withdrawn), strict=True):
            for kind, count in [*counts.items()]:
                family.add_metric((kind,), count)
        yield from families

    def _of_the_watch(self, left_out: int) -> Iterator[Family]:
        build = _gauge("build_info", "Version", ("version",))
        build.add_metric((assignors.__version__,), 1)
        yield build
        told: list[tuple[Callable[..., Family], str, str, float | None]] = [
            (_gauge, "watch_groups_left_out", "Groups beyond the cap on series", left_out)
        ]
        if self._position is not None and self._watch is not None:
            at, unreadable = self._position, self._watch.unreadable_count
            delay_s = None if at.delay_ms is None else at.delay_ms / 1000
            told += [
                (_gauge, "watch_groups", "Groups under watch", at.group_count),
                (_counter, "watch_records", "Records that were read", at.record_count),
                (_counter, "watch_unreadable_records", "Records that are none", unreadable),
                (_gauge, "watch_behind_seconds", "Age of the latest record read", delay_s),
            ]
        for made, name, text, value in told:
            if value is not None:
                family = made(name, text, ())
                family.add_metric((), value)
                yield family


def host_and_port(address: str) -> tuple[str, int]:
    """Return host and port of an address.

    >>> host_and_port(":9308"), host_and_port("0.0.0.0:9308"), host_and_port("[::1]:9308")
    (('127.0.0.1', 9308), ('0.0.0.0', 9308), ('::1', 9308))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 0xFFFF:
        raise ValueError(f"{address!r}: not :PORT or HOST:PORT")
    return host.removeprefix("[").removesuffix("]") or HOST, int(port)


def pictured(group: str, rest: Rest, before: Picture | None) -> Picture | None:
    """Return the picture of a group after its latest record, `None` where it has ended.

    `before` has the counters so far. Cost: members and partitions of the group.
    """
    now = current(rest.fold)
    life = rest.fold.life
    if life is None or now is None:
        return None
    members = {member.member_id: member for member in now.members}
    leader = members.get(now.leader_id or "")
    loads = [len(had) for id_, had in rest.fold.owned.items() if id_ in members]
    placed = {place: None for had in rest.fold.owned.values() for place in had}
    by_topic = Counter(topic for topic, _ in placed)
    wanted = {topic for member in now.members for topic in member.topics}
    counts = _counts(life.number, now, before)
    numbers = {
        "group_members": len(members),
        "group_members_static": sum(one.instance_id is not None for one in now.members),
        "group_generation": now.number,
        "group_partitions_unassigned": sum(
            max(count - by_topic[topic], 0)
            for topic, count in rest.counts.items()
            if topic in wanted
        ),
        "group_partitions_double_owned": sum(len(one) > 1 for one in rest.fold.owners.values()),
        "group_load_max": max(loads, default=0),
        **counts,
    }
    named = (group, life.kind.value, now.protocol or "", leader.client_id if leader else "")
    return Picture(
        series=[
            ("group_info", named, 1),
            ("group_state", (group, now.state.lower()), 1),
            *((name, (group,), value) for name, value in numbers.items()),
            *((PARTITIONS, (group, topic), value) for topic, value in by_topic.items()),
        ],
        counts=counts,
        life=life.number,
        generation=now.number,
        members=frozenset(members),
    )


def _counts(life: int, now: Generation, before: Picture | None) -> Mapping[str, int]:
    """Return the counters of a group; the first picture counts nothing."""
    if before is None:
        return dict.fromkeys(COUNTERS, 0)
    members = frozenset(member.member_id for member in now.members)
    rounds = now.number - (before.generation or 0) if before.life == life else 1
    added = (rounds, len(members - before.members), len(before.members - members))
    return {name: before.counts[name] + more for name, more in zip(COUNTERS, added, strict=True)}


def _of_commits(found: GroupWatch, ends: Mapping[str, Sequence[int | None]]) -> Series:
    """Return what the commits of a group say, and the ends of its topics."""
    places = [*found.places.items()]
    if not places:
        return []
    lag: Counter[str] = Counter()
    for (topic, partition), place in places:
        of_topic = ends.get(topic, ())
        end = of_topic[partition] if partition < len(of_topic) else None
        if end is not None:
            lag[topic] += max(end - place.offset, 0)
    latest_ms = max(place.at_ms for _, place in places)
    return [
        (LAST_COMMIT, (found.group,), latest_ms / 1000),
        *((LAG, (found.group, topic), count) for topic, count in lag.items()),
    ]


def _gauge(name: str, text: str, labels: Sequence[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, labels=labels)


def _counter(name: str, text: str, labels: Sequence[str]) -> CounterMetricFamily:
    return CounterMetricFamily(PREFIX + name, text, labels=labels)
