"""The history of consumer groups, from the records of `__consumer_offsets`.

In stages, a folder each: `sources` reads raw records from files or a cluster, `decode` decodes
them, `history` builds the history of each group, `tables` has the row classes, `analysis`
computes figures, ownership and what-if, `findings` reports what went wrong; `engines` runs all of
it, and `report` makes one HTML page.
"""
