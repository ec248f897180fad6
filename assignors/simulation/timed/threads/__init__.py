"""Members whose clients divide their work among threads (`client_model`), on the clock.

The steps of a member know one thread and no wait for it, but for callbacks and long polls. Here its
events wait for the thread that handles them under its model, and its requests for the thread that
sends them: the tables of duties are those of `timed.clients.models`, so what was exhausted there is
what runs here.

* `duties`: which duty an event is, and which thread does it
* `client`: the threads of one client: what waits for which, and when its application polls
* `sides`: the sides of a run with such members among the others
"""
