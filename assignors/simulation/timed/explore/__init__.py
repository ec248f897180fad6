"""What can go wrong in a group, and the smallest way to get there.

* `fuzz`: random scenarios until one violates a monitor, with `random_scenarios` and `settings`
* `cases`, `search`: small groups in every order of messages and timers (exhaustion), with `world`,
  `moves`, `steps` and `merging`
* `shrinking`: a scenario with less in it that still violates the same monitor
* `history`: the events of a run up to its first violation, a line each, with `words`

Exhaustion runs the same steps that run on a clock, without one. A *world* is a state of everything:
the coordinator, the members, what they consume, the messages and appends on their way, the timers
that run, and how many faults may still happen. A *move* leads from one world to the next: a message
arrives, an append completes, a timer runs out, a process starts, stops or crashes. A breadth-first
search visits every world that any order of moves can reach, and asks the monitors about each.

What is abstracted:

* There is no time. A timer that runs may run out at any moment; where that is a fault (a session
  that ends although its process runs, a barrier that ends before a process has come that runs) it
  counts as one, and faults are limited. Otherwise two members that wait for an id that nobody uses
  any more could remove each other for ever, and no search would end.
* Messages of one connection keep their order, as over TCP. A process that ends takes the answers on
  their way to it with it; what it has sent still arrives. Where a connection breaks, all answers on
  their way are lost, and either all requests or none.
* A heartbeat that says nothing but that its member lives is sent and handled in one move, and only
  where the coordinator answers something new. Heartbeats that arrive later, or change nothing, lead
  to the same worlds: they read what only their member's own later messages change.
* Appends of a consumer group complete at once: only the answer waits for them, and answers may be
  late anyway. Those of a classic group complete at any moment, in order, and so do those of a
  group that may change its kind.
* Member ids are a member's name, or its instance id, and a count.

Requests and appends get new numbers in each world, and counters for a run alone are no part of a
state (`merging`). The tests search small cases without merging and find the same moments.

So a case says what can happen to that group, that assignor and that many faults, and nothing about
larger ones.
"""
