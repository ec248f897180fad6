"""The tables of a replay: row classes, columns, Arrow and Parquet."""
