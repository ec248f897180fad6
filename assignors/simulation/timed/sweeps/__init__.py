"""Sweeps: a coordinator's execution models under many loads, in rows, and where each one ends.

* `sweep`: one load under one model, and which loads a sweep has, as documents
* `rows`: points in, figures out, the throughput limit by formula among them
"""
