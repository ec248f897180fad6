"""Find an assignor by name.

`FAMILY/NAME` names a row of `ASSIGNORS`; a bare `NAME` is the recommended assignor with that
protocol name; `package.module:object` is an `Assignor` of your own, found by import. What Kafka's
classes and configuration files call an assignor is understood too (`names.assignor_names`).
A new assignor is one file in its family and one row here.
"""

from __future__ import annotations

from assignors.assignor import Assignor, UserData
from assignors.java.cooperative_sticky import COOPERATIVE_STICKY as JAVA_COOPERATIVE_STICKY
from assignors.java.range import RANGE
from assignors.java.roundrobin import ROUNDROBIN
from assignors.java.sticky import STICKY as JAVA_STICKY
from assignors.names.assignor_names import ALIASES, BEST, names_in
from assignors.names.nearest import question
from assignors.optimal.cooperative_sticky import COOPERATIVE_STICKY
from assignors.optimal.sticky import STICKY
from assignors.own_assignors.answers import with_checked_answers
from assignors.own_assignors.importing import imported
from assignors.server.range import RANGE as SERVER_RANGE
from assignors.server.simple import SIMPLE
from assignors.server.uniform import UNIFORM
from assignors.weighted.cooperative_sticky import COOPERATIVE_WEIGHTED
from assignors.weighted.sticky import WEIGHTED

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
        WEIGHTED,
        COOPERATIVE_WEIGHTED,
    )
}


def assignor_named(name: str) -> Assignor:
    """Return the assignor of this name, or of what Kafka or a configuration file calls it.

    `ValueError` if there is none, with the nearest name, for several names at once, and for a
    `package.module:object` that cannot be imported or is no `Assignor`. Importing runs that module:
    take such names from people, never from data. The answers of such an assignor are checked:
    `own_assignors.answers`.

    >>> assignor_named("sticky").full_name
    'optimal/sticky'
    >>> assignor_named("org.apache.kafka.clients.consumer.StickyAssignor").full_name
    'java/sticky'
    """
    if not isinstance(name, str):
        words = "expected a name; one of your own is named 'package.module:object'"
        shown = f"the Assignor {name.full_name!r}" if isinstance(name, Assignor) else repr(name)
        raise ValueError(f"assignor: {words}, found {shown}")
    found = registered(name)
    if found is not None:
        return found
    names = names_in(name)
    if len(names) > 1:
        raise ValueError(f"{name!r} names {len(names)} assignors; choose one of {', '.join(names)}")
    if names != [name]:
        return assignor_named(names[0])
    if ":" in name:
        return imported(name)
    words = question(name, [*BEST, *ASSIGNORS, *ALIASES])
    known = ", ".join([*BEST, *ASSIGNORS])
    listed = f"known: {known}, or package.module:object"
    raise ValueError(f"no assignor {name!r}{words or ';'} {listed}")


def assignor_of(choice: str | Assignor) -> Assignor:
    """Return the assignor of this name, or one that is given as it is, with its answers checked.

    Raises what `assignor_named` does.

    >>> assignor_of("range") is assignor_of(ASSIGNORS["java/range"])
    True
    """
    return with_checked_answers(choice) if isinstance(choice, Assignor) else assignor_named(choice)


def replacement_of(assignor: Assignor) -> Assignor:
    """Return the best assignor with the same hand-over: what leads where this one has failed.

    >>> replacement_of(ASSIGNORS["java/range"]).full_name
    'optimal/sticky'
    """
    is_cooperative = assignor.user_data is UserData.COOPERATIVE or assignor.is_cooperative
    return ASSIGNORS[BEST["cooperative-sticky" if is_cooperative else "sticky"]]


def registered(name: str) -> Assignor | None:
    """Return the assignor of the registry that has this name, `None` if none has; imports nothing.

    >>> registered("uniform").full_name, registered("stick")
    ('server/uniform', None)
    """
    known = ASSIGNORS.get(BEST.get(name, name))
    return known or ASSIGNORS.get(ALIASES.get(name, ""))
