"""The tables of a replay: their rows, and their columns for Arrow, Spark and JSON."""
