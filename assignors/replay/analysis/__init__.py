"""What is computed from a history: ownership, figures, reproductions, outcomes, rows of tables."""
