"""What the scripts have in common on the command line."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from experiments.corpora import DATA
from fencepost.errors import FencepostError

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def arguments(
    description: str | None, *, corpora: tuple[str, ...] = (), seeds: bool = True
) -> argparse.ArgumentParser:
    """The options that every script has.

    Args:
        description: of the script.
        corpora: what it runs on unless told otherwise; none: it does not take any.
        seeds: whether it takes any.
    """
    commit()  # now: the checkout may move on while this runs
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # so that `command_line` knows its options
    )
    if corpora:
        parser.add_argument(
            "--corpora", nargs="+", default=corpora, help=f"without it: {' '.join(corpora)}"
        )
    if seeds:
        parser.add_argument(
            "--seeds",
            type=int,
            nargs="+",
            help="a run with each; without it: 1, and for the paper's corpora 1 2 3",
        )
    parser.add_argument("--data", default=DATA, help=f"the folder of open corpora; else {DATA}")
    parser.add_argument("--out", default="runs/experiments", help="where runs and their models go")
    parser.add_argument(
        "--keep", action="store_true", help="keep the figures in experiments/results, for the docs"
    )
    parser.add_argument(
        "--quick", action="store_true", help="on a small slice: only whether it runs; in OUT/quick"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def command_line() -> str:
    """The command as somebody else would give it: without folders of this machine."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    words = ["python", "-m", spec.name] if spec else ["python", os.path.basename(sys.argv[0])]
    given = iter(sys.argv[1:])
    for word in given:
        if word in ("--data", "--out"):
            next(given, None)
        elif word not in ("--keep", "--quiet") and not word.startswith(("--data=", "--out=")):
            words.append(word)
    return " ".join(words)


@cache  # what runs is the code that was there when it began
def commit() -> str:
    """The commit of this checkout when first asked; with a plus if files had changed since."""
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "unknown"


def out_folder(options: argparse.Namespace) -> Path:
    """Where runs and pictures go: trials apart from the others, whose settings they do not have."""
    return Path(options.out) / "quick" if options.quick else Path(options.out)


def start(main: Callable[[], None]) -> None:
    """Run a script; an error of the user's is printed as text and ends it with status 2."""
    try:
        main()
    except FencepostError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
