"""Watching groups live: findings as they open and close.

`replay` folds all records of a group and reports at the end. `watch` folds the same records one by
one, keeps a bounded part of the rows, runs the same finders over it, and says what changed.
"""
