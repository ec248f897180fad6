"""`simulate --scenario`: what is done. All that it needs is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

import click

from assignors.cli.commands.simulating.timed.options import TimedOptions
from assignors.cli.outputs.forms import Form, write


def simulate_timed(
    options: TimedOptions,
    assignors: Sequence[str],
    *,
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
    from assignors.simulation.timed.scenario_document import (  # noqa: PLC0415 - as above
        brief_document,
    )

    if options.lists:
        return write(results.listed(), form, terminal_tables.show_listed)
    request = requested(options, assignors, first_seed=seed, engine=engine, processes=processes)
    if options.shows:
        click.echo(dumps(brief_document(request.scenario), indent=1))
        return 0
    assumed = of_timed(
        request.scenario, range(request.first_seed, request.first_seed + request.seeds)
    )
    if options.intervals:
        intervals = results.interval_documents(request)
        return write(intervals, form, terminal_tables.show_intervals, assumptions=assumed)
    if options.history or options.history_of or options.shrink is not None:
        from assignors.cli.commands.simulating.timed import violations  # noqa: PLC0415 - as above

        if options.history or options.history_of:
            return violations.show_history(request, options.history_of)
        assert options.shrink is not None
        small = violations.shrink_documents(request, options.shrink)
        return write(small, form, terminal_tables.show_results)
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
