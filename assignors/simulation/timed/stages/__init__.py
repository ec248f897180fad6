"""Rounds of a classic group by stage: all members at once in arrays, where nothing is special."""
