"""The product from outside only."""
