"""What the staff set for the whole shop: delivery methods, tax rates, who sells. Each kind is declared by the app that it belongs to."""
