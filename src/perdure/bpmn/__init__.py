"""Hollow BPMN: the process model, its dialects, conditions, lint, proof, pictures and the instance machine.

Rooms: `model` the process model (IR) · `conditions` the one grammar · `xml` in and out · `layout` a diagram where
there is none · `svg` pictures · `lint` one rule, one file · `machine` the token game, pure · `proof` explores it.
"""
