"""What `simulate` runs: Spark for many histories, one scenario on a clock."""
