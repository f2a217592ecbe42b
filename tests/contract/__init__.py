"""Models of the contract profile, carried by the engines."""
