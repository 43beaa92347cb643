"""What Lighthouse says of five pages of the shop."""
