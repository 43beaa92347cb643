"""What an account answers to a request, by what the request is about."""
