"""What runs of one scenario are compared by: protocols, assignors, models of coordinator, client.

Every protocol is played with every model, and with every assignor that it can have: members of a
classic group bring theirs, under the other protocols the broker assigns. So one call compares an
eager assignor, a cooperative one and KIP-848.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from assignors.own_assignors.importing import is_import_path
from assignors.registry import ASSIGNORS, assignor_named
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.possible import for_protocol
from assignors.simulation.timed.scenario import ExecutionConfig, Scenario
from assignors.simulation.timed.scenario.execution import NO_MODEL
from assignors.simulation.timed.scenario_document import document_from_scenario

Variant = Mapping[str, str | None]
"""Columns of scenario rows other than scenario and seed; `None`: as the scenario has it."""

ALWAYS = ("protocol", "coordinator_model", "client_model")
VARIANT = ("protocol", "assignor", "coordinator_model", "client_model")
"""Columns of a result that are compared side by side."""

OF_THE_BROKER = "server"
"""Family of the broker's assignors."""


def compared_by(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns that tell these results apart: without the assignor where it is one.

    >>> compared_by([{"protocol": "classic", "assignor": name} for name in ("java/range", "x")])
    ('protocol', 'assignor', 'coordinator_model', 'client_model')
    """
    found: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        assignor = row.get("assignor")
        if found.setdefault(tuple(row.get(name) for name in ALWAYS), assignor) != assignor:
            return VARIANT
    return ALWAYS


def variant_of(row: Mapping[str, Any], columns: Iterable[str] = VARIANT) -> str:
    """Return what a result is compared by: its protocol, and what else it was run with.

    >>> variant_of({"protocol": "classic", "client_model": "in_poll"})
    'classic, in_poll'
    """
    return ", ".join(str(row[name]) for name in columns if row.get(name) is not None)


def variants(
    protocols: Sequence[str],
    *,
    clients: Sequence[str] = (),
    coordinators: Sequence[str] = (),
    assignors: Iterable[str] = (),
) -> list[Variant]:
    """Return what is to be played, in order.

    A protocol that none of `assignors` is for keeps the scenario's own. One of somebody's own keeps
    its path, `package.module:object`, under which others import it; it is for classic members.
    Raises `ValueError` for an assignor that there is not, and for one that no protocol here can
    have.

    >>> for each in variants(["classic", "consumer"], assignors=["range", "cooperative-sticky"]):
    ...     print(each["protocol"], each["assignor"])
    classic java/range
    classic optimal/cooperative-sticky
    consumer None
    """
    named = {name: _full_name(name, protocols) for name in assignors}
    found = list(dict.fromkeys(named.values()))
    return [
        {
            "protocol": protocol,
            "client_model": client,
            "coordinator_model": coordinator,
            "assignor": assignor,
        }
        for protocol in protocols
        for client, coordinator, assignor in product(
            clients or (None,),
            coordinators or (None,),
            [name for name in found if _can_have(protocol, name)] or (None,),
        )
    ]


def variant_rows(scenario: Scenario, variants: Iterable[Variant]) -> list[dict[str, Any]]:
    """Return a scenario row for each variant, with the fields that its protocol reads."""
    rows = []
    for variant in variants:
        played = for_protocol(scenario, GroupProtocol(str(variant["protocol"])))
        if variant["coordinator_model"] in {None, NO_MODEL}:
            played = _without_idle_execution(
                played, has_none=variant["coordinator_model"] is not None
            )
        rows.append({"scenario": json.dumps(document_from_scenario(played)), **variant})
    return rows


def _without_idle_execution(scenario: Scenario, *, has_none: bool) -> Scenario:
    """Return a scenario without the settings of an execution that has no model."""
    execution = scenario.broker.execution
    chosen = replace(execution, model=None) if has_none else execution
    played = replace(scenario, broker=replace(scenario.broker, execution=chosen))
    if played.execution_model is not None:
        return scenario
    return replace(scenario, broker=replace(scenario.broker, execution=ExecutionConfig()))


def _can_have(protocol: str, assignor: str) -> bool:
    is_classic = protocol == GroupProtocol.CLASSIC
    return is_classic != _is_of_the_broker(assignor)


def _is_of_the_broker(assignor: str) -> bool:
    return assignor in ASSIGNORS and ASSIGNORS[assignor].family == OF_THE_BROKER


def _full_name(name: str, protocols: Iterable[str]) -> str:
    known = assignor_named(name)
    found = name if is_import_path(name) else known.full_name
    if not any(_can_have(protocol, found) for protocol in protocols):
        if _is_of_the_broker(found):
            raise ValueError(f"{name} is the broker's: it is for the protocols consumer and push")
        raise ValueError(
            f"{name} is for the protocol classic; under {', '.join(protocols)} the broker assigns,"
            " with server/uniform, server/range or server/simple"
        )
    return found
