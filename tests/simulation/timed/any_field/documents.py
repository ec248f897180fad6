"""Documents of scenarios drawn at random: any field, and anything that can happen, often at once.

A document begins as a small group that only starts, and is edited step by step. An edit after which
the scenario could not happen is left out, so whatever is drawn can be run.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeVar

from hypothesis import strategies as st

from assignors.documents.values import DocumentError
from assignors.simulation.timed.scenario import FaultKind, Verb
from assignors.simulation.timed.scenario.faults import (
    BY_CHANCE,
    FAULTS,
    LONGER,
    OF_A_MEMBER,
    OF_THE_COORDINATOR,
    Scope,
)
from assignors.simulation.timed.scenario_document import scenario_from_document
from tests.simulation.timed.any_field import settings

Document = dict[str, Any]
Place = tuple[str | int, ...]
Edit = tuple[Place, Document]
"""Where settings go, and which: at the place of a list they are one more entry of it."""
T = TypeVar("T")

EDITS_MAX = 12
"""Of each kind."""
TOPICS = ("t", "u", "later")
MOMENTS_MS = (10_000, 10_000, 10_001, 12_790, 15_000, 20_000, 20_500, 0, 100, 5000)
"""Few, so that things happen at the same time; most come when the group is at rest."""
SOMETIMES = ({"poll_ms": 0}, {"poll_ms": 4000}, {"instance_id": "i0"}, {"metadata_age_ms": 1})
VERBS = (Verb.DELETE, Verb.GROW, Verb.GROW, Verb.START, Verb.CRASH, Verb.SUBSCRIBE, *Verb)
"""Most often what begins rebalances."""
LAST_MS = [1, 500, 4000, 8000, 20_000, 60_000]
ASSIGNORS = (
    *("optimal/sticky", "optimal/cooperative-sticky"),
    *("java/range", "java/sticky", "java/cooperative-sticky"),
)
"""Of most groups."""
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

ODD = st.booleans()
moments = st.one_of(
    *[st.sampled_from(MOMENTS_MS)] * 5,
    st.builds(int.__add__, st.sampled_from(MOMENTS_MS), st.integers(0, 5000)),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A scenario as a document. Half of them have few odd settings: others rarely come to rest."""
    names = [f"c{number}" for number in range(draw(st.sampled_from([2, 3, 4, 5, 6, 1])))]
    assignor = draw(st.sampled_from(ASSIGNORS))
    records = draw(st.sampled_from([{}, {}, {"records_per_second": 5}]))
    commits = draw(st.sampled_from([{}, {"auto_commit_ms": 1000}, {"sync_commit_ms": 200}]))
    document: Document = {
        "version": 1,
        "until_ms": draw(st.sampled_from([22_000, 40_000, 70_000])),
        "topics": {"t": 3, "u": 1},
        "protocol": draw(st.sampled_from(["classic", "consumer", "consumer", "push"])),
        "members": [draw(members(name, assignor)) | (records and commits) for name in names],
        "processing": records,
        **{key: [] for key in ("plan", "faults", "arrivals")},
    }
    for edit in [*(draw(odd_settings(names)) if draw(ODD) else []), *draw(happenings(names))]:
        document = edited(document, edit)
    return document


@st.composite
def members(draw: st.DrawFn, name: str, assignor: str) -> Document:
    """A member as others are, but for what it subscribes to, and when it starts and polls."""
    member: Document = {"name": name, "assignors": [assignor]}
    member["topics"] = draw(st.sampled_from([["t"], ["t"], ["u"], ["t", "u"], []]))
    member["starts_at_ms"] = draw(st.sampled_from([0, 0, 0, 7, 1250, 3000, None]))
    return member | draw(st.sampled_from([*[{}] * 8, *SOMETIMES]))


@st.composite
def odd_settings(draw: st.DrawFn, names: list[str]) -> list[Edit]:
    """Settings of all members alike, of some members, and of everything else."""
    any_setting = st.sampled_from(settings.MEMBER)
    anyone = st.integers(0, len(names) - 1)
    return [
        *(
            (("members", number), each)
            for each in draw(_some(any_setting))
            for number in range(len(names))
        ),
        *draw(_some(st.tuples(st.tuples(st.just("members"), anyone), any_setting))),
        *draw(_some(st.one_of([_at(at, st.sampled_from(each)) for at, each in PARTS.items()]))),
        *draw(st.lists(_at(("arrivals",), arrivals()), max_size=1)),
    ]


