"""Figures that the documentation shows: kept with the command, the commit and the day."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from experiments.commands import command_line, commit, out_folder

RESULTS = Path("experiments/results")
PICTURES = Path("docs/experiments")


def origin() -> dict[str, str]:
    """Where figures come from: command, commit and day."""
    return {"command": command_line(), "commit": commit(), "date": date.today().isoformat()}


def keep(name: str, data: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Keep figures for the documentation, if that is asked for and they are more than a trial."""
    if options.keep and not options.quick:
        RESULTS.mkdir(exist_ok=True)
        write_json(RESULTS / f"{name}.json", {**origin(), **data})


def picture_path(name: str, options: argparse.Namespace) -> Path:
    """Where a picture goes: into the documentation if it is kept."""
    folder = PICTURES if options.keep and not options.quick else out_folder(options)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.svg"


def write_json(path: Path, data: Any) -> None:
    """Write data, whole or not at all."""
    draft = path.with_name(f".{path.name}")
    draft.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, path)
