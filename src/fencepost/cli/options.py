"""The options that several commands share, each said once, and commands made from groups."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args, get_type_hints

import typer

from fencepost.errors import ConfigError
from fencepost.parser.options import OPTIONS, Option, ParseOptions, PlacedSpan
from fencepost.parser.options import Task as AnyTask
from fencepost.text.gazetteer import Gazetteer

if TYPE_CHECKING:
    from fencepost.formats import ParseReader
    from fencepost.formats.settings import Relabel
    from fencepost.parser.parser import Parser

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no notes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Readable = Literal[
    "ptb", "data", "jsonl", "conll", "brat", "spacy", "conllu", "labelstudio", "doccano", "cas"
]
Writable = Literal[
    "ptb",
    "pretty",
    "data",
    "jsonl",
    "conll",
    "brat",
    "tsv",
    "html",
    "spacy",
    "conllu",
    "labelstudio",
    "doccano",
    "cas",
]


def format_option(name: str, side: str, formats: Sequence[str]) -> Any:
    """The option that names a format; a list of them in its place would not fit on a line."""
    told = f"Format of the {side}: {', '.join(formats)}; without it, what the suffix tells."
    return typer.Option(name, metavar="FORMAT", help=told)


From = Annotated[Readable | None, format_option("--from", "input", get_args(Readable))]
To = Annotated[Writable | None, format_option("--to", "output", get_args(Writable))]
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
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="A file, whose suffix tells the format; without it, standard output.",
    ),
]
Positional = Annotated[str | None, typer.Argument(hidden=True)]  # an alias for one release


def columns(text: str | None) -> tuple[int, ...] | None:
    """Columns of a table, from a text such as `2,3`."""
    try:
        return None if text is None else tuple(map(int, text.split(",")))
    except ValueError:
        raise ConfigError(
            f"--entity-columns: numbers are expected, as in 2,3, not {text!r}"
        ) from None


def output_of(out: str | None, positional: str | None, *, quiet: bool) -> str:
    """The output: that of -o, or as it was written before, or standard output."""
    if positional is None:
        from fencepost.formats.files import place_of_output

        return place_of_output(out or "-")
    if out is not None:
        raise ConfigError(f"{positional} and -o {out}: one output is expected, not two")
    return of_alias(f"-o {positional}", positional, quiet=quiet)


def of_alias(option: str, value: str, chosen: str | None = None, *, quiet: bool) -> str:
    """A value as it was written before, with a note.

    Args:
        option: how it is written now.
        value: the value.
        chosen: what the option itself says.
        quiet: whether nothing is noted.
    """
    if chosen not in (None, value):
        raise ConfigError(f"{option} and {chosen}: one of them is expected, not two")
    _note_alias(option, quiet)
    return value


def with_device(changes: Sequence[str] | None, device: str | None) -> list[str]:
    """Changes of settings, with that of --device."""
    return [*(changes or ()), *([] if device is None else [f"training.device={device}"])]


def model_and_files(
    model: str | None, files: Sequence[str], *, least: int = 2, quiet: bool
) -> tuple[str, list[str]]:
    """The model, and the files to read with it.

    Args:
        model: that of -m; without it, the first argument may be one, as it was written before.
        files: the arguments.
        least: of how many arguments the first has to be a model, where that is not plain.
        quiet: whether nothing is noted.
    """
    from fencepost.checkpoints.model import CONFIG
    from fencepost.checkpoints.shipped import DEFAULT, shipped_models

    first, *rest = files
    is_model = first in shipped_models() or os.path.isfile(os.path.join(first, CONFIG))
    if model is not None or not rest or not (is_model or len(files) == least):
        return model or DEFAULT, list(files)
    _note_alias(f"-m {first}", quiet)
    return first, rest


def model_and_file(
    model: str | None, source: str, positional: str | None, *, quiet: bool
) -> tuple[str, str]:
    """The same for a command that reads one file."""
    sources = [source] if positional is None else [source, positional]
    model, (source, *others) = model_and_files(model, sources, quiet=quiet)
    if others:
        raise ConfigError(f"{source} and {others[0]}: one file is expected, not two")
    return model, source


def _note_alias(option: str, quiet: bool) -> None:
    if not quiet:
        print(f"note: write {option}; the next release needs the option", file=sys.stderr)


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


def tell_unmatched(reading: ParseReader, source: str, *, quiet: bool) -> None:
    """Say which labels and tags that options name are not in a file."""
    for setting, name in [] if quiet else reading.unmatched:
        option = {"rename_tags": "rename-tag"}.get(setting, setting)
        print(f"note: --{option} {name}: nothing in {source} has it", file=sys.stderr)


def models(incomplete: str) -> list[str]:
    """Completions of a model's name: models that ship with fencepost, and folders."""
    from fencepost.checkpoints.shipped import shipped_models

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
        help="A model that ships with fencepost, a folder, or owner/name on the hub.",
        autocompletion=models,
    ),
]
ChosenModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A model that ships, a folder, or owner/name on the hub; without it, en-small.",
        autocompletion=models,
    ),
]
Beams = Annotated[
    int | None,
    typer.Option(
        "--beam", "--beams", help="Width of the beam; 1 is greedy. Without it, the model's own."
    ),
]
Backend = Annotated[
    Literal["auto", "onnx", "torch"],
    typer.Option(help="What computes the encoder; auto: onnxruntime wherever it can."),
]
Precision = Annotated[
    Literal["fp32", "bf16", "int8"],
    typer.Option(help="Numbers of the encoder; int8 is quicker in batches, a little less exact."),
]
Device = Annotated[
    str, typer.Option(help="What computes the network: cpu; with torch also cuda, cuda:1 or mps.")
]
TrainingDevice = Annotated[
    str | None,
    typer.Option("--device", help="What trains: cpu, cuda, cuda:1 or mps; else the settings'."),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of the processor.")]
Task = Annotated[
    Literal["tree", "entities"] | None,
    typer.Option(help="Which layer; without it, those that are there."),
]


@dataclass(frozen=True, slots=True)
class Flag:
    """How an option of parsing is written on the command line, where that is special."""

    names: tuple[str, ...] = ()  # without them, the option's own
    kind: Any = None  # the type of what is written; without it, as in JSON
    read: Callable[[Any], Any] = lambda value: value
    metavar: str | None = None
    note: str = ""


def _spans(texts: Sequence[str]) -> list[PlacedSpan]:
    """Spans from texts such as `0:2:NP`."""
    spans: list[PlacedSpan] = []
    for text in texts:
        start, _, rest = text.partition(":")
        end, _, label = rest.partition(":")
        if not (start.isdecimal() and end.isdecimal()):
            raise ConfigError(f"{text!r} is no span; START:END or START:END:LABEL is, as in 0:2:NP")
        spans.append((int(start), int(end), label or None))
    return spans


_TASKS: Any = StrEnum("Task", list(get_args(AnyTask)))  # type: ignore[misc]
_SPAN = Flag(
    kind=list[str] | None, read=_spans, metavar="START:END[:LABEL]", note=" May be repeated."
)
_FLAGS = {
    "tasks": Flag(
        ("--task",),
        kind=list[_TASKS] | None,
        read=lambda tasks: list(map(str, tasks)),
        note=" May be repeated.",
    ),
    "beams": Flag(("--beam", "--beams")),
    "labels": Flag(("--label",), note=" May be repeated."),
    "must": _SPAN,
    "forbid": _SPAN,
    "gazetteer": Flag(
        kind=Path | None,
        read=Gazetteer.read,
        metavar="FILE",
        note=" A line of the file is a phrase, a tab and a label.",
    ),
}


def command_of(
    function: Callable[..., None], options: Mapping[str, Option] = OPTIONS
) -> Callable[..., None]:
    """The command that runs a function, with a flag for each option in its groups.

    A parameter of the function that is a dataclass is a group of options, and one that is
    `ParseOptions` is the group of those that `parser.options` defines.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: list(_parameters(name, hints[name], options))
        for name in signature(function).parameters
    }

    @wraps(function)
    def command(**values: Any) -> None:
        arguments = {}
        for name, group in groups.items():
            written = {one.name: values[one.name] for one in group}
            if hints[name] is ParseOptions:
                arguments[name] = _read(written)
            else:
                arguments[name] = (
                    hints[name](**written) if is_dataclass(hints[name]) else values[name]
                )
        function(**arguments)

    command.__annotations__ = {}
    flat = [one for group in groups.values() for one in group]
    vars(command)["__signature__"] = Signature(flat)
    return command


def _parameters(name: str, kind: Any, options: Mapping[str, Option]) -> Iterator[Parameter]:
    """The parameters of a command that stand for one of its function."""
    kinds: dict[str, Any] = {name: kind}
    defaults: dict[str, Any] = {name: Parameter.empty}
    if kind is ParseOptions:
        kinds = {name: _annotation(name, option) for name, option in options.items()}
        defaults = {name: option.default for name, option in options.items()}
    elif is_dataclass(kind):
        kinds = get_type_hints(kind, include_extras=True)
        defaults = {field.name: field.default for field in fields(kind)}
    for one, default in defaults.items():
        yield Parameter(one, Parameter.KEYWORD_ONLY, default=default, annotation=kinds[one])


def _annotation(name: str, option: Option) -> Any:
    """The flag of an option of parsing, as typer takes it."""
    flag = _FLAGS.get(name, Flag())
    told = typer.Option(
        *(flag.names or (f"--{name.replace('_', '-')}",)),
        help=option.help + flag.note,
        metavar=flag.metavar,
        min=option.minimum,
        max=option.maximum,
    )
    annotation: Any = Annotated[flag.kind or option.json, told]
    return annotation


def _read(written: Mapping[str, Any]) -> ParseOptions:
    """The options of parsing that were written on the command line."""
    there = {name: value for name, value in written.items() if value not in (None, [], ())}
    read = {name: _FLAGS.get(name, Flag()).read(value) for name, value in there.items()}
    return cast(ParseOptions, read)


@dataclass(frozen=True, slots=True)
class Source:
    """How the input is read."""

    words: Annotated[
        bool, typer.Option("--words", help="One sentence a line, words between blanks.")
    ] = False
    lines: Annotated[bool, typer.Option("--lines", help="One sentence a line.")] = False
    text: Annotated[
        bool, typer.Option("--text", help="The arguments are text, not names of files.")
    ] = False
    from_: From = None
    encoding: Encoding = "utf-8"
    entity_columns: EntityColumns = None

    def __post_init__(self) -> None:
        if self.words and self.lines:
            raise ConfigError("--words and --lines: one of them, not both")

    @property
    def kind(self) -> Literal["text", "lines", "words"]:
        """The content of a file of plain text."""
        return "words" if self.words else "lines" if self.lines else "text"


@dataclass(frozen=True, slots=True)
class Target:
    """The output: its format and its place."""

    to: Annotated[
        Literal[Writable, "parquet"] | None,
        format_option("--to", "output", (*get_args(Writable), "parquet")),
    ] = None
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE|FOLDER/",
            help="A file, whose suffix tells the format; or a folder, for a file for each input.",
        ),
    ] = "-"
    best: Annotated[int, typer.Option("--n-best", help="So many readings of each sentence.")] = 1
    least_certain: Annotated[
        int | None,
        typer.Option(
            min=1, help="Write only so many sentences: those with the least certain spans."
        ),
    ] = None
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show each step of greedy search, and what it was chosen from."
        ),
    ] = False
    quiet: Quiet = False

    def __post_init__(self) -> None:
        from fencepost.formats.files import place_of_output

        object.__setattr__(self, "out", place_of_output(self.out))


@dataclass(frozen=True, slots=True)
class Machine:
    """The model, and how it is computed."""

    model: ModelName = "en-small"
    device: Device = "cpu"
    backend: Backend = "auto"
    precision: Precision = "fp32"
    threads: Threads = None
    max_words: Annotated[
        int | None, typer.Option(min=1, help="Refuse sentences that are longer.")
    ] = None

    def load(self) -> Parser:
        """The parser."""
        from fencepost.parser.parser import MOST_WORDS, load

        return load(
            self.model,
            device=self.device,
            threads=self.threads,
            max_words=self.max_words or MOST_WORDS,
            backend=self.backend,
            precision=self.precision,
        )
