"""Kafka's group protocols: one coordinator, members of the classic protocol and of KIP-848."""
