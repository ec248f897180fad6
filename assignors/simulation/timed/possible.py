"""What cannot happen: a scenario that no group could live through is refused, with the path.

Each check looks at one idea and raises `DocumentError`. A new one is a function here and a row in
`CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from assignors.documents.keys import keys_of
from assignors.documents.values import DocumentError, ErrorCode, Place
from assignors.names.nearest import suggestion
from assignors.registry import assignor_named
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.faults.live import FAULTS, OF_A_MEMBER, OF_THE_COORDINATOR, Scope
from assignors.simulation.timed.group_protocols import MIGRATING, GroupProtocol, ReadBy
from assignors.simulation.timed.scenario.execution import (
    NO_MODEL,
    ExecutionConfig,
    OtherGroups,
)
from assignors.simulation.timed.scenario.faults import Fault, FaultKind
from assignors.simulation.timed.scenario.kinds import assignor_at, require_members
from assignors.simulation.timed.scenario.members import MEMBERS_MAX, require_fitting
from assignors.simulation.timed.scenario.plan import VERBS, Action, Verb
from assignors.simulation.timed.scenario.whole import PARTITIONS_MAX, Scenario, everybody

T = TypeVar("T")


def require_possible(scenario: Scenario) -> None:
    """Raise `DocumentError` where no such group can exist. Cost: O(its size)."""
    for check in CHECKS:
        check(scenario)


def require_read(
    scenario: Scenario, protocols: Collection[str], models: Collection[str] = ()
) -> None:
    """Raise `DocumentError` for a field that neither its own protocols nor these read.

    So is a setting of an execution where neither the scenario has a model nor one of `models` is
    played. A field that has its default is not meant. Cost: O(its size).
    """
    spoken = {*scenario.protocols, *protocols}
    for place, name, readers in _unread(scenario, spoken):
        known, others = " and ".join(sorted(readers)), " or ".join(sorted(spoken))
        words = f"{name!r} is read under {known} alone, not under {others}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, name))
    if scenario.execution_model is None and not {*models} - {NO_MODEL}:
        _has_defaults(scenario.broker.execution, ("broker", "execution"))


def _unread(
    settings: Any,  # noqa: ANN401 - a dataclass
    spoken: AbstractSet[str],
    place: Place = (),
) -> Iterator[tuple[Place, str, AbstractSet[str]]]:
    """Yield the place and name of each field that no protocol reads, and who would."""
    for name, key in keys_of(type(settings)).items():
        value = getattr(settings, name)
        readers = [one.protocols for one in key.marks if isinstance(one, ReadBy)]
        if readers and not readers[0] & spoken and value != key.default:
            yield place, name, readers[0]
        elif is_dataclass(value):
            yield from _unread(value, spoken, (*place, name))
        elif isinstance(value, tuple):
            for number, each in enumerate(value):
                if is_dataclass(each):
                    yield from _unread(each, spoken, (*place, name, number))


def for_protocol(scenario: Scenario, protocol: GroupProtocol) -> Scenario:
    """Return a scenario under another protocol, without the fields that are not read under it.

    Under its own it is left as it is. Cost: O(its size).
    """
    if protocol is scenario.protocol:
        return scenario
    return without_unread(replace(scenario, protocol=protocol))


def without_unread(scenario: Scenario) -> Scenario:
    """Return a scenario with defaults in the fields that none of its protocols reads."""
    return _without_unread(scenario, scenario.protocols)


def _without_unread(settings: T, spoken: AbstractSet[str]) -> T:
    changes: dict[str, Any] = {}
    for name, key in keys_of(type(settings)).items():
        value = getattr(settings, name)
        readers = [one.protocols for one in key.marks if isinstance(one, ReadBy)]
        if readers and not readers[0] & spoken:
            changes[name] = key.default
        elif is_dataclass(value):
            changes[name] = _without_unread(value, spoken)
        elif isinstance(value, tuple) and any(map(is_dataclass, value)):
            changes[name] = tuple(_without_unread(each, spoken) for each in value)
    return replace(settings, **changes) if changes else settings  # type: ignore[type-var]  # a dataclass


def _has_defaults(execution: ExecutionConfig | OtherGroups, place: Place) -> None:
    for name, key in keys_of(type(execution)).items():
        value = getattr(execution, name)
        if isinstance(value, OtherGroups):
            _has_defaults(value, (*place, name))
        elif value != key.default:
            words = f"{name!r} has no effect without a model (`model` in the same object)"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, name))


def _members_are_named(scenario: Scenario) -> None:
    require_members([member.name for member in scenario.members])


def _arrivals_are_members_of_their_own(scenario: Scenario) -> None:
    names = {each.name for each in scenario.members}
    expected = 0
    for number, each in enumerate(scenario.arrivals):
        place = ("arrivals", number)
        if each.until_ms <= each.from_ms:
            words = f"they end at {each.until_ms} ms, before they begin, at {each.from_ms} ms"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "until_ms"))
        if each.member.name in names:
            words = f"two kinds of members are named {each.member.name!r}"
            raise DocumentError(ErrorCode.REPEATED, words, (*place, "member", "name"))
        names.add(each.member.name)
        kind = f"{each.member.name}."
        taken = [one for one in names if one.startswith(kind) and one[len(kind) :].isdecimal()]
        if taken:
            words = f"one of them will be named {taken[0]!r}, as another member is"
            raise DocumentError(ErrorCode.REPEATED, words, (*place, "member", "name"))
        expected += (each.until_ms - each.from_ms) // each.every_ms
        if len(scenario.members) + expected > MEMBERS_MAX:
            words = f"about {expected} members would come; more than {MEMBERS_MAX} are too many"
            raise DocumentError(ErrorCode.TOO_LARGE, words, (*place, "every_ms"))


def _heartbeats_fit_sessions(scenario: Scenario) -> None:
    broker = scenario.broker
    interval, session = broker.consumer_heartbeat_interval_ms, broker.consumer_session_timeout_ms
    _session_is_longer(interval, session, ("broker",), "consumer_")
    for place, member in everybody(scenario):
        interval, session = member.heartbeat_interval_ms, member.session_timeout_ms
        _session_is_longer(interval, session, place, "")
        require_fitting(member, member.protocol or scenario.protocol, place)
    handlers = {each.name for each in scenario.members if each.runs_handlers}
    for number, action in enumerate(scenario.plan):
        if action.member in handlers and action.protocol not in {None, GroupProtocol.CLASSIC}:
            words = f"{action.member!r} runs handlers, which are of the classic protocol"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("plan", number, "protocol"))


def _session_is_longer(interval_ms: int, session_ms: int, place: Place, prefix: str) -> None:
    if session_ms <= interval_ms:
        words = (
            f"a session of {session_ms} ms is over before the next heartbeat, after "
            f"{interval_ms} ms"
        )
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, f"{prefix}session_timeout_ms"))


def _costs_are_counted(scenario: Scenario) -> None:
    if scenario.count_from_ms > scenario.until_ms:
        words = f"the run ends at {scenario.until_ms} ms, before costs are counted"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("count_from_ms",))


def _protocols_migrate(scenario: Scenario) -> None:
    if len(scenario.protocols) > 1 and not scenario.protocols <= MIGRATING:
        words = f"no group has members of {', '.join(sorted(scenario.protocols))}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("protocol",))


def _actions_concern_what_is_there(scenario: Scenario) -> None:
    names = {each.name for each in scenario.members}
    counts = dict(scenario.topics)
    for number, action in sorted(enumerate(scenario.plan), key=lambda each: each[1].at_ms):
        place = ("plan", number)
        row = VERBS[action.do]
        needs = {"at_ms", "do", *row.needs}
        _has_its_fields(action, f"{action.do.value!r}", needs, {*row.may}, place)
        if action.do is Verb.CREATE:
            _topic_is_created(counts, action, place)
        elif action.do is Verb.GROW:
            _topic_grows(counts, action, place)
        elif action.do is Verb.DELETE:
            if counts.pop(action.topic or "", None) is None:
                words = f"there is no topic {action.topic!r}{_near(action.topic, counts)}"
                raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))
        elif action.member not in names:
            words = f"there is no member {action.member!r}{_near(action.member, names)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "member"))
        elif action.do in {Verb.PAUSE, Verb.RESUME} and action.topic not in counts:
            words = f"there is no topic {action.topic!r}{_near(action.topic, counts)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))


def _assignors_can_be_listed(scenario: Scenario) -> None:
    """Refuse an assignor that the member's client does not have, and a name listed twice."""
    for start, member in everybody(scenario):
        names: set[str] = set()
        for position, name in enumerate(member.assignors):
            place = (*start, "assignors", position)
            assignor = assignor_at(name, place)
            if assignor.name in names:
                words = f"a member can list one assignor under the name {assignor.name!r}"
                raise DocumentError(ErrorCode.REPEATED, words, place)
            names.add(assignor.name)
            if member.client and assignor.user_data not in DIALECTS[member.client].forms:
                words = f"{member.client} has no assignor {assignor.name!r}"
                raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _topic_is_created(counts: dict[str, int], action: Action, place: Place) -> None:
    assert action.topic is not None, "as VERBS says"
    if action.topic in counts:
        words = f"there is a topic {action.topic!r} already"
        raise DocumentError(ErrorCode.REPEATED, words, (*place, "topic"))
    counts[action.topic] = 0
    _topic_grows(counts, action, place)


