"""The options that several commands share, each said once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fencepost.errors import ConfigError

if TYPE_CHECKING:
    from fencepost.formats.settings import Relabel

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no notes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
From = Annotated[
    Literal["ptb", "data", "jsonl", "conll", "brat", "spacy"] | None,
    typer.Option("--from", help="Format of the input; without it, what the suffix tells."),
]
To = Annotated[
    Literal["ptb", "pretty", "data", "jsonl", "conll", "brat", "tsv", "html", "spacy"] | None,
    typer.Option("--to", help="Format of the output; without it, what the suffix tells."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files, for example gb18030.")]
OnCrossing = Annotated[
    Literal["error", "drop-sentence", "drop-span"],
    typer.Option(help="What to do with entities that cross or have a gap."),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out sentences that cannot be read; count them.")
]
DropTraces = Annotated[
    bool, typer.Option("--drop-traces", help="Drop -NONE- and the nodes this leaves empty.")
]
DropFunctions = Annotated[
    bool, typer.Option("--drop-functions", help="NP-SBJ-1 and NP=2 become NP.")
]
DropFeatures = Annotated[
    bool, typer.Option("--drop-features", help="NP##case=n## becomes NP (SPMRL).")
]
Rename = Annotated[
    list[str] | None,
    typer.Option("--rename", metavar="OLD=NEW", help="Give phrases of a label another."),
]
RenameTags = Annotated[
    list[str] | None,
    typer.Option("--rename-tag", metavar="OLD=NEW", help="Give words of a tag another."),
]
Relabels = Annotated[
    list[str] | None,
    typer.Option(
        "--relabel",
        metavar="OLD/TAG=NEW",
        help="Give phrases whose only word has this tag another label.",
    ),
]
Splice = Annotated[
    list[str] | None,
    typer.Option("--splice", metavar="LABEL", help="Take phrases out; their children move up."),
]
Escapes = Annotated[
    Literal["round", "penn", "none"],
    typer.Option(help=r"What to undo in words: -LRB-; penn: also -LSB-, -LCB-, \/ and \*."),
]
Scheme = Annotated[
    Literal["auto", "bio", "iob1", "bioes"], typer.Option(help="Scheme of CoNLL columns.")
]
WordColumn = Annotated[
    int | None, typer.Option(help="CoNLL: the column of the word, counted from 0.")
]
TagColumn = Annotated[int | None, typer.Option(help="CoNLL: the column of the tag.")]
EntityColumns = Annotated[
    str | None, typer.Option(help="CoNLL: the columns of the entities, as in 2,3.")
]
SpanGroup = Annotated[str, typer.Option(help="spaCy: the name of the span group.")]


def renames(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """Old names with their new ones, from texts such as `HEADING=NP`."""
    names = {}
    for text in texts or ():
        old, _, new = text.partition("=")
        if not old or not new:
            raise ConfigError(f"{option}: two names are expected, as in HEADING=NP, not {text!r}")
        names[old] = new
    return names


def relabels(texts: Sequence[str] | None) -> tuple[Relabel, ...]:
    """Rules for phrases of one word, from texts such as `NP/WP=WHNP`."""
    from fencepost.formats.settings import Relabel

    rules = []
    for text in texts or ():
        phrase, _, to = text.partition("=")
        label, _, tag = phrase.partition("/")
        if not label or not tag or not to:
            raise ConfigError(
                f"--relabel: a label, a tag and a new label are expected, as in NP/WP=WHNP, "
                f"not {text!r}"
            )
        rules.append(Relabel(label, (tag,), to))
    return tuple(rules)


def models(incomplete: str) -> list[str]:
    """What a name of a model may go on to: models that ship with fencepost, and folders."""
    from fencepost.parser.shipped import shipped_models

    known = [name for name in shipped_models() if name.startswith(incomplete)]
    head, tail = os.path.split(incomplete)
    try:
        entries = [entry.name for entry in os.scandir(head or ".") if entry.is_dir()]
    except OSError:
        return known
    visible = [name for name in sorted(entries) if tail[:1] == "." or name[:1] != "."]
    return known + [f"{os.path.join(head, name)}/" for name in visible if name.startswith(tail)]


ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="A model that ships with fencepost, or a folder.",
        autocompletion=models,
    ),
]
Beams = Annotated[
    int, typer.Option("--beam", "--beams", min=1, help="Width of the beam; 1 is greedy.")
]
Precision = Annotated[
    Literal["fp32", "bf16", "int8"],
    typer.Option(help="Numbers of the encoder; int8 is quicker in batches, a little less exact."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of the processor.")]
Task = Annotated[
    Literal["tree", "entities"] | None,
    typer.Option(help="Which layer; without it, those that are there."),
]
