"""The staff's settings of the whole shop: delivery, taxes, terms. The app that uses a kind of settings declares this kind."""
