"""Simulate the load and the lag of a group whose partitions are not equal, second by second.

Rounds count moves, and the timed simulator what happens to messages; here records arrive at rates
that differ and change, members process them as fast as their capacity allows, and what is not
processed is lag. A leader measures both, and its assignor rebalances through the hand-over rule.

* `scenario`, `document`, `worlds`: what is simulated, as data, as JSON, and under a name
* `rates`: how many records arrive at each partition
* `estimates`: the weights that the leader makes of what it measures
* `group`: rounds of the group, by a real assignor
* `run`: a run, moment by moment, with lag and moves; `results`: its figures
* `rows`: runs as rows of a table
"""
