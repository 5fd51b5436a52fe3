"""The commands of `fencepost`, put together."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from fencepost.cli import (
    analyse,
    audit,
    calibrate,
    draw,
    export_web,
    files,
    finetune,
    inspecting,
    parse,
    score,
    search,
    serve,
    train,
)

HELP = """Constituency trees and nested entities: find, search, draw, train, score, convert, check.

Examples:
  fencepost parse "The cat sat on the mat."
  fencepost search "NP < NNP" "Ann met Bo in Oslo."
  fencepost draw examples/garden.ptb -o garden.pdf
  fencepost inspect train.ptb dev.ptb
  fencepost convert train.mrg -o train.jsonl --drop-traces --drop-functions
  fencepost trace dev.ptb --limit 1
  fencepost score gold.ptb predicted.ptb
"""


def _with_examples(text: str | None) -> str:
    """A help text whose examples keep their lines."""
    # A backspace on a line of its own tells click not to wrap the paragraph.
    return re.sub(r"^(?=Examples?:$)", "\b\n", cleandoc(text or ""), flags=re.MULTILINE)


class _Command(TyperCommand):
    """A command whose usage leaves hidden arguments out."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        params = self.get_params(ctx)
        shown = [param for param in params if not getattr(param, "hidden", False)]
        return [
            self.options_metavar or "",
            *(p for one in shown for p in one.get_usage_pieces(ctx)),
        ]


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # what is not ours to explain shows its traceback
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(version("fencepost"))
        raise typer.Exit


@app.callback(help=_with_examples(HELP))
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


for command in (
    parse.parse,
    search.search,
    draw.draw,
    files.convert,
    files.merge,
    files.prepare,
    score.score,
    analyse.analyse,
    inspecting.trace,
    inspecting.inspect,
    finetune.finetune,
    train.train,
    train.evaluate,
    calibrate.calibrate,
    audit.audit,
    serve.serve,
    export_web.export_web,
):
    app.command(
        cls=_Command,
        help=_with_examples(command.__doc__),
        no_args_is_help=command is not serve.serve,  # which does its work without being told more
    )(command)
