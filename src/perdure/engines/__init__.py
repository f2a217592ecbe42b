"""Engines that carry processes, and the one place that chooses among them: `composition`."""
