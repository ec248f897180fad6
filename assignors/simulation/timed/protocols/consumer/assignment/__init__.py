"""What the members of a consumer group subscribe to, are to have, and have on the way there."""
