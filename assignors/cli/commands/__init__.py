"""The subcommands, a module each; long ones have a module for each engine."""
