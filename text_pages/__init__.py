"""The shop's pages of text, such as help and terms: staff write them, and each saved version stays."""
