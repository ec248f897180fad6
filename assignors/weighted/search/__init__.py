"""The search for a better assignment: members above their limit, and moves that relieve them."""
