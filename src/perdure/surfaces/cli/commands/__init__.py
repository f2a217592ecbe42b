"""Commands: one module per group, each registered by the application."""
