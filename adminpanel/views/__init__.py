"""The staff's screens, by what they are about."""
