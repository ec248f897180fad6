"""Documents, tables and progress out."""