@st.composite
def happenings(draw: st.DrawFn, names: list[str]) -> list[Edit]:
    """What happens to members, topics and the coordinator."""
    planned = _at(("plan",), actions(names))
    return [
        *draw(st.lists(planned, min_size=draw(st.sampled_from([0, 4, 8])), max_size=EDITS_MAX)),
        *draw(_some(_at(("faults",), faults(names)))),
    ]


@st.composite
def actions(draw: st.DrawFn, names: list[str]) -> Document:
    """Something that happens to a member or to a topic."""
    verb = draw(st.sampled_from(VERBS))
    action: Document = {"at_ms": draw(moments), "do": verb.value}
    if verb in {Verb.CREATE, Verb.GROW, Verb.DELETE, Verb.PAUSE, Verb.RESUME}:
        action["topic"] = draw(st.sampled_from(TOPICS))
    if verb in {Verb.CREATE, Verb.GROW}:
        action["partitions"] = draw(st.sampled_from([4, 5, 6, 2, 13]))
    if verb not in {Verb.CREATE, Verb.GROW, Verb.DELETE}:
        action["member"] = draw(st.sampled_from(names))
    if verb is Verb.SUBSCRIBE:
        action["topics"] = draw(st.lists(st.sampled_from(TOPICS), max_size=2, unique=True))
    if verb is Verb.START and draw(st.integers(0, 3)) == 3:
        action["protocol"] = draw(st.sampled_from(["classic", "consumer"]))
    return action


@st.composite
def faults(draw: st.DrawFn, names: list[str]) -> Document:
    """A fault of any kind."""
    kind = draw(st.sampled_from(FaultKind))
    fault: Document = {"kind": kind.value, "from_ms": draw(moments)}
    if kind is not FaultKind.LOST_GENERATION:
        fault["until_ms"] = fault["from_ms"] + draw(st.sampled_from(LAST_MS))
    is_of_one = FAULTS[kind].scope is Scope.NETWORK and draw(st.booleans())
    if kind in OF_A_MEMBER or is_of_one:
        fault["member"] = draw(st.sampled_from(names))
    if kind in LONGER:
        fault["by_ms"] = draw(st.sampled_from([1, 10, 3000, 20_000]))
    if kind in BY_CHANCE:
        fault["percent"] = draw(st.sampled_from([100, 50, 5, 0.1]))
    if kind in OF_THE_COORDINATOR:
        fault |= draw(st.sampled_from([{}, {"by_ms": 1}, {"by_ms": 5000}, {"broker": 0}]))
    if kind is FaultKind.DUPLICATE:
        fault |= draw(st.sampled_from([{}, {"by_ms": 10}, {"by_ms": 5000}]))
    if kind is FaultKind.CUT:
        fault |= draw(st.sampled_from([{}, {"direction": "requests"}, {"direction": "answers"}]))
    if kind is FaultKind.HANGING_TRANSACTION:
        fault |= draw(st.sampled_from([{}, {"topic": "t"}]))
    return fault


@st.composite
def arrivals(draw: st.DrawFn) -> Document:
    """Short-lived members of one kind."""
    document: Document = {"every_ms": 5000, "lifetime_ms": 1000, "until_ms": 60_000}
    for entry in draw(_some(st.sampled_from(settings.ARRIVALS))):
        document |= entry
    member: Document = {"name": "job", "topics": ["t"]}
    for entry in draw(_some(st.sampled_from(settings.MEMBER))):
        member |= entry
    return document | {"member": member}


def edited(document: Document, edit: Edit) -> Document:
    """Return the document after an edit, or as it is if the scenario could not happen then."""
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
        scenario_from_document(changed)
    except DocumentError:
        return document
    return changed


def _some(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    """Return none, or few, or in half of the cases up to many."""
    sizes = st.sampled_from([0, 2, EDITS_MAX, EDITS_MAX])
    return sizes.flatmap(lambda size: st.lists(strategy, max_size=size))


def _at(place: Place, entries: st.SearchStrategy[Document]) -> st.SearchStrategy[Edit]:
    return st.tuples(st.just(place), entries)
