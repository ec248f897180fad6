"""An assignor written for one client that raises when its member leads."""

from __future__ import annotations

from typing import Any

RAISED = "no assignment today"


def failing(shipped: type) -> Any:
    """Return an assignor as `shipped`, under its name, that only raises."""

    def assign(cls: type, *_: object) -> None:
        raise LookupError(RAISED)

    return type("Failing", (shipped,), {"assign": classmethod(assign)})
