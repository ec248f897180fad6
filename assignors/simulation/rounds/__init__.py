"""Group histories in rounds: each event is played until the group has settled."""
