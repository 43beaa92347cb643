"""The picture studio: the demo shop’s photographs, rendered from models in code. See README.md."""
