"""Assignments that are provably as good as possible: balance first, then least movement."""
