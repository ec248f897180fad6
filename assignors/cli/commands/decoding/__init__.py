"""What `decode` does with records of `__consumer_offsets` and with whole messages."""
