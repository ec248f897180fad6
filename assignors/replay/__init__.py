"""What `__consumer_offsets` tells about every group: read from anywhere, decoded, replayed.

A source (`sources`) yields a topic's raw records in batches; `decoding` turns a batch of them
into columns; the rest of the package rebuilds the history of each group from those.
"""
