"""Named scenarios: what happens to groups, with the figures that every run of each must give.

`scenarios/NAME.json` is a scenario document, which `simulate` plays wherever it is
copied. `expected.json` lists the names by chapter: what each shows and why, the protocols that it
is for, and bounds of its figures under each protocol, whatever the seed. A new scenario is a file,
and an entry there; `python -m tests.docs.expected_figures NAME --write` measures its figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from assignors.documents.values import Document
from assignors.names.nearest import question
from assignors.simulation.timed.possible import for_protocol
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.scenario_document import scenario_from_document

Figures = Mapping[str, Any]
"""Field of `TimedResult` -> the value it must have, or the least and the greatest as a tuple."""

SOUND: Figures = {
    "is_settled": True,
    "double_partition_ms": 0,
    "members_failed": 0,
    "stopped_by": None,
}
"""What every run must give whose figures do not say otherwise."""
FOLDER = files(__package__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedScenario:
    """A scenario of the gallery, and what must come out."""

    name: str
    chapter: str
    shows: str
    """What happens in it, in a sentence."""
    why: str
    """Why its figures are what they are."""
    expected: Mapping[GroupProtocol, Figures]
    """The protocols it is meant for, and the figures under each, whatever the seed."""

    @property
    def text(self) -> str:
        """What it shows, an empty line, and why."""
        return f"{self.shows}\n\n{self.why}"

    def document(self) -> Document:
        """Return its JSON document, as its file has it."""
        path = FOLDER / "scenarios" / f"{self.name}.json"
        document: Document = json.loads(path.read_text(encoding="utf-8"))
        return document

    def scenario(self) -> Scenario:
        """Return it for its first protocol."""
        return scenario_from_document(self.document(), protocols=tuple(self.expected))


def _gallery() -> dict[str, NamedScenario]:
    chapters = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    return {
        name: NamedScenario(
            name=name,
            chapter=chapter["title"],
            shows=entry["shows"],
            why=entry["why"],
            expected={
                GroupProtocol(protocol): {
                    figure: tuple(value) if isinstance(value, list) else value
                    for figure, value in figures.items()
                }
                for protocol, figures in entry["expected"].items()
            },
        )
        for chapter in chapters
        for name, entry in chapter["scenarios"].items()
    }


GALLERY: Mapping[str, NamedScenario] = _gallery()
"""Name -> what it shows, and what must come out. A scenario's file is read when it is asked for."""


def named(name: str, *, seed: int = 0, protocol: GroupProtocol | None = None) -> Scenario:
    """Return a scenario of the gallery, for its first protocol unless one is given.

    Raises `ValueError`, with the known names, for another name.

    >>> named("crash").plan[0].do.value
    'crash'
    """
    if name not in GALLERY:
        words = question(name, GALLERY)
        raise ValueError(f"no scenario {name!r}{words or ';'} known: {', '.join(GALLERY)}")
    scenario = replace(GALLERY[name].scenario(), seed=seed)
    return scenario if protocol is None else for_protocol(scenario, protocol)


def unexpected(name: str, result: TimedResult, protocol: GroupProtocol) -> dict[str, Any]:
    """Return the figures of a run that are not the expected ones, with their values.

    Raises `KeyError` for a protocol that the scenario is not meant for.
    """
    wanted = {**SOUND, **GALLERY[name].expected[protocol]}
    values = {figure: getattr(result, figure) for figure in wanted}
    return {figure: value for figure, value in values.items() if not _fits(value, wanted[figure])}


def _fits(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - figures have several types
    if isinstance(wanted, tuple):
        least, greatest = wanted
        return bool(least <= value <= greatest)
    return bool(value == wanted)
