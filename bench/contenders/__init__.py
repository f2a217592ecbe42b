"""One module per contender; each answers the same workloads."""
