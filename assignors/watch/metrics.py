"""What a watch knows, as metrics for Prometheus.

    kafka_assignors_group_members{group="billing"} 12

A scrape reads a picture of each group that the watch has left behind: it never waits for the watch,
nor the watch for it. No metric has a member id, as each restart of a member would leave a series
behind. The series of a group end with the group. Counters count from the start of the watch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import assignors
from assignors.extras import imported_from
from assignors.replay.history.model import Generation
from assignors.watch.events import Alert, Event
from assignors.watch.group_state import Cluster, GroupWatch, Rest
from assignors.watch.position import Position

with imported_from("watch"):
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PREFIX = "kafka_assignors_"
SERIES_MAX = 50_000
"""Series of groups beyond which further groups are left out."""
HOST = "127.0.0.1"
"""Where metrics are served if the address names no host."""

GAUGES: Mapping[str, str] = {
    "group_members": "Members of the group",
    "group_members_static": "Members with a group instance id",
    "group_generation": "Generation, or epoch of the group",
    "group_partitions_unassigned": "Partitions of subscribed topics that no member has",
    "group_partitions_double_owned": "Partitions that two members have",
    "group_load_max": "Partitions of the busiest member",
    "group_last_commit_timestamp_seconds": "When the group last committed",
}
COUNTERS: Mapping[str, str] = {
    "group_rebalances": "Completed rebalances",
    "group_members_joined": "Members that joined",
    "group_members_left": "Members that left",
}
BY_TOPIC: Mapping[str, str] = {
    "group_partitions": "Partitions that members of the group have",
    "group_lag_records": "Records behind the last commit, where the ends of the topic are known",
}


Values = Mapping[tuple[str, ...], float]
"""The values of the labels of each series -> its value."""


@dataclass(slots=True)
class Picture:
    """What the watch last knew of one group."""

    labels: tuple[str, str, str] = ("", "", "")
    """Kind, protocol, and the client id of the leader."""
    state: str = ""
    values: dict[str, float] = field(default_factory=dict)
    """Name in `GAUGES` or `COUNTERS` -> value."""
    topics: dict[str, dict[str, float]] = field(default_factory=dict)
    """Name in `BY_TOPIC` -> topic -> value."""
    seen: tuple[int, int] | None = None
    """Life and generation that the counters include."""
    members: frozenset[str] = frozenset()
    """Ids of the members of that generation; no label."""

    @property
    def series_count(self) -> int:
        """How many series it takes."""
        return 2 + len(self.values) + sum(map(len, self.topics.values()))


class Metrics:
    """The metrics of a watch; serves them until `close`."""

    def __init__(self, address: str, *, series_max: int = SERIES_MAX) -> None:
        """Serve on `HOST:PORT`, or on `:PORT` of this machine alone.

        Raises `ValueError` for an address that is none, `OSError` where it is taken.
        """
        host, port = host_and_port(address)
        self._series_max = series_max
        self._groups: dict[str, Picture] = {}
        self._open: dict[str, Alert] = {}
        self._opened: Counter[str] = Counter()
        self._withdrawn: Counter[str] = Counter()
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
                self._opened[alert.kind] += alert.id not in self._open
                self._open[alert.id] = alert

    def show(self, position: Position) -> None:
        """Show how far the watch is."""
        self._position = position

    def observe(self, watches: Iterable[GroupWatch], cluster: Cluster | None = None) -> None:
        """Take a picture of the groups that have changed.

        Cost: members, and partitions with commits, of these groups.
        """
        for watch in watches:
            before = self._groups.get(watch.group, Picture())
            picture = before if watch.rest is None else of_group(watch.rest, before)
            if watch.rest is not None and watch.rest.fold.life is None and not watch.places:
                self._groups.pop(watch.group, None)
                continue
            _add_commits(picture, watch, cluster)
            self._groups[watch.group] = picture

    def collect(self) -> Iterator[Metric]:
        """Yield every metric, for a scrape."""
        groups, left_out = self._within_bounds()
        yield from _of_groups(groups)
        yield from self._of_alerts()
        yield from self._of_the_watch(left_out)

    def _within_bounds(self) -> tuple[dict[str, Picture], int]:
        """Return the groups whose series fit, those that came first, and how many do not."""
        kept: dict[str, Picture] = {}
        count = 0
        every = list(self._groups.items())
        for group, picture in every:
            count += picture.series_count
            if count > self._series_max:
                break
            kept[group] = picture
        return kept, len(every) - len(kept)

    def _of_alerts(self) -> Iterator[Metric]:
        labels = ["group", "alert", "severity"]
        found: Counter[tuple[str, ...]] = Counter(
            (one.group, one.kind, one.severity) for one in list(self._open.values())
        )
        yield _gauge("alerts", "Alerts that are open", labels, found)
        for name, text, counts in (
            ("alerts_opened", "Alerts that opened", self._opened),
            ("alerts_withdrawn", "Alerts that later records showed to be none", self._withdrawn),
        ):
            yield _counter(name, text, ["alert"], {(kind,): n for kind, n in list(counts.items())})

    def _of_the_watch(self, left_out: int) -> Iterator[Metric]:
        yield _gauge("build_info", "Version", ["version"], {(assignors.__version__,): 1})
        yield _gauge("watch_groups_left_out", "Groups beyond the cap on series", [], {(): left_out})
        at = self._position
        if at is None:
            return
        yield _gauge("watch_groups", "Groups under watch", [], {(): at.group_count})
        yield _counter("watch_records", "Records that were read", [], {(): at.record_count})
        if at.delay_ms is not None:
            text = "Age of the latest record that was read"
            yield _gauge("watch_behind_seconds", text, [], {(): at.delay_ms / 1000})


def host_and_port(address: str) -> tuple[str, int]:
    """Return host and port of an address.

    >>> host_and_port(":9308"), host_and_port("0.0.0.0:9308"), host_and_port("[::1]:9308")
    (('127.0.0.1', 9308), ('0.0.0.0', 9308), ('::1', 9308))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 0xFFFF:
        raise ValueError(f"{address!r}: not :PORT or HOST:PORT")
    return host.removeprefix("[").removesuffix("]") or HOST, int(port)


