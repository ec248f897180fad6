"""An eager sticky assignor: partitions stay with their owners as far as equal numbers allow."""

from assignors import Assignor, Group, Rebalance, UserData


def assign(group: Group) -> Rebalance:
    owner: dict[tuple[str, int], str] = {}
    for member in sorted(group.members, key=lambda member: member.generation):  # newest last
        for topic, numbers in member.owned.items():
            owner.update(((topic, number), member.member_id) for number in numbers)
    takers = {
        (topic, number): subscribers
        for topic, described in sorted(group.cluster.topics.items())
        if (subscribers := [each.member_id for each in group.members if topic in each.topics])
        for number in range(described.partition_count)
    }
    share = len(takers) // max(len(group.members), 1)
    load = {member.member_id: 0 for member in group.members}
    assignment: dict[str, dict[str, tuple[int, ...]]] = {member_id: {} for member_id in load}

    def give(place: tuple[str, int], member_id: str) -> None:
        topic, number = place
        load[member_id] += 1
        assignment[member_id][topic] = (*assignment[member_id].get(topic, ()), number)

    rest = []
    for place, subscribers in takers.items():
        if (kept := owner.get(place)) in subscribers and load[kept] < share:
            give(place, kept)
        else:
            rest.append(place)
    for place in rest:
        give(place, min(takers[place], key=lambda each: (load[each], each != owner.get(place))))
    return Rebalance(assignment=assignment)


OWN_STICKY = Assignor(family="own", name="own-sticky", assign=assign, user_data=UserData.STICKY)
