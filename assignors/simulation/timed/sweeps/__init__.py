"""Sweeps: a coordinator's execution models under many loads, in rows, and where each one ends.

* `points`: one load under one model, as plain data
* `sweep`: which points there are, as a document
* `rows`: points in, figures out
* `limits`: the throughput limit by formula
"""
