"""Groups whose members do not all speak the protocol of the scenario: they migrate online."""
