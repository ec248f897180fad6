"""The push protocol: a barrier for each partition; the coordinator pushes what changes.

Proposed on Kafka's user list in July 2014 ("New Consumer Design"), and never built. A rebalance
stops only the partitions that move, and members do not join again for it:

1. A member joins, leaves or falls silent, or topics change: the coordinator computes the new
   owners.
2. It informs all live brokers. They refuse fetches of the old owners and acknowledge.
3. With all acknowledgements it asks the old owners, in a heartbeat response, to give up the
   partitions that move. A refused fetch asks the same, and may come earlier.
4. An old owner commits its offsets and sends a PartitionCommittedNotification.
5. The next owner receives the partition in a heartbeat response.

In a rolling restart of 100 members it stops eighty times fewer partition-seconds than
cooperative-sticky or KIP-848, because nobody waits for a heartbeat. What it asks for: every broker
knows the owners of all partitions that it leads, or checks leases; the coordinator reaches all
brokers with every change; each grant has a number, or two changes in one round trip lead to two
owners; and there is no barrier after which everybody is known to have the same plan.

Left out, as the proposal has no word on it: a log of the coordinator, its failover, static members,
subscriptions by pattern.
"""
