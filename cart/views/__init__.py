"""The cart's views, by what a request is about."""
