"""What every execution model keeps: a part of RESULTS.md."""

from __future__ import annotations

CONTRACT = """## What every model keeps

Over logs that complete appends at once, later, in another order, or with a failure, and over
failovers, at any moment (`tests/simulation/timed/execution`):

- every request is answered exactly once, and with success only after the high watermark has passed
  its last record, and that of everything it has seen;
- what is replicated of the state is what the replicated part of the log says;
- no update is lost or made twice; what was made on top of a failed append fails with it;
- every worker and every key is given back, once;
- a failover loses what is not replicated, and everybody who waits for it is answered so.

Histories are drawn at random, and with them lingers and threads; small cases of two and three
requests, with checks, failures or a failover, are exhausted over every order in which anything can
complete, up to 12,000 histories each.

Faults that were put into the steps on purpose are found, each with a history of a few lines: an
append outside the lock, an answer before the high watermark, a state that does not go back, or half
of the way, a key that is not unlocked, or twice, and appends applied in the order in which they
complete.
"""
