"""The runs that `simulate --scenario` is asked for: every variant with every seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from assignors.cli.commands.simulating.rounds import require_seeds
from assignors.cli.commands.simulating.timed.options import TimedOptions
from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.option_files.json_file import read_json_file
from assignors.cli.inputs.typed.choices import names_listed
from assignors.documents.values import Document, DocumentError
from assignors.model import Group
from assignors.names.nearest import question
from assignors.own_assignors.importing import is_import_path
from assignors.simulation.processes import Row
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.own_group import own_group_document
from assignors.simulation.timed.scenario import Scenario, Verb
from assignors.simulation.timed.scenario_document import (
    brief_document,
    scenario_from_document,
)
from assignors.simulation.timed.tables.labels import variant_of
from assignors.simulation.timed.tables.rows import scenario_of
from assignors.simulation.timed.tables.variants import Variant, variant_rows, variants


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRequest:
    """Which runs are asked for: every variant with every seed."""

    scenario: Scenario
    shown: Document
    """The scenario as `--show` prints it."""
    variants: list[Variant]
    """What is compared side by side: columns of the rows, beside scenario and seed."""
    first_seed: int
    seeds: int
    engine: str
    processes: int | None
    """Of the engine python; `None`: as many as pay."""
    own_assignors: tuple[str, ...]
    """Those outside the registry that may be imported."""

    @property
    def count(self) -> int:
        """How many runs there are."""
        return self.seeds * len(self.variants)

    def rows(self) -> Iterator[Row]:
        """Yield a scenario row for each run, by variant and then by seed."""
        for row in variant_rows(self.scenario, self.variants):
            for seed in range(self.first_seed, self.first_seed + self.seeds):
                yield {**row, "seed": seed}

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenario of each run; `click.UsageError` for one that cannot be played."""
        for row in self.rows():
            try:
                scenario = scenario_of(row, self.own_assignors)
            except DocumentError as error:
                raise click.UsageError(f"{variant_of(row)}: {error}") from None
            yield scenario


def requested(
    options: TimedOptions,
    assignors: Sequence[str],
    *,
    start: Group | None = None,
    first_seed: int,
    engine: str,
    processes: int | None,
) -> TimedRequest:
    """Return what is asked for. Raises `click.UsageError` for what cannot be."""
    if options.scenario is None and not options.settings:
        raise click.UsageError("--scenario is missing; --list shows those that have a name")
    require_seeds(first_seed, options.seeds)
    if options.intervals and options.log is not None:
        raise click.UsageError("--log has the figures beside it; without --intervals, please")
    if options.intervals and options.report is not None:
        raise click.UsageError("--report has the figures beside it; without --intervals, please")
    own = (*portable_names(options.own_assignors), *filter(is_import_path, assignors))
    if options.scenario is None:
        shown, scenario = own_group(options.settings, start)
    else:
        scenario = chosen(
            options.scenario,
            own,
            names_listed(options.protocols),
            names_listed(options.coordinators),
        )
        one = GALLERY.get(options.scenario)
        shown = brief_document(scenario) if one is None else one.document()
    try:
        compared = variants(
            names_listed(options.protocols) or (scenario.protocol.value,),
            clients=names_listed(options.clients),
            coordinators=names_listed(options.coordinators),
            assignors=assignors,
        )
    except ValueError as error:
        raise click.UsageError(f"--assignor: {error}") from None
    return TimedRequest(
        scenario=scenario,
        shown=shown,
        variants=compared,
        first_seed=first_seed,
        seeds=options.seeds,
        engine=engine,
        processes=processes,
        own_assignors=own,
    )


def own_group(settings: Sequence[str], start: Group | None) -> tuple[Document, Scenario]:
    """Return the scenario of `--set`. Raises `click.UsageError` for settings that are none."""
    try:
        document = own_group_document(" ".join(settings), start)
        return document, scenario_from_document(document, protocols=tuple(GroupProtocol))
    except DocumentError as error:
        raise click.UsageError(f"--set: {error}") from None


def chosen(
    text: str,
    own_assignors: Sequence[str] = (),
    protocols: Sequence[str] = (),
    models: Sequence[str] = (),
) -> Scenario:
    """Return the scenario of this name, or the one that a file describes; `-`: standard input.

    Raises `click.UsageError` for a name that is not in the gallery and no file, and for a file
    that cannot be read or describes none.
    """
    if text in GALLERY:
        return named(text)
    path = Path(text)
    if text != "-" and not path.is_file():
        if path.is_dir():
            raise click.UsageError(f"--scenario: {text!r} is a directory")
        words = question(text, GALLERY) or "; --list shows those that have a name"
        raise click.UsageError(f"--scenario: no file {text!r}, and no scenario{words}")
    scenario = read_json_file(
        "--scenario",
        text,
        partial(_read, own_assignors=own_assignors, protocols=protocols, models=models),
    )
    _print_unknown_topics(scenario)
    return scenario


def _read(
    document: object,
    *,
    own_assignors: Sequence[str],
    protocols: Sequence[str],
    models: Sequence[str],
) -> Scenario:
    """Return the scenario of a file; a group as `assign` takes it gets the option that plays it."""
    if isinstance(document, dict) and "version" not in document:
        members = document.get("members")
        if isinstance(members, list) and any(isinstance(m, dict) and "id" in m for m in members):
            raise click.UsageError(
                "--scenario: that is a group, not a scenario on a clock; --start plays events in a"
                " group (--start FILE --event join:5), and --show prints a scenario to start from"
            )
    return scenario_from_document(
        document, own_assignors=own_assignors, protocols=protocols, models=models
    )


def _print_unknown_topics(scenario: Scenario) -> None:
    """Note topics on standard error that somebody subscribes to and that there never are."""
    known = {*scenario.topics, *(each.topic for each in scenario.plan if each.do is Verb.CREATE)}
    members = [*scenario.members, *(each.member for each in scenario.arrivals)]
    asked = [topic for member in members for topic in member.topics]
    asked += [topic for action in scenario.plan for topic in action.topics]
    for topic in dict.fromkeys(asked):
        if topic not in known:
            words = question(topic, scenario.topics)
            click.echo(
                f"note: a member subscribes to {topic!r}, which there never is{words}", err=True
            )
