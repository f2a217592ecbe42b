"""XML into the process model: one module per family of elements."""
