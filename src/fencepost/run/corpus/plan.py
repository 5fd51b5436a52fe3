"""How a corpus is divided: into shards, each a file of output, and portions, each parsed at once.

The division depends on the inputs and settings alone, never on who does the work or when: so a run
that was stopped goes on where it was, and gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path, PurePosixPath

from fencepost.batching.batches import in_groups
from fencepost.errors import DataError
from fencepost.formats.files import STANDARD, has_byte_lines
from fencepost.formats.registry import FORMATS, READABLE, bare_suffix, format_of
from fencepost.run.corpus.rows import Kind, RowSettings, Shard, is_packed, wanted_columns
from fencepost.run.corpus.store import File, files_at, is_remote, joined, opened, pyarrow
from fencepost.run.texts import TABLE_SUFFIXES, names_a_file, suffixes_of
from fencepost.run.texts import Kind as TextKind

MOST_BYTES = 4 << 20  # of input in a shard: about 700,000 words
LEAST_BYTES = 64 << 10
_PARTS = 64  # shards of a small corpus, so that several workers have something to do
_MOST_NAME = 200  # bytes of a name, so that a number and a suffix go with it


@dataclass(frozen=True, slots=True)
class Portion:
    """Shards that are parsed together by one worker: one, or several small ones."""

    number: int
    shards: tuple[Shard, ...]

    @property
    def bytes(self) -> int:
        """How much is read for it."""
        return sum(shard.bytes for shard in self.shards)


@dataclass(frozen=True, slots=True)
class Plan:
    """The inputs of a run, divided into portions."""

    files: tuple[File, ...]
    portions: tuple[Portion, ...]
    shard_bytes: int  # of input in a shard at most, if it can be cut

    @property
    def bytes(self) -> int:
        """How much is read in all."""
        return sum(portion.bytes for portion in self.portions)


def portion_of(data: dict[str, object]) -> Portion:
    """The portion that plain data, made by `dataclasses.asdict`, stands for."""
    return Portion(data["number"], tuple(Shard(**shard) for shard in data["shards"]))  # type: ignore[arg-type,attr-defined]


def make_plan(
    inputs: Sequence[str],
    *,
    settings: RowSettings,
    kind: TextKind = "text",
    is_text: bool = False,
    shard_bytes: int | None = None,
    without: str | None = None,
    suffix: str = "",
) -> Plan:
    """Divide what is to be parsed.

    Args:
        inputs: texts, files, folders, paths that pyarrow opens, or `-` for standard input.
        settings: how rows are read.
        kind: how files without annotation are read, as `run.texts.Texts` does.
        is_text: whether the inputs are text, even if there are files with such names.
        shard_bytes: of input that go into a shard at most; None: what suits their size.
        without: a folder whose files are not read if it lies inside of one that is.
        suffix: of the files that will be written, for messages.

    Raises:
        DataError: there is no such file, or nothing to read, or two would be written to one file.
        ConfigError: an encoding is unknown.
    """
    settings.read_settings()
    if settings.format is not None and format_of(STANDARD, settings.format) not in READABLE:
        raise DataError(f"{settings.format} can only be written")
    found = list(_inputs(inputs, settings, kind, is_text=is_text, without=without))
    if shard_bytes is None:
        total = sum(shard.bytes for shard, _ in found)
        shard_bytes = min(MOST_BYTES, max(LEAST_BYTES, total // _PARTS))
    shards = [part for shard, _ in found for part in _divided(shard, shard_bytes, settings)]
    _check_names(shards, suffix)
    files = tuple(file for _, file in found if file is not None)
    # Small shards go together, so that many small files are parsed as quickly as a large one.
    groups = in_groups(shards, attrgetter("bytes"), most=shard_bytes)
    portions = tuple(Portion(number, tuple(group)) for number, group in enumerate(groups))
    return Plan(files, portions, shard_bytes)


def _inputs(
    inputs: Sequence[str],
    settings: RowSettings,
    kind: TextKind,
    *,
    is_text: bool,
    without: str | None,
) -> Iterator[tuple[Shard, File | None]]:
    """One shard for each input, still undivided, with the file that it is."""
    texts = 0
    how: Kind
    for given in inputs:
        if given == STANDARD and not is_text:
            how = kind if settings.format is None else _annotation(settings.format)
            shard = Shard(name="stdin", source=STANDARD, label="stdin", kind=how, place="stdin")
            yield shard, None
        elif is_text or not (is_remote(given) or names_a_file(given)):
            texts += 1
            name = "text" if texts == 1 else f"text-{texts}"
            size = len(given.encode("utf-8", "surrogatepass"))
            shard = Shard(name=name, source=given, label=name, kind=kind, place="given", bytes=size)
            yield shard, None
        else:
            for file in _files(given, settings, without):
                shard = Shard(
                    name=_name(file.name),
                    source=file.path,
                    label=file.name,
                    kind=_kind(file, settings, kind),
                    bytes=file.bytes,
                    version=file.version,
                )
                yield shard, file


def _files(given: str, settings: RowSettings, without: str | None = None) -> list[File]:
    """The files that an input stands for, in order of name."""
    files = files_at(given)
    if len(files) == 1 and files[0].path == given:
        return files
    suffixes = suffixes_of(settings.format, *TABLE_SUFFIXES)
    found = [file for file in files if bare_suffix(file.name) in suffixes]
    if without is not None:
        found = [file for file in found if not _lies_in(file.path, without)]
    # The text of brat's annotations is read along with them.
    names = {file.name for file in found}
    found = [file for file in found if not _annotations_of(file.name) & names]
    if not found:
        wanted = ", ".join(sorted(suffixes)) if settings.format else ".txt, .jsonl, .parquet …"
        raise DataError(f"no file of text in this folder ({wanted})", path=given)
    return found


def _lies_in(path: str, folder: str) -> bool:
    if is_remote(path):
        return path.startswith(joined(folder.partition("?")[0], ""))
    return Path(folder).resolve() in Path(path).resolve().parents


def _annotations_of(name: str) -> set[str]:
    """The name that brat's annotations of a text have."""
    return {
        f"{name.removesuffix(suffix)}{suffix.replace('.txt', '.ann')}"
        for suffix in (".txt", ".txt.gz")
        if name.endswith(suffix)
    }


