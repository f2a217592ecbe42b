"""Messages and signals of the embedded engine: envelope, correlation, delivery and intake."""
