"""Lines, files and scenarios in."""
