"""The store on Postgres: group commit in set-based statements, many processes at once."""
