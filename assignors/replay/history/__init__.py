"""The history of each group: lives, generations, members and their changes."""
