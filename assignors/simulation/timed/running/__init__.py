"""A run while it goes on: what it consists of, and what the plan does to it."""
