"""Members whose clients divide their work among threads (`client_model`).

A member's own step knows one thread, which never waits except for callbacks and long polls. Here
its events wait for the thread that handles them under its model, and its requests for the thread
that sends them. `client.step_threads` is that step: a run takes it on a clock, and
`timed.explore` takes the same step in every order.

* `duties`: the models, which duty an event is, and which thread does it
* `client`: the threads of one client: what waits for which, and when its application polls
"""