def of_group(rest: Rest, before: Picture) -> Picture:
    """Return the picture of a group after its latest record. `before` has its counters."""
    life = rest.fold.life
    current = None if life is None else life.until(None)
    picture = Picture(
        values=dict.fromkeys(COUNTERS, 0.0) | before.values,
        topics=before.topics,
        seen=before.seen,
        members=before.members,
    )
    if life is None or current is None:
        picture.values.update(dict.fromkeys(GAUGES, 0.0))
        picture.state = "dead"
        return picture
    members = {member.member_id: member for member in current.members}
    leader = members.get(current.leader_id or "")
    picture.labels = (
        life.kind.value,
        current.protocol or "",
        "" if leader is None else leader.client_id,
    )
    picture.state = current.state.lower()
    owned = {id_: len(had) for id_, had in rest.fold.owned.items() if id_ in members}
    held = rest.fold.owners
    wanted = {topic for member in current.members for topic in member.topics}
    placed = {place: None for had in rest.fold.owned.values() for place in had}
    numbers = Counter(topic for topic, _ in placed)
    picture.topics = {**before.topics, "group_partitions": dict(numbers)}
    picture.values.update(
        group_members=len(members),
        group_members_static=sum(one.instance_id is not None for one in current.members),
        group_generation=current.number,
        group_partitions_unassigned=sum(
            max(count - numbers[topic], 0)
            for topic, count in rest.counts.items()
            if topic in wanted
        ),
        group_partitions_double_owned=sum(len(owners) > 1 for owners in held.values()),
        group_load_max=max(owned.values(), default=0),
    )
    _count(picture, life.number, current)
    return picture


def _count(picture: Picture, life: int, current: Generation) -> None:
    """Add the generations since the last picture to its counters."""
    now = frozenset(member.member_id for member in current.members)
    before, picture.seen = picture.seen, (life, current.number)
    if before is not None:
        went_on = before[0] == life
        rounds = current.number - before[1] if went_on else 1
        picture.values["group_rebalances"] += rounds
        picture.values["group_members_joined"] += len(now - picture.members)
        picture.values["group_members_left"] += len(picture.members - now)
    picture.members = now


def _add_commits(picture: Picture, watch: GroupWatch, cluster: Cluster | None) -> None:
    """Add what commits say, and the ends of their topics."""
    if not watch.places:
        return
    latest_ms = max(place.at_ms for place in watch.places.values())
    picture.values["group_last_commit_timestamp_seconds"] = latest_ms / 1000
    lag: Counter[str] = Counter()
    for (topic, partition), place in watch.places.items():
        ends = () if cluster is None else cluster.ends.get(topic, ())
        end = ends[partition] if partition < len(ends) else None
        if end is not None:
            lag[topic] += max(end - place.offset, 0)
    if lag:
        picture.topics = {**picture.topics, "group_lag_records": dict(lag)}


def _of_groups(groups: Mapping[str, Picture]) -> Iterator[Metric]:
    labels = ["group", "kind", "protocol", "leader_client"]
    named: Values = {(group, *one.labels): 1.0 for group, one in groups.items()}
    yield _gauge("group_info", "Kind, protocol and leader of the group", labels, named)
    states: Values = {(group, one.state): 1.0 for group, one in groups.items() if one.state}
    yield _gauge("group_state", "State of the group", ["group", "state"], states)
    for made, texts in ((_gauge, GAUGES), (_counter, COUNTERS)):
        for name, text in texts.items():
            found: Values = {
                (group,): one.values[name] for group, one in groups.items() if name in one.values
            }
            yield made(name, text, ["group"], found)
    for name, text in BY_TOPIC.items():
        found_by_topic: Values = {
            (group, topic): value
            for group, one in groups.items()
            for topic, value in one.topics.get(name, {}).items()
        }
        yield _gauge(name, text, ["group", "topic"], found_by_topic)


def _gauge(name: str, text: str, labels: Sequence[str], values: Values) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _counter(name: str, text: str, labels: Sequence[str], values: Values) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family
