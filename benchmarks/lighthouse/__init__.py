"""Measures five pages of the shop with Lighthouse."""
