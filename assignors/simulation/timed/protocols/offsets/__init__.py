"""Committed offsets: requests about them, who may commit what, the coordinator's table of them."""
