"""What `simulate` runs: histories in rounds, or one scenario on a clock; in Python or on Spark.

Each group of options stands in a file of its own, with a dataclass of their values; those of a
scenario on a clock have a folder, `timed`.
"""
