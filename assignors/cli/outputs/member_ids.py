"""Member ids as tables show them: without their random part, where they differ without it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

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
