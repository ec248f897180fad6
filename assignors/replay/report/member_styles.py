"""Members as colours and numbers.

Eight colours that colour-blind people tell apart and dark text is readable on (Paul Tol's
"light" scheme), three textures, and a number in every bar that is wide enough: who cannot see
the colour still knows the member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.replay.report.markup import Markup, element, shortened, together
from assignors.replay.report.view_model import LifeView

HUES = 8
LOOKS = 3 * HUES
"""Plain, striped and dotted; members beyond begin again."""

CLIENT_MAX = 48
"""Characters of a client id in a hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStyle:
    """A member as the charts of one life show it."""

    number: int
    """In the order in which members came, from 1."""
    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None

    @property
    def look(self) -> str:
        """The class of its bars."""
        return f"m{(self.number - 1) % LOOKS}"

    @property
    def said(self) -> str:
        """Who it is, in a hint."""
        client = shortened(self.client_id, CLIENT_MAX) or "no client id"
        host = f" at {shortened(self.host, CLIENT_MAX)}" if self.host else ""
        return f"member {self.number}, {client}{host}"


def member_styles(life: LifeView) -> Mapping[str, MemberStyle]:
    """Return the members of a life by id, numbered in the order in which they came."""
    found: dict[str, MemberStyle] = {}
    for row in life.members:
        found[row.member_id] = MemberStyle(
            number=len(found) + 1,
            member_id=row.member_id,
            client_id=row.client_id,
            host=row.host,
            instance_id=row.instance_id,
        )
    for held in life.assignments:
        if held.member_id not in found:
            found[held.member_id] = MemberStyle(
                number=len(found) + 1,
                member_id=held.member_id,
                client_id=held.client_id,
                host=held.host,
            )
    return found


def legend(shown: Sequence[MemberStyle], left_out_count: int) -> Markup:
    """Return the legend of a chart: each member's look, number and client id."""
    chips = [
        element(
            "li",
            element(
                "button",
                swatch(person),
                element("bdi", shortened(person.client_id, CLIENT_MAX) or "no client id"),
                type="button",
                aria_pressed="false",
                title=shortened(person.member_id),
                data_look=f"{person.look}",
                data_member=person.number,
            ),
        )
        for person in shown
    ]
    if left_out_count:
        chips.append(element("li", f"and {left_out_count:,} more", class_="quiet"))
    return element("ul", *chips, class_="legend", aria_label="Members")


def swatch(person: MemberStyle) -> Markup:
    """Return a small square in the member's look with its number."""
    return element(
        "svg",
        element("rect", width=22, height=14, rx=2, class_=f"bar {person.look}"),
        element("text", person.number, x=11, y=11, class_="in-bar"),
        width=22,
        height=14,
        class_="swatch",
        aria_hidden="true",
    )


def patterns() -> Markup:
    """Return the textures, which all charts of the page share."""
    return element(
        "svg",
        element("defs", together(_pattern(look) for look in range(HUES, LOOKS))),
        width=0,
        height=0,
        class_="patterns",
        aria_hidden="true",
    )


def _pattern(look: int) -> Markup:
    """Return a colour with stripes or dots on it."""
    texture = (
        element("path", d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5", class_="texture")
        if look < 2 * HUES
        else element("circle", cx=3, cy=3, r=1.2, class_="texture-dot")
    )
    return element(
        "pattern",
        element("rect", width=6, height=6, class_=f"m{look % HUES}"),
        texture,
        id=f"look-{look}",
        width=6,
        height=6,
        patternUnits="userSpaceOnUse",
    )
