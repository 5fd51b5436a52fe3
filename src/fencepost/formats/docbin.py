"""spaCy's binary documents (`.spacy`), with entities in a span group, where they may nest.

A `DocBin` is packed in one piece, so all of it is in memory at a time. In places and errors,
documents are counted where other formats count lines. spaCy has no constituency trees.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.errors import DataError
from fencepost.formats.attempt import Attempt, parse_with_entities
from fencepost.formats.data import entities_of
from fencepost.formats.files import Source, written_whole
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence, Span

if TYPE_CHECKING:
    import spacy.tokens
    import spacy.vocab

_ID = "id"  # where a document's `user_data` has the id of the sentence


def attempts(source: Source, settings: ReadSettings) -> Iterator[Attempt]:
    """The sentences of the documents, still to be read."""
    _require_spacy()
    with source.open() as file:
        data = file.read()
    for number, doc in enumerate(_docs(data, source.name), 1):
        name = doc.user_data.get(_ID)
        sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
        marked = _by_sentence(_marked(doc, settings.span_group), sentences)
        for index, (sentence, spans) in enumerate(zip(sentences, marked, strict=True), 1):
            if not spans and not sentence.text.strip():
                continue
            id = name if len(sentences) == 1 else f"{name}-{index}"
            read = partial(_read, sentence, spans, id if isinstance(name, str) else None, settings)
            yield Attempt(number, read)


def _require_spacy() -> None:
    try:
        import spacy.tokens  # noqa: F401
    except ImportError as error:
        raise DataError(
            'spaCy is needed for this format: pip install "fencepost[spacy]"'
        ) from error


def _docs(data: bytes, name: str) -> Iterator[spacy.tokens.Doc]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        yield from DocBin().from_bytes(data).get_docs(Vocab())
    except Exception as error:  # damaged data fails in any of the parts that unpack it
        raise DataError(f"no documents of spaCy (DocBin): {error}", path=name) from error


def _marked(doc: spacy.tokens.Doc, group: str) -> list[spacy.tokens.Span] | None:
    """The entities of a document; None if it is not annotated with any, not even none."""
    if group in doc.spans:
        return list(doc.spans[group])
    return list(doc.ents) if doc.has_annotation("ENT_IOB") else None


def _by_sentence(
    spans: list[spacy.tokens.Span] | None, sentences: list[spacy.tokens.Span]
) -> Sequence[list[spacy.tokens.Span] | None]:
    """For each sentence the entities that touch it, if there are any annotated."""
    if spans is None:
        return [None] * len(sentences)
    starts = [sentence.start for sentence in sentences]
    touching: list[list[spacy.tokens.Span]] = [[] for _ in sentences]
    for span in spans:
        first = bisect_right(starts, span.start) - 1
        behind = max(first + 1, bisect_right(starts, span.end - 1))
        for found in touching[first:behind]:
            found.append(span)
    return touching


def _read(
    sentence: spacy.tokens.Span,
    spans: list[spacy.tokens.Span] | None,
    id: str | None,
    settings: ReadSettings,
) -> Iterator[Parse]:
    # spaCy keeps blanks other than one between words as tokens: they are no words.
    tokens = [token for token in sentence if not token.text.isspace()]
    tags = tuple(token.tag_ for token in tokens)
    known = not sentence.doc.has_unknown_spaces
    first = sentence.start_char
    words = Sentence(
        tuple(token.text for token in tokens),
        tags if any(tags) else None,
        sentence.text if known else None,
        tuple((t.idx - first, t.idx - first + len(t)) for t in tokens) if known else None,
        id,
    )
    if spans is None:
        yield Parse(words)
        return
    numbers = [token.i for token in tokens]
    entities: list[Span] = []
    for span in spans:
        shown = f"{span.label_} over {span.text!r}"
        if span.start < sentence.start or span.end > sentence.end:
            raise DataError(f"{shown} goes beyond the sentence {sentence.text!r}")
        start, end = bisect_left(numbers, span.start), bisect_left(numbers, span.end)
        if start == end:
            raise DataError(f"{shown} holds no word", kind="misaligned")
        entities.append(Span(start, end, span.label_))
    yield parse_with_entities(words, entities, on_crossing=settings.on_crossing)


def save(parses: Iterable[Parse], path: Path, settings: WriteSettings) -> None:
    """Write a document for each parse: words, blanks, tags, id, and entities in a span group."""
    _require_spacy()
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    packed = DocBin(attrs=["TAG"], store_user_data=True)
    for parse in parses:
        packed.add(_doc(parse, vocab, settings.span_group))
    with written_whole(path) as file:
        file.write(packed.to_bytes())


def _doc(parse: Parse, vocab: spacy.vocab.Vocab, group: str) -> spacy.tokens.Doc:
    from spacy.tokens import Doc
    from spacy.tokens import Span as SpanOfDoc

    sentence = parse.sentence
    if not sentence.words:
        raise DataError("a sentence without words is no document", kind="empty")
    for word in sentence.words:
        if word.isspace():
            raise DataError(f"the word {word!r} is only blanks, which spaCy has between words")
    gaps = sentence.whitespace
    doc = Doc(
        vocab,
        words=list(sentence.words),
        # spaCy knows one blank or none; if it is told neither, it keeps that in mind.
        spaces=None if gaps is None else [bool(gap) for gap in gaps],
        tags=None if sentence.tags is None else list(sentence.tags),
    )
    doc.spans[group] = [SpanOfDoc(doc, *span) for span in entities_of(parse)]
    if sentence.id is not None:
        doc.user_data[_ID] = sentence.id
    return doc
