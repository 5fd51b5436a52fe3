"""Preparing a corpus: from its original distribution to three files, one for each split."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.errors import ConfigError, DataError
from fencepost.formats.corpora.ace import ace_documents
from fencepost.formats.corpora.document import SPLITS, CorpusDocument, Split
from fencepost.formats.corpora.genia import genia_documents
from fencepost.formats.corpora.treebank import TOP, ctb_documents, ptb_documents
from fencepost.formats.settings import OnCrossing, ReadSettings
from fencepost.formats.writing import write
from fencepost.structure import Parse


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus that can be prepared."""

    documents: Callable[..., Iterator[CorpusDocument]]  # reads its folder, with the options below
    format: str  # of what is written
    options: frozenset[str] = frozenset()  # of `encoding`, `on_crossing`, and `ids` of each split
    published: tuple[int | None, ...] = (None,) * len(SPLITS)  # sentences of each split


CORPORA = {
    "ptb": Corpus(ptb_documents, "ptb", frozenset({"encoding"}), (39_832, 1_700, 2_416)),
    "ctb7": Corpus(ctb_documents, "ptb", frozenset({"ids", "encoding"})),
    "genia": Corpus(genia_documents, "jsonl", published=(15_022, 1_669, 1_855)),
    "ace2004": Corpus(ace_documents, "jsonl", frozenset({"ids", "encoding", "on_crossing"})),
    "ace2005": Corpus(ace_documents, "jsonl", frozenset({"ids", "encoding", "on_crossing"})),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitCounts:
    """Counts of a split and of what was left out, to compare with published numbers."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    spans: int = 0  # entities, or constituents without TOP and without tags
    crossing: int = 0  # entities left out because they cross another
    duplicates: int = 0  # entities left out because they say what another one says
    outside: int = 0  # entities left out because they are not in the text of the document
    left_out: int = 0  # sentences left out: nothing but traces, no word, or entities that cross
    published: int | None = None  # sentences

    @property
    def note(self) -> str | None:
        """How the number of sentences differs from the published one; None if it does not."""
        if self.published is None or self.published == self.sentences:
            return None
        return f"{self.sentences:,} sentences, where {self.published:,} are published"


def prepare(
    corpus: str,
    source: Path,
    out: Path,
    *,
    ids: Mapping[str, Path] | None = None,
    encoding: str | None = None,
    on_crossing: OnCrossing = "error",
) -> dict[str, SplitCounts]:
    """Write the three splits of a corpus, all or none, and return what each holds.

    Args:
        corpus: one of `ptb ctb7 genia ace2004 ace2005`.
        source: the folder of the original distribution; for GENIA, its file will do.
        out: the folder for `train`, `dev` and `test`, which are `.ptb` for trees and `.jsonl` for
            entities.
        ids: for ctb7 and ace, files that list the documents of `train`, `dev` and `test`.
        encoding: of the corpus' text; None: UTF-8, and for ctb7 GB18030 where it is not that.
        on_crossing: what is done with entities that cross, which only ace has.
    """
    _check(corpus, ids or {}, encoding)
    ReadSettings(encoding=encoding or "utf-8", on_crossing=on_crossing)  # refuses other choices
    source, out = Path(source), Path(out)
    known = CORPORA[corpus]
    options = {"ids": ids, "encoding": encoding, "on_crossing": on_crossing}
    documents = known.documents(
        source,
        **{name: options[name] for name in known.options if options[name] is not None},
    )
    targets = {split: out / f"{split}.{known.format}" for split in SPLITS}
    for target in targets.values():
        if target.is_dir():
            raise DataError("cannot be written: this is a folder", path=str(target))
    with _workplace(out) as folder:
        drafts = {split: folder / target.name for split, target in targets.items()}
        totals = _write(documents, drafts)
        for split, target in targets.items():
            os.replace(drafts[split], target)
    return {
        split: SplitCounts(**totals[split], published=number)
        for split, number in zip(SPLITS, known.published, strict=True)
    }


def _check(corpus: str, ids: Mapping[str, Path], encoding: str | None) -> None:
    """Refuse what cannot be asked for, before anything is read."""
    if corpus not in CORPORA:
        raise ConfigError(f"the corpus {corpus!r} is unknown; known are {', '.join(CORPORA)}")
    options = CORPORA[corpus].options
    wanted = SPLITS if "ids" in options else ()
    missing = [split for split in wanted if split not in ids]
    if missing:
        raise ConfigError(
            f"{corpus} needs a list of documents for each split; missing: "
            + ", ".join(f"{split} (--{split})" for split in missing)
        )
    unused = [name for name in ids if name not in wanted]
    if unused:
        what = "has train, dev and test" if wanted else "has fixed splits"
        raise ConfigError(f"{corpus} {what}; a list for {', '.join(unused)} means nothing")
    if encoding is not None and "encoding" not in options:
        raise ConfigError("GENIA's XML says itself which encoding it has; leave the setting out")


@contextmanager
def _workplace(out: Path) -> Iterator[Path]:
    """A folder inside of `out` for files that are not complete yet; it goes, whatever happens."""
    is_new = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".prepare.", dir=out) as folder:
            yield Path(folder)
    except OSError as error:
        place = str(error.filename or out)
        raise DataError(f"cannot be written: {error.strerror}", path=place) from error
    finally:
        if is_new:
            with suppress(OSError):  # there are files in it, as there should be
                out.rmdir()


def _write(
    documents: Iterable[CorpusDocument], targets: Mapping[Split, Path]
) -> dict[Split, Counter[str]]:
    """Write the documents of each split to its target and count what they hold."""
    totals: dict[Split, Counter[str]] = {split: Counter() for split in targets}
    for split, group in groupby(documents, attrgetter("split")):
        write(_counted(group, totals[split]), targets[split])
    for split, target in targets.items():
        if not totals[split]:
            write((), target)
    return totals


def _counted(documents: Iterable[CorpusDocument], totals: Counter[str]) -> Iterator[Parse]:
    """The parses of the documents, counted as they go by."""
    for document in documents:
        totals["documents"] += 1
        for field in ("left_out", "duplicates", "outside"):
            totals[field] += getattr(document, field)
        for parse in document.parses:
            totals["sentences"] += 1
            totals["words"] += len(parse.sentence)
            totals["crossing"] += len(parse.dropped)
            spans = parse.entities if parse.tree is None else parse.tree.spans
            totals["spans"] += sum(span.label != TOP for span in spans or ())
            yield parse
