"""What a step of a member or the coordinator makes of a world.

What a step leads to is remembered: most worlds are made of parts that other worlds have too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignors.simulation.timed.explore.merging import (
    merge_coordinator,
    merge_member,
)
from assignors.simulation.timed.explore.world import (
    MEMBERS_MAX,
    Findings,
    Model,
    Step,
    Stepped,
    Timers,
    World,
    clients_of,
    held_by,
    member_of,
    put,
    unthreaded,
    view,
)
from assignors.simulation.timed.monitors.coordinators import GROUP, Folded, compacted, folded
from assignors.simulation.timed.monitors.rules import (
    GroupMoment,
    MemberMoment,
    consumption_after,
    epochs_between,
    gives_plan,
)
from assignors.simulation.timed.monitors.table import broken, findings_of, state_found
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
    Reply,
    Response,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, HeartbeatResponse
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.protocols.state_values import cloned


def step_member(
    model: Model, world: World, member: int, event: MemberEvent, message: int = 0
) -> Stepped:
    """Return what a member's step leads to, its effects done.

    `message` is the number of the answer that it is about.
    """
    still_open = world.open[member]
    what = (event.number, message) if isinstance(event, Answered) else event
    memo = (world.members[member], what, still_open)
    step = model.member_steps.get(memo)
    if step is None:
        step = model.member_steps[memo] = _stepped_member(model, memo[0], event, still_open)
    seen = (world.does[member], memo)
    seeing = model.does_steps.get(seen)
    if seeing is None:
        seeing = model.does_steps[seen] = _seen_member(model, world, member, event, step)
    does, found = seeing
    sent = {number for number, _ in step.messages}
    held = held_by(model.members.values[step.state])
    handled = held_by(model.members.values[memo[0]]) - world.dead[member]
    is_open = (still_open - handled) | held | sent
    made = world._replace(
        members=put(world.members, member, step.state),
        does=put(world.does, member, does),
        requests=put(world.requests, member, (*world.requests[member], *step.messages)),
        open=put(world.open, member, is_open),
        member_timers=put(
            world.member_timers, member, _timers(world.member_timers[member], event, step.effects)
        ),
    )
    if not member_of(model, made, member).is_up and not made.starts[member]:
        made = made._replace(members=put(made.members, member, model.gone[member]))
    if not member_of(model, made, member).is_up:
        made = made._replace(
            dead=put(made.dead, member, made.open[member]), answers=put(made.answers, member, ())
        )
        made = _closed(made, member, {own for own, _ in world.answers[member]})
    return Stepped(made, model.names[member], event, step.effects, found, judged(model, made))


def deliver(model: Model, world: World, member: int) -> Stepped:
    """Let a member handle the first answer on its way to it."""
    (own, message), *rest = world.answers[member]
    after = world._replace(
        answers=put(world.answers, member, tuple(rest)),
        open=put(world.open, member, world.open[member] - {own}),
    )
    answered = Answered(own, model.messages.values[message])
    return step_member(model, after, member, answered, message)


def _stepped_member(
    model: Model, number: int, event: MemberEvent, still_open: frozenset[int]
) -> Step:
    state = cloned(model.members.values[number])
    for client in clients_of(state):
        client.number = max(still_open, default=0)
    effects = model.step_member(state, event)
    messages = tuple(
        (each.number, model.messages.number_of(each.request))
        for each in effects
        if isinstance(each, Send)
    )
    _forget_numbers(state, still_open | held_by(state) | {own for own, _ in messages})
    merge_member(state)
    return Step(model.members.number_of(state), effects, messages)


def _seen_member(
    model: Model, world: World, member: int, event: MemberEvent, step: Step
) -> tuple[int, Findings]:
    """Return the number of what the member does after a step, and what is wrong with the step."""
    name, before = model.names[member], model.does.values[world.does[member]]
    after = consumption_after(before, event, step.effects)
    generation = member_of(model, world, member).generation
    generation_after = unthreaded(model.members.values[step.state]).generation
    findings = [*findings_of("callbacks-overlap", name, before, event, step.effects)]
    if generation_after > 0:
        findings += findings_of("epoch-went-back", name, generation, generation_after)
    return model.does.number_of(after), tuple(findings)


def step_coordinator(
    model: Model, world: World, event: CoordinatorEvent, message: int = 0
) -> Stepped:
    """Return what a step of the coordinator leads to, its effects done.

    `message` is the number of the request that it is about.
    """
    what = (event.number, message) if isinstance(event, Arrived) else event
    memo = (world.coordinator, what, world.appends)
    step = model.coordinator_steps.get(memo)
    if step is None:
        step = model.coordinator_steps[memo] = _stepped_coordinator(model, world, event)
    seen = (step.number, world.log, world.members if step.gives else ())
    seeing = model.log_steps.get(seen)
    if seeing is None:
        seeing = model.log_steps[seen] = _seen_coordinator(model, world, step)
    log, found = seeing
    tokens = [each.token for each in step.effects if isinstance(each, Append)]
    replicated, tail = _written(model, world, event, step.effects)
    made = world._replace(
        replicated=replicated,
        tail=tail,
        coordinator=step.state,
        log=log,
        timers=_timers(world.timers, event, step.effects),
        appends=(*world.appends, *tokens),
    )
    for number, answer in step.messages:
        made, is_double = _answered(model, made, number, answer)
        if is_double:
            found = (*found, *findings_of("answered-twice", number, {number}))
    return Stepped(made, None, event, step.effects, found, judged(model, made))


def _written(
    model: Model, world: World, event: CoordinatorEvent, effects: Sequence[Effect]
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return what the log has and what is to be replicated after a step, while that matters."""
    if not world.failovers:
        return 0, ()
    replicated, tail = world.replicated, dict(world.tail)
    if isinstance(event, Committed):
        batch = model.records.values[tail.pop(event.token)]
        before = model.records.values[replicated]
        replicated = model.records.number_of(compacted((*before, *batch)))
    for effect in effects:
        if isinstance(effect, Append):
            tail[effect.token] = model.records.number_of(effect.records)
    return replicated, tuple(tail.items())


