"""A min-cost flow on a table of rows x members: the least movement that reaches given loads."""
