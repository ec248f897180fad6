"""The group protocols: for each what the coordinator does and what a member does.

A side is a function `step(state, at, event) -> effects`. It does no I/O, knows no clock but `at`
(microseconds since the run began) and nothing of the other side: what it wants done it returns as
effects (`effects`). A step owns the state it is given and changes it in place; who needs the state
before it copies it first.
"""
