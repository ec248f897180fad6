"""An assignor with a mistake: it assigns a partition that does not exist."""

from assignors import Assignor, Group, Rebalance


def assign(group: Group) -> Rebalance:
    return Rebalance(
        assignment={
            member.member_id: dict.fromkeys(member.topics, (99,)) for member in group.members
        }
    )


NINETY_NINE = Assignor(family="own", name="ninety-nine", assign=assign)
