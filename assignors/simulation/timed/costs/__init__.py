"""What a run cost the group, apart from what the ledger knows of partitions."""
