"""Copies of the broker's assignors (KIP-848, KIP-932): uniform, range, and simple for share groups.

A broker does not read claims: it starts from the last target assignment, which is given here in
`Member.owned`. It identifies topics by id, and in many places the iteration order of its hash
tables decides who gets what.
"""