def _topic_grows(counts: dict[str, int], action: Action, place: Place) -> None:
    """Let a topic of `counts` grow; none ever gets fewer partitions."""
    before = counts.get(action.topic or "")
    if action.topic is None or before is None:
        words = f"there is no topic {action.topic!r}{_near(action.topic, counts)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))
    if not max(before, 1) <= action.partitions <= PARTITIONS_MAX:
        words = f"a topic with {before} partitions cannot have {action.partitions}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "partitions"))
    counts[action.topic] = action.partitions


SAME_THREAD = {FaultKind.STUCK: FaultKind.LONG_POLL}
"""A stuck application is one that does not poll."""


def _faults_can_happen(scenario: Scenario) -> None:
    names = {each.name for each in scenario.members}
    ends: dict[tuple[FaultKind, str | None], int] = {}
    for number, fault in sorted(enumerate(scenario.faults), key=lambda each: each[1].from_ms):
        place = ("faults", number)
        _fault_is_complete(fault, names, place)
        _transaction_commits_something(scenario, fault, place)
        _coordinator_can_fail(scenario, fault, place)
        is_coordinators = fault.kind in OF_THE_COORDINATOR
        kind = SAME_THREAD.get(fault.kind, fault.kind)
        key = (FaultKind.COORDINATOR_CRASH if is_coordinators else kind), fault.member
        is_one_at_a_time = is_coordinators or fault.kind in OF_A_MEMBER
        if is_one_at_a_time and fault.from_ms < ends.get(key, 0):
            whose = "the coordinator" if is_coordinators else repr(fault.member)
            words = f"{whose} has another {fault.kind.value} then"
            raise DocumentError(ErrorCode.REPEATED, words, (*place, "from_ms"))
        ends[key] = fault.until_ms


