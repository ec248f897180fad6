"""Options that have no effect beside others: which, when, and the sentence that refuses them.

What somebody typed and nobody reads is a mistake of theirs that would go unnoticed. `IDLE` is the
table: a new mode of a command is a row there, a new option a word in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from assignors.assignor import Assignor
from assignors.own_assignors.answers import FAMILIES

Values = Mapping[str, Any]
"""Parameter -> value, given or default."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Options that have no effect while something holds."""

    options: frozenset[str]
    """Names of the parameters."""
    holds: Callable[[Values], bool]
    why: str
    """What the sentence says behind the option's name."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _are_none_of(*families: str) -> Callable[[Values], bool]:
    """Return whether the chosen assignors are all of this package, and of no such family."""

    def holds(values: Values) -> bool:
        chosen: Iterable[Assignor] = values["compared"] or filter(None, [values["assignor"]])
        known = {one.family for one in chosen if one.configure or one.family in FAMILIES}
        return not known & {*families} and known <= FAMILIES

    return holds


def _knows_no_weights(values: Values) -> bool:
    """Return whether one assignor is chosen that reads none; one of somebody's own may."""
    chosen = values["assignor"]
    return chosen is not None and chosen.family in FAMILIES - {"weighted"}


def _is_explicit(values: Values) -> bool:
    """Return whether events are asked for in rounds: `--start` goes with `--set` too."""
    return bool(values["asked"]) or (values["start"] is not None and not values["settings"])


def _is_on_a_clock(values: Values) -> bool:
    return values["scenario"] is not None or bool(values["settings"])


DRAWN = _names("scenarios members topics partitions subscription events faults wire")
"""Sizes of histories that are drawn."""
OF_GROUPS = _names("partition_counts group assumed")
"""What is said about groups beside their files."""
EXPLICIT = _names("start asked")
OF_RUNS = _names(
    "shows seeds protocols clients coordinators own_assignors intervals report log"
    " history history_of shrink"
)
NOT_FUZZED = OF_RUNS - _names("protocols clients shrink")
"""What is said about runs of one scenario."""
"""What is said about runs on a clock."""
ROUNDS = DRAWN | EXPLICIT | OF_GROUPS | _names("assignors processes files is_sample")

IDLE: dict[str, tuple[Idle, ...]] = {
    "decode": (
        Idle(
            _names("mode"),
            lambda v: v["kind"] == "offsets-record",
            "has no effect on offsets-record: records have one form",
        ),
    ),
    "assign": (
        Idle(_names("jdk"), _are_none_of("server"), "is for server/*"),
        Idle(_names("on_failure"), _are_none_of("java", "server"), "is for java/* and server/*"),
        Idle(_names("limit prefer"), _are_none_of("optimal"), "is for optimal/*"),
        Idle(
            _names("weights"),
            lambda v: _knows_no_weights(v) and not v["with_group"],
            "is for weighted/*, --compare and --with-group",
        ),
    ),
    "explain": (Idle(_names("weights"), _knows_no_weights, "is for weighted/*"),),
    "simulate": (
        Idle(
            (ROUNDS - {"processes"})
            | OF_RUNS
            | _names("scenario settings lists seed traffic fuzz"),
            lambda v: v["sweep"] is not None,
            "has no effect beside --sweep, whose file says what is measured",
        ),
        Idle(
            (ROUNDS - {"processes", "assignors"})
            | (OF_RUNS - {"seeds", "shows"})
            | _names("scenario settings lists fuzz"),
            lambda v: v["traffic"] is not None,
            "has no effect beside --traffic, whose scenario has its own group",
        ),
        Idle(
            ROUNDS | OF_RUNS | _names("scenario settings seed engine"),
            lambda v: v["lists"],
            "has no effect beside --list",
        ),
        Idle(
            (ROUNDS - {"assignors"}) | NOT_FUZZED | _names("scenario settings lists engine"),
            lambda v: v["fuzz"] is not None,
            "has no effect beside --fuzz, which draws its scenarios",
        ),
        Idle(
            (OF_RUNS | _names("seed engine form assignors processes")) - {"shows", "own_assignors"},
            lambda v: v["shows"],
            "has no effect beside --show, which runs nothing",
        ),
        Idle(
            _names("settings"),
            lambda v: v["scenario"] is not None,
            "has no effect beside --scenario, which has its own group",
        ),
        Idle(
            ROUNDS - EXPLICIT - {"files", "assignors", "processes"},
            lambda v: v["scenario"] is not None,
            "has no effect beside --scenario, which is played on a clock",
        ),
        Idle(
            DRAWN,
            lambda v: bool(v["settings"]),
            "has no effect beside --set, whose group has its own size",
        ),
        Idle(
            OF_RUNS,
            lambda v: (
                not (
                    _is_on_a_clock(v)
                    or _is_explicit(v)
                    or v["traffic"] is not None
                    or v["fuzz"] is not None
                )
            ),
            "is for --scenario",
        ),
        Idle(
            _names("report log intervals shrink engine form processes"),
            lambda v: v["history"] or bool(v["history_of"]),
            "has no effect beside --history, which prints one run in words",
        ),
        Idle(
            _names("report log intervals engine processes"),
            lambda v: v["shrink"] is not None and v["fuzz"] is None,
            "has no effect beside --shrink, which shows the small scenario alone",
        ),
        Idle(
            _names("processes"),
            lambda v: v["log"] is not None,
            "has no effect beside --log, which writes one run",
        ),
        Idle(
            OF_RUNS | DRAWN | _names("seed engine"),
            _is_explicit,
            "has no effect beside --start and --event",
        ),
        Idle(
            DRAWN | {"seed"},
            lambda v: bool(v["files"]),
            "has no effect beside FILE, whose lines have their own",
        ),
        Idle(
            OF_GROUPS,
            lambda v: not (v["files"] or _is_explicit(v)),
            "is for groups: name a FILE of them, --start or --sample",
        ),
        Idle(
            _names("processes"),
            lambda v: v["engine"] == "spark",
            "is for --engine python",
        ),
    ),
    "replay": (
        Idle(
            _names("assignors"),
            lambda v: (
                bool(v["shown"]) and "outcomes" not in v["shown"] and not (v["report"] or v["out"])
            ),
            "has no effect without its table: --table outcomes, --report or --out",
        ),
    ),
}
"""Subcommand -> when which of its options are idle. The first row that applies is the sentence."""


def refuse_idle(context: click.Context, **changed: object) -> None:
    """Raise `click.UsageError` for the first option that was typed and has no effect.

    `changed` are values that are other ones than the context's.
    """
    values = {**context.params, **changed}
    typed = {
        option.name: option
        for option in context.command.params
        if isinstance(option, click.Option)
        and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    }
    for idle in IDLE[context.info_name or ""]:
        for name, option in typed.items():
            if name in idle.options and idle.holds(values):
                raise click.UsageError(f"{option.opts[0]} {idle.why}", context)
