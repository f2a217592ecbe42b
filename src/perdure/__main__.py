"""`python -m perdure` is the command `perdure`."""

from perdure.surfaces.cli import main

if __name__ == "__main__":
    main()
