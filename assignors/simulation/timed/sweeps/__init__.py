"""Sweeps: a coordinator's execution models under many loads, in rows, and where each one ends.

* `points`: one load under one model, as plain data
* `sweep`: which points there are, as a document
* `rows`, `arrow`, `spark`: points in, figures out, on any engine
* `limits`, `knee`: the throughput limit by formula, and by search
* `claims`: what was said in the debate, and where it holds
"""
