"""Names that people type: the nearest known one, and what clients and brokers call assignors."""
