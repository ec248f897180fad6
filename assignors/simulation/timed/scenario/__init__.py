"""What a timed run is made from: topics, members, broker, network, and a plan of what happens.

Nothing else decides a run. Times are milliseconds, but for those too short for it (`_us`). A field
is declared once, in its class: its type says what a document may give (`documents.keys`).

* `whole`: the scenario; its parts: `members`, `broker`, `execution`, `plan`, `faults`, `protocols`
* `kinds`: types of fields
"""

from assignors.simulation.timed.group_protocols import MIGRATING, GroupProtocol, MigrationPolicy
from assignors.simulation.timed.scenario.broker import BrokerConfig, PushConfig
from assignors.simulation.timed.scenario.execution import ExecutionConfig, OtherGroups
from assignors.simulation.timed.scenario.faults import Direction, Fault, FaultKind
from assignors.simulation.timed.scenario.members import (
    Arrivals,
    Claims,
    ClientModel,
    MemberConfig,
)
from assignors.simulation.timed.scenario.plan import (
    Action,
    CrashLoop,
    RollingRestart,
    ScaleOut,
    Verb,
)
from assignors.simulation.timed.scenario.whole import (
    VERSION,
    NetworkConfig,
    ProcessingConfig,
    Scenario,
)

__all__ = [
    "MIGRATING",
    "VERSION",
    "Action",
    "Arrivals",
    "BrokerConfig",
    "Claims",
    "ClientModel",
    "CrashLoop",
    "Direction",
    "ExecutionConfig",
    "Fault",
    "FaultKind",
    "GroupProtocol",
    "MemberConfig",
    "MigrationPolicy",
    "NetworkConfig",
    "OtherGroups",
    "ProcessingConfig",
    "PushConfig",
    "RollingRestart",
    "ScaleOut",
    "Scenario",
    "Verb",
]
