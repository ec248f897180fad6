"""What follows from a group's history: figures, ownership, reproduction, what-if."""
