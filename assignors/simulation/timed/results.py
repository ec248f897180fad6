"""The result of a timed run: one row of figures."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedResult:
    """What a run cost. Times are milliseconds, in fractions where a message takes less."""

    scenario: str
    """Its name."""
    seed: int
    """Of the run."""
    rounds: int
    """Generations that began since costs are counted."""
    round_ms_median: float
    """From the begin of a rebalance to its end: in a classic group, when the coordinator has stored
    the leader's assignment; in others, when every member has reported what it was to get."""
    round_ms_max: float
    """The longest of these."""
    convergence_ms: float | None
    """From the last action of the plan, or the begin of a later fault, until nothing changed any
    more; null where the group has not settled."""
    unavailable_partition_ms: float
    """Partitions times milliseconds without a consumer."""
    group_stopped_ms: float
    """Time in which nobody in the group consumed anything."""
    any_stopped_ms: float
    """Time in which at least one partition had no consumer."""
    longest_gap_ms: float
    """The longest time that one partition was without a consumer."""
    gaps: int
    """Times in which a partition was without a consumer."""
    moves: int
    """How often a partition went to another member than the one before."""
    moves_beyond_optimum: int
    """Moves more than the best balance needs, from one moment at rest to the next; a worse
    balance that needs fewer counts 0."""
    members_touched: int
    """Members interrupted: they had to rejoin or to give up partitions while they consumed. Summed
    over generations; their own stops and crashes do not count."""
    pauses_ended: int
    """How often a rebalance ended the pause of a partition: its consumer reads on unasked."""
    double_partition_ms: float
    """Partitions times milliseconds with two consumers or more."""
    longest_double_ms: float
    """The longest time that one partition had two consumers."""
    requests: dict[str, int]
    """Requests that reached the coordinator in the whole run, by type."""
    events: int
    """Events that were played one by one: all but heartbeats of idle members."""
    unowned: int
    """Partitions of subscribed topics without a consumer at the end."""
    is_settled: bool
    """Every member that runs has its assignment, and every partition a consumer."""
    commits: int = 0
    """Commits of offsets that were accepted, since costs are counted."""
    fenced_commits: int = 0
    """Commits that were refused: of another generation or epoch, or from outside the group."""
    reprocessed_records: int = 0
    """Records that were processed again: their commit was lost, refused, or never sent."""
    duplicate_records: int = 0
    """Records that a second member processed while another one still did."""
    delayed_records: int = 0
    """Records that were written while nobody consumed their partition."""
    lag_records: int = 0
    """Records that are written and not committed at the end."""
    failovers: int = 0
    """How often the group lost its coordinator."""
    recovery_ms: float | None = None
    """From the loss of a coordinator until every member had heard of the next one and the group was
    at rest, the longest; null where that has not come about, or nothing was lost."""
    first_heartbeat_ms: float | None = None
    """From the loss of a coordinator until the next one first answered a heartbeat, the longest."""
    records_replayed: int = 0
    """Records of the group that coordinators read when they took over, each time counted."""
    records_lost: int = 0
    """Records of the group that were written and not replicated when their broker crashed."""
    events_hash: str = ""
    """A hash of the events, as 16 hexadecimal digits: the same scenario and seed give the same in
    every process."""
    violations: int = 0
    """How often a rule was broken that monitors hold every run against."""
    first_violation: str | None = None
    """The first of them, with its event's number, its time and the seed."""
    fetches_refused: int = 0
    """Fetches that brokers refused before the member had heard that it lost the partition."""
    coordinator_p99_ms: float | None = None
    """Of the group's requests: the 99th percentile of the time that the coordinator had one, with
    all that it waited for. This and those below are for a coordinator with an execution model."""
    coordinator_waiting_max: int | None = None
    """The most requests that it had at a time, those of other groups among them."""
    commit_p50_ms: float | None = None
    """The median of the time from a commit that was accepted to its answer, at the coordinator."""
    commit_p99_ms: float | None = None
    """The 99th percentile of that."""
    evictions: int | None = None
    """Members whose session was over while a request of theirs waited for its turn."""
    failed_appends: int | None = None
    """Appends that failed."""
    stopped_by: str | None = None
    """The bound that ended the run early: `event_limit` or `kept_limit`, and
    its value."""
    members_failed: int = 0
    """Members whose client stopped with an error that it does not recover from, in the whole run,
    each time counted; those that the plan stops or crashes are not."""
    fatal_errors: dict[str, int] = field(default_factory=dict)
    """Of these: how many stopped with which error."""
    join_wait_ms: float | None = None
    """Members times milliseconds from JoinGroup, or the heartbeat that joins, to its answer. This
    and those below are counted by `tables.rows`, from `count_from_ms` on."""
    sync_wait_ms: float | None = None
    """Members times milliseconds from SyncGroup to its answer."""
    commit_wait_ms: float | None = None
    """The same from commits of offsets to their answers."""
    offset_fetch_wait_ms: float | None = None
    """The same from the question for committed offsets to its answer."""
    locked_partition_ms: float | None = None
    """Of `unavailable_partition_ms`, between two consumers of a partition: while some member waited
    for the answer to JoinGroup or SyncGroup."""
    poll_blocked_ms: float | None = None
    """Members times milliseconds in `poll` with nothing to return: without a partition, from their
    start or their last one's loss until they have one. Who gets none is not counted."""
    callback_blocked_ms: float | None = None
    """Members times milliseconds in callbacks for revoked and assigned partitions, `Setup` and
    `Cleanup`, with the commits that they wait for."""
    commit_blocked_ms: float | None = None
    """Members times milliseconds in synchronous commits, outside callbacks."""
    close_blocked_ms: float | None = None
    """Members times milliseconds from a call of `close` until the member leaves: with its callbacks
    and what its thread has to finish first."""
    state_bytes: int | None = None
    """What the coordinator's broker keeps for the group at the end: keys and values of its records
    as compaction leaves them, with subscriptions, assignments and offsets. In a group of the push
    protocol what every broker keeps: 44 bytes for each partition that somebody may read."""
    state_bytes_max: int | None = None
    """The most of that at a time."""
    offsets_bytes: int | None = None
    """Committed offsets in `state_bytes`."""
    written_bytes: int | None = None
    """Keys and values of all records that were written in the whole run."""
