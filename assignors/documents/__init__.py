"""JSON documents in and out: groups, assignments, reports and their errors."""
