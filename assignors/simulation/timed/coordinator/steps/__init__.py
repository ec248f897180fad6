"""The parts of a coordinator's step: who waits for whom, batches, reverts, background work."""
