"""A min-cost flow on a table of rows x members: the least movement that reaches given loads.

A way is what textbooks call an augmenting path: rows and members in turn, along which partitions
are passed on, from where there are too many to where some are missing. What happens in a search,
in order: `table` and `network` say what is placed at the start, `residual` what could still be
passed on, `distances` what that costs, `blocking` sends it, `settle` repeats this
until nothing is left, and `effort` counts it.
"""
