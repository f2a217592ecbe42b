"""Lint: rules over process models, each with a code, a page and a set of models."""
