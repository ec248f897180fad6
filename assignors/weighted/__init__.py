"""The assignors by weight (`sticky`, `cooperative_sticky`), their search, and bounds.

A `weighting` has the weights of partitions and the capacities of members; `workload` computes one
from samples of offsets. `bounds` computes uses that no assignment can be below.
"""
