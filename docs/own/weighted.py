"""An assignor for unequal machines: a member whose instance id ends in -large counts twice."""

from collections import Counter

from assignors import Assignor, Group, Member, Rebalance


def capacity(member: Member) -> int:
    return 2 if (member.instance_id or "").endswith("-large") else 1


def assign(group: Group) -> Rebalance:
    load = Counter[str]()
    assignment: dict[str, dict[str, tuple[int, ...]]] = {m.member_id: {} for m in group.members}
    for topic, described in sorted(group.cluster.topics.items()):
        subscribers = [member for member in group.members if topic in member.topics]
        for partition in range(described.partition_count if subscribers else 0):
            shares = {m.member_id: (load[m.member_id] + 1) / capacity(m) for m in subscribers}
            chosen = min(shares, key=lambda member_id: (shares[member_id], member_id))
            load[chosen] += 1
            assignment[chosen][topic] = (*assignment[chosen].get(topic, ()), partition)
    return Rebalance(assignment=assignment)


WEIGHTED = Assignor(family="own", name="weighted", assign=assign)
