"""The demonstration: the product's main job, run unattended through its own command line, every step checked."""
