"""What a run cost the group, beside what the ledger knows of partitions."""
