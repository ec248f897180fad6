"""The part of a strategy object that is the same for every client.

A client passes an assignor no reference to its consumer. The coordinator that calls is found in
the calling frames, and a strategy that meets two of them refuses: its session is of one member.
"""

from __future__ import annotations

import inspect
import logging
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from assignors.assignor import Assignor
from assignors.clients.common.client_session import OnNote, OnRound, new_session
from assignors.clients.common.replaced_names import ReplacedNames
from assignors.leader import REPAIR, WeightingOf
from assignors.options import Options
from assignors.weighting.token_bucket import TimedBudget

FRAMES_MAX = 16
"""How many calling frames are searched for the client's coordinator."""

P = ParamSpec("P")
S = TypeVar("S", bound="BaseStrategy")

TWO_CONSUMERS = "a strategy object serves one consumer: make one for each"


class BaseStrategy:
    """An assignor, its session, and the consumer it serves."""

    _logger: ClassVar[logging.Logger]
    _decoders: ClassVar[ReplacedNames]
    """The client's decoders, replaced for as long as a strategy lives."""
    _misuse: ClassVar[type[Exception]]
    """What the client raises for wrong settings."""

    def __init__(
        self,
        assignor: str | Assignor,
        *,
        rack_id: str | None = None,
        on_note: OnNote | None = None,
        on_round: OnRound | None = None,
        options: Options = REPAIR,
        weighting: WeightingOf | None = None,
        budget: TimedBudget | None = None,
        capacity: int | None = None,
    ) -> None:
        """Make a strategy object for one consumer.

        `assignor` is a name as `assignor_named` takes it, or an `Assignor`. `rack_id` is this
        member's rack: clients do not pass theirs to assignors. `on_note` is called with every
        oddity of a member, which is logged as well; `on_round` with the cost of each round that
        this member led. `options` say what a copy of Java's assignor does where Java's
        fails: by default the answer is repaired.

        `weighting` and `budget` are for assignors by weight. `weighting` is called with the group
        whenever this member leads a round, in the client's own thread, so it must not block; it
        returns what partitions weigh and members can carry. `budget` is what moves by these weights
        may cost in a time: by default there is no limit, and a batch of moves each minute.
        `capacity` is what this member can carry beside the others: they read it.

        Raises `ValueError` for an assignor that does not exist, runs in the broker, or does not
        work in this client.
        """
        self._session = new_session(
            assignor,
            logger=self._logger,
            rack_id=rack_id,
            on_note=on_note,
            on_round=on_round,
            options=options,
            weighting=weighting,
            budget=budget,
            capacity=capacity,
        )
        self._refuse_unfit(self._session.assignor)
        self._coordinator: weakref.ref[Any] | None = None
        self._decoders.use(self)

    @property
    def name(self) -> str:
        """The protocol's name in JoinGroup."""
        return self._session.assignor.name

    def __repr__(self) -> str:
        return f"strategy({self._session.assignor.full_name!r})"

    @staticmethod
    def _refuse_unfit(assignor: Assignor) -> None:
        """Raise `ValueError` for an assignor that does not work in this client."""

    @staticmethod
    def _calling_coordinator() -> Any:  # noqa: ANN401 - the client's coordinator, or None
        """Return the coordinator on whose behalf the client calls, if one is on the stack."""
        raise NotImplementedError

    def _known_coordinator(self) -> Any:  # noqa: ANN401 - as above
        """Return the coordinator of the consumer that this strategy serves, if known and alive."""
        return None if self._coordinator is None else self._coordinator()

    def _find_coordinator(self) -> Any:  # noqa: ANN401 - as above
        """Return the same after a search in the calling frames."""
        self._attach(self._calling_coordinator())
        return self._known_coordinator()

    def _attach(self, coordinator: object) -> None:
        if coordinator is None:
            return
        known = self._known_coordinator()
        if known is not None and known is not coordinator:
            raise self._misuse(TWO_CONSUMERS)
        self._coordinator = weakref.ref(coordinator)


def named_strategy(kind: Callable[Concatenate[str, P], S], name: str) -> Callable[P, S]:
    """Return the function that makes a strategy of this class for the assignor of this name.

    It has the signature and the help of the class, which a `partial` would hide.
    """

    def make(*args: P.args, **options: P.kwargs) -> S:
        return kind(name, *args, **options)

    signature = inspect.signature(kind)
    _, *parameters = signature.parameters.values()
    make.__module__ = kind.__module__
    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__doc__ = inspect.getdoc(kind.__init__)
    shown = signature.replace(parameters=parameters, return_annotation=kind)
    make.__signature__ = shown  # type: ignore[attr-defined] # what `help` looks at
    return make


def calling_objects() -> Iterator[Any]:
    """Yield the objects whose methods called the function that asks, the nearest first.

    At most `FRAMES_MAX` frames are searched.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - no other way to the client
    for _ in range(FRAMES_MAX):
        if frame is None:
            return
        caller = frame.f_locals.get("self")
        if caller is not None:
            yield caller
        frame = frame.f_back
