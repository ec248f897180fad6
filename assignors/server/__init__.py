"""Copies of the broker's assignors (KIP-848, KIP-932): uniform, range, and simple for share groups.

A broker does not ask members what they own: it starts from the target it gave them last, which
stands here in `Member.owned`. Topics are ids to it, and in many places the order of its hash
tables decides who gets what.
"""
