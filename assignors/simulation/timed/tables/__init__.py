"""Timed runs by the thousand: rows of scenarios in, a row of results for each.

* `rows`: what a row is
* `variants`: what is compared side by side
* `summary`: results by group, with paired differences over common seeds
"""
