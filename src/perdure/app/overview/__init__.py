"""The overview of a tenant and its bounded counts."""
