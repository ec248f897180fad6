"""The assignors of Kafka's Java client, answer for answer."""
