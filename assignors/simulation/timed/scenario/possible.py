"""What cannot happen: a scenario that no group could live through is refused, with the path.

Each check looks at one idea and raises `DocumentError`. A new one is a function here and a row in
`CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors.documents.values import DocumentError, ErrorCode, Place
from assignors.registry import assignor_named
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.scenario.plan import Action, Verb
from assignors.simulation.timed.scenario.whole import PARTITIONS_MAX, Scenario


def require_possible(scenario: Scenario) -> None:
    """Raise `DocumentError` where no such group can exist. Cost: O(its size)."""
    for check in CHECKS:
        check(scenario)


def _members_are_named(scenario: Scenario) -> None:
    if not scenario.members:
        raise DocumentError(ErrorCode.MISSING, "a group needs a member", ("members",))
    names: set[str] = set()
    for number, member in enumerate(scenario.members):
        if member.name in names:
            words = f"two members are named {member.name!r}"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", number, "name"))
        names.add(member.name)


def _heartbeats_fit_sessions(scenario: Scenario) -> None:
    for number, member in enumerate(scenario.members):
        place = ("members", number)
        if member.session_timeout_ms <= member.heartbeat_interval_ms:
            words = (
                f"a session of {member.session_timeout_ms} ms is over before the next heartbeat, "
                f"after {member.heartbeat_interval_ms} ms"
            )
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "session_timeout_ms"))
        if 0 in {member.heartbeat_interval_ms, scenario.broker.consumer_heartbeat_interval_ms}:
            words = "heartbeats need an interval"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "heartbeat_interval_ms"))


def _actions_concern_what_is_there(scenario: Scenario) -> None:
    names = {each.name for each in scenario.members}
    for number, action in enumerate(scenario.plan):
        place = ("plan", number)
        if action.do is Verb.GROW:
            _topic_grows(scenario, action, place)
        elif action.member not in names:
            words = f"there is no member {action.member!r}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "member"))


def _clients_have_their_assignors(scenario: Scenario) -> None:
    """Refuse an assignor that the member's client does not have."""
    for number, member in enumerate(scenario.members):
        if member.client is None:
            continue
        for position, name in enumerate(member.assignors):
            if assignor_named(name).user_data not in DIALECTS[member.client].forms:
                words = f"{member.client} has no assignor {assignor_named(name).name!r}"
                place = ("members", number, "assignors", position)
                raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _topic_grows(scenario: Scenario, action: Action, place: Place) -> None:
    if action.topic not in scenario.topics:
        words = f"there is no topic {action.topic!r}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))
    if not 0 < action.partitions <= PARTITIONS_MAX:
        words = f"a topic cannot have {action.partitions} partitions"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "partitions"))


def _commits_and_assignments_are_possible(scenario: Scenario) -> None:
    for topic in scenario.processing.topics:
        if topic not in scenario.topics:
            words = f"there is no topic {topic!r}"
            raise DocumentError(ErrorCode.UNKNOWN, words, ("processing", "topics", topic))
    if scenario.broker.offsets_check_ms == 0:
        words = "expired offsets are looked for at intervals"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("broker", "offsets_check_ms"))
    for number, member in enumerate(scenario.members):
        place = ("members", number)
        if member.auto_commit_ms and member.sync_commit_ms:
            words = "a member commits by itself or synchronously, not both"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "sync_commit_ms"))
        if member.assign and member.topics:
            words = "a consumer with assign() subscribes to nothing"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "topics"))
        for topic, numbers in member.assign.items():
            count = scenario.topics.get(topic, 0)
            if not all(each < count for each in numbers) or len(set(numbers)) < len(numbers):
                words = f"{list(numbers)} are not different partitions of {count}"
                raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "assign", topic))


CHECKS: tuple[Callable[[Scenario], None], ...] = (
    _members_are_named,
    _heartbeats_fit_sessions,
    _actions_concern_what_is_there,
    _clients_have_their_assignors,
    _commits_and_assignments_are_possible,
)
