"""What the verbs of the KYC example do: real work on records, nothing of it in a process."""
