"""Partitions with weights and members with capacities: what no assignment can do better."""
