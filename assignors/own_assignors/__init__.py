"""Assignors from outside this package: found by import, and their answers checked."""
