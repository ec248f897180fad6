"""Random scenarios: any field, any fault, and whatever else can happen, often at the same time.

A document begins as a small group that only starts, and is edited step by step. An edit that makes
the scenario impossible is left out, so whatever is drawn can be run. Moments are few, so that many
things happen at the same time; most come when the group is at rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from assignors.documents.values import DocumentError
from assignors.own_assignors.importing import is_import_path
from assignors.simulation.dice import Dice
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.explore import settings
from assignors.simulation.timed.faults.live import FAULTS, Scope
from assignors.simulation.timed.scenario import ClientModel, FaultKind, GroupProtocol, Verb
from assignors.simulation.timed.scenario.faults import Direction
from assignors.simulation.timed.scenario_document import scenario_from_document

Document = dict[str, Any]
Place = tuple[str | int, ...]
Edit = tuple[Place, Document]
"""Where settings go, and which: at the place of a list they are one more entry of it."""

EDITS_MAX = 12
"""Of each kind."""
TOPICS = ("t", "u", "later")
MOMENTS_MS = (10_000, 10_000, 10_001, 12_790, 15_000, 20_000, 20_500, 0, 100, 5000)
RARE: tuple[Document, ...] = (
    *[{}] * 8,
    {"poll_ms": 0},
    {"poll_ms": 4000},
    {"instance_id": "i0"},
    {"metadata_age_ms": 1},
)
VERBS = (Verb.DELETE, Verb.GROW, Verb.GROW, Verb.START, Verb.CRASH, Verb.SUBSCRIBE, *Verb)
"""Most often what begins rebalances."""
FAULT_VALUES: dict[str, tuple[Any, ...]] = {
    "until_ms": (1, 500, 4000, 8000, 20_000, 60_000),
    "by_ms": (1, 10, 3000, 20_000),
    "percent": (100, 50, 5, 0.1),
    "direction": tuple(each.value for each in Direction),
    "broker": (0,),
    "topic": ("t",),
}
"""Field of a fault -> its values; `until_ms` counts from its beginning."""
ASSIGNORS = (
    *("optimal/sticky", "optimal/cooperative-sticky"),
    *("java/range", "java/sticky", "java/cooperative-sticky"),
)
"""Of most groups."""
PROTOCOLS = (
    GroupProtocol.CLASSIC,
    GroupProtocol.CONSUMER,
    GroupProtocol.CONSUMER,
    GroupProtocol.PUSH,
)
PARTS: dict[Place, list[Document]] = {
    (): settings.RUN,
    ("broker",): settings.BROKER,
    ("broker", "placement"): settings.PLACEMENT,
    ("broker", "push"): settings.PUSH,
    ("broker", "execution"): settings.EXECUTION,
    ("broker", "execution", "others"): settings.OTHERS,
    ("network",): settings.NETWORK,
    ("processing",): settings.PROCESSING,
}
"""Place -> settings there, of what there is once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What scenarios are drawn from; by default everything that keeps the rules."""

    protocols: tuple[GroupProtocol, ...] = ()
    """Protocols of groups and members."""
    assignors: tuple[str, ...] = ()
    """Assignors of members: a group has one of these."""
    clients: tuple[ClientModel, ...] = ()
    """Client models: members have one of these, or none."""
    has_rule_breakers: bool = False
    """Whether settings are drawn that break rules by themselves (`settings.BREAK_RULES`)."""
    has_odd_settings: bool = True
    """Whether any other setting is drawn (`settings`). Without these every group comes to rest."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for assignors that no member of these groups could have."""
        for name in self.assignors:
            if name.startswith("server/"):
                raise ValueError(f"{name} assigns in the broker; assignors are drawn for members")
        if self.assignors and self.protocols and GroupProtocol.CLASSIC not in self.protocols:
            raise ValueError("members have assignors in classic groups alone: add that protocol")

    @property
    def drawn_protocols(self) -> tuple[GroupProtocol, ...]:
        """The protocols that groups have: with assignors of members, classic alone."""
        if self.assignors and not self.protocols:
            return (GroupProtocol.CLASSIC,)
        return self.protocols or PROTOCOLS

    @property
    def own_assignors(self) -> frozenset[str]:
        """Those of somebody's own, which are imported."""
        return frozenset(filter(is_import_path, self.assignors))

    def allow(self, setting: Document) -> bool:
        """Return whether settings stay within the choices."""
        if not self.has_rule_breakers and setting in settings.BREAK_RULES:
            return False
        if setting.get("protocol", self.drawn_protocols[0]) not in self.drawn_protocols:
            return False
        if self.assignors and setting.keys() & {"assignors", "client"}:
            return False
        return not self.clients or setting.get("client_model", self.clients[0]) in self.clients


