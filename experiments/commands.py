"""What the scripts have in common on the command line."""

from __future__ import annotations

import argparse
import os
import sys

from experiments.corpora import DATA

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def arguments(
    description: str | None, *, corpora: tuple[str, ...] = (), seeds: tuple[int, ...] = (1,)
) -> argparse.ArgumentParser:
    """The options that every script has.

    Args:
        description: of the script.
        corpora: what it runs on unless told otherwise; none: it does not take any.
        seeds: with which, unless told otherwise; none: there is no chance in it.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if corpora:
        parser.add_argument(
            "--corpora", nargs="+", default=corpora, help=f"without it: {' '.join(corpora)}"
        )
    if seeds:
        parser.add_argument("--seeds", type=int, nargs="+", default=seeds, help="a run with each")
    parser.add_argument("--data", default=DATA, help=f"the folder of open corpora; else {DATA}")
    parser.add_argument("--out", default="runs/experiments", help="where runs and their models go")
    parser.add_argument(
        "--keep", action="store_true", help="keep the figures in experiments/results, for the docs"
    )
    parser.add_argument(
        "--quick", action="store_true", help="on a small slice: only whether it runs"
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
        elif word not in ("--keep", "--quiet"):
            words.append(word)
    return " ".join(words)
