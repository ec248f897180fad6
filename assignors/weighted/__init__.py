"""The assignors by weight (`sticky`, `cooperative_sticky`), their search, and bounds beside it.

What partitions weigh and members can carry is a `weighting`, which `workload` makes of samples of
offsets. `bounds` says what no assignment can do better.
"""
