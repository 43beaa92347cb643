"""Makers of what tests need: fresh ids each time, written through the shop's own operations."""
