"""The views of accounts, by topic."""
