"""Members whose application has a session and one handler a partition, as Sarama's have."""
