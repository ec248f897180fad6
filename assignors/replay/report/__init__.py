"""One HTML page with the history of the groups of a cluster.

The page needs nothing else: styles, charts and the script of its search are in it, and it loads
nothing from a network. Its content security policy forbids any other style and script, so that
even a name that was not escaped could not run. The page is made from the tables of a replay
alone; the same tables give the same page, byte for byte.

Python decides what is shown and computes the geometry of the charts (`view_model`, `overview`,
`group_details`, `chart`); the Jinja templates beside it make HTML and SVG of that.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from assignors.extras import imported_from

with imported_from("replay"):
    import jinja2  # noqa: F401 - what the templates need

from assignors.replay.report.formats import count, period
from assignors.replay.report.group_details import (
    index_cells,
    life_details,
    omitted_details,
    search_words,
)
from assignors.replay.report.overview import overview
from assignors.replay.report.templating import own_code, render
from assignors.replay.report.view_model import GroupView, Limits, group_views
from assignors.replay.tables.columns import ESTIMATED, NOT_RECORDED
from assignors.replay.tables.rows import Tables

__all__ = ["DEFAULT_LIMITS", "Limits", "page"]

DEFAULT_LIMITS = Limits()


def page(tables: Tables, *, title: str, limits: Limits = DEFAULT_LIMITS) -> str:
    """Return the page: HTML text, to be written in UTF-8.

    `title` and all names in `tables` may be any text. Needs Jinja2 (the extra `replay`). Time and
    memory: linear in the rows that are shown, of which `limits` has the maximum; a megabyte of
    HTML takes about 0.1 s.

    >>> page(Tables(), title="Sunday's <incident>").startswith("<!doctype html>")
    True
    """
    groups = group_views(tables, limits)
    style, script = own_code("page.css"), own_code("page.js")
    html = render(
        "page.html",
        title=title,
        policy=content_security_policy(style, script),
        style=style,
        script=script,
        group_count=count(len(groups), "consumer group"),
        period=_period(groups),
        overview=overview(groups, tables),
        groups=groups,
        omitted=_omitted(groups, tables),
        limits=limits,
        index_cells=index_cells,
        life_details=life_details,
        omitted_details=omitted_details,
        search_words=search_words,
        column_notes=[
            *((*column, "estimated", reason) for column, reason in ESTIMATED.items()),
            *((*column, "not recorded", reason) for column, reason in NOT_RECORDED.items()),
        ],
    )
    return f"{html}\n"


def content_security_policy(style: str, script: str) -> str:
    """Return the policy that allows this one style and this one script, and no other source."""
    hashes = [b64encode(sha256(code.encode()).digest()).decode() for code in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _period(groups: list[GroupView]) -> str | None:
    lives = [life for group in groups for life in group.lives]
    if not lives:
        return None
    return period(min(life.row.from_ms for life in lives), max(life.end_ms for life in lives))


def _omitted(groups: list[GroupView], tables: Tables) -> str:
    """Return the sentences about groups of which the page does not show everything."""
    named = len({row.group for row in tables.groups})
    in_index_only = sum(1 for group in groups if not group.has_details)
    without_tables = sum(1 for group in groups if group.has_details and not group.has_tables)
    sentences = []
    if in_index_only:
        sentences.append(
            f"{count(in_index_only, 'group')} listed without charts and tables: "
            "the page has reached its maximum size."
        )
    if without_tables:
        sentences.append(f"{count(without_tables, 'group')} shown with charts, without tables.")
    if named > len(groups):
        sentences.append(f"{count(named - len(groups), 'group')} not listed.")
    return " ".join(sentences)
