"""Options whose value is a file: what stands in it is checked as the option is read."""
