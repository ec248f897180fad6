"""Sweeps: a coordinator's execution models under many loads, in rows, and where each one ends.

* `points`: one load under one model, as plain data
* `sweep`: which points there are, as a document
* `rows`, `arrow`, `spark`: points in, figures out, on any engine
* `limits`: the throughput limit by formula
"""
