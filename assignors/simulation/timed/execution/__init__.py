"""How a coordinator executes requests over a log: execution models, played and measured.

This folder knows no group protocol: what a request means is a function from a state to records
and a response (`port.Handler`), and the log is a port that completes appends now or later.
"""
