"""How clients write and read the bytes of a rebalance: one entry a client and version.

`clients.DIALECTS` is the table. A member of a scenario with a `client` writes its Subscription as
that client does, leads as that client leads (it may fail on bytes that others write), and reads
its assignment as that client reads it. The partitions of a plan are those of the assignor that the
scenario names: a dialect is about bytes, not about who gets what; but a client may have a rule of
its own for what waits until it is revoked (`hand_over`). And it says how long a member waits
for the answers to JoinGroup and SyncGroup (`time_limits`), and what it does without them
(`unanswered`).

Source of every row: the bytes in `tests/vectors/clients-captured.jsonl.gz`, which the clients wrote
to a broker, and runs of each client as a leader and as a follower of one odd member.
"""
