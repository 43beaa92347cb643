"""The consistency check: finds violations of the shop's invariants, and repairs data that can be rebuilt."""
