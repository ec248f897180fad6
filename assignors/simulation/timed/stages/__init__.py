"""Rounds and starts of a classic group, starts of a consumer group: all members at once."""
