"""Measures Perdure beside its peers and the raw limit of the store, in one run, as ratios."""
