"""Rounds of a classic group and starts of any group (`starts`): all members at once.

Members of a consumer group reconcile each by itself (`reconciling`).
"""
