"""The messages of the consumer protocol: Subscription, Assignment and UserData, one file each."""
