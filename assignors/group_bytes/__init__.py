"""All Subscriptions of a round read together, all Assignments written together, on arrays.

A leader gets the same topic names from every member: read one member after the other, nearly
all the time goes into names that are known already. Here equal topic lists are compared as bytes,
owned partitions are read in lock step over all members, and names are recognised without making
strings. Members whose bytes are not plain take the reader in `wire`, each for itself. Columns of
bytes on Spark are read in the same way (`assignors.arrow.codecs`).
"""
