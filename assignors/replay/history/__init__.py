"""The history of each group: lives, generations, members and changes, from decoded records."""
