"""Timed runs by the thousand: rows of scenarios in, a row of results for each.

* `rows`: what a row is
* `variants`, `labels`: what is compared side by side, and how figures are shown
* `summary`: results by group, with paired differences over common seeds
"""
