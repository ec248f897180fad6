"""What execution models keep, and what Kafka's runtime does: a part of their page."""

from __future__ import annotations

CONTRACT = """## What every model keeps

Over logs that complete appends at once, later, in another order, or with a failure, and over
failovers, at any moment (`tests/simulation/timed/execution`):

- every request is answered exactly once, and with success only after the high watermark has passed
  its last record, and that of everything it has seen;
- what is replicated of the state is what the replicated part of the log says;
- no update is lost or made twice; what was made on top of a failed append fails with it;
- every worker and every key is given back, once;
- a failover loses what is not replicated, and everybody who waits for it is answered so;
- a request that has waited too long for the log is answered so once, and what it holds is given
  back at its late completion;
- work in the background is done once at a time for each of its keys, by as many threads as there
  are, and no stale result is written where these are to be dropped.

Histories are drawn at random, and with them lingers, timeouts, undo logs or snapshots, and the
threads; small cases of two and three requests, with checks, failures, background work, a timeout or
a failover, are exhausted over every order in which anything can complete, up to 12,000 histories
each.

Faults that were put into the steps on purpose are found, each with a history of a few lines: an
append outside the lock, an answer before the high watermark, a state that does not go back, or half
of the way, a key that is not unlocked, or twice, appends applied in the order in which they
complete, a stale result that is written, two computations for one key, and a late completion that
answers a second time.

## How Kafka 4.4.0 does it

`two-stage` with these settings is Kafka's `CoordinatorRuntime`, step by step
(`tests/simulation/timed/execution/test_runtime.py`):

- The next partition is any of those with requests that wait (`picks`), and one thread at a time
  handles its requests. A high watermark waits for the request that is being handled, and goes
  before the next one (`in_turn`); of several that have come meanwhile only the last one counts.
- An adaptive linger, the default, appends a batch after the requests that were queued when it
  began; a linger of 0 appends each request, a longer one waits for its time. A full batch goes at
  once, and so do the records of a transaction, as a batch of their own.
- The state runs ahead of the log. Snapshots (`history`) keep the old value of a key once a batch;
  an undo log would keep one for each record. A failed batch goes back to the snapshot before it.
- A request that writes nothing waits for the last offset that was written, since it may have read
  what is not replicated yet.
- `offsets.commit.timeout.ms` (`timeout_us`) starts when a request has been handled: one that waits
  in a queue does not time out. The state stays as the request has made it.
- A regular expression is resolved by `group.coordinator.background.threads` (`background_threads`).
  No second one of a key is accepted until the result of the first has been handled, as a request of
  its own. Work goes on if the append of the request that asked for it fails. Whether its result is
  stale is left to each kind of work; `stale` has both answers.

"""
