"""Who owns which partition, and when: ownership as intervals, double ownership, missing ownership.

The words: a *change* says what a member owns from a moment on. An *ownership* is an interval in
which one member owned one partition. An *overlap* is a time in which two members owned one
partition. A *gap* is a time in which nobody did.

A moment is an integer of whatever clock the caller has: milliseconds of an epoch, rounds of a
simulation. An interval contains its start and not its end, and an end of `None` means that it
lasts. Nothing here knows where changes come from: replay derives them from records, the tests with
real groups from what members report, a simulator from what it does.

* `changes`: what a caller hands in
* `intervals`: from changes to ownerships; the times in which a partition had one owner alone
* `double`: overlaps, and how long they lasted
* `missing`: gaps
* `arrays`: ownerships as columns, and as 0/1 matrices of members and partitions, for numpy
* `monitors`: the same questions about one moment or one step, without a history
"""
