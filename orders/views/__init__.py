"""The views of orders, by subject."""
