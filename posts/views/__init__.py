"""The pages of posts."""
