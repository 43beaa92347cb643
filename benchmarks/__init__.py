"""What prints the figures that docs/ quotes."""
