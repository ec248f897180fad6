"""A run in which a monitor found something: told in words, and made small.

* `words`: an event and its effects as text
* `history`: the events of a run up to its first violation, a line each
* `shrinking`: a scenario with less in it that still violates the same monitor
"""
