"""Lists of calls, runbooks, instances and tasks, a page at a time."""
