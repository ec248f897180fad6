"""Faults of a run: when they begin and end, and the members that consume after their removal."""