def _kind(file: File, settings: RowSettings, kind: TextKind) -> Kind:
    """How a file is read."""
    suffix = bare_suffix(file.name)
    found: Kind = "text"
    if settings.format is not None:
        found = _annotation(settings.format)
    elif suffix in TABLE_SUFFIXES:
        found = "parquet"
    elif kind != "text":
        found = kind
    elif suffix in FORMATS["jsonl"].suffixes:
        found = "jsonl"
    elif any(suffix in format.suffixes for format in READABLE):
        found = "annotated"
    if found == "annotated" and is_remote(file.path):
        raise DataError(
            "only text, JSON lines and Parquet are read from there; copy it here first",
            path=file.path,
        )
    return found


def _annotation(format: str) -> Kind:
    return "jsonl" if format == "jsonl" else "annotated"


def _name(name: str) -> str:
    """The name of a file's result, without a suffix.

    Whoever reads a folder passes over names that begin with an underscore or a dot, and no name may
    have more than 255 bytes.
    """
    path = PurePosixPath(name)
    path = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")
    own = path.name.lstrip("._") or "text"
    told = own.encode("utf-8", "surrogateescape")
    if len(told) > _MOST_NAME:
        start = told[: _MOST_NAME - 9].decode("utf-8", "ignore")
        own = f"{start}-{hashlib.sha256(told).hexdigest()[:8]}"
    return str(path.with_name(own))


def _divided(shard: Shard, most: int, settings: RowSettings) -> Iterator[Shard]:
    """The shards of an input; what cannot be entered in the middle is only one."""
    if shard.kind == "parquet":
        cuts = list(_row_groups(shard, most, settings))
    elif (
        shard.place == "file"
        and shard.kind != "annotated"
        and shard.bytes > most
        and has_byte_lines(settings.encoding)
        and not is_packed(shard.source)
    ):
        count = -(-shard.bytes // most)
        edges = [shard.bytes * part // count for part in range(count)]
        cuts = [
            (start, end, (shard.bytes if end is None else end) - start)
            for start, end in zip(edges, [*edges[1:], None], strict=True)
        ]
    else:
        yield shard
        return
    digits = max(5, len(str(len(cuts) - 1)))  # as many for all, so that names are in order
    for number, (start, end, size) in enumerate(cuts):
        name = shard.name if len(cuts) == 1 else f"{shard.name}-{number:0{digits}}"
        yield replace(shard, name=name, start=start, end=end, bytes=size)


def _row_groups(
    shard: Shard, most: int, settings: RowSettings
) -> Iterator[tuple[int, int | None, int]]:
    """Ranges of the row groups of a Parquet file: first, the one behind the last, and bytes."""
    with opened(shard.source) as source:
        try:
            file = pyarrow().parquet.ParquetFile(source)
            wanted_columns(file.schema_arrow.names, settings)  # refuses a table without any
            # Not its columns, about which a file may say what makes pyarrow end the process.
            sizes = [
                max(0, file.metadata.row_group(index).total_byte_size)
                for index in range(file.num_row_groups)
            ]
        except (pyarrow().ArrowException, UnicodeDecodeError) as error:  # the latter: of a name
            raise DataError(f"no Parquet: {error}", path=shard.source) from error
        except DataError as error:
            raise error.at(shard.source, None) from None
    start = size = 0
    for index, one in enumerate(sizes):
        if index > start and size + one > most:
            yield start, index, size
            start, size = index, 0
        size += one
    yield start, None if start == 0 else len(sizes), size


def _check_names(shards: Iterable[Shard], suffix: str) -> None:
    """Refuse what would be written to the same file."""
    found: dict[str, Shard] = {}
    for shard in shards:
        other = found.setdefault(shard.name, shard)
        if other is shard:
            continue
        first, second = (one.source if one.place == "file" else one.label for one in (other, shard))
        if os.path.realpath(first) == os.path.realpath(second):
            raise DataError("this input was given twice", path=second)
        raise DataError(
            f"{first} and {second} would both be written to {shard.name}{suffix}; parse them one "
            "after the other, into different folders"
        )
