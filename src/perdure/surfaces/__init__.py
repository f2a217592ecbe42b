"""Where people and machines touch the platform: thin siblings over one list of operations."""