def _clients_have_threads(scenario: Scenario) -> None:
    """Refuse client models of the push protocol, and a stalled thread of a client without one."""
    for place, member in everybody(scenario):
        is_push = (member.protocol or scenario.protocol) is GroupProtocol.PUSH
        if member.client_model is not None and is_push:
            words = "members of the push protocol have no client models"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "client_model"))
    models = {each.name: each.client_model for each in scenario.members}
    for number, fault in enumerate(scenario.faults):
        is_without = models.get(fault.member or "") is None
        if fault.kind is FaultKind.STALLED_THREAD and is_without:
            words = f"which thread? {fault.member!r} has no client_model"
            raise DocumentError(ErrorCode.MISSING, words, ("faults", number, "kind"))


def _fault_is_complete(fault: Fault, names: set[str], place: Place) -> None:
    """Refuse a fault of nobody, one that never is, and one without its amount, by `FAULTS`."""
    row, kind = FAULTS[fault.kind], fault.kind.value
    if fault.member is None and row.scope is Scope.MEMBER:
        raise DocumentError(ErrorCode.MISSING, f"whose {kind}?", (*place, "member"))
    allowed = {*row.needs, *row.may, *(("member",) if row.scope is Scope.MEMBER else ())}
    if fault.member is not None and "member" in allowed and fault.member not in names:
        words = f"there is no member {fault.member!r}{_near(fault.member, names)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "member"))
    if "until_ms" in row.needs and fault.until_ms <= fault.from_ms:
        words = f"it begins at {fault.from_ms} ms, so it cannot end at {fault.until_ms} ms"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "until_ms"))
    _has_its_fields(fault, f"a {kind}", {"kind", "from_ms", *row.needs}, allowed, place)


