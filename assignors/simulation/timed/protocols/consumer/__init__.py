"""The consumer group protocol of KIP-848: heartbeats alone; the coordinator computes the target.

Left out: subscriptions by regular expression, a choice of assignor by the members, and groups with
members of the classic protocol.
"""
