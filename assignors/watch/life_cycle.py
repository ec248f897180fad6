"""From conditions to events: pending, open, over.

At each evaluation a group has conditions: what its finders say of the rows that are kept. A
condition is pending until it has held for the time of its rule, then its alert is open; when it
has been gone for `keep_ms`, the alert is over. An alert that is over is remembered while its
condition is among the rows, so that the same rows do not open it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assignors.watch.events import Alert, Event, alert_id
from assignors.watch.rules import Rules, for_ms, kept_ms, rule_of

Key = tuple[int, str, str]
"""Life, kind and subject: what tells the alerts of a group apart."""


class Phase(StrEnum):
    """Where an alert is between its first sign and its end."""

    PENDING = "pending"
    OPEN = "open"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that is wrong, or was, as the rows of a group have it now."""

    life: int
    kind: str
    subject: str
    since_ms: int
    """When its latest occurrence began; of one that lasts, when it began."""
    until_ms: int | None
    """When it ended; `None` while it lasts."""
    evidence: str
    what_to_do: str = ""
    leader: str | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    partitions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    members: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """What tells it apart from the others of its group."""
        return self.life, self.kind, self.subject


@dataclass(slots=True, kw_only=True)
class Open:
    """An alert, from the first sign of its condition on."""

    phase: Phase
    condition: Condition
    """As it was last seen."""
    since_ms: int
    """When the condition began to hold."""
    opened_ms: int = 0
    said_ms: int | None = None
    """When its last event was sent, `None` where none was yet."""
    is_again: bool = False
    """Whether it occurred again since then."""
    is_withdrawn: bool = False
    """Whether later records show that there was no such condition."""


Alerts = dict[Key, Open]


def evaluated(
    group: str,
    alerts: Alerts,
    conditions: Mapping[Key, Condition],
    now_ms: int,
    rules: Rules,
    *,
    oldest_ms: int,
    since_ms: int = 0,
) -> Iterator[Alert]:
    """Bring the alerts of a group up to `now_ms`, and yield what happened to them.

    `oldest_ms` is the time of the oldest row that is kept: what began later and is no longer
    found never was. Before `since_ms` alerts open and close without events; an alert whose
    condition still holds then is sent then. Cost: linear in alerts and conditions.
    """
    for key, condition in conditions.items():
        known = alerts.get(key)
        if known is None or (
            known.phase is Phase.OVER and condition.since_ms > known.condition.since_ms
        ):
            alerts[key] = Open(
                phase=Phase.PENDING, condition=condition, since_ms=condition.since_ms
            )
        _age(alerts[key], condition, now_ms, rules)
    for key, alert in [*alerts.items()]:
        if alert.phase is not Phase.OPEN:
            if key not in conditions:
                del alerts[key]
            continue
        condition = alert.condition
        if condition.until_ms is None and key not in conditions:
            alert.is_withdrawn = condition.since_ms >= oldest_ms
            condition = alert.condition = replace(condition, until_ms=now_ms)
        kept = kept_ms(condition.kind, rules)
        is_over = condition.until_ms is not None and now_ms >= condition.until_ms + kept
        if alert.said_ms is None and alert.opened_ms < since_ms and condition.until_ms is not None:
            is_over = True
        elif now_ms >= since_ms:
            yield from _events(group, alert, now_ms, rules, is_over=is_over)
        if is_over:
            alert.phase = Phase.OVER


def still_open(group: str, alerts: Alerts, now_ms: int, rules: Rules) -> Iterator[Alert]:
    """Yield the alerts that are open and were sent, for receivers after a restart."""
    for alert in alerts.values():
        if alert.phase is Phase.OPEN and alert.said_ms is not None:
            yield _event(group, alert, Event.REPEATED, now_ms, rules)


def due_ms(alerts: Alerts, rules: Rules) -> int | None:
    """Return when the next alert opens or is over, if no condition changes until then."""
    found = []
    for alert in alerts.values():
        condition = alert.condition
        if alert.phase is Phase.PENDING and condition.until_ms is None:
            found.append(alert.since_ms + for_ms(condition.kind, rules))
        elif alert.phase is Phase.OPEN and condition.until_ms is not None:
            found.append(condition.until_ms + kept_ms(condition.kind, rules))
    return min(found, default=None)


def _age(alert: Open, condition: Condition, now_ms: int, rules: Rules) -> None:
    """Bring one alert up to its condition."""
    if alert.phase is Phase.OVER:
        return
    alert.is_again |= condition.since_ms > alert.condition.since_ms
    alert.condition = condition
    if alert.phase is Phase.PENDING:
        held_ms = (now_ms if condition.until_ms is None else condition.until_ms) - alert.since_ms
        if held_ms >= for_ms(condition.kind, rules):
            alert.phase, alert.opened_ms, alert.is_again = Phase.OPEN, now_ms, False
        elif condition.until_ms is not None:
            alert.phase = Phase.OVER


def _events(
    group: str, alert: Open, now_ms: int, rules: Rules, *, is_over: bool
) -> Iterator[Alert]:
    if alert.said_ms is None:
        alert.said_ms, alert.is_again = now_ms, False
        yield _event(group, alert, Event.OPENED, now_ms, rules)
    elif alert.is_again and not is_over and now_ms >= alert.said_ms + rules.repeat_ms:
        alert.said_ms, alert.is_again = now_ms, False
        yield _event(group, alert, Event.REPEATED, now_ms, rules)
    if is_over:
        yield _event(group, alert, Event.RESOLVED, now_ms, rules)


def _event(group: str, alert: Open, event: Event, now_ms: int, rules: Rules) -> Alert:
    condition = alert.condition
    rule = rule_of(condition.kind)
    return Alert(
        event=event,
        id=alert_id(group, *condition.key, alert.opened_ms),
        group=group,
        life=condition.life,
        kind=condition.kind,
        severity=rule.severity.value,
        opened_ms=alert.opened_ms,
        at_ms=now_ms,
        since_ms=alert.since_ms,
        evidence=condition.evidence,
        what_to_do=condition.what_to_do or rule.what_to_do,
        leader=condition.leader,
        numbers={**condition.numbers, "for_ms": for_ms(condition.kind, rules)},
        partitions=condition.partitions,
        members=condition.members,
        withdrawn=alert.is_withdrawn,
    )
