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
"""

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.jvm.failure import JavaFailure
from assignors.leader import Led, lead
from assignors.model import Assignment, Cluster, Group, Member, MemberNote, State, Topic
from assignors.options import OnFailure, Options
from assignors.own_assignors.answers import AssignorError
from assignors.rebalance import Rebalance
from assignors.registry import ASSIGNORS, assignor_named
from assignors.weighting import Balance, Weighting
from wire import TopicPartitions

__version__ = "0.2.0"

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
