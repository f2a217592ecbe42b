"""Calls: the views that surfaces show, corrections of data, and the wait for an outcome."""