def lose_coordinator(model: Model, world: World) -> World:
    """Return the world after a failover: all that was on its way is lost, members do not know yet.

    The next coordinator has loaded what was replicated; what waits for an answer is still `open`.
    """
    records = model.records.values[world.replicated]
    state = cloned(model.coordinators.values[world.coordinator])
    timers = load(state, restored(records))
    nothing: tuple[Any, ...] = ((),) * len(world.members)
    still_open = tuple(o - gone for o, gone in zip(world.open, world.dead, strict=True))
    return world._replace(
        coordinator=model.coordinators.number_of(state),
        log=model.logs.number_of(folded({}, records)),
        requests=nothing,
        answers=nothing,
        open=still_open,
        dead=still_open,
        appends=(),
        timers=frozenset((each.key, each.data) for each in timers),
        failovers=world.failovers - 1,
        replicated=world.replicated if world.failovers > 1 else 0,
        tail=(),
    )


def _stepped_coordinator(model: Model, world: World, event: CoordinatorEvent) -> Step:
    state = cloned(model.coordinators.values[world.coordinator])
    state.tokens = max(world.appends, default=0)
    effects = model.step_coordinator(state, event)
    state.tokens = 0
    merge_coordinator(state)
    messages = tuple(
        (each.number, model.messages.number_of(each.response))
        for each in effects
        if isinstance(each, Reply)
    )
    number, gives = len(model.coordinator_steps), any(map(gives_plan, effects))
    return Step(model.coordinators.number_of(state), effects, messages, number, gives)


def _seen_coordinator(model: Model, world: World, step: Step) -> tuple[int, Findings]:
    """Return the number of what the records say after a step, and what is wrong with the step."""
    log: Folded = model.logs.values[world.log]
    before, after = view(model, world.coordinator), view(model, step.state)
    records = [r for each in step.effects if isinstance(each, Append) for r in each.records]
    said = folded(log, records)
    findings = (
        *(
            each
            for two in epochs_between(before, after)
            for each in findings_of("epoch-went-back", *two)
        ),
        *state_found(said, step.effects, after, _moments(model, world)),
        *findings_of("generation-given-twice", log.get(GROUP), said.get(GROUP)),
    )
    return model.logs.number_of(said), findings


def _forget_numbers(state: Any, still_open: frozenset[int]) -> None:  # noqa: ANN401
    """Forget the numbers of requests that nobody answers any more."""
    for client in clients_of(state):
        client.number = 0
        for name, none in (("awaited", 0), ("in_flight", None)):
            if hasattr(client, name) and getattr(client, name) not in still_open:
                setattr(client, name, none)


def _answered(model: Model, world: World, number: int, answer: int) -> tuple[World, bool]:
    """Put an answer on its way; return also whether the request had been answered before."""
    own, member = divmod(number, MEMBERS_MAX)
    answered = {each for each, _ in world.answers[member]}
    if own not in world.open[member] or own in answered:
        return world, True
    response, state = model.messages.values[answer], member_of(model, world, member)
    if own in world.dead[member] or brings_nothing(response, state):
        held = held_by(model.members.values[world.members[member]])
        return _closed(world, member, {own} - held), False
    answers = put(world.answers, member, (*world.answers[member], (own, answer)))
    return world._replace(answers=answers), False


def brings_nothing(response: Response, member: Any) -> bool:  # noqa: ANN401 - of any protocol
    """Return whether a member does nothing about an answer, whenever it arrives.

    One that has lost its connection learns by it that the next one is good.
    """
    is_plain = isinstance(response, HeartbeatResponse) and response.error is ErrorCode.NONE
    return is_plain and clients_of(member)[0].is_connected  # it speaks the classic protocol


def _closed(world: World, member: int, numbers: set[int]) -> World:
    return world._replace(
        open=put(world.open, member, world.open[member] - numbers),
        dead=put(world.dead, member, world.dead[member] - numbers),
    )


def _timers(
    running: Timers, event: MemberEvent | CoordinatorEvent, effects: Sequence[Effect]
) -> Timers:
    by_key = dict(running)
    if isinstance(event, Fired):
        by_key.pop(event.key, None)
    for effect in effects:
        if type(effect) is Schedule:
            by_key[effect.key] = effect.data
        elif type(effect) is Cancel:
            by_key.pop(effect.key, None)
    after = frozenset(by_key.items())
    return running if after == running else after


def _moments(model: Model, world: World) -> tuple[MemberMoment, ...]:
    states = [unthreaded(model.members.values[number]) for number in world.members]
    return tuple(
        MemberMoment(
            name=name,
            member_id=state.member_id,
            generation=state.generation,
            owned=state.owned,
            does=model.does.values[does],
        )
        for name, state, does in zip(model.names, states, world.does, strict=True)
        if state.is_up
    )


def judged(model: Model, world: World) -> Findings:
    """Return what is wrong with a moment."""
    parts = (world.coordinator, world.members, world.does)
    found = model.judged.get(parts)
    if found is None:
        seen = view(model, world.coordinator)
        moment = GroupMoment(
            members=_moments(model, world),
            known=seen.known,
            target=seen.target,
            target_epoch=seen.target_epoch,
            unstable=seen.unstable,
        )
        found = model.judged[parts] = tuple(broken(moment))
    return found
