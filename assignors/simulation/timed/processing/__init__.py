"""Records in a run: who processes which, which are processed again, and what is committed.

`records` counts what really happens, whatever anybody believes; `manual` is the consumer outside
any group; `offsets_sides` gives the sides of a protocol committed offsets.
"""
