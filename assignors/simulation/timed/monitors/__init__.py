"""Monitors: what must hold in every moment of a run, and what must come about in the end.

A monitor only looks on. Safety monitors judge one moment (`invariants`) or one step (`steps`);
liveness monitors judge what has become of a group once nothing happens to it (`liveness`). `table`
lists them all with what each claims. The same functions judge a run event by event (`watch`) and
every state of a small case (`assignors.simulation.timed.explore`).

Not here: that answers never precede the high watermark, and that pause flags survive a rebalance.
"""
