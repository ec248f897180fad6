"""Writes docs/incident.svg: the chart that the page of `replay` draws of the bundled incident.

    python -m tests.docs.incident_picture

The drawing is taken out of the page as it is, of real records: the first part of the sample, so
that the text is large enough in a column of 830 pixels. Tooltips are left out, and so are the
rules of the page's style sheet that the drawing does not need.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records
from assignors.replay.report import page
from assignors.replay.report.templating import own_code
from assignors.replay.sample import incident

PICTURE = Path(__file__).resolve().parent.parent.parent / "docs" / "incident.svg"
GROUP = "chaos"
"""How the name of the group begins: eight members of six client libraries."""
DURATION_MS = 34_000
"""How much of the incident is drawn, from its first record."""
MARGIN = 8

_SVG = re.compile(r'<svg width="(\d+)" height="(\d+)"[^>]*>(.*?)</svg>', flags=re.DOTALL)
_RULE = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}|[^{}]+\{[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/", flags=re.DOTALL)


def picture() -> str:
    """Return the chart of the incident."""
    html = page(replay_records(_records()), title="incident")
    return drawn(html, "Which member owned which partition, rebalance by rebalance")


def drawn(html: str, title: str) -> str:
    """Return the first chart of a page as one SVG, with its labels beside it."""
    labels, drawing = islice(_SVG.finditer(html, html.index('<div class="chart">')), 2)
    width = int(labels[1]) + int(drawing[1]) + 2 * MARGIN
    height = int(drawing[2]) + 2 * MARGIN
    inner = f'{labels[3]}<g transform="translate({labels[1]} 0)">{drawing[3]}</g>'
    inner = re.sub(r"<title>.*?</title>| data-member=\"\d+\"", "", inner, flags=re.DOTALL)
    # A picture leads nowhere.
    inner = re.sub(r'<path d="[^"]*"[^>]* class="target-area"/>| id="[^"]*"', "", inner)
    inner = re.sub(r"</?a\b[^>]*>", "", inner)
    patterns = re.search(r"<defs>.*?</defs>", html, flags=re.DOTALL)
    assert patterns
    body = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img"><title>{title}</title>'
        f"<style>\n{_style(inner + patterns[0])}</style>"
        f'{patterns[0]}<rect width="100%" height="100%" rx="6" class="paper"/>'
        f'<g class="chart" transform="translate({MARGIN} {MARGIN})">{inner}</g></svg>\n'
    )
    return body.replace("><", ">\n<")


def _records() -> list[LoggedRecord]:
    """Return the records of the group in the first part of the incident."""
    of_group = [
        entry
        for entry in incident()
        if str((entry.record.key or {}).get("group", "")).startswith(GROUP)
    ]
    end_ms = min(entry.at_ms for entry in of_group) + DURATION_MS
    return [entry for entry in of_group if entry.at_ms <= end_ms]


def _style(drawing: str) -> str:
    """Return the rules of the page's style sheet that apply to the drawing."""
    classes = {name for names in re.findall(r'class="([^"]*)"', drawing) for name in names.split()}
    kept = [".paper { fill: var(--wash); }"]
    for rule in map(str.strip, _RULE.findall(_COMMENT.sub("", own_code("page.css")))):
        selector = rule.partition("{")[0]
        named = set(re.findall(r"\.([a-z][\w-]*)", selector)) - {"chart-drawing"}
        is_of_colours = ":root" in rule and "print" not in selector
        is_of_text = ".chart-drawing text" in selector
        if is_of_colours or is_of_text or (named & classes and named <= classes):
            kept.append(rule)
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
