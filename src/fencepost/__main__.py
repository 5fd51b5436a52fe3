"""`python -m fencepost`: the same as the command `fencepost`."""

from fencepost.cli import main

main()
