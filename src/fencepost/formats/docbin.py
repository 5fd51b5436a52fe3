"""spaCy's binary documents (`.spacy`), with entities in a span group, where they may nest.

A `DocBin` is packed in one piece, so all of it is in memory at a time. In places and errors,
documents are counted where other formats count lines. spaCy has no constituency trees.

Which tokens of a document are words, and which words are a sentence, is also decided here for
documents that a program has in its hands: `split_doc` for the parser, its parts for a pipeline.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
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


def split_doc(doc: spacy.tokens.Doc) -> tuple[Sentence, ...]:
    """The sentences of a document, without tags. Each keeps the whole text, and slices it."""
    text = doc.text
    found = (words_of(sentence) for sentence in sentences_of(doc))
    return tuple(sentence_of(words, text) for words in found if words)


def sentences_of(doc: spacy.tokens.Doc) -> list[spacy.tokens.Span]:
    """The sentences of a document; if it has no boundaries, as spaCy's `sentencizer` finds them.

    Then blanks belong to the sentence before them, so that none has only these. The document stays
    as it is.
    """
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    from spacy.pipeline import Sentencizer

    (starting,) = Sentencizer().predict([doc])
    starts: list[int] = []
    due = False  # whether a sentence starts with the next word
    for token, starts_here in zip(doc, starting, strict=True):
        due = due or starts_here
        if due and not token.text.isspace():
            starts.append(token.i)
            due = False
    return [doc[start:end] for start, end in pairwise((0, *starts[1:], len(doc)))]


def words_of(sentence: spacy.tokens.Span) -> list[spacy.tokens.Token]:
    """The tokens that are words: spaCy keeps blanks other than one between words as tokens."""
    # A vocabulary without a language does not know of any token that it is blank: ask the text.
    return [token for token in sentence if not token.text.isspace()]


def sentence_of(
    words: Sequence[spacy.tokens.Token], text: str | None, *, tags: bool = False
) -> Sentence:
    """A sentence of the words of a document.

    Args:
        words: tokens that are words.
        text: that of the document; None if it is not known.
        tags: whether to take over the tags of the tokens, if they have any.
    """
    names = tuple(word.tag_ for word in words) if tags else ()
    return Sentence(
        tuple(word.text for word in words),
        names if any(names) else None,
        text,
        None if text is None else tuple((word.idx, word.idx + len(word)) for word in words),
    )


def attempts(source: Source, settings: ReadSettings) -> Iterator[Attempt]:
    """The sentences of the documents, still to be read."""
    _require_spacy()
    with source.open() as file:
        data = file.read()
    for number, doc in enumerate(_docs(data, source.name), 1):
        name = doc.user_data.get(_ID)
        sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
        marked = _by_sentence(_marked(doc, settings.span_group), sentences)
        text = None if doc.has_unknown_spaces else doc.text
        for index, (sentence, spans) in enumerate(zip(sentences, marked, strict=True), 1):
            if not spans and not sentence.text.strip():
                continue
            id = name if len(sentences) == 1 else f"{name}-{index}"
            id = id if isinstance(name, str) else None
            yield Attempt(number, partial(_read, sentence, text, spans, id, settings))


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
    text: str | None,
    spans: list[spacy.tokens.Span] | None,
    id: str | None,
    settings: ReadSettings,
) -> Iterator[Parse]:
    tokens = words_of(sentence)
    words = replace(sentence_of(tokens, text, tags=True).alone(), id=id)
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
