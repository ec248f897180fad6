"""Groups as `kafka-consumer-groups.sh --describe` prints them, read into documents of groups.

`tables` finds the tables in the text and the cells of their rows, `rows` reads members, partitions
and states out of the cells, `groups` joins the tables of each group and says what was assumed.
"""

from assignors.documents.described.groups import (
    Assumed,
    AssumptionCode,
    DescribedGroup,
    assumption,
    described_groups,
)
from assignors.documents.described.tables import is_described

__all__ = [
    "Assumed",
    "AssumptionCode",
    "DescribedGroup",
    "assumption",
    "described_groups",
    "is_described",
]
