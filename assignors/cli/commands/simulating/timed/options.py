"""`simulate --scenario`: its options, and their values."""

from __future__ import annotations

from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem

from assignors.cli.commands.simulating.option_group import option_group
from assignors.cli.inputs.assignor_names import OwnAssignorNames
from assignors.cli.inputs.typed.choices import SeveralOf
from assignors.cli.inputs.typed.new_file import NewFile
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.scenario.execution import NO_MODEL
from assignors.simulation.timed.scenario.members import ClientModel


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOptions:
    """Values of the options, by their names."""

    scenario: str | None
    settings: tuple[str, ...]
    lists: bool
    shows: bool
    seeds: int
    protocols: tuple[str, ...]
    clients: tuple[str, ...]
    coordinators: tuple[str, ...]
    own_assignors: tuple[str, ...]
    intervals: bool
    report: str | None
    log: str | None
    history: bool
    history_of: tuple[str, ...]
    shrink: str | None
    fuzz: int | None

    @property
    def is_asked(self) -> bool:
        """Whether a scenario on a clock is asked for, and no histories in rounds."""
        return (
            bool(self.settings) or self.scenario is not None or self.lists or self.fuzz is not None
        )


def _completed_scenarios(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the scenarios whose name begins so, for the shell; files where there are none."""
    from assignors.simulation.timed.gallery import GALLERY  # noqa: PLC0415 - of this option alone

    found = [CompletionItem(name) for name in GALLERY if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


timed_options = option_group(
    click.option(
        "--scenario",
        metavar="NAME|FILE",
        shell_complete=_completed_scenarios,
        help="Simulate on a clock, with delays and timeouts: a scenario that --list shows, or a"
        " JSON file, - for standard input. It is played under each --assignor: that of all members"
        " in a classic group; server/* is for --protocol consumer. --seed, --engine and --processes"
        " apply to it.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE...",
        help="Simulate a group of yours on a clock: members=12 topics=orders:48 away=15s every=30s"
        " is a rolling restart. Other keys: poll, heartbeat, session, static, rate, do=crash_loop"
        " with times, do=scale_out with new. --start gives members and topics.",
    ),
    click.option("--list", "lists", is_flag=True, help="Show the scenarios that have a name."),
    click.option(
        "--show",
        "shows",
        is_flag=True,
        help="Print --scenario or --traffic as JSON and run nothing: something to start from.",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1, 1_000_000),
        default=1,
        show_default=True,
        help="Number of runs of --scenario; seeds count up from --seed.",
    ),
    click.option(
        "--protocol",
        "protocols",
        type=SeveralOf([each.value for each in GroupProtocol]),
        multiple=True,
        help="Protocols to run --scenario under, with commas between or one an option; consumer"
        " is KIP-848. Default: its own.",
    ),
    click.option(
        "--coordinator",
        "coordinators",
        type=SeveralOf([*POLICIES, NO_MODEL]),
        multiple=True,
        help="Execution models to run --scenario under: how the coordinator executes requests;"
        " none: one after the other. As --protocol. Default: that of the scenario.",
    ),
    click.option(
        "--client",
        "clients",
        type=SeveralOf([each.value for each in ClientModel]),
        multiple=True,
        help="Client models to run --scenario under: how the clients of all members divide their"
        " work among threads. As --protocol. Default: each its own.",
    ),
    click.option(
        "--own-assignor",
        "own_assignors",
        metavar="PATH",
        type=OwnAssignorNames(),
        multiple=True,
        help="Let the file of --scenario name this assignor of yours, package.module:object, for"
        " its members: a file by itself imports nothing.",
    ),
    click.option(
        "--intervals",
        is_flag=True,
        help="Write who consumed which partition, when, in place of the figures of each run.",
    ),
    click.option(
        "--report",
        type=NewFile(),
        help="Write a report of --scenario beside its figures, protocols, assignors and models side"
        " by side: one HTML page that needs no network.",
    ),
    click.option(
        "--log",
        metavar="FILE|DIR",
        help="Also write the run as records of __consumer_offsets, which replay reads: FILE.jsonl,"
        " FILE.parquet, or a new folder of log segments.",
    ),
    click.option(
        "--history",
        is_flag=True,
        help="Print the events of one run in words, up to the first violation that monitors find.",
    ),
    click.option(
        "--history-of",
        "history_of",
        metavar="MEMBER|TOPIC:NUMBER",
        multiple=True,
        help="Print of --history the events of this member or partition alone; can be repeated.",
    ),
    click.option(
        "--shrink",
        type=NewFile(),
        help="Write the first run that violates a monitor as a scenario with as little in it as"
        " still violates that monitor, and show its figures. With --fuzz: the file of that"
        " scenario; default: violation-SEED.json.",
    ),
    click.option(
        "--fuzz",
        metavar="N",
        type=click.IntRange(1, 1_000_000),
        help="Play N random scenarios, a seed each from --seed on, under every monitor: members,"
        " protocols, clients, execution models, plans and faults. The first violation is made as"
        " small as --shrink makes it and written as a file. Ends with 1 for a violation."
        " --protocol, --client and --assignor say what is drawn.",
    ),
)
