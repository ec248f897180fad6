"""Rounds of a classic group and starts of any group (`starts`): all members at once."""
