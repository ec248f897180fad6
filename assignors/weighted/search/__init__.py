"""The search for a better assignment: who carries too much, and what takes it off."""