EVERYTHING = Choices(has_rule_breakers=True)
LAWFUL = Choices()
PLAIN = Choices(has_odd_settings=False)


def random_document(seed: int, choices: Choices = LAWFUL) -> Document:
    """Return a scenario as a document, always the same for a seed.

    Half of them have few odd settings: others rarely come to rest. Cost: about 20 ms, as each edit
    is checked.

    >>> random_document(3) == random_document(3) != random_document(4)
    True
    """
    dice = Dice(seed)
    names = [f"c{number}" for number in range(dice.pick((2, 3, 4, 5, 6, 1)))]
    assignor = dice.pick(choices.assignors or ASSIGNORS)
    records: Document = dice.pick(({}, {}, {"records_per_second": 5}))
    commits: Document = dice.pick(({}, {"auto_commit_ms": 1000}, {"sync_commit_ms": 200}))
    common = commits if records else {}
    until_ms = dice.pick((22_000, 40_000, 70_000))
    protocol = dice.pick(choices.drawn_protocols)
    if protocol is GroupProtocol.CLASSIC:
        common = {"assignors": [assignor], **common}
    document: Document = {
        "version": 1,
        "seed": seed,
        "until_ms": until_ms,
        "topics": {"t": 3, "u": 1},
        "protocol": protocol.value,
        "members": [_member(dice, name) | common for name in names],
        "processing": records,
        **{key: [] for key in ("plan", "faults", "arrivals")},
    }
    like = {"assignors": [assignor]} if choices.assignors else {}
    is_odd = dice.chance(50) and choices.has_odd_settings
    odd = _odd_settings(dice, names, like, choices) if is_odd else ()
    rare = [(("members", number), dice.pick(RARE)) for number in range(len(names))]
    for edit in (*rare, *_models(dice, names, choices), *odd, *_happenings(dice, names, choices)):
        if choices.allow(edit[1]):
            document = edited(document, edit, choices.own_assignors)
    return document


def _member(dice: Dice, name: str) -> Document:
    """Return a member like the others, except for its topics, its start and its polls."""
    return {
        "name": name,
        "topics": dice.pick((["t"], ["t"], ["u"], ["t", "u"])),
        "starts_at_ms": dice.pick((0, 0, 0, 7, 1250, 3000, None)),
    }


def _models(dice: Dice, names: Sequence[str], choices: Choices) -> Iterator[Edit]:
    """Yield the client model of all members and the execution model of the coordinator."""
    if choices.clients or dice.chance(40):
        model = dice.pick(choices.clients or tuple(ClientModel)).value
        yield from ((("members", number), {"client_model": model}) for number in range(len(names)))
    if dice.chance(30):
        yield ("broker", "execution"), {"model": dice.pick(tuple(POLICIES))}


