"""Runs of traffic scenarios as rows: in this process or several, on Arrow batches, on Spark."""
