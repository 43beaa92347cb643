"""What orders answer to a request, by what the request is about."""
