"""A group whose members may speak either protocol, and which changes its kind for them.

A member of the consumer protocol that joins a classic group makes a consumer group of it; when the
last one has left, what remains becomes a classic group again (KIP-848, "online migration").
"""
