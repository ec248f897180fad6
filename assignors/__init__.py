"""Compute, check, decode and simulate Kafka consumer-group rebalances.

Describe a group as data, choose an assignor by name, and read the assignment:

>>> from assignors import Cluster, Group, Member, assignor_named
>>> group = Group(
...     cluster=Cluster.of({"orders": 4}),
...     members=(
...         Member(member_id="a", topics=("orders",), owned={"orders": (0, 1, 2)}, generation=7),
...         Member(member_id="b", topics=("orders",), owned={"orders": (3,)}, generation=7),
...     ),
... )
>>> assignor_named("sticky").assign(group).assignment
{'a': {'orders': (0, 1)}, 'b': {'orders': (2, 3)}}

`lead` does the same from Subscription bytes to Assignment bytes, `checks.check` checks the
assignment of any assignor, `simulation` simulates groups over many rounds.

A name is imported when somebody asks for it (PEP 562): `kafka-assignors --help` and who needs one
module alone do not wait for numpy and every assignor.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assignors.assignor import Assignor, RebalanceProtocol, UserData
    from assignors.jvm.failure import JavaFailure
    from assignors.leader import Led, lead
    from assignors.model import Assignment, Cluster, Group, Member, MemberNote, State, Topic
    from assignors.options import OnFailure, Options, Prefer
    from assignors.own_assignors.answers import AssignorError
    from assignors.rebalance import Rebalance
    from assignors.registry import ASSIGNORS, assignor_named
    from assignors.weighting import Balance, Weighting
    from wire import TopicPartitions

__version__ = "0.3.0.dev0"

__all__ = [
    "ASSIGNORS",
    "Assignment",
    "Assignor",
    "AssignorError",
    "Balance",
    "Cluster",
    "Group",
    "JavaFailure",
    "Led",
    "Member",
    "MemberNote",
    "OnFailure",
    "Options",
    "Prefer",
    "Rebalance",
    "RebalanceProtocol",
    "State",
    "Topic",
    "TopicPartitions",
    "UserData",
    "Weighting",
    "assignor_named",
    "lead",
]

_MODULES = {
    "ASSIGNORS": "assignors.registry",
    "Assignment": "assignors.model",
    "Assignor": "assignors.assignor",
    "AssignorError": "assignors.own_assignors.answers",
    "Balance": "assignors.weighting",
    "Cluster": "assignors.model",
    "Group": "assignors.model",
    "JavaFailure": "assignors.jvm.failure",
    "Led": "assignors.leader",
    "Member": "assignors.model",
    "MemberNote": "assignors.model",
    "OnFailure": "assignors.options",
    "Options": "assignors.options",
    "Prefer": "assignors.options",
    "Rebalance": "assignors.rebalance",
    "RebalanceProtocol": "assignors.assignor",
    "State": "assignors.model",
    "Topic": "assignors.model",
    "TopicPartitions": "wire",
    "UserData": "assignors.assignor",
    "Weighting": "assignors.weighting",
    "assignor_named": "assignors.registry",
    "lead": "assignors.leader",
}
"""Public name -> the module that has it."""

if not TYPE_CHECKING:  # else a checker would believe that any name is here

    def __getattr__(name: str) -> object:
        """Import a public name or a module of this package. Python asks for each name once."""
        if name in _MODULES:
            value = globals()[name] = getattr(import_module(_MODULES[name]), name)
            return value
        module = f"{__name__}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name) from None

    def __dir__() -> list[str]:
        """Return the names of this module, imported yet or not."""
        return sorted({*globals(), *__all__})
