"""Java's assignors on small groups: lists in place of arrays."""
