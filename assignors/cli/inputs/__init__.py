"""Inputs of the command: lines, JSON, scenarios, names of assignors."""
