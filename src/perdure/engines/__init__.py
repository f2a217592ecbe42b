"""Engines that carry processes: `engine_selection` opens them, and `command_router` says which of them decides what."""
