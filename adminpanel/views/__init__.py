"""The staff's screens, by topic."""
