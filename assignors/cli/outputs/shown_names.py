"""Names in tables: assignors as they were typed, member ids without their random part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import click

from assignors.names.assignor_names import BEST, CLASSES

ASKED = "assignors.cli.asked_names"
"""Key of a context's `meta`: full name -> the names that were typed for it."""

SHORT = {full_name: name for name, full_name in BEST.items()}


def keep_asked_name(full_name: str, asked: str) -> list[str]:
    """Keep a name that was typed for an assignor; return all that were, this one last."""
    context = click.get_current_context(silent=True)
    if context is None:
        return [asked]
    names: dict[str, list[str]] = context.meta.setdefault(ASKED, {})
    typed = names.setdefault(full_name, [])
    typed.append(asked)
    return typed


def shown_name(full_name: str) -> str:
    """Return the name that was typed for an assignor, else its short name, else the full one.

    Of a class of Kafka without its package, which no table has room for.
    """
    context = click.get_current_context(silent=True)
    asked: dict[str, list[str]] = {} if context is None else context.meta.get(ASKED, {})
    name = asked[full_name][0] if full_name in asked else SHORT.get(full_name, full_name)
    return name.rpartition(".")[2] if name in CLASSES else name


UUID = re.compile(r"-([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""What the coordinator puts after the client id or the instance id of a classic member."""


def short_ids(member_ids: Iterable[str]) -> dict[str, str]:
    """Return member id -> what is shown of it, different for each.

    A UUID at the end is left out; where two ids would be one then, it is cut to eight digits.
    Cost: linear.

    >>> rest = "-84b5-4dd7-b587-a690519a93bf"
    >>> list(short_ids([f"a-fef9b693{rest}", f"b-fef9b693{rest}", f"b-a690519a{rest}"]).values())
    ['a', 'b-fef9b693', 'b-a690519a']
    """
    whole = list(member_ids)
    shown = dict(zip(whole, whole, strict=True))
    for rest in (r"-\1", ""):
        cut = {member_id: UUID.sub(rest, member_id) for member_id in whole}
        counts = Counter(cut.values()) + Counter(shown.values())
        own = {
            member_id: counts[cut[member_id]] - (cut[member_id] == shown[member_id])
            for member_id in whole
        }
        shown |= {member_id: cut[member_id] for member_id in whole if own[member_id] == 1}
    return shown
