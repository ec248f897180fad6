"""Real groups on the execution models of a coordinator: their records are the entries of its log.

`coordinator` knows requests and a log, and no group; `protocols` knows groups, and no log. Here a
request of an execution model is a request of a group's member, its entries are the records of
`__consumer_offsets`, byte for byte, and the state of a partition is what these records contain.
Neither of the two imports this folder.
"""
