"""Timed runs by the thousand: rows of scenarios in, a row of results for each, on any engine.

* `rows`: what a row is, in plain Python
* `arrow`, `spark`: the same on Arrow batches and on DataFrames
* `cost`: how long a run takes, estimated before it, so that long ones do not meet in one task
* `summary`: results by group, with paired differences over common seeds
"""