def _has_its_fields(
    one: Action | Fault, what: str, needs: AbstractSet[str], may: AbstractSet[str], place: Place
) -> None:
    """Refuse a field that such an entry does not have, and one without a field that it needs."""
    for each in fields(one):
        is_given = getattr(one, each.name) != each.default
        if is_given and each.name not in needs | may:
            words = f"{what} has no {each.name}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, each.name))
        if not is_given and each.name in needs:
            words = f"{what} needs a {each.name}"
            raise DocumentError(ErrorCode.MISSING, words, (*place, each.name))


def _transaction_commits_something(scenario: Scenario, fault: Fault, place: Place) -> None:
    """Refuse a transaction without records, and a topic that is not there."""
    if fault.kind is not FaultKind.HANGING_TRANSACTION:
        return
    if not scenario.processing.is_on:
        words = "nobody commits offsets, as there are no records (processing.records_per_second)"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "kind"))
    if fault.topic is not None and fault.topic not in scenario.topics:
        words = f"there is no topic {fault.topic!r}{_near(fault.topic, scenario.topics)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "topic"))


def _coordinator_can_fail(scenario: Scenario, fault: Fault, place: Place) -> None:
    """Refuse a coordinator's fault of no broker, and one without a log to load."""
    brokers = scenario.broker.placement.brokers
    if fault.kind not in OF_THE_COORDINATOR:
        return
    if fault.broker is not None and fault.broker >= brokers:
        words = f"there are {brokers} brokers, numbered from 0"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "broker"))
    if scenario.protocol is GroupProtocol.PUSH:
        words = "the push protocol has no records from which another coordinator could go on"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "kind"))


def _commits_and_assignments_are_possible(scenario: Scenario) -> None:
    for topic in scenario.processing.topics:
        if topic not in scenario.topics:
            words = f"there is no topic {topic!r}{_near(topic, scenario.topics)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, ("processing", "topics", topic))
    for place, member in everybody(scenario):
        if member.auto_commit_ms and member.sync_commit_ms:
            words = "a member commits by itself or synchronously, not both"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "sync_commit_ms"))
        if member.assign and member.topics:
            words = "a consumer with assign() subscribes to nothing"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "topics"))
        for name in ("assign", "owned"):
            for topic, numbers in getattr(member, name).items():
                count = scenario.topics.get(topic, 0)
                if not all(each < count for each in numbers) or len(set(numbers)) < len(numbers):
                    words = f"{list(numbers)} are not different partitions of {count}"
                    raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, name, topic))


def _push_can_run(scenario: Scenario) -> None:
    """Check the settings of the push protocol, where a group uses it."""
    if scenario.protocol is not GroupProtocol.PUSH:
        return
    broker, push, place = scenario.broker, scenario.broker.push, ("broker", "push")
    if assignor_named(broker.assignor).is_cooperative:
        words = f"{broker.assignor} leaves partitions to a next round, which push does not have"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("broker", "assignor"))
    for where, member in everybody(scenario):
        if member.pattern is not None:
            words = "members of the push protocol subscribe to topics by name"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*where, "pattern"))
    slowest = max(member.heartbeat_interval_ms for _, member in everybody(scenario))
    if 0 < push.lease_ms <= slowest:
        words = f"a lease of {push.lease_ms} ms ends before the next heartbeat, after {slowest} ms"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "lease_ms"))


def _requests_can_be_executed(scenario: Scenario) -> None:
    """Refuse other groups that stop asking before they begin."""
    others = scenario.broker.execution.others
    if others.until_ms is not None and others.until_ms <= others.from_ms:
        words = f"they stop at {others.until_ms} ms, before they begin, at {others.from_ms} ms"
        place = ("broker", "execution", "others", "until_ms")
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)


def _near(name: str | None, known: Iterable[str]) -> str:
    return "" if name is None else suggestion(name, sorted(known))


CHECKS: tuple[Callable[[Scenario], None], ...] = (
    _members_are_named,
    _arrivals_are_members_of_their_own,
    _heartbeats_fit_sessions,
    _costs_are_counted,
    _push_can_run,
    _protocols_migrate,
    _actions_concern_what_is_there,
    _assignors_can_be_listed,
    _commits_and_assignments_are_possible,
    _faults_can_happen,
    _clients_have_threads,
    _requests_can_be_executed,
)
