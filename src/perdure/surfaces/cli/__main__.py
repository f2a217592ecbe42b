"""`python -m perdure.surfaces.cli` is `perdure`."""

from perdure.surfaces.cli import main

main()
