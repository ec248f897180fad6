"""Outputs of the command: formats, exit codes, tables, progress."""
