"""Histories of joins and leaves, and how even topics stay in them.

    python -m tests.optimal.churn

follows the same 60 histories under several assignors and prints for each the spread in all rounds
beside the least that any assignment has, by how much the worst topic of a round is uneven in the
mean, and the partitions that moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from assignors import Assignor, Cluster, Group, Member, Options, Prefer, assignor_named
from assignors.checks import check

HISTORIES = 60
ROUNDS = 12


def history(seed: int, *, is_mixed: bool = False) -> Iterator[tuple[Cluster, list[Member]]]:
    """Yield the topics, and the members of each round, by id and subscription.

    Two to six topics of 3 to 24 partitions; two to eight members, of which one leaves or joins in
    each round. In mixed groups each member subscribes to some of the topics.
    """
    dice = Random(f"{seed} {is_mixed}")
    topics = [f"t{number}" for number in range(dice.randint(2, 6))]
    cluster = Cluster.of({topic: dice.randint(3, 24) for topic in topics})
    following = 0
    members: list[Member] = []

    def join() -> None:
        nonlocal following
        asked = topics if not is_mixed else dice.sample(topics, dice.randint(1, len(topics)))
        members.append(Member(member_id=f"m{following:03}", topics=tuple(asked)))
        following += 1

    for _ in range(dice.randint(2, 8)):
        join()
    yield cluster, list(members)
    for _ in range(ROUNDS):
        if len(members) > 2 and (len(members) == 8 or dice.random() < 0.5):
            members.pop(dice.randrange(len(members)))
        else:
            join()
        yield cluster, list(members)


def rounds(assignor: Assignor, seed: int, *, is_mixed: bool = False) -> Iterator[Group]:
    """Yield the group of each round, where members claim what the assignor gave them before."""
    owned: dict[str, dict[str, tuple[int, ...]]] = {}
    for generation, (cluster, members) in enumerate(history(seed, is_mixed=is_mixed), 1):
        claiming = tuple(
            replace(member, owned=owned[member.member_id], generation=generation - 1)
            if member.member_id in owned
            else member
            for member in members
        )
        group = Group(cluster=cluster, members=claiming, generation=generation - 1)
        yield group
        answer = assignor.assign(group).assignment
        owned = {name: dict(share) for name, share in answer.items()}


def figures(assignor: Assignor) -> tuple[float, float, int]:
    """Return the spread by the least of any assignment, the mean unevenness, and the moves."""
    spread, least, uneven, moved, count = 0, 0, 0, 0, 0
    for seed in range(HISTORIES):
        for turn, group in enumerate(rounds(assignor, seed)):
            gaps = check(group, assignor.assign(group).assignment).gaps
            spread += int(gaps["topic_spread"] or 0)
            uneven += int(gaps["topic_spread_max"] or 0)
            moved += int(gaps["moved"] or 0) if turn else 0
            count += 1
            for topic in group.cluster.topics.values():
                each, rest = divmod(topic.partition_count, len(group.members))
                least += len(group.members) * each * each + rest * (2 * each + 1)
    return spread / least, uneven / count, moved


def main() -> None:
    """Print the table."""
    sticky = assignor_named("sticky")
    several = {
        "sticky": sticky,
        "sticky, spread first": sticky.configured(Options(prefer=Prefer.SPREAD)),
        "java/sticky": assignor_named("java/sticky"),
        "server/uniform": assignor_named("server/uniform"),
    }
    print(f"{'':24}{'spread':>8}{'uneven':>8}{'moves':>8}")
    for name, assignor in several.items():
        spread, uneven, moved = figures(assignor)
        print(f"{name:24}{spread:8.3f}{uneven:8.2f}{moved:8,}")


if __name__ == "__main__":
    main()
