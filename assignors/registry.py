"""Find an assignor by name.

`FAMILY/NAME` names a row of `ASSIGNORS`; a bare `NAME` is the recommended assignor with that
protocol name; `package.module:object` is an `Assignor` of your own, found by import.
A new assignor is one file in its family and one row here.
"""

from __future__ import annotations

from importlib import import_module

from assignors.assignor import Assignor
from assignors.java.cooperative_sticky import COOPERATIVE_STICKY as JAVA_COOPERATIVE_STICKY
from assignors.java.range import RANGE
from assignors.java.roundrobin import ROUNDROBIN
from assignors.java.sticky import STICKY as JAVA_STICKY
from assignors.optimal.cooperative_sticky import COOPERATIVE_STICKY
from assignors.optimal.sticky import STICKY
from assignors.server.range import RANGE as SERVER_RANGE
from assignors.server.simple import SIMPLE
from assignors.server.uniform import UNIFORM

ASSIGNORS: dict[str, Assignor] = {
    assignor.full_name: assignor
    for assignor in (
        RANGE,
        ROUNDROBIN,
        JAVA_STICKY,
        JAVA_COOPERATIVE_STICKY,
        STICKY,
        COOPERATIVE_STICKY,
        UNIFORM,
        SERVER_RANGE,
        SIMPLE,
    )
}

BEST: dict[str, str] = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "optimal/sticky",
    "cooperative-sticky": "optimal/cooperative-sticky",
}


def assignor_named(name: str) -> Assignor:
    """Return the assignor of this name.

    `ValueError`, with the known names, if there is none, and for a `package.module:object` that
    cannot be imported or is no `Assignor`. Importing runs that module: take such names from
    people, never from data.

    >>> assignor_named("sticky").full_name
    'optimal/sticky'
    """
    found = ASSIGNORS.get(BEST.get(name, name))
    if found is not None:
        return found
    if ":" in name:
        return _imported(name)
    known = ", ".join([*BEST, *ASSIGNORS])
    raise ValueError(f"no assignor {name!r}; known: {known}, or package.module:object")


def _imported(path: str) -> Assignor:
    """Return the `Assignor` that `package.module:object` names."""
    module_name, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"cannot import {path!r}: {error}") from error
    if not isinstance(found, Assignor):
        raise ValueError(f"{path!r} is {type(found).__name__}, not an assignors.Assignor")
    return found
