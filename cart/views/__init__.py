"""The views of carts, by topic."""
