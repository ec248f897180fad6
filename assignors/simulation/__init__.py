"""Simulate what happens to consumer groups, one group or a hundred thousand, under any assignor.

`rounds` counts time in rebalance rounds: each event is played until the group has settled.
`arrow` and `spark` run the same on Arrow batches and on DataFrames.

Nothing is imported here, so that what needs no simulation pays nothing for it:

>>> from assignors import assignor_named
>>> from assignors.simulation.rounds import Parameters, generate, play
>>> scenario = generate(7, Parameters(members=4, topics=2, partitions=10, events=2))
>>> all(row.violations == 0 for row in play(scenario, assignor_named("cooperative-sticky")))
True
"""
