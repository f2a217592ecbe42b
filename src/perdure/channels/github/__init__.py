"""GitHub: its REST interface, and tasks as issues of a repository."""
