"""What the adapters of all clients share: the session, the strategy's base, translation.

`LedRound` is what the callback `on_round` gets.
"""

from assignors.clients.common.client_session import LedRound, OnNote, OnRound

__all__ = ["LedRound", "OnNote", "OnRound"]
