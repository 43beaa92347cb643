"""What the shop window answers to a request, by what the request is about."""
