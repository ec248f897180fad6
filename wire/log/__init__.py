"""Kafka's log files: segments, record batches and the records inside them."""
