"""Read bytes as people paste them: out of logs, debuggers, hex dumps and packet captures."""
