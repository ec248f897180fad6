"""Members of a consumer group on the way to a new assignment, each by itself: few events each."""
