"""Access as an operation sees it: API keys, the verbs a key reaches, and redaction of everything else."""
