"""Assignors with a mistake: a partition that does not exist, and one that everybody gets."""

from assignors import Assignor, Group, Rebalance


def assign(group: Group) -> Rebalance:
    return Rebalance(
        assignment={
            member.member_id: dict.fromkeys(member.topics, (99,)) for member in group.members
        }
    )


NINETY_NINE = Assignor(family="own", name="ninety-nine", assign=assign)


def assign_to_everybody(group: Group) -> Rebalance:
    return Rebalance(
        assignment={
            member.member_id: dict.fromkeys(member.topics, (0,)) for member in group.members
        }
    )


EVERYBODY = Assignor(family="own", name="everybody", assign=assign_to_everybody)
