"""Simulate a group on a clock: members, coordinator and network, message by message.

Where `assignors.simulation.rounds` counts rounds, this counts microseconds. Members send requests
over a network with delays, the coordinator answers them as Kafka's does, and a ledger records which
member really consumes which partition, whatever members, leader and coordinator believe. The same
scenario gives the same run on every machine.

* `scenario`: what a run is made from, as data; `scenario_document`: the same as JSON
* `queue`: the clock, a queue of events and timers; `random_streams`: a stream of random numbers
  for each entity and purpose
* `network`: messages on their way; `protocols`: what coordinator and members do, a file a side
* `ledger`: who consumes what, and what that cost; `results`: a run as one row
* `simulation`: a run from a scenario to its result
"""
