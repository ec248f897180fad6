"""Options that are refused: typed twice, moved, or without effect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import click


def refuse_repeated(command: click.Command, context: click.Context, arguments: list[str]) -> None:
    """Raise `click.UsageError` for an option that is typed twice where the last alone would count.

    What click cannot parse is for click to refuse.
    """
    try:
        _, _, order = command.make_parser(context).parse_args(args=[*arguments])
    except click.UsageError:
        return
    for option, count in Counter(order).items():
        if isinstance(option, click.Option) and count > 1 and not option.multiple:
            if option.is_flag and not option.secondary_opts:
                continue
            words = f"{option.opts[0]} is given {count} times, and only one can count"
            if option.name == "assignor":
                words += "; --compare takes several"
            raise click.UsageError(words, context)


HISTORIES = "random histories are: kafka-assignors histories --seeds 100 --members 20"
IN_PYTHON = "it is for Python alone"
SIMULATE = {
    "--scenario": "name the scenario alone: kafka-assignors simulate NAME",
    "--start": "kafka-assignors what-if GROUP join:5, or simulate GROUP --set away=15s",
    "--event": "events follow the group: kafka-assignors what-if GROUP join:5 leave:m3",
    "--sample": "kafka-assignors what-if --sample join:5",
    "--topic": "kafka-assignors what-if GROUP --topic orders:24 join:5",
    "--assume-subscriptions": "kafka-assignors what-if GROUP --assume-subscriptions equal join:5",
    "--fuzz": "random scenarios are: kafka-assignors fuzz N",
    "--sweep": "execution models are measured by: kafka-assignors sweep FILE",
    "--traffic": "kafka-assignors traffic NAME",
    **dict.fromkeys(
        ("--scenarios", "--members", "--topics", "--partitions", "--events"), HISTORIES
    ),
    **dict.fromkeys(
        ("--subscription", "--faults", "--no-faults", "--wire"),
        "it is a key of a line that histories reads, and of assignors.simulation.Parameters",
    ),
    "--engine": "--processes uses this machine, and assignors.simulation.spark a cluster",
    "--client": f"{IN_PYTHON}: simulate_timed(..., clients=[...])",
    "--coordinator": f"{IN_PYTHON}: simulate_timed(..., coordinators=[...])",
    "--history-of": f"{IN_PYTHON}: assignors.simulation.timed.explore.history",
}
MOVED: Mapping[str, Mapping[str, str]] = {
    "assign": {
        "--jdk": f"{IN_PYTHON}: assignor.configured(Options(jdk=25))",
        "--on-failure": f"{IN_PYTHON}: assignor.configured(Options(on_failure=...))",
    },
    "simulate": SIMULATE,
    "replay": {
        "--thresholds": "write --threshold NAME=NUMBER for each",
        "--engine": f"{IN_PYTHON}: assignors.replay.engines.spark; a dump need not fit into memory",
        "--jars": f"{IN_PYTHON}: assignors.replay.engines.spark",
    },
    "conform": {"--order": f"{IN_PYTHON}: assignors.conformance.judges.Strictness(in_order=True)"},
}
"""Command -> option that it had -> the sentence that says what to type."""


def refuse_moved(command: str, context: click.Context, arguments: Sequence[str]) -> None:
    """Raise `click.UsageError` with the new spelling for the first option that has moved."""
    known = MOVED.get(command, {})
    for argument in arguments:
        if argument == "--":
            return
        option = argument.partition("=")[0]
        if option in known:
            raise click.UsageError(f"{option} is gone: {known[option]}", context)
