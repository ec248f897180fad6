"""The captured outputs, and what is read out of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assignors.documents.described import DescribedGroup, described_groups

OUTPUTS = Path(__file__).parent / "outputs"
NEWEST = "4.3.0-members-verbose"


def output(name: str) -> str:
    """Return the text of a file."""
    return (OUTPUTS / f"{name}.txt").read_text("utf-8")


def read(text: str, **options: Any) -> dict[str | None, DescribedGroup]:
    """Return the groups of a text by name."""
    return {group.name: group for group in described_groups(text, **options)}


def owned(group: DescribedGroup) -> dict[str, Any]:
    """Return what each member has, members without partitions left out."""
    members: Any = group.document["members"]
    return {member["id"]: member["owned"] for member in members if member["owned"]}
