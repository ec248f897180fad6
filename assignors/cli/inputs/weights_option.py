"""The option `--weights`: what partitions weigh and members can carry, in a file beside the groups.

Weights belong to topics, not to one group: a file may have more topics than a group, and more
members. What it has takes the place of what stands in the document of a group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

import click

from assignors.cli.inputs.file_values import JsonFile
from assignors.documents.group_keys import key_of_nobody
from assignors.documents.values import Document
from assignors.documents.weightings import GivenWeights, weights_from_document


def weights_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--weights` to a command that has the options of groups as `beside`."""

    @wraps(command)
    def with_weights(
        *arguments: Any,  # noqa: ANN401  # whatever the command takes
        weights: GivenWeights | None,
        beside: Any,  # noqa: ANN401  # `given_groups.GroupOptions`, which imports this
        **options: Any,  # noqa: ANN401  # as above
    ) -> object:
        return command(*arguments, beside=replace(beside, weights=weights), **options)

    return click.option(
        "--weights",
        type=JsonFile(weights_from_document),
        help='Weights of partitions, a JSON file: {"weights": {"orders": [900, 20, 20]}}; also '
        "move_costs, capacities, budget, tolerance, trigger. In place of what a group has.",
    )(with_weights)


def with_weights_of(
    document: Mapping[str, Any], given: GivenWeights
) -> tuple[Document, list[Document]]:
    """Return a group's document with the keys of a file, and notes on names that are nearly right.

    Topics and members that the group does not have are left out. What is no group stays as it is,
    for its reader to refuse. Cost: O(members + topics of the file).
    """
    topics, members = document.get("topics"), document.get("members")
    if not isinstance(topics, dict) or not isinstance(members, list):
        return dict(document), []
    found: Document = {**document, **given.limits}
    notes = []
    for key, by_topic in given.by_topic.items():
        found[key] = {topic: listed for topic, listed in by_topic.items() if topic in topics}
        notes += [key_of_nobody(key, topic, topics) for topic in by_topic if topic not in topics]
    if given.capacities:
        ids = {one["id"]: None for one in members if isinstance(one, dict) and "id" in one}
        found["members"] = [_with_capacity(one, given.capacities) for one in members]
        unknown = [one for one in given.capacities if one not in ids]
        notes += [key_of_nobody("capacities", one, ids) for one in unknown]
    return found, [note for note in notes if note is not None]


def _with_capacity(member: object, capacities: Mapping[str, int]) -> object:
    """Return a member's object with its capacity, if the file has one for its id."""
    if not isinstance(member, dict) or not isinstance(member.get("id"), str):
        return member
    capacity = capacities.get(member["id"])
    return member if capacity is None else {**member, "capacity": capacity}
