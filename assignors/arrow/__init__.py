"""Arrow columns in, Arrow columns out: codecs, assignors and checks for any engine that has Arrow.

`schemas` has the types of the results, `codecs` opens Subscriptions, Assignments and UserData,
`groups` assigns and checks. None of them needs Spark; `assignors.spark` registers them there.
Needs pyarrow.
"""
