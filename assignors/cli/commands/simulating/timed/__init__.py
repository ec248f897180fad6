"""What `simulate --scenario` runs: one scenario on a clock, for some seeds, protocols and models.

* `options`: their values and help; `request`: the runs that they ask for
* `command`: one of `results`, `violations`, and beside the results `log_option` and `report`
"""
