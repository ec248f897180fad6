"""Records of `__consumer_offsets` from bytes to columns and to decoded records."""