def _odd_settings(
    dice: Dice, names: Sequence[str], like: Document, choices: Choices
) -> Iterator[Edit]:
    """Yield settings of all members alike, of some members, and of everything else."""
    for _ in range(_few_or_many(dice)):
        setting = dice.pick(settings.MEMBER)
        yield from ((("members", number), setting) for number in range(len(names)))
    for _ in range(_few_or_many(dice)):
        yield ("members", dice.below(len(names))), dice.pick(settings.MEMBER)
    for _ in range(_few_or_many(dice)):
        place = dice.pick(tuple(PARTS))
        yield place, dice.pick(PARTS[place])
    if dice.chance(50):
        yield ("arrivals",), _arrivals(dice, like, choices)


def _happenings(dice: Dice, names: Sequence[str], choices: Choices) -> Iterator[Edit]:
    """Yield what happens to members, topics and the coordinator."""
    for _ in range(dice.pick((0, 4, 8)) + dice.below(5)):
        yield ("plan",), _action(dice, names, least=0 if choices.has_rule_breakers else 1)
    for _ in range(_few_or_many(dice)):
        yield ("faults",), _fault(dice, names)


def _action(dice: Dice, names: Sequence[str], least: int) -> Document:
    """Return an action of the plan; who subscribes anew does so to `least` topics or more."""
    verb = dice.pick(VERBS)
    action: Document = {"at_ms": _moment(dice), "do": verb.value}
    if verb in {Verb.CREATE, Verb.GROW, Verb.DELETE, Verb.PAUSE, Verb.RESUME}:
        action["topic"] = dice.pick(TOPICS)
    if verb in {Verb.CREATE, Verb.GROW}:
        action["partitions"] = dice.pick((4, 5, 6, 2, 13))
    if verb not in {Verb.CREATE, Verb.GROW, Verb.DELETE}:
        action["member"] = dice.pick(names)
    if verb is Verb.SUBSCRIBE:
        action["topics"] = dice.sample(TOPICS, least + dice.below(3 - least))
    if verb is Verb.START and dice.chance(25):
        action["protocol"] = dice.pick(("classic", "consumer"))
    return action


def _fault(dice: Dice, names: Sequence[str]) -> Document:
    """Return a fault of any kind, with the fields that its row has."""
    kind = dice.pick(tuple(FaultKind))
    row = FAULTS[kind]
    fault: Document = {"kind": kind.value, "from_ms": _moment(dice)}
    if row.scope is Scope.MEMBER:
        fault["member"] = dice.pick(names)
    for field in (*row.needs, *(each for each in row.may if dice.chance(50))):
        fault[field] = dice.pick(names if field == "member" else FAULT_VALUES[field])
    if "until_ms" in fault:
        fault["until_ms"] += fault["from_ms"]
    return fault


def _arrivals(dice: Dice, like: Document, choices: Choices) -> Document:
    """Return short-lived members of one kind."""
    document: Document = {"every_ms": 5000, "lifetime_ms": 1000, "until_ms": 60_000}
    for _ in range(_few_or_many(dice)):
        document |= dice.pick(settings.ARRIVALS)
    member: Document = {**like, "name": "job", "topics": ["t"]}
    for _ in range(_few_or_many(dice)):
        setting = dice.pick(settings.MEMBER)
        member |= setting if choices.allow(setting) else {}
    return document | {"member": member}


def edited(document: Document, edit: Edit, own_assignors: Collection[str] = ()) -> Document:
    """Return the document after an edit, or as it is if the scenario would be impossible."""
    place, entry = edit
    changed = deepcopy(document)
    part: Any = changed
    for key in place:
        part = part.setdefault(key, {}) if isinstance(part, dict) else part[key]
    if isinstance(part, list):
        part.append(entry)
    else:
        part.update(entry)
    try:
        scenario_from_document(changed, own_assignors=own_assignors)
    except DocumentError:
        return document
    return changed


def _moment(dice: Dice) -> int:
    return dice.pick(MOMENTS_MS) + (dice.below(5001) if dice.chance(15) else 0)


def _few_or_many(dice: Dice) -> int:
    """Return a number of edits: none, few, or in half of the cases up to many."""
    return dice.below(dice.pick((0, 2, EDITS_MAX, EDITS_MAX)) + 1)
