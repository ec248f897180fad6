"""What a timed run is made from: topics, members, broker, network, and a plan of what happens.

Nothing else decides a run. Times are milliseconds, but for those too short for it (`_us`). A file
has one part of a scenario, as data, and beside it `READERS`: what reads each field from JSON. A new
field is a line in its class, and a row in `READERS` unless it is a natural number.

* `whole`: the scenario; its parts: `members`, `broker`, `execution`, `push`, `network`, `plan`,
  `faults`, `processing`, `protocols`
* `reading`: readers of values; `possible`: what is refused, as it cannot happen
"""

from assignors.simulation.timed.scenario.broker import BrokerConfig, OldTargets
from assignors.simulation.timed.scenario.execution import ExecutionConfig, OtherGroups
from assignors.simulation.timed.scenario.faults import Direction, Fault, FaultKind
from assignors.simulation.timed.scenario.members import (
    Arrivals,
    Claims,
    ClientModel,
    MemberConfig,
)
from assignors.simulation.timed.scenario.network import NetworkConfig
from assignors.simulation.timed.scenario.plan import Action, Verb
from assignors.simulation.timed.scenario.processing import ProcessingConfig
from assignors.simulation.timed.scenario.protocols import MIGRATING, GroupProtocol, MigrationPolicy
from assignors.simulation.timed.scenario.push import PushConfig
from assignors.simulation.timed.scenario.whole import VERSION, Scenario

__all__ = [
    "MIGRATING",
    "VERSION",
    "Action",
    "Arrivals",
    "BrokerConfig",
    "Claims",
    "ClientModel",
    "Direction",
    "ExecutionConfig",
    "Fault",
    "FaultKind",
    "GroupProtocol",
    "MemberConfig",
    "MigrationPolicy",
    "NetworkConfig",
    "OldTargets",
    "OtherGroups",
    "ProcessingConfig",
    "PushConfig",
    "Scenario",
    "Verb",
]
