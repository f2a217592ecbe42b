"""Perdure: verbs that look the same whether they take a millisecond or nine days."""
