"""One HTML page that tells what the groups of a cluster went through.

The page stands alone: styles, charts and the script for its search are in it, and it asks no
network for anything. Its own policy forbids any other script, so that even a name that got
past `markup` could not run. It is made from the tables of a replay and from nothing else; the
same tables give the same page, byte for byte.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from assignors.replay.report import overview
from assignors.replay.report.details import group
from assignors.replay.report.listing import left_out
from assignors.replay.report.markup import Markup, element, shortened, together, verbatim
from assignors.replay.report.member_styles import patterns
from assignors.replay.report.view_model import GroupView, Limits, stories
from assignors.replay.report.wording import count, period
from assignors.replay.tables.rows import Tables

__all__ = ["ROOM", "Limits", "page"]

ROOM = Limits()
"""What a page holds unless somebody says otherwise."""

LINE = (
    *("group", "kind", "state", "members, most", "generations", "moves"),
    *("held twice, partition-s", "findings"),
)
"""Headers of the index: the parts of a group's line."""


def page(tables: Tables, *, title: str, limits: Limits = ROOM) -> str:
    """Return the page, as HTML to be written in UTF-8.

    Cost: linear in the rows that are shown; `limits` bounds its size.

    >>> page(Tables(), title="Sunday's <incident>").startswith("<!doctype html>")
    True
    """
    listed = stories(tables, limits)
    style, script = _asset("page.css"), _asset("page.js")
    body = element(
        "body",
        patterns(),
        element(
            "header",
            element("h1", element("bdi", shortened(title, 200))),
            element("p", _subtitle(listed), class_="quiet"),
        ),
        element(
            "main",
            overview.totals(tables),
            overview.findings(listed, tables),
            overview.comparison(tables),
            overview.leaders(tables),
            _groups(listed, tables, limits),
        ),
        overview.reading(),
        verbatim("script", script),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        _policy(style, script),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", shortened(title, 200)),
        element("link", rel="icon", href="data:,"),
        verbatim("style", style),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en').text}\n"


def _asset(file_name: str) -> str:
    return (files("assignors.replay.report") / file_name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> Markup:
    """Return the policy: our one style, our one script, nothing else, from nowhere."""
    hashes = [b64encode(sha256(code.encode()).digest()).decode() for code in (style, script)]
    policy = (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return element("meta", http_equiv="Content-Security-Policy", content=policy)


def _subtitle(listed: list[GroupView]) -> Markup:
    lives = [life for story in listed for life in story.lives]
    if not lives:
        return together(["No groups."])
    when = period(min(life.row.from_ms for life in lives), max(life.end_ms for life in lives))
    days = element("span", f"{when} UTC", class_="whole")
    return together([f"What {count(len(listed), 'consumer group')} went through, ", days])


def _groups(listed: list[GroupView], tables: Tables, limits: Limits) -> Markup:
    """Return the index of groups, which holds their details, and the search above it."""
    named = len({row.group for row in tables.groups})
    untold = sum(1 for story in listed if not story.is_told)
    missing = []
    if untold:
        missing.append(f"Of {untold:,} groups there is no more than a line: the page is full.")
    bare = sum(1 for story in listed if story.is_told and not story.has_tables)
    if bare:
        missing.append(f"Of {bare:,} groups there are charts and findings, but no tables.")
    if named > len(listed):
        missing.append(f"{named - len(listed):,} groups are left out altogether.")
    search = element(
        "p",
        element("label", "Search", for_="search"),
        element(
            "input",
            id="search",
            type="search",
            placeholder="name, kind, state, finding",
            autocomplete="off",
            spellcheck="false",
        ),
        element("span", count(len(listed), "group"), id="found", aria_live="polite"),
        class_="search",
        hidden=True,
    )
    return element(
        "section",
        element("h2", "Groups", id="groups"),
        search if len(listed) > 1 else None,
        left_out(" ".join(missing)) if missing else None,
        element(
            "div",
            element("div", *(element("span", label) for label in LINE), class_="line-head"),
            together(group(story, limits, is_open=len(listed) == 1) for story in listed),
            class_="groups",
        ),
    )
