"""Simulations in one call: what the command `simulate` computes, as Arrow, pandas or Polars."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assignors.arrow.row_table import RowTable
from assignors.assignor import Assignor
from assignors.model import Group
from assignors.names.assignor_names import BEST, WITH_TRAFFIC
from assignors.names.nearest import question, suggestion
from assignors.names.sequences import as_number
from assignors.simulation.rounds.random_scenarios import Parameters
from assignors.simulation.rounds.scenario_rows import simulate_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from assignors.simulation.timed.scenario import Scenario

Row = dict[str, Any]
"""Column -> value."""

Assignors: TypeAlias = str | Assignor | Iterable[str | Assignor]
"""One or several, each by its name (`package.module:object` of your own) or as it is."""

DEFAULT_SIZES = Parameters()
DEFAULT_ASSIGNORS = tuple(BEST.values())


def simulate_rounds(
    parameters: Parameters = DEFAULT_SIZES,
    *,
    assignors: Assignors = DEFAULT_ASSIGNORS,
    scenarios: int = 100,
    seed: int = 0,
    processes: int = 1,
) -> RowTable[Row]:
    """Return what each event of random histories cost: a row a history, assignor and event.

    Histories have the sizes of `parameters` and are drawn from the seeds `seed`, `seed` + 1 and so
    on. The columns are the fields of `rounds.Outcome`, then `error`. Raises `ValueError` for an
    unknown assignor and sizes that are too large. Cost: that of the rounds; with `processes` the
    program must guard its start (`if __name__ == "__main__"`), and an `Assignor` of your own goes
    by its name, `package.module:object`.

    >>> table = simulate_rounds(Parameters(members=3, events=1), assignors="range", scenarios=2)
    >>> [(row["seed"], row["event"], row["error"]) for row in table]
    [(0, 0, None), (0, 1, None), (1, 0, None), (1, 1, None)]
    """
    if not isinstance(parameters, Parameters):
        raise ValueError(f"parameters: expected Parameters(members=20), found {parameters!r}")
    parameters.require_few_subscriptions()
    sizes = asdict(parameters)
    rows = ({"seed": number, **sizes} for number in _seeds(seed, scenarios, "scenarios"))
    played = list(simulate_rows(rows, assignors=_chosen(assignors), processes=processes))
    return RowTable("outcomes", played, partial(_table, "ROUNDS"))


def simulate_group(
    group: Group | Mapping[str, object],
    events: str | Iterable[str],
    *,
    assignors: Assignors = DEFAULT_ASSIGNORS,
) -> RowTable[Row]:
    """Return what happens to a group that is there already: a row an assignor and event.

    `group` is a `Group`, or a document as `kafka-assignors assign` takes it; `events` are those of
    `what-if`, in order: `join:5`, `leave:m3`, `resize:orders:24`. Nothing is random. The first row
    of an assignor is the start, without an event. Columns are those of `simulate_rounds`, the event
    (`asked`), and the partitions of each member before and after it (`loads_before`,
    `loads_after`). New members are called `new-1`, `new-2` and so on; assignors that go by the
    order of ids may move other partitions under real ones. Raises `ValueError` for an event that
    cannot be read or cannot happen. Cost: that of the rounds.

    >>> group = {"topics": {"orders": 6}, "members": [{"id": "a", "topics": ["orders"]}]}
    >>> [row["loads_after"] for row in simulate_group(group, "join:2", assignors="sticky")]
    [{'a': 6}, {'a': 2, 'new-1': 2, 'new-2': 2}]
    """
    from assignors.documents.groups import group_from_document  # noqa: PLC0415 - of this one alone
    from assignors.documents.values import as_string  # noqa: PLC0415 - as above
    from assignors.simulation.rounds.explicit_events import (  # noqa: PLC0415 - as above
        scenario_of_group,
    )

    asked = [as_string(each, ("events", n)) for n, each in enumerate(_listed(events))]
    start = group if isinstance(group, Group) else group_from_document(group)
    rows = [{"scenario": scenario_of_group(start, asked), "asked": asked}]
    played = simulate_rows(rows, assignors=_chosen(assignors))
    kept = [{name: row[name] for name in row if name != "notes"} for row in played]
    return RowTable("outcomes", kept, partial(_table, "ASKED"))


def simulate_timed(
    scenario: str | PathLike[str] | Mapping[str, object] | Scenario,
    *,
    protocols: str | Iterable[str] = (),
    clients: str | Iterable[str] = (),
    coordinators: str | Iterable[str] = (),
    assignors: str | Iterable[str] = (),
    own_assignors: str | Iterable[str] = (),
    start: Group | Mapping[str, object] | None = None,
    seeds: int = 1,
    seed: int = 0,
    intervals: bool = False,
    processes: int = 1,
) -> RowTable[Row]:
    """Return what runs of a scenario on a clock cost: a row a variant and seed.

    `scenario` is a name of the gallery, the path of a JSON file, such a document, a `Scenario`, or
    a group of yours in one line (`timed.own_group`), here of a rolling restart:
    `members=12 topics=orders:48 away=15s every=30s`. `start`, a `Group` or a document as
    `kafka-assignors assign` takes it, gives such a line its members and topics.
    Each of `protocols` (`classic`, `consumer`, `push`) is played with each of `clients`
    (`in_poll`, `heartbeat_thread`, `background_thread`: the client model of all members), of
    `coordinators` (the execution model, `none`: without one) and of `assignors` that it can have:
    `server/...` where the broker assigns, others for the members of classic groups. What is not
    given is as the scenario has it. An assignor of your own is named `package.module:object`, for
    classic groups; a document that names one itself needs it in `own_assignors`, as data imports
    nothing. The columns are the fields of `timed.results.TimedResult`, those of a feature in a
    column of its own (`timed.results.FEATURES`), or with `intervals` who consumed which
    partition, when. A run that fails, or is not possible under a protocol, is a row with `error`.
    Raises `ValueError` for what is no scenario, and for an unknown protocol, model or assignor.
    Cost: that of the runs; memory: their rows. With
    `processes` the program must guard its start.

    >>> table = simulate_timed(
    ...     "crash", protocols=["classic", "consumer"], assignors=["range", "cooperative-sticky"]
    ... )
    >>> for row in table:
    ...     print(row["protocol"], row["assignor"], row["members_touched"])
    classic java/range 9
    classic optimal/cooperative-sticky 9
    consumer server/uniform 0
    """
    from assignors.simulation.timed.scenario import (  # noqa: PLC0415 - of this one
        ClientModel,
        GroupProtocol,
        Scenario,
    )
    from assignors.simulation.timed.scenario.execution import (  # noqa: PLC0415 - as above
        NO_MODEL,
        as_model,
    )
    from assignors.simulation.timed.scenario_document import (  # noqa: PLC0415 - as above
        own_assignors_of,
    )
    from assignors.simulation.timed.tables.rows import (  # noqa: PLC0415 - as above
        interval_rows,
        result_rows,
    )
    from assignors.simulation.timed.tables.variants import (  # noqa: PLC0415 - as above
        variant_rows,
        variants,
    )

    named = _listed(assignors)
    own = {*_listed(own_assignors), *named}
    if isinstance(scenario, Scenario):
        own |= own_assignors_of(scenario)
    found = _scenario(scenario, own, start, _listed(protocols), _listed(coordinators))
    coordinator_models = _listed(coordinators)
    for each in coordinator_models:
        if each != NO_MODEL:
            as_model(each, ("coordinators",))
    compared = variants(
        _values(GroupProtocol, protocols) or [found.protocol.value],
        clients=_values(ClientModel, clients),
        coordinators=coordinator_models,
        assignors=named,
    )
    numbers = _seeds(seed, seeds)
    rows = ({**row, "seed": number} for row in variant_rows(found, compared) for number in numbers)
    if intervals:
        made = list(interval_rows(rows, processes=processes, own_assignors=own))
        return RowTable("intervals", made, partial(_table, "INTERVALS"))
    made = list(result_rows(rows, processes=processes, own_assignors=own))
    return RowTable("results", made, partial(_table, "TIMED"))


def simulate_coordinators(
    sweep: str | PathLike[str] | Mapping[str, object], *, processes: int = 1
) -> RowTable[Row]:
    """Return what execution models of a coordinator do under many loads: a row a point.

    `sweep` is a document (`timed.sweeps.sweep`), or the path of a JSON file with one. The columns
    are the fields of a point (`timed.execution.load.Load`, `.policy.Settings`), of
    `timed.execution.measures.Measured` and of `timed.sweeps.rows.Derived`, then `error`. Raises
    `ValueError` for what is no sweep, with the path of what is wrong. Cost: that of the runs, about
    `requests` / 100,000 seconds a point; with `processes` the program must guard its start.

    >>> checks = {"version": 1, "models": ["blocking"], "base": {"requests": 200}, "over": {
    ...     "check_us": [0, 10_000]}}
    >>> [(row["check_us"], row["is_sustained"]) for row in simulate_coordinators(checks)]
    [(0, True), (10000, False)]
    """
    from assignors.simulation.timed.sweeps.rows import measured_rows  # noqa: PLC0415 - of this one
    from assignors.simulation.timed.sweeps.sweep import (  # noqa: PLC0415 - as above
        sweep_from_document,
    )

    document = sweep if isinstance(sweep, Mapping) else json.loads(Path(sweep).read_bytes())
    rows = measured_rows(sweep_from_document(document).points(), processes=processes)
    return RowTable("points", list(rows), partial(_table, "COORDINATORS"))


def simulate_traffic(
    scenario: str | PathLike[str] | Mapping[str, object],
    *,
    assignors: Assignors = WITH_TRAFFIC,
    seeds: int = 1,
    seed: int = 0,
    processes: int = 1,
) -> RowTable[Row]:
    """Return loads, lags and moves of a group with traffic: a row a seed and assignor.

    `scenario` is a name of `traffic.worlds`, a document (`traffic.scenario`), or the path of a JSON
    file with one. The columns are `scenario`, `seed`, `assignor`, the fields of
    `traffic.results.TrafficResult`, then `error`. Raises `ValueError` for an unknown assignor and
    for what is no scenario, with the path of what is wrong. Cost: that of the runs, about half a
    second for four hours of 240 partitions; with `processes` the program must guard its start.

    >>> small = {"version": 1, "until_s": 600, "topics": {"t": 4}, "members": [{"name": "a"}]}
    >>> [(row["assignor"], row["placed"]) for row in simulate_traffic(small, assignors="range")]
    [('java/range', 4)]
    """
    from assignors.simulation.traffic.rows import (  # noqa: PLC0415 - of this one
        scenario_of,
        traffic_rows,
    )
    from assignors.simulation.traffic.worlds import WORLDS  # noqa: PLC0415 - as above

    document = _document(scenario, WORLDS, "traffic.worlds.WORLDS")
    scenario_of({"scenario": document})
    runs = [{"scenario": document, "seed": number} for number in _seeds(seed, seeds)]
    rows = traffic_rows(runs, assignors=_chosen(assignors), processes=processes)
    return RowTable("runs", list(rows), partial(_table, "TRAFFIC"))


def _table(kind: str, rows: Sequence[Row]) -> pa.Table:
    from assignors.simulation import arrow  # noqa: PLC0415 - only who asks needs it

    made: pa.Table = getattr(arrow, kind).table(rows)
    return made


def _scenario(
    given: str | PathLike[str] | Mapping[str, object] | Scenario,
    own_assignors: Collection[str],
    start: Group | Mapping[str, object] | None,
    protocols: Collection[str],
    models: Collection[str],
) -> Scenario:
    from assignors.documents.groups import group_from_document  # noqa: PLC0415 - as above
    from assignors.documents.values import DocumentError  # noqa: PLC0415 - as above
    from assignors.simulation.timed.gallery import GALLERY  # noqa: PLC0415 - as above
    from assignors.simulation.timed.own_group import (  # noqa: PLC0415 - as above
        is_settings,
        own_group_document,
    )
    from assignors.simulation.timed.possible import (  # noqa: PLC0415 - as above
        require_read,
    )
    from assignors.simulation.timed.scenario import GroupProtocol, Scenario  # noqa: PLC0415 - as above
    from assignors.simulation.timed.scenario_document import (  # noqa: PLC0415 - as above
        scenario_from_document,
    )
    from assignors.simulation.timed.tables.rows import scenario_of  # noqa: PLC0415 - as above

    if isinstance(given, str) and (is_settings(given) or (start is not None and not given)):
        group = start if start is None or isinstance(start, Group) else group_from_document(start)
        return scenario_from_document(
            own_group_document(given, group), protocols=tuple(GroupProtocol)
        )
    if start is not None:
        raise ValueError("start: only a line of settings, as 'away=15s every=30s', has one")
    if isinstance(given, Scenario):
        require_read(given, protocols)
        return given
    document = _document(given, GALLERY, "timed.gallery.GALLERY")
    if isinstance(document, Mapping):
        try:
            return scenario_from_document(
                document, own_assignors=own_assignors, protocols=protocols, models=models
            )
        except DocumentError as error:
            raise error.below("scenario") from None
    return scenario_of({"scenario": document}, own_assignors)


def _document(
    given: str | PathLike[str] | Mapping[str, object], names: Collection[str], listed: str
) -> object:
    """Return a document or a name as it is, the document in a file; `ValueError` for neither."""
    if not isinstance(given, str | PathLike) or given in names:
        return given
    path = Path(given)
    if not path.is_file():
        words = question(str(path), names) or f"; {listed} has all"
        raise ValueError(f"scenario: no file {str(path)!r}, and no such name{words}")
    return json.loads(path.read_bytes())


def _values(kind: type[StrEnum], names: str | Iterable[str]) -> list[str]:
    """Return values of `kind`; `ValueError` with the nearest one, or all, for what is none."""
    listed = _listed(names)
    for name in listed:
        if name not in set(kind):
            words = suggestion(str(name), [each.value for each in kind])
            raise ValueError(f"no {kind.__name__} {name!r}{words}")
    return [kind(name).value for name in listed]


def _seeds(first: int, count: int, what: str = "seeds") -> range:
    """Return the seeds of so many runs; `ValueError` for none, with the argument's name."""
    if as_number(count, what) < 1:
        raise ValueError(f"{what}: {count} is less than 1")
    return range(first, first + count)


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _chosen(assignors: Assignors) -> list[str | Assignor]:
    """Return the assignors as a list; `ValueError` for none."""
    chosen = [assignors] if isinstance(assignors, str | Assignor) else list(assignors)
    if not chosen:
        raise ValueError("assignors: none is given")
    return chosen
