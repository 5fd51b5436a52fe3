"""The command `export-web`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fencepost.cli import options as opt
from fencepost.errors import ConfigError


def export_web(
    first: opt.Positional = None,
    second: opt.Positional = None,
    model: opt.ChosenModel = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="It is made; a former page in it is replaced."
        ),
    ] = None,
    runtime: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The npm package onnxruntime-web, packed or unpacked; without it, npm gets it.",
        ),
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Write a page that parses in its visitors' browsers.

    It needs no server of ours. FOLDER then holds static files: any web server can offer them, below
    any path. Texts stay in the browser. Weights have 8 bits there, and search is greedy.

    Examples:
      fencepost export-web -o page
      fencepost export-web -m runs/trees/model -o page
      fencepost export-web -o page --runtime onnxruntime-web-1.30.0.tgz
      python -m http.server --directory page
    """
    from fencepost.checkpoints.shipped import DEFAULT
    from fencepost.run.browser.export import export

    def note(text: str) -> None:
        if not quiet:
            print(f"fencepost: {text}", file=sys.stderr, flush=True)

    if first is not None:
        model = opt.of_alias(f"-m {first}", first, model, quiet=quiet)
    if second is not None:
        out = opt.of_alias(f"-o {second}", second, out, quiet=quiet)
    if out is None:
        raise ConfigError("a page is several files: -o FOLDER")
    folder = Path(out)
    sizes = export(model or DEFAULT, folder, runtime=runtime, step=note).bytes
    whole, own = (
        sum(size for name, size in sizes.items() if name.startswith(part)) / 1e6
        for part in ("", "model/")
    )
    print(f"{folder}: {len(sizes)} files, {whole:.1f} MB, of which the model has {own:.1f} MB")
