"""The table of operations: what can be asked of Perdure, by whom, and how every surface asks it."""
