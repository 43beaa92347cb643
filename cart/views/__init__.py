"""What a cart answers to a request, by what the request is about."""
