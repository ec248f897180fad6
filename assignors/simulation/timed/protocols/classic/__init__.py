"""The classic group protocol: JoinGroup, SyncGroup, heartbeats; eager and cooperative."""
