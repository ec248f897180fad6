"""Simulate a group on a clock: members, coordinator and network, message by message.

Where `assignors.simulation.rounds` counts rounds, this counts microseconds. Members send requests
over a network with delays, the coordinator answers them as Kafka's does, and a ledger records which
member really consumes which partition, whatever members, leader and coordinator believe. The same
scenario gives the same run on every machine.

What a run is made from, and what comes of it:

* `scenario`: topics, members, plan and faults, as data; `scenario_document`: the same as JSON;
  `gallery`: scenarios with names
* `simulation`: a run from a scenario to its result; `results`: that result, one row; `tables`: runs
  by the thousand; `offsets_topic`: a run as records of `__consumer_offsets`, and back; `broker`:
  groups over a log, asked one request after the other

What goes on in it:

* `queue`: the clock, a queue of events and timers; `random_streams`: a stream of random numbers
  for each entity and purpose; `network`: messages on their way
* `protocols`: what coordinator and members do, a file a side; `sides`: the two of one run;
  `migration`: members of both protocols; `dialects`: the bytes of each client and version
* `run`: the state of a run; `engine`: its loop, and what members ask for; `host`: its coordinator,
  executed by a model or without one (`execution`); `plan`; `faults`; `threads`: clients with
  threads; `processing`: records and commits
* `ledger`: who consumes what; `costs`: what that cost; `monitors`: what must hold

Every message, timer and commit of records is an event. Only heartbeats of idle members are computed
(`heartbeats`), with the same result.

Beside it: `explore` (small cases in every order, random scenarios, a broken rule shown and made
small) and a simulation that knows no group protocol, `execution` (execution models, `sweeps`).
"""
