"""The command line: options in, text out. What it does is in `fencepost.run`."""

from __future__ import annotations

import sys

from fencepost.errors import FencepostError


def main() -> None:
    """Run `fencepost`; an error of the user's is printed as text and ends it with status 2."""
    from fencepost.cli.app import app

    try:
        app(prog_name="fencepost")
    except FencepostError as error:
        print(f"fencepost: {error}", file=sys.stderr)
        sys.exit(2)
