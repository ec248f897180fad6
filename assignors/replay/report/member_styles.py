"""The colour and the number by which the charts of one life show a member.

There are eight colours, which colour-blind people can tell apart and on which dark text is
readable (Paul Tol's "light" scheme), each plain, striped and dotted. Every bar that is wide
enough also has the member's number in it, so colour is never needed to recognise a member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.replay.report.formats import shortened_name
from assignors.replay.report.view_model import LifeView
from assignors.replay.tables.rows import AssignmentRow, MemberRow

STYLE_COUNT = 24
"""Eight colours plain, striped and dotted; further members use them again. `page.css` has a class
`m0` to `m23` for each, `chart.html` the stripes and dots."""

CLIENT_MAX = 48
"""Characters of a client id in a tooltip or a legend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStyle:
    """How the charts of one life show a member."""

    number: int
    """In the order of the members' first records, from 1."""
    member_id: str
    client_id: str
    host: str

    @property
    def css_class(self) -> str:
        """The class of its bars."""
        return f"m{(self.number - 1) % STYLE_COUNT}"

    @property
    def client(self) -> str:
        """Its client id, as legends and tooltips print it."""
        return shortened_name(self.client_id, CLIENT_MAX) or "no client id"

    @property
    def description(self) -> str:
        """Its number, client and host, as tooltips print them."""
        host = f" at {shortened_name(self.host, CLIENT_MAX)}" if self.host else ""
        return f"member {self.number}, {self.client}{host}"


def member_styles(life: LifeView) -> Mapping[str, MemberStyle]:
    """Return the style of each member of a life, by member id. Linear in the rows of the life."""
    rows: list[MemberRow | AssignmentRow] = [*life.members, *life.assignments]
    found: dict[str, MemberStyle] = {}
    for row in rows:
        if row.member_id not in found:
            found[row.member_id] = MemberStyle(
                number=len(found) + 1,
                member_id=row.member_id,
                client_id=row.client_id,
                host=row.host,
            )
    return found
