"""How a client divides its work among threads: three models, exhausted and measured.

KIP-945 proposes to move everything that talks to the coordinator from the application's thread to a
background thread. Three designs stand side by side here, as rows of one table (`models`):

* `in_poll`: one thread, which does everything while the application is inside `poll()`;
* `heartbeat_thread`: a second thread sends heartbeats and reads answers; both threads share one
  lock (Java's classic client);
* `background_thread`: a second thread does all that needs the network; the application's thread
  runs callbacks and returns records; two channels lie between them (Java's client of KIP-848).

They run the same duties (`machine`), one duty a step, so every order in which two threads, the
network and the application can take turns is a path in a graph. `world` visits all of it.
`connection` is the background thread's own state table, `lookups` the race of two threads that look
for the coordinator, `closing` the order of the last steps, `listeners` which callbacks a rebalance
listener gets. `timing` runs the models on a clock; in whole groups `timed.threads` does. `claims`
says what of the KIP holds where.

Nothing here knows a group protocol. Of a rebalance a client sees what all protocols have: news of a
target, an acknowledgement when it has revoked, a grant.
"""
