"""`simulate --scenario`: what is done. All that it needs is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from typing import TYPE_CHECKING

import click

from assignors.cli.commands.simulating.timed.options import TimedOptions
from assignors.cli.outputs.forms import Form, write
from assignors.model import Group

if TYPE_CHECKING:
    from assignors.cli.commands.simulating.timed.request import TimedRequest


def simulate_timed(
    options: TimedOptions,
    assignors: Sequence[str],
    *,
    start: Group | None = None,
    seed: int,
    engine: str,
    processes: int | None,
    form: Form,
) -> int:
    """Play the scenario, or list those with a name; return the exit code."""
    from assignors.cli.commands.simulating.timed import (  # noqa: PLC0415 - of this option alone
        results,
        terminal_tables,
    )
    from assignors.cli.commands.simulating.timed.request import requested  # noqa: PLC0415 - as above
    from assignors.simulation.assumptions import of_timed  # noqa: PLC0415 - as above

    if options.fuzz is not None:
        return _fuzzed(options, assignors, seed, form)
    if options.lists:
        return write(results.listed(), form, terminal_tables.show_listed)
    request = requested(
        options, assignors, start=start, first_seed=seed, engine=engine, processes=processes
    )
    if options.shows:
        click.echo(dumps(request.shown, indent=1))
        return 0
    assumed = of_timed(
        request.scenario, range(request.first_seed, request.first_seed + request.seeds)
    )
    if options.intervals:
        intervals = results.interval_documents(request)
        return write(intervals, form, terminal_tables.show_intervals, assumptions=assumed)
    if options.history or options.history_of or options.shrink is not None:
        return _violations(request, options, form)
    documents = results.result_documents(request)
    if options.log is not None:
        from assignors.cli.commands.simulating.timed import log_option  # noqa: PLC0415 - as above

        documents = log_option.log_documents(request, options.log)
    if options.report is not None:
        from assignors.cli.commands.simulating.timed.report import (  # noqa: PLC0415 - as above
            with_report,
        )

        documents = with_report(documents, request, options.report, assumptions=assumed)
    return write(documents, form, terminal_tables.show_results, assumptions=assumed)


def _violations(request: TimedRequest, options: TimedOptions, form: Form) -> int:
    """Print the history of a run, or the smallest scenario with its violation."""
    from assignors.cli.commands.simulating.timed import (  # noqa: PLC0415 - of this option alone
        terminal_tables,
        violations,
    )

    if options.shrink is None or options.history or options.history_of:
        return violations.show_history(request, options.history_of)
    small = violations.shrink_documents(request, options.shrink)
    return write(small, form, terminal_tables.show_results)


def _fuzzed(options: TimedOptions, assignors: Sequence[str], seed: int, form: Form) -> int:
    """Play random scenarios."""
    from assignors.cli.commands.simulating.timed import fuzzing  # noqa: PLC0415 - as above

    return write(fuzzing.fuzz_documents(options, assignors, first_seed=seed), form, fuzzing.show)
