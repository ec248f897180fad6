"""Optimal assignors: loads as equal as possible, then racks, then the fewest moves."""
