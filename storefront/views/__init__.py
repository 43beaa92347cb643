"""The views of the storefront, by topic."""
