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

* `states`: the states of a partition as a table; `messages`
* `coordinator`, `group`: joins, heartbeats, notifications; `moves`: from new owners to grants;
  `fetch_fencing`: what brokers refuse
* `member`: a member's side; `reading_rights`: what the ledger counts

Left out, as the proposal has no word on it: a log of the coordinator, its failover, static members.
"""
