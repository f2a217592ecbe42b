"""Renderers: views as tables and trees for a terminal."""
